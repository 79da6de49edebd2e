"""Passes over few samples with NumPy, for which nothing is compiled.

They do what the kernels of the same names do, to machine precision. The cells of the
samples are given, since `FactorSamples` keeps them: finding them takes longer than all
else here.
"""

from __future__ import annotations

from math import prod

import numpy as np
import numpy.typing as npt

from tanager.types import CodeArray, FloatArray, IntArray

SingleArray = npt.NDArray[np.float32]

LOWEST = np.float32(1e-30)
HIGHEST = np.float32(1e30)
"""Bounds of probabilities and odds: single-precision values do not get stuck at 0."""

ONE = np.float32(1.0)


def multiply_odds(odds: SingleArray, cells: IntArray, scale: SingleArray) -> None:
    """Multiply the odds of class 1, in place, by the change of a factor.

    `odds` have shape (n_samples, 1), `cells` (n_samples,), and `scale`, exp(change),
    (n_cells, 1).
    """
    odds *= scale.take(cells, axis=0)
    np.maximum(odds, LOWEST, out=odds)
    np.minimum(odds, HIGHEST, out=odds)


def sum_two_classes(
    odds: SingleArray,
    labels: CodeArray,
    weights: SingleArray,
    cells: IntArray,
    n_cells: int,
) -> FloatArray:
    """Sum ``w (y - p)`` and ``w p (1 - p)`` by cell, shape (n_cells, 2)."""
    p = odds[:, 0] / (ONE + odds[:, 0])
    sums = np.empty((n_cells, 2))
    sums[:, 0] = np.bincount(cells, weights * (labels - p), n_cells)
    sums[:, 1] = np.bincount(cells, weights * p * (ONE - p), n_cells)
    return sums


def multiply_posterior(
    posterior: SingleArray, cells: IntArray, scale: SingleArray
) -> None:
    """Multiply posteriors, in place, by the change of a factor, and normalise them.

    They have shape (n_samples, K), `cells` (n_samples,), and `scale` (n_cells, K).
    """
    posterior *= scale.take(cells, axis=0)
    # The product with ones takes a fifth of the time of a sum along short rows.
    posterior *= ONE / (posterior @ np.ones((posterior.shape[1], 1), dtype=np.float32))
    posterior += LOWEST


def sum_classes(
    posterior: SingleArray, weights: SingleArray, cells: IntArray, n_cells: int
) -> FloatArray:
    """Sum ``w p_c``, then ``w p_c^2``, by cell and class, shape (n_cells, 2 K)."""
    n_samples, n_classes = posterior.shape
    moments = np.empty((n_samples, 2 * n_classes))
    np.multiply(posterior, weights[:, np.newaxis], out=moments[:, :n_classes])
    np.multiply(moments[:, :n_classes], posterior, out=moments[:, n_classes:])
    return sum_by_cell(moments, cells, n_cells)


def sum_by_cell(values: FloatArray, cells: IntArray, n_cells: int) -> FloatArray:
    """Sum the rows of `values`, shape (n_samples, n_columns), by cell."""
    n_columns = values.shape[1]
    places = (n_columns * cells)[:, np.newaxis] + np.arange(n_columns)
    return _sum_by_place(places.ravel(), values.ravel(), (n_cells, n_columns))


def count_classes(
    labels: CodeArray,
    weights: SingleArray,
    cells: IntArray,
    n_cells: int,
    n_classes: int,
) -> FloatArray:
    """Sum the weights of the samples by cell and class, shape (n_cells, K)."""
    places = cells * n_classes + labels
    return _sum_by_place(places, weights, (n_cells, n_classes))


def score_factors(
    moments: SingleArray,
    bins: IntArray,
    features: IntArray,
    n_bins: IntArray,
    ridge: float,
    dispersion: float,
) -> FloatArray:
    """Score statistics of candidates; see `ScoreTest`.

    Parameters
    ----------
    moments : ndarray of float32, shape (n_samples, 2 * n_columns)
        Residuals, then variances.
    bins : ndarray of int, shape (n_features, n_samples)
        The bin of every sample along the axis of each feature, of `n_bins`.
    features : ndarray of int, shape (n_candidates, n_axes)
        A row for every candidate.
    n_bins : ndarray of int, shape (n_features,)
        Number of bins of each feature.
    ridge, dispersion : float
        Constants of the statistic.

    Returns
    -------
    ndarray of float64, shape (n_candidates,)
        The statistics.
    """
    sizes = n_bins[features].prod(axis=1)
    starts = np.cumsum(sizes) - sizes
    # Cells of all candidates, one after the other.
    cells = np.zeros((len(features), len(moments)), dtype=np.int64)
    for feature in features.T:
        cells *= n_bins[feature, np.newaxis]
        cells += bins[feature]
    cells += starts[:, np.newaxis]
    columns = moments.astype(np.float64).T
    sums = [_repeat_and_sum(column, cells, int(sizes.sum())) for column in columns]
    n_columns = len(columns) // 2
    residuals, variances = np.array(sums[:n_columns]), np.array(sums[n_columns:])
    excess = residuals * residuals - dispersion * variances
    return np.add.reduceat((excess / (variances + ridge)).sum(axis=0), starts)


def _repeat_and_sum(values: FloatArray, cells: IntArray, n_cells: int) -> FloatArray:
    """Sum the same values, one per sample, by the cells of every candidate."""
    repeated = np.broadcast_to(values, cells.shape).ravel()
    return _sum_by_place(cells.ravel(), repeated, (n_cells,))


def _sum_by_place(
    places: IntArray, values: FloatArray | SingleArray, shape: tuple[int, ...]
) -> FloatArray:
    """Sum values in double precision by their place in an array of the given shape."""
    sums = np.bincount(places, values, prod(shape))
    return np.asarray(sums, dtype=np.float64).reshape(shape)
