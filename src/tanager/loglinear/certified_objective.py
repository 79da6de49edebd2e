"""The objective of a factor fit in double precision, for certificates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.fft import dct, idct
from scipy.special import expit, log_softmax

from tanager.data.coded_data import ArrayData, CodedData
from tanager.loglinear.factor import SMALL_RIDGE, Factor
from tanager.loglinear.factor_samples import FactorSamples
from tanager.loglinear.objective import sum_blocks
from tanager.optim.newton_cg import HessianProduct
from tanager.types import CodeArray, FloatArray
from tanager.utils.threads import row_blocks

if TYPE_CHECKING:
    from tanager.loglinear.block_newton import Term

Block = tuple[CodeArray, CodeArray, FloatArray]
"""Codes, labels and weights of neighbouring samples."""


class FactorLoss:
    """Negative conditional log-likelihood of samples, as a function of all tables.

    `samples` that are held out weigh nothing; `log_prior` is as in `FactorFit`. Tables
    are one array w, shape (n_cells, n_columns), those of the `factors` one below the
    other.
    """

    def __init__(
        self, samples: FactorSamples, log_prior: FloatArray, factors: Sequence[Factor]
    ) -> None:
        self.samples = samples
        self.log_prior = log_prior
        self.n_columns = samples.n_columns
        self.factors = list(factors)
        self.slices = slices_of(self.factors)
        self._blocks = row_blocks(len(samples.labels))
        self._posteriors: tuple[FloatArray, list[FloatArray]] | None = None

    @classmethod
    def of(
        cls, part: ArrayData, log_prior: FloatArray, factors: Sequence[Factor]
    ) -> FactorLoss:
        """The loss of the labelled samples of a part of the data."""
        return cls(FactorSamples.of_part(part), log_prior, factors)

    def value_and_gradient(self, w: FloatArray) -> tuple[float, FloatArray]:
        """Compute the loss and its gradient, shapes () and (n_cells, n_columns)."""
        posteriors = [np.empty(0)] * len(self._blocks)

        def add_block(index: int, gradient: FloatArray) -> float:
            codes, labels, weights = self._block(index)
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

        value, flat = self._sum(add_block, w.size)
        self._posteriors = w.copy(), posteriors
        return value, flat.reshape(w.shape)

    def multiply_hessian_at(self, w: FloatArray, d: FloatArray) -> FloatArray:
        """Multiply the Hessian at w with d; the posteriors there are kept."""
        if self._posteriors is None or not np.array_equal(self._posteriors[0], w):
            self.value_and_gradient(w)
        assert self._posteriors is not None
        posteriors = self._posteriors[1]

        def add_block(index: int, product: FloatArray) -> float:
            codes, _, weights = self._block(index)
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

        return self._sum(add_block, d.size)[1].reshape(d.shape)

    def _block(self, index: int) -> Block:
        start, stop = self._blocks[index]
        return (
            np.ascontiguousarray(self.samples.codes[:, start:stop]),
            self.samples.labels[start:stop],
            self.samples.weights[start:stop].astype(np.float64),
        )

    def _sum(
        self, work: Callable[[int, FloatArray], float], size: int
    ) -> tuple[float, FloatArray]:
        """Sum values and vectors over the blocks; see `sum_blocks`."""
        indices = range(len(self._blocks))
        if not indices:
            return 0.0, np.zeros(size)
        value, vector = sum_blocks(indices, max(size, 1), work, self.samples.n_jobs)
        return value, vector[:size]

    def _sum_cells(
        self, codes: CodeArray, w: FloatArray, start: FloatArray
    ) -> FloatArray:
        """Add the cells of every sample to `start`, shape (n_samples, n_columns)."""
        from tanager.loglinear import _factor_kernels as kernels

        sums = np.tile(start, (codes.shape[1], 1))
        for factor, part in zip(self.factors, self.slices, strict=True):
            kernels.add_factor(codes, factor.features, factor.lookup, w[part], sums)
        return sums

    def _add_to_cells(
        self, codes: CodeArray, values: FloatArray, flat: FloatArray
    ) -> None:
        """Add the row of every sample to its cells of all factors."""
        from tanager.loglinear import _factor_kernels as kernels

        n_cells = self.slices[-1].stop if self.slices else 0
        sums = flat[: n_cells * self.n_columns].reshape(-1, self.n_columns)
        for factor, part in zip(self.factors, self.slices, strict=True):
            kernels.add_to_cells(
                codes, factor.features, factor.lookup, values, sums[part]
            )


class SummedFactorLoss:
    """Sum of the `FactorLoss` of all parts of a dataset, each where the part is."""

    def __init__(
        self, data: CodedData, log_prior: FloatArray, factors: Sequence[Factor]
    ) -> None:
        self._parts = data.place(FactorLoss.of, log_prior, list(factors))

    def value_and_gradient(self, w: FloatArray) -> tuple[float, FloatArray]:
        """Compute the loss and its gradient."""
        return self._parts.sum(FactorLoss.value_and_gradient, w)

    def multiply_hessian_at(self, w: FloatArray, d: FloatArray) -> FloatArray:
        """Multiply the Hessian at w with d."""
        return self._parts.sum(FactorLoss.multiply_hessian_at, w, d)


class FactorObjective:
    """Penalised negative conditional log-likelihood of the tables of a fit.

    Parameters
    ----------
    loss : FactorLoss or SummedFactorLoss
        The loss of the samples.
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
        self, loss: FactorLoss | SummedFactorLoss, terms: Sequence[Term]
    ) -> None:
        self._loss = loss
        self._factors = [term.factor for term in terms]
        self._slices = slices_of(self._factors)
        self.n_cells = self._slices[-1].stop if self._slices else 0
        self._spectra = [term.strength * _spectrum(term.factor) for term in terms]

    def split(self, w: FloatArray) -> list[FloatArray]:
        """Views of the tables of all factors."""
        return [w[part] for part in self._slices]

    def evaluate(self, w: FloatArray) -> tuple[float, FloatArray, HessianProduct]:
        """Compute f(w), its gradient, and products with its Hessian."""
        value, gradient = self._loss.value_and_gradient(w)
        penalty = self.multiply_penalty(w)
        value += 0.5 * float(np.sum(w * penalty))
        return value, gradient + penalty, partial(self._multiply_hessian, w)

    def _multiply_hessian(self, w: FloatArray, d: FloatArray) -> FloatArray:
        product = self._loss.multiply_hessian_at(w, d)
        return product + self.multiply_penalty(d)

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

    def _transform(self, w: FloatArray, spectra: Sequence[FloatArray]) -> FloatArray:
        """Multiply the cosine transforms of all tables, and transform back."""
        parts = zip(self._factors, self.split(w), spectra, strict=True)
        return stack_tables([_scale_waves(*part) for part in parts], w.shape[1])


def stack_tables(tables: Sequence[FloatArray], n_columns: int) -> FloatArray:
    """Put tables, one for every factor, below one another."""
    return np.concatenate([np.empty((0, n_columns)), *tables])


def slices_of(factors: Sequence[Factor]) -> list[slice]:
    """Where the tables of factors are in the array of all."""
    ends = np.cumsum([0, *(factor.n_cells for factor in factors)]).tolist()
    return [slice(*ends[t : t + 2]) for t in range(len(factors))]


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
