"""The objective of a factor fit in double precision, for certificates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.fft import dct, idct
from scipy.special import expit, log_softmax

from tanager.loglinear.factor import SMALL_RIDGE, Factor
from tanager.loglinear.objective import sum_blocks
from tanager.optim.newton_cg import HessianProduct
from tanager.types import CodeArray, FloatArray
from tanager.utils.threads import row_blocks

if TYPE_CHECKING:
    from tanager.loglinear.block_newton import Term
    from tanager.loglinear.factor_samples import FactorSamples

Block = tuple[CodeArray, CodeArray, FloatArray]
"""Codes, labels and weights of neighbouring samples."""


class FactorObjective:
    """Penalised negative conditional log-likelihood of the tables of a fit.

    Parameters
    ----------
    samples : FactorSamples
        The samples; those that are held out weigh nothing.
    log_prior : ndarray of shape (n_columns,)
        As in `FactorFit`.
    terms : sequence of Term
        The factors and the strengths of their penalties.

    Notes
    -----
    The tables of all factors are one array w, shape (n_cells, n_columns), one below
    the other. `FactorFit` gives value and gradient. With ``M = diag(strength S)`` and
    the posteriors p_m of a sample, the product of the Hessian with a direction d is
    ``sum_m v_m Phi_m' (diag(p_m) - p_m p_m') Phi_m d + M d``, where ``Phi_m d`` sums
    the cells of the sample.

    S is a sum over the axes of a factor. Along its ordered bins each part is the
    Laplacian of a path, whose eigenvectors are those of the cosine transform
    (DCT-II), with eigenvalues ``2 - 2 cos(pi k / n)``; elsewhere it is the identity.
    So ``M^-1`` takes one transform and its inverse along every axis.
    """

    def __init__(
        self, samples: FactorSamples, log_prior: FloatArray, terms: Sequence[Term]
    ) -> None:
        self.n_classes = samples.n_classes
        self.n_columns = samples.n_columns
        self.log_prior = log_prior
        self._n_jobs = samples.n_jobs
        self._factors = [term.factor for term in terms]
        ends = np.cumsum([0, *(factor.n_cells for factor in self._factors)])
        self.n_cells = int(ends[-1])
        self._slices = [slice(*ends[t : t + 2]) for t in range(len(terms))]
        self._spectra = [term.strength * _spectrum(term.factor) for term in terms]
        self._blocks: list[Block] = [
            (
                np.ascontiguousarray(samples.codes[:, start:stop]),
                samples.labels[start:stop],
                samples.weights[start:stop].astype(np.float64),
            )
            for start, stop in row_blocks(len(samples.labels))
        ]

    def stack(self, tables: Sequence[FloatArray]) -> FloatArray:
        """Put tables, one for every factor, below one another."""
        return np.concatenate([np.empty((0, self.n_columns)), *tables])

    def split(self, w: FloatArray) -> list[FloatArray]:
        """Views of the tables of all factors."""
        return [w[part] for part in self._slices]

    def evaluate(self, w: FloatArray) -> tuple[float, FloatArray, HessianProduct]:
        """Compute f(w), its gradient, and products with its Hessian."""
        # Of two classes they are those of class 1: shape (n_block_samples, n_columns).
        posteriors = [np.empty(0)] * len(self._blocks)

        def add_block(index: int, gradient: FloatArray) -> float:
            codes, labels, weights = self._blocks[index]
            scores = self._sum_cells(codes, w, self.log_prior)
            value, posterior = _loss_and_posterior(scores, labels, weights)
            posteriors[index] = posterior
            residuals = posterior.copy()
            if self.n_columns == 1:
                residuals[:, 0] -= labels
            else:
                residuals[np.arange(len(labels)), labels] -= 1.0
            residuals *= weights[:, np.newaxis]
            self._add_to_cells(codes, residuals, gradient)
            return value

        value, flat = self._sum(add_block)
        penalty = self.multiply_penalty(w)
        value += 0.5 * float(np.sum(w * penalty))
        gradient = flat.reshape(w.shape) + penalty
        return value, gradient, partial(self._multiply_hessian, posteriors)

    def _multiply_hessian(
        self, posteriors: Sequence[FloatArray], d: FloatArray
    ) -> FloatArray:
        """Multiply the Hessian where the samples have given posteriors with d."""

        def add_block(index: int, product: FloatArray) -> float:
            codes, _, weights = self._blocks[index]
            p = posteriors[index]
            change = self._sum_cells(codes, d, np.zeros(self.n_columns))
            if self.n_columns == 1:
                change *= 1.0 - p
            else:
                change -= np.einsum("mc,mc->m", p, change)[:, np.newaxis]
            change *= p
            change *= weights[:, np.newaxis]
            self._add_to_cells(codes, change, product)
            return 0.0

        return self._sum(add_block)[1].reshape(d.shape) + self.multiply_penalty(d)

    def multiply_penalty(self, w: FloatArray) -> FloatArray:
        """Compute ``M w``, shape (n_cells, n_columns)."""
        return self._transform(w, self._spectra)

    def precondition(self, residual: FloatArray) -> FloatArray:
        """Compute ``M^-1 r``, shape (n_cells, n_columns)."""
        return self._transform(residual, [1.0 / spectrum for spectrum in self._spectra])

    def gap(self, gradient: FloatArray) -> float:
        """Bound how far f is above its minimum: ``g' M^-1 g / 2``.

        M is a lower bound of the Hessian, everywhere: f is at least the parabola with
        this gradient and Hessian M, which is least by this much lower.
        """
        return 0.5 * float(np.sum(gradient * self.precondition(gradient)))

    def _sum(
        self, work: Callable[[int, FloatArray], float]
    ) -> tuple[float, FloatArray]:
        """Sum values and vectors over the blocks; see `sum_blocks`."""
        indices = range(len(self._blocks))
        size = self.n_cells * self.n_columns
        value, vector = sum_blocks(indices, max(size, 1), work, self._n_jobs)
        return value, vector[:size]

    def _sum_cells(
        self, codes: CodeArray, w: FloatArray, start: FloatArray
    ) -> FloatArray:
        """Add the cells of every sample to `start`, shape (n_samples, n_columns)."""
        from tanager.loglinear import _factor_kernels as kernels

        sums = np.tile(start, (codes.shape[1], 1))
        for factor, table in zip(self._factors, self.split(w), strict=True):
            kernels.add_factor(codes, factor.features, factor.lookup, table, sums)
        return sums

    def _add_to_cells(
        self, codes: CodeArray, values: FloatArray, flat: FloatArray
    ) -> None:
        """Add the row of every sample to its cells of all factors."""
        from tanager.loglinear import _factor_kernels as kernels

        n_values = self.n_cells * self.n_columns
        tables = self.split(flat[:n_values].reshape(-1, self.n_columns))
        for factor, table in zip(self._factors, tables, strict=True):
            kernels.add_to_cells(codes, factor.features, factor.lookup, values, table)

    def _transform(self, w: FloatArray, spectra: Sequence[FloatArray]) -> FloatArray:
        """Multiply the cosine transforms of all tables, and transform back."""
        parts = zip(self._factors, self.split(w), spectra, strict=True)
        return self.stack([_scale_waves(*part) for part in parts])


def _spectrum(factor: Factor) -> FloatArray:
    """Eigenvalues of S, in the shape of the factor."""
    values = np.full(factor.shape, SMALL_RIDGE[len(factor.axes)])
    for place, axis in enumerate(factor.axes):
        own = np.ones(axis.n_bins)
        waves = np.arange(axis.n_ordered) / max(axis.n_ordered, 1)
        own[: axis.n_ordered] = factor.path * (2.0 - 2.0 * np.cos(np.pi * waves))
        values += np.expand_dims(own, _other_axes(place, values.ndim))
    return values


def _scale_waves(factor: Factor, table: FloatArray, scale: FloatArray) -> FloatArray:
    """Transform along the ordered bins of every axis, multiply, and transform back."""
    waves = table.reshape(*factor.shape, -1).copy()
    ordered = [(a, axis.n_ordered) for a, axis in enumerate(factor.axes)]
    parts = [(a, (slice(None),) * a + (slice(n),)) for a, n in ordered if n]
    for a, part in parts:
        waves[part] = dct(waves[part], axis=a, norm="ortho")
    waves *= scale[..., np.newaxis]
    for a, part in parts:
        waves[part] = idct(waves[part], axis=a, norm="ortho")
    return waves.reshape(table.shape)


def _other_axes(place: int, n_axes: int) -> tuple[int, ...]:
    return tuple(a for a in range(n_axes) if a != place)


def _loss_and_posterior(
    scores: FloatArray, labels: CodeArray, weights: FloatArray
) -> tuple[float, FloatArray]:
    """Sum ``-log P(c | x)`` of samples, and their posteriors.

    `scores` have shape (n_samples, n_columns). Of two classes they are the log odds of
    class 1, and the posteriors are those of class 1.
    """
    if scores.shape[1] == 1:
        against = np.where(labels == 1, -scores[:, 0], scores[:, 0])
        return float(weights @ np.logaddexp(0.0, against)), expit(scores)
    log_posterior = log_softmax(scores, axis=1)
    own = np.take_along_axis(log_posterior, labels[:, np.newaxis], axis=1)[:, 0]
    return -float(weights @ own), np.exp(log_posterior)
