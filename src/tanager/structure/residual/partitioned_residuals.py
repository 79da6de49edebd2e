"""Statistics of pairs of features from residuals of samples in parts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tanager.data.coded_data import ArrayData, CodedData
from tanager.data.counts import count_pairs, pair_cells, pair_offsets
from tanager.loglinear.model import LogLinearModel
from tanager.types import BoolArray, FloatArray, IntArray

ROUND_CELLS = 2_000_000
"""Cells of the tables of pairs that are summed in one round, for all classes."""


class ResidualPart:
    """The labelled samples of one part, their grouped codes and posteriors."""

    def __init__(self, part: ArrayData, group_of: Sequence[IntArray | None]) -> None:
        labelled = part.labels < part.schema.n_classes
        self.part = part if labelled.all() else part.take(np.flatnonzero(labelled))
        codes = self.part.codes.copy(order="F")
        for j, groups in enumerate(group_of):
            if groups is not None:
                codes[:, j] = groups[codes[:, j]]
        self.codes = codes
        self._kept: tuple[FloatArray, FloatArray] | None = None

    def pair_sums(
        self,
        model: LogLinearModel,
        u: FloatArray,
        n_states: Sequence[int],
        first: int,
        last: int,
    ) -> FloatArray:
        """Sums of residuals and variances by cells of pairs, of every class.

        The result has shape (n_classes, 2, n_cells); pairs as in `PairCounts`.
        """
        if self._kept is None or not np.array_equal(self._kept[0], u):
            self._kept = u, model.posterior(u, [self.part.all_rows()])
        posterior, labels = self._kept[1], self.part.labels
        none = np.zeros(len(labels), dtype=np.uint8)
        weights = self.part.weights
        sums = []
        for c in range(posterior.shape[1]):
            p = posterior[:, c]
            for values in ((labels == c) - p, p * (1.0 - p)):
                own = values if weights is None else values * weights
                found = count_pairs(
                    self.codes, none, own, n_states, 1, first, last, None
                )
                sums.append(found.values)
        n_classes = posterior.shape[1]
        return np.array(sums, dtype=np.float64).reshape(n_classes, 2, -1)


class PartitionedResiduals:
    """Residuals of samples in parts.

    Parameters
    ----------
    data : CodedData
        The samples.
    group_of : sequence of ndarray or None
        For every feature the group of each code, or None where codes are groups.
    n_states : sequence of int
        Number of groups of every feature.

    Notes
    -----
    All residuals are summed, also the small ones that `Residuals` leaves out: the
    statistics differ from those of samples in memory by up to a thousandth.
    """

    def __init__(
        self,
        data: CodedData,
        group_of: Sequence[IntArray | None],
        n_states: Sequence[int],
    ) -> None:
        self._parts = data.place(ResidualPart, list(group_of))
        self._n_states = [int(r) for r in n_states]
        self._n_classes = data.schema.n_classes

    def pair_scores(
        self, model: LogLinearModel, u: FloatArray, wanted: BoolArray, ridge: float
    ) -> FloatArray:
        """Compute the statistics of pairs; see `Residuals.pair_scores`."""
        states = self._n_states
        scores = np.full(wanted.shape, -np.inf)
        first = 0
        while first < len(states) - 1:
            last = first + 1
            per_class = ROUND_CELLS // (2 * self._n_classes)
            while last < len(states) and pair_cells(
                states, 1, first, last + 1
            ) <= per_class:  # fmt: skip
                last += 1
            if wanted[first:last].any():
                sums = self._parts.sum(
                    ResidualPart.pair_sums, model, u, states, first, last
                )
                self._fill(sums, first, last, ridge, scores)
            first = last
        scores[~np.triu(wanted, 1)] = -np.inf
        both: FloatArray = np.maximum(scores, scores.T)
        return both

    def _fill(
        self, sums: FloatArray, first: int, last: int, ridge: float, out: FloatArray
    ) -> None:
        """Write the statistics of the pairs of some features."""
        states = self._n_states
        cells = (sums[:, 0] ** 2 / (np.maximum(sums[:, 1], 0.0) + ridge)).sum(axis=0)
        offsets = pair_offsets(states, 1, first, last)
        for i, start in zip(range(first, last), offsets.tolist(), strict=True):
            others = np.arange(i + 1, len(states))
            if len(others):
                sizes = states[i] * np.array(states[i + 1 :])
                places = start + np.cumsum(sizes) - sizes
                own = cells[: start + int(sizes.sum())]
                out[i, others] = np.add.reduceat(own, places)
