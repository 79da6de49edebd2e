"""Score tests of factors that are not in the model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tanager.loglinear.factor import Axis, Factor
from tanager.types import CodeArray, FloatArray, IntArray
from tanager.utils.threads import map_threads, row_blocks

BATCH = 256
"""Factors that one thread scores at a time."""

TINY = 1e-15
"""Least sum of variances by which squared residuals are divided."""


def score_factors(
    factors: Sequence[Factor],
    codes: CodeArray,
    labels: IntArray,
    weights: npt.NDArray[np.float32],
    posterior: npt.NDArray[np.float32],
    ridge: float,
    *,
    n_jobs: int | None = None,
) -> FloatArray:
    """Score tests of factors on the residuals of a model, shape (n_factors,).

    Parameters
    ----------
    factors : sequence of Factor
        The factors.
    codes : ndarray of unsigned int, shape (n_features, n_samples)
        Codes of the features.
    labels : ndarray of int, shape (n_samples,)
        Codes of the class.
    weights : ndarray of float32, shape (n_samples,)
        Sample weights.
    posterior : ndarray of float32, shape (n_samples, n_columns)
        P(c | x) of all classes; of class 1 alone if there is one column.
    ridge : float
        Added to the variances; above 0.
    n_jobs : int or None, default=None
        Number of threads. The result does not depend on it.

    Notes
    -----
    With sums R of the residuals and V of the variances in every cell and class, the
    statistic is ``sum R^2 / (V + ridge)``, minus its expectation by chance,
    ``phi sum V / (V + ridge)``. The dispersion phi is the sum of all squared residuals
    divided by that of all variances: less than 1 where the model has been fitted to the
    same samples closely, as it is to few.

    Examples
    --------
    >>> codes = np.array([[0, 0, 1, 1]], dtype=np.uint8)
    >>> half = np.full((4, 1), 0.5, dtype=np.float32)
    >>> factor = Factor((Axis(0, np.array([0, 1, 2]), 0),))
    >>> ones = np.ones(4, dtype=np.float32)
    >>> score_factors([factor], codes, np.array([0, 0, 1, 1]), ones, half, 0.5)
    array([1.])
    """
    from tanager.loglinear import _factor_kernels as kernels

    if not factors:
        return np.empty(0)
    bins, n_bins, axes = _bin_samples(factors, codes)
    classes = np.arange(posterior.shape[1]) + (posterior.shape[1] == 1)
    residuals = (labels[:, np.newaxis] == classes) - posterior
    variances = posterior * (1.0 - posterior)
    squares = float((weights @ np.square(residuals)).sum())
    dispersion = squares / max(float((weights @ variances).sum()), TINY)
    values = np.hstack([residuals, variances]) * weights[:, np.newaxis]
    n_rows = kernels.COPIES * max(factor.n_cells for factor in factors)
    scores = np.empty(len(factors))

    def score_batch(batch: tuple[int, int]) -> None:
        kernels.score_factors(
            bins, n_bins, axes, batch, values, dispersion, ridge,
            np.empty((n_rows, values.shape[1])), scores,
        )  # fmt: skip

    map_threads(score_batch, row_blocks(len(factors), BATCH), n_jobs)
    return scores


def _bin_samples(
    factors: Sequence[Factor], codes: CodeArray
) -> tuple[npt.NDArray[np.uint16], IntArray, IntArray]:
    """Bins of all samples along every axis, number of bins, and axes of the factors.

    The axes of a factor, shape (n_factors, 3), are rows of the bins; -1 is none.
    """
    rows: dict[int, int] = {}
    found: list[Axis] = []
    axes = np.full((len(factors), 3), -1, dtype=np.int64)
    for place, factor in enumerate(factors):
        for a, axis in enumerate(factor.axes):
            row = rows.setdefault(id(axis), len(found))
            if row == len(found):
                found.append(axis)
            axes[place, a] = row
    n_bins = np.array([axis.n_bins for axis in found], dtype=np.int64)
    dtype = np.uint16 if n_bins.max() <= 65_536 else np.uint32
    bins = np.empty((len(found), codes.shape[1]), dtype=dtype)
    for place, axis in enumerate(found):
        bins[place] = axis.bins.astype(dtype)[codes[axis.feature]]
    return bins, n_bins, axes
