"""Standard errors and effective number of parameters of fitted factors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.loglinear.factor import Factor
from tanager.loglinear.numpy_newton import chain_variances, solve_grid
from tanager.types import CodeArray, FloatArray

N_RANDOM = 4
"""Random tables from which variances of factors over three features are estimated.
Standard errors are then right to about 7 %; exact ones would take longer than a fit."""

SOLVER_LIMITS = np.array([100.0, 0.003])
"""Steps of conjugate gradient, and reduction of the residual, for each of them."""

MAX_EXACT_CELLS = 20_000_000
"""Elements of the matrices for exact variances of a factor over two features; where
there are more, with many classes or categories, the variances are estimated, too."""

MAX_SAMPLES = 1000
"""Training samples whose curvature is used; of more, a regular part with weights."""

DIGITS = 4
"""Significant digits of a standard error."""


@dataclass(frozen=True, eq=False)
class CurvatureSamples:
    """Training samples, or a part of many, that say where the data are.

    Parameters
    ----------
    codes : ndarray of unsigned int, shape (n_samples, n_features), Fortran order
        The samples.
    weights : ndarray of float64, shape (n_samples,)
        Their weights; those of a part add up to the weight of all.
    """

    codes: CodeArray
    weights: FloatArray

    @classmethod
    def of(
        cls, codes: CodeArray, weights: FloatArray | None, n_classes: int = 2
    ) -> CurvatureSamples:
        """Take every second, third, ... of more than `MAX_SAMPLES` samples.

        With more classes they are fewer, so that the time does not grow with classes.
        """
        most = int(MAX_SAMPLES * (2 / n_classes) ** (1 / 3))
        step = max(1, -(-len(codes) // most))
        some = np.asfortranarray(codes[::step])
        if weights is None:
            return cls(some, np.full(len(some), len(codes) / max(1, len(some))))
        kept = weights[::step].astype(np.float64)
        total = kept.sum()
        scale = weights.sum() / total if total > 0 else 1.0
        return cls(some, scale * kept)

    @classmethod
    def of_data(cls, data: CodedData) -> CurvatureSamples:
        """Take some of coded samples, which are gathered if they are in parts."""
        n_classes = data.schema.n_classes
        if not data.in_parts:
            block = data.all_rows()
            return cls.of(block.codes, block.weights, n_classes)
        some = data.stratified_sample(MAX_SAMPLES)
        kept = cls.of(some.codes, some.weights, n_classes)
        if some.weights is not None:
            return kept
        return cls(kept.codes, kept.weights * (data.n_samples / some.n_samples))


def table_variances(
    factor: Factor, curvature: FloatArray, strength: float
) -> FloatArray:
    """Posterior variances of a table, shape (n_cells, n_columns).

    Parameters
    ----------
    factor : Factor
        The cells and their penalty.
    curvature : ndarray of float64, shape (n_cells, n_columns)
        Curvature of the loss; see `FactorFit.moments`.
    strength : float
        Strength of the penalty.

    Notes
    -----
    The penalty is the logarithm of a Gaussian prior. Near the optimum the posterior of
    a column with curvature h is Gaussian with covariance ``(diag(h) + strength S)^-1``,
    whose diagonal this computes. The other factors are held fixed, and columns are
    treated as independent, as in the steps of `FactorFit`.

    The diagonal is exact for one feature, and for two unless the matrices are very
    large (`MAX_EXACT_CELLS`). For three it is estimated from random tables x with this
    covariance. With the matrix ``A = diag(h) + strength S`` and its diagonal a, ``x_i``
    given the other cells has the mean ``x_i - (A x)_i / a_i`` and the variance
    ``1 / a_i``, so the variance of ``x_i`` is the mean of
    ``1 / a_i + (x_i - (A x)_i / a_i)^2``.

    References
    ----------
    Siden, Lindgren, Bolin, Villani (2018), Efficient covariance approximations for
    large sparse precision matrices: the estimate by random tables, there called simple
    Rao-Blackwellized Monte Carlo.
    """
    if len(factor.axes) == 1:
        return chain_variances(factor, curvature, strength)
    if len(factor.axes) == 2 and _exact_cells(factor, curvature) <= MAX_EXACT_CELLS:
        return _pair_variances(factor, curvature, strength)
    return _estimated_variances(factor, curvature, strength)


def effective_parameters(
    curvature: FloatArray, variances: FloatArray, n_classes: int
) -> float:
    """Effective number of parameters of a table.

    Parameters
    ----------
    curvature, variances : ndarray of float64, shape (n_cells, n_columns)
        Curvature of the loss, and variances by `table_variances`.
    n_classes : int
        Number of classes.

    Notes
    -----
    With n cells it is ``n - strength tr((H + strength S)^-1 S)``, which equals
    ``tr((H + strength S)^-1 H)``, summed over the columns: cells without samples have
    no curvature and add nothing. With more than two classes, every row of a table sums
    to zero: of K columns, K - 1 are free.
    """
    return float(np.sum(curvature * variances)) * free_fraction(n_classes)


def free_fraction(n_classes: int) -> float:
    """Fraction of the columns of a table that are free."""
    return 1.0 if n_classes == 2 else (n_classes - 1) / n_classes


def round_errors(errors: FloatArray) -> FloatArray:
    """Round to `DIGITS` significant digits, so that model files are short."""
    some = errors > 0.0
    leading = np.floor(np.log10(errors, where=some, out=np.zeros_like(errors)))
    places = DIGITS - 1 - leading
    # Powers of ten up to 22 are exact, so that the result is the nearest double.
    up, down = 10.0 ** np.clip(places, 0, 22), 10.0 ** np.clip(-places, 0, 22)
    rounded: FloatArray = np.rint(errors * up / down) / up * down
    return rounded


def _exact_cells(factor: Factor, curvature: FloatArray) -> int:
    """Elements of all matrices in `_pair_variances`."""
    n_blocks, size = factor.shape.tolist()
    return int(n_blocks * curvature.shape[1] * size**2)


def _pair_variances(
    factor: Factor, curvature: FloatArray, strength: float
) -> FloatArray:
    """Variances of a factor over two features; see `table_variances`.

    The matrix is block tridiagonal: the cells of one bin of the first feature are a
    block, and those of neighbouring bins are tied cell by cell. The blocks are
    eliminated one after the other; on the way back follow those of the inverse.
    """
    n_columns = curvature.shape[1]
    n_blocks, size = factor.shape.tolist()
    n_ordered, n_tied = factor.n_ordered.tolist()
    diagonal = curvature + strength * factor.penalty_diagonal[:, np.newaxis]
    diagonal = diagonal.T.reshape(n_columns, n_blocks, size)
    ties = np.zeros((size, size))
    place = np.arange(max(n_tied - 1, 0))
    ties[place, place + 1] = ties[place + 1, place] = strength
    identity = np.eye(size)
    inverses = np.empty((n_blocks, n_columns, size, size))
    for i in range(n_blocks):
        block = diagonal[:, i, :, np.newaxis] * identity - ties
        if 0 < i < n_ordered:
            block -= strength**2 * inverses[i - 1]
        inverses[i] = np.linalg.inv(block)
    variances = np.empty((n_columns, n_blocks, size))
    for i in range(n_blocks - 1, -1, -1):
        if i + 1 < n_ordered:
            own = inverses[i]
            inverses[i] = own + strength**2 * (own @ inverses[i + 1] @ own)
        variances[:, i] = np.diagonal(inverses[i], axis1=1, axis2=2)
    return np.ascontiguousarray(variances.reshape(n_columns, factor.n_cells).T)


def _estimated_variances(
    factor: Factor, curvature: FloatArray, strength: float
) -> FloatArray:
    """Estimated variances of a factor over several features; see `table_variances`."""
    random = np.random.default_rng(factor.n_cells)
    draws = [
        (_random_penalty(factor, random), random.standard_normal(factor.n_cells))
        for _ in range(N_RANDOM)
    ]
    inverse = 1.0 / (curvature + strength * factor.penalty_diagonal[:, np.newaxis])
    total = np.zeros(curvature.shape)
    for of_penalty, of_loss in draws:
        # The image A x of random tables x: its covariance is A itself.
        image = np.sqrt(curvature) * of_loss[:, np.newaxis]
        image += np.sqrt(strength) * of_penalty[:, np.newaxis]
        x = solve_grid(
            factor, image.T.copy(), curvature.T.copy(), strength, SOLVER_LIMITS
        )
        total += np.square(x.T - image * inverse)
    return inverse + total / N_RANDOM


def _random_penalty(factor: Factor, random: np.random.Generator) -> FloatArray:
    """A random vector with covariance S."""
    shape = factor.shape.tolist()
    found = np.sqrt(factor.diagonal) * random.standard_normal(factor.n_cells)
    grid = found.reshape(shape)
    for place, n_ordered in enumerate(factor.n_ordered.tolist()):
        if n_ordered > 1:
            along = np.moveaxis(grid, place, 0)
            steps = random.standard_normal((n_ordered - 1, *along.shape[1:]))
            along[: n_ordered - 1] -= steps
            along[1:n_ordered] += steps
    return found
