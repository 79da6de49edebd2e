"""`FactorPosterior`: joint uncertainty of all factors of a log-linear network."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit, logit, softmax

from tanager.errors import TableSizeError
from tanager.loglinear.factor import Factor
from tanager.loglinear.factor_uncertainty import CurvatureSamples, free_fraction
from tanager.loglinear.fitted_factors import FactorTables
from tanager.types import CodeArray, FloatArray, IntArray
from tanager.utils.threads import row_blocks

BLOCK = 1000
"""Samples whose variances are computed at a time."""

N_ITERATIONS = 4
"""Steps in which the curvatures are found."""

MAX_COVARIANCES = 64_000_000
"""Elements of the covariances of all factors: half a gigabyte."""

LEAST_CURVATURE = 1e-9
"""Curvature of a sample that the model is certain of."""


@dataclass(frozen=True, eq=False)
class FactorPosterior:
    """Gaussian posterior of the weights of all factors together.

    Parameters
    ----------
    factors : FactorTables
        The fitted factors.
    samples : CurvatureSamples
        Training samples.

    Notes
    -----
    The penalty of factor t is a Gaussian prior of its table with the covariance
    ``(strength_t S_t)^-1``. The log odds of samples, sums of one cell of every factor,
    thus have the prior covariance ``k(x, z) = sum_t (strength_t S_t)^-1[x_t, z_t]``.
    Training samples with the curvatures h make it

        k(x, x) - k(x, X) (k(X, X) + diag(1 / h))^-1 k(X, x).

    Laplace's method has h = w p (1 - p) at the mode, which vanishes where the model is
    certain and makes the posterior too wide there. The Gaussian that is nearest to the
    posterior has the expected curvature h = w E[p (1 - p)] instead, about
    ``w q (1 - q) s`` with q = expit(s f), s = (1 + pi v / 8)^-1/2, f the log odds and v
    their variance. A few fixed-point steps find it. The mean stays that of the fit.

    This is the joint posterior: what several factors have in common, such as a constant
    or the effect of correlated features, is uncertain once, while the sum of the
    variances of single factors counts it for each. With more than two classes the
    columns are treated as independent, as in the fit.

    References
    ----------
    Rasmussen, Williams (2006), Gaussian processes for machine learning, section 3.4.
    Opper, Archambeau (2009), The variational Gaussian approximation revisited.
    MacKay (1992), The evidence framework applied to classification networks: s.
    """

    factors: FactorTables
    samples: CurvatureSamples

    def variances(self, codes: CodeArray) -> FloatArray:
        """Variances of the log odds, (n_samples, 1), or log weights, (..., n_classes).

        `codes` have shape (n_samples, n_features), in Fortran order.
        """
        blocks = row_blocks(len(codes), BLOCK)
        found = [self._block_variances(codes[slice(*block)]) for block in blocks]
        fraction = free_fraction(len(self.factors.log_prior))
        positive: FloatArray = fraction * np.maximum(np.concatenate(found), 0.0)
        return positive

    def _block_variances(self, codes: CodeArray) -> FloatArray:
        cross = np.zeros((len(codes), len(self.samples.codes)))
        prior = np.zeros(len(codes))
        for own, part in zip(self._cells(codes), self._parts, strict=True):
            cross += part.covariances(own)
            prior += part.variances(own)
        return np.stack(
            [
                prior - np.einsum("ij,ji->i", cross, cho_solve(solver, cross.T))
                for solver in self._solvers
            ],
            axis=1,
        )

    def _cells(self, codes: CodeArray) -> list[IntArray]:
        return [table.factor.cells(codes.T) for table in self.factors.tables]

    @cached_property
    def _parts(self) -> list[_Part]:
        """Cells of the training samples, and prior covariance, of every factor.

        Of unordered bins, which may be many, it is the diagonal alone. Factors with
        the same bins share a matrix, and differ by their strength.
        """
        factors = [table.factor for table in self.factors.tables]
        keys = [_penalty_key(factor) for factor in factors]
        chosen = {key: f for key, f in zip(keys, factors, strict=True) if any(key[1])}
        n_cells = sum(factor.n_cells**2 for factor in chosen.values())
        if n_cells > MAX_COVARIANCES:
            raise TableSizeError(
                f"The credible intervals of this model need covariances of {n_cells:,} "
                f"pairs of cells, more than the {MAX_COVARIANCES:,} allowed. Fit it "
                "with factors over fewer features: FactorSearch(order=2)."
            )
        inverses = {
            key: np.linalg.inv(penalty_matrix(factor)).astype(np.float64)
            for key, factor in chosen.items()
        }
        found = []
        cells = self._cells(self.samples.codes)
        for table, key, own in zip(self.factors.tables, keys, cells, strict=True):
            inverse = inverses.get(key)
            if inverse is None:
                inverse = 1 / table.factor.diagonal
            found.append(_Part(own, inverse, table.strength))
        return found

    @cached_property
    def _solvers(self) -> list[tuple[FloatArray, bool]]:
        """Decomposed covariances of the training samples, one for every column."""
        codes = self.samples.codes
        covariance = np.zeros((len(codes), len(codes)))
        for part in self._parts:
            covariance += part.covariances(part.cells)
        p = softmax(self.factors.log_joint_block(codes), axis=1)
        columns = range(p.shape[1]) if p.shape[1] > 2 else (1,)
        return [
            self._solver(covariance, logit(np.clip(p[:, c], 1e-300, 1 - 1e-16)))
            for c in columns
        ]

    def _solver(
        self, covariance: FloatArray, log_odds: FloatArray
    ) -> tuple[FloatArray, bool]:
        """Decompose ``k(X, X) + diag(1 / h)``, h found by fixed-point iteration."""
        variances = np.zeros(len(log_odds))
        for step in range(N_ITERATIONS + 1):
            shrink = 1 / np.sqrt(1 + np.pi / 8 * variances)
            p = expit(shrink * log_odds)
            curvature = np.maximum(
                self.samples.weights * shrink * p * (1 - p), LEAST_CURVATURE
            )
            solver = cho_factor(covariance + np.diag(1 / curvature), lower=True)
            if step < N_ITERATIONS:
                explained = np.einsum(
                    "ij,ji->i", covariance, cho_solve(solver, covariance)
                )
                variances = np.maximum(np.diagonal(covariance) - explained, 0.0)
        return solver


@dataclass(frozen=True, eq=False)
class _Part:
    """Prior covariance of one factor: the inverse of S, or its diagonal, by strength.

    `cells` are those of the training samples.
    """

    cells: IntArray
    inverse: FloatArray
    strength: float

    def covariances(self, cells: IntArray) -> FloatArray:
        """Covariances of cells with those of the training samples."""
        inverse, rows = self.inverse, cells[:, None]
        if inverse.ndim == 2:
            return inverse[rows, self.cells] / self.strength
        return np.where(rows == self.cells, inverse[rows] / self.strength, 0.0)

    def variances(self, cells: IntArray) -> FloatArray:
        """Variances of cells."""
        inverse = self.inverse
        own = inverse[cells] if inverse.ndim == 1 else inverse[cells, cells]
        variances: FloatArray = own / self.strength
        return variances


def _penalty_key(factor: Factor) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What the matrix of a factor's penalty depends on: bins, and ordered ones."""
    return tuple(factor.shape.tolist()), tuple(factor.n_ordered.tolist())


def penalty_matrix(factor: Factor) -> FloatArray:
    """The matrix S of the penalty of a factor, shape (n_cells, n_cells)."""
    matrix = np.diag(factor.diagonal)
    grid = np.arange(factor.n_cells).reshape(factor.shape)
    for place, n_ordered in enumerate(factor.n_ordered.tolist()):
        along = np.moveaxis(grid, place, 0)
        one, other = along[: max(n_ordered - 1, 0)].ravel(), along[1:n_ordered].ravel()
        for i, j in ((one, one), (other, other)):
            np.add.at(matrix, (i, j), factor.path)
        matrix[one, other] -= factor.path
        matrix[other, one] -= factor.path
    return matrix
