"""Score statistics of pairs of features, from the residuals of a classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tanager.types import BoolArray, CodeArray, FloatArray, IntArray
from tanager.utils.threads import map_threads

BATCH_CELLS = 16_384
"""Cells of the sums of one feature with others: they stay in the second-level cache."""

DROPPED = 1e-3
"""Fraction of the residuals, the smallest ones, that is left out of the sums."""


@dataclass(frozen=True, eq=False)
class Residuals:
    """Residuals ``1[c = c_m] - P(c | x_m)`` and variances ``P (1 - P)``, by class.

    Most samples are almost certain of most classes: small residuals are left out.
    `rows`, `residuals` and `variances`, both times the sample weight, have shape
    (n_entries,); the entries of class c are those from ``bounds[c]`` to
    ``bounds[c + 1]``, in order of the samples.
    """

    rows: IntArray
    bounds: IntArray
    residuals: FloatArray
    variances: FloatArray

    @classmethod
    def of(
        cls,
        posterior: FloatArray,
        labels: npt.NDArray[np.integer],
        weights: FloatArray | None = None,
        *,
        dropped: float = DROPPED,
    ) -> Residuals:
        """List the residuals, given P(c | x), shape (n_samples, n_classes).

        Unlabelled samples, whose label is the number of classes, have no residuals. The
        smallest residuals, in absolute value, are left out as long as they sum to no
        more than the fraction `dropped` of all. A variance is never larger than its
        residual, so no sum of either, over any samples, is off by more than that.
        """
        n_classes = posterior.shape[1]
        residuals = -posterior.T
        known = np.flatnonzero(labels < n_classes)
        residuals[labels[known], known] += 1.0
        residuals[:, labels >= n_classes] = 0.0
        variances = posterior.T * (1.0 - posterior.T)
        if weights is not None:
            residuals *= weights
            variances *= weights
        sizes = np.abs(residuals)
        ordered = np.sort(sizes, axis=None)
        sums = np.cumsum(ordered)
        small = int(np.searchsorted(sums, dropped * sums[-1], side="right"))
        # Equal ones are all kept: the order of the rows decides nothing.
        least = ordered[min(small, len(ordered) - 1)]
        classes, rows = np.nonzero((sizes >= least) & (sizes > 0.0))
        return cls(
            rows.astype(np.int64),
            np.searchsorted(classes, np.arange(n_classes + 1)).astype(np.int64),
            residuals[classes, rows],
            variances[classes, rows],
        )

    def pair_scores(
        self,
        codes: CodeArray,
        n_states: Sequence[int],
        wanted: BoolArray,
        ridge: float,
        n_jobs: int | None = None,
    ) -> FloatArray:
        """Compute the statistics of pairs of features, shape (n_features, n_features).

        ``S_ij = sum_abc (sum of R)^2 / (sum of V + ridge)`` over the samples with
        x_i = a and x_j = b; symmetric, -inf for pairs i < j that are not `wanted`.
        `codes` have shape (n_samples, n_features), in C order; the number of states
        means missing, and such a sample does not count for this feature's pairs.
        """
        from tanager.structure.residual import _kernels

        states = np.asarray(n_states, dtype=np.int64)
        offsets = np.cumsum(states + 1) - states - 1
        entries = (self.rows, self.bounds, self.residuals, self.variances)
        singles = np.zeros((len(self.bounds) - 1, 2 * int((states + 1).sum())))
        _kernels.single_sums(codes, *entries, offsets, singles)
        scores = np.full(wanted.shape, -np.inf)
        work = []
        for first in range(len(states)):
            others = np.flatnonzero(wanted[first, first + 1 :]) + first + 1
            # The sums of a batch of the feature's partners stay in the cache.
            cells = np.cumsum(states[others] + 1) * int(states[first] + 1)
            cuts = np.flatnonzero(np.diff(cells // BATCH_CELLS)) + 1
            work += [(first, part) for part in np.split(others, cuts) if len(part)]
        map_threads(
            lambda item: _kernels.score_statistics(
                codes, *entries, states, offsets, singles, *item, ridge, scores[item[0]]
            ),
            work,
            n_jobs,
        )
        both: FloatArray = np.maximum(scores, scores.T)
        return both
