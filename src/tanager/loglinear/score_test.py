"""`ScoreTest`: what factors would add to a model, without fitting them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tanager.loglinear.block_newton import TINY, FactorFit
from tanager.loglinear.factor import Axis
from tanager.loglinear.numpy_passes import score_factors
from tanager.types import BoolArray, FloatArray, IndexArray, IntArray
from tanager.utils.threads import map_threads, one_blas_thread

Scorer = Callable[[IntArray], FloatArray]
"""Statistics of candidates, a row of features for each."""

CANDIDATES_AT_A_TIME = 32
"""Candidates that one thread scores at a time."""

MANY_PAIRS = 256
"""Pairs of features with two bins from which on products of matrices score them."""


@dataclass(frozen=True, eq=False)
class JoinedAxes:
    """The axes of all features in one array.

    Code i of feature j is in bin ``bins[starts[j] + i]`` of ``n_bins[j]``.

    Examples
    --------
    >>> axes = JoinedAxes.of([Axis(0, np.array([0, 1]), 0), Axis(1, np.arange(3), 0)])
    >>> axes.bins, axes.starts, axes.n_bins
    (array([0, 1, 0, 1, 2]), array([0, 2]), array([2, 3]))
    """

    bins: IntArray
    starts: IntArray
    n_bins: IntArray

    @classmethod
    def of(cls, axes: Sequence[Axis]) -> JoinedAxes:
        """Join the axes of the features 0, 1, ..."""
        return cls(
            np.concatenate([axis.bins for axis in axes]),
            np.cumsum([0, *(len(axis.bins) for axis in axes[:-1])]),
            np.array([axis.n_bins for axis in axes], dtype=np.int64),
        )


class ScoreTest:
    """Score tests of factors that are not in a model.

    Parameters
    ----------
    fit : FactorFit
        The model.
    rows : ndarray of int
        Positions of the samples to use.

    Notes
    -----
    With sums R of the residuals and V of the variances over the samples in every cell
    and class, the statistic of a factor is ``sum R^2 / (V + ridge)``, minus its
    expectation by chance, ``phi sum V / (V + ridge)``. The dispersion phi is the sum of
    all squared residuals divided by that of all variances: less than 1 where the model
    has been fitted to the same samples closely, as it is to few.
    """

    def __init__(self, fit: FactorFit, rows: IndexArray) -> None:
        samples = fit.samples
        p = fit.posterior[rows]
        # As integers, from which residuals are subtracted in double precision.
        labels = samples.labels[rows, np.newaxis].astype(np.int64)
        weights = samples.weights[rows, np.newaxis]
        if samples.n_classes == 2:
            p = p / (1.0 + p)
            residuals = labels - p
        else:
            residuals = (labels == np.arange(p.shape[1])) - p
        variances = weights * p * (1.0 - p)
        squares = float((weights * np.square(residuals)).sum(dtype=np.float64))
        total = float(variances.sum(dtype=np.float64))
        self._dispersion = squares / max(total, TINY)
        moments = np.concatenate([weights * residuals, variances], axis=1)
        self._moments = moments.astype(np.float32)
        self._codes = np.ascontiguousarray(samples.codes[:, rows])
        self._n_jobs = samples.n_jobs
        self._is_small = samples.is_small

    def scores(self, axes: JoinedAxes, features: IntArray, ridge: float) -> FloatArray:
        """Compute the statistics of candidates, shape (n_candidates,).

        `features` has a row for every candidate, shape (n_candidates, n_axes).
        """
        found, others = np.empty(len(features)), np.arange(len(features))
        if features.shape[1] == 2 and len(features) >= MANY_PAIRS:
            in_two = self._has_two_bins(axes, features)[features].all(axis=1)
            if np.count_nonzero(in_two) >= MANY_PAIRS:
                found[in_two] = self._score_two_bins(axes, features[in_two], ridge)
                others = np.flatnonzero(~in_two)
        score = self._small_scorer if self._is_small else self._compiled_scorer
        score_few = score(axes, ridge)

        def score_some(start: int) -> None:
            some = others[start : start + CANDIDATES_AT_A_TIME]
            found[some] = score_few(features[some])

        map_threads(
            score_some, range(0, len(others), CANDIDATES_AT_A_TIME), self._n_jobs
        )
        return found

    def _compiled_scorer(self, axes: JoinedAxes, ridge: float) -> Scorer:
        from tanager.loglinear._factor_kernels import score_factors

        limits = np.array([ridge, self._dispersion])

        def score(features: IntArray) -> FloatArray:
            scores = np.empty(len(features))
            score_factors(
                self._moments, self._codes, features, axes.bins, axes.starts,
                axes.n_bins, limits, scores,
            )  # fmt: skip
            return scores

        return score

    def _small_scorer(self, axes: JoinedAxes, ridge: float) -> Scorer:
        bins = axes.bins[axes.starts[:, np.newaxis] + self._codes]

        def score(features: IntArray) -> FloatArray:
            return score_factors(
                self._moments, bins, features, axes.n_bins, ridge, self._dispersion
            )

        return score

    def _has_two_bins(self, axes: JoinedAxes, features: IntArray) -> BoolArray:
        """Whether the samples are in the first two bins of a feature only."""
        found = np.zeros(len(axes.n_bins), dtype=np.bool_)
        for j in np.unique(features):
            if axes.n_bins[j] <= 3:
                found[j] = self._bins(axes, j).max() <= 1
        return found

    def _bins(self, axes: JoinedAxes, j: int) -> IntArray:
        """Bins of the samples along the axis of a feature."""
        bins: IntArray = axes.bins[axes.starts[j] + self._codes[j]]
        return bins

    def _score_two_bins(
        self, axes: JoinedAxes, features: IntArray, ridge: float
    ) -> FloatArray:
        """Score pairs of features whose samples are in their first two bins.

        With the indicators z_j of the second bins, the sums of a moment r over the
        samples in both are ``Z' diag(r) Z`` for all pairs at once. Those over the
        three other cells follow from the sums over each feature and over all samples.
        """
        used, places = np.unique(features, return_inverse=True)
        first, second = places.reshape(features.shape).T
        indicators = np.array([self._bins(axes, j) for j in used], dtype=np.float64)
        moments = self._moments.astype(np.float64)
        n_columns = moments.shape[1] // 2
        totals = moments.sum(axis=0)

        def sum_cells(c: int) -> FloatArray:
            both = ((indicators * moments[:, c]) @ indicators.T)[first, second]
            one, other = singles[first, c], singles[second, c]
            neither = totals[c] - one - other + both
            return np.array([both, one - both, other - both, neither])

        found = np.zeros(len(features))
        with one_blas_thread():  # several might add in another order
            singles = indicators @ moments
            for c in range(n_columns):
                residuals, variances = sum_cells(c), sum_cells(n_columns + c)
                excess = np.square(residuals) - self._dispersion * variances
                found += (excess / (variances + ridge)).sum(axis=0)
        return found
