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
        self._kept: tuple[FloatArray, FloatArray, FloatArray] | None = None

    def pair_sums(
        self,
        model: LogLinearModel,
        u: FloatArray,
        n_states: Sequence[int],
        least: float,
        first: int,
        last: int,
    ) -> FloatArray:
        """Sums of residuals and variances by cells of pairs, of every class.

        Residuals of a size below `least` are left out. The result has shape
        (n_classes, 2, n_cells); pairs as in `PairCounts`.
        """
        residuals, variances = self._residuals(model, u)
        kept = np.abs(residuals) >= least
        none = np.zeros(len(self.part.labels), dtype=np.uint8)
        sums = []
        for c in range(len(residuals)):
            for values in (residuals[c], variances[c]):
                own = np.where(kept[c], values, 0.0)
                found = count_pairs(
                    self.codes, none, own, n_states, 1, first, last, None
                )
                sums.append(found.values)
        return np.array(sums, dtype=np.float64).reshape(len(residuals), 2, -1)

    def size_sums(
        self, model: LogLinearModel, u: FloatArray, prefix: int, level: int
    ) -> FloatArray:
        """Sums of the sizes of residuals by 16 bits of their numbers.

        Of those that begin with `prefix`, the first ``16 * level`` bits; the result has
        shape (65536,).
        """
        bits = np.abs(self._residuals(model, u)[0]).ravel().view(np.uint64)
        if level:
            bits = bits[bits >> np.uint64(64 - 16 * level) == np.uint64(prefix)]
        digits = (bits >> np.uint64(48 - 16 * level)) & np.uint64(0xFFFF)
        sizes = bits.view(np.float64)
        sums = np.bincount(digits.astype(np.intp), sizes, minlength=65536)
        return sums.astype(np.float64, copy=False)

    def _residuals(
        self, model: LogLinearModel, u: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Residuals and variances, shape (n_classes, n_samples), kept for `u`."""
        if self._kept is None or not np.array_equal(self._kept[0], u):
            p = model.posterior(u, [self.part.all_rows()]).T
            residuals, variances = -p, p * (1.0 - p)
            rows = np.arange(len(self.part.labels))
            residuals[self.part.labels, rows] += 1.0
            if self.part.weights is not None:
                residuals *= self.part.weights
                variances *= self.part.weights
            self._kept = u, residuals, variances
        return self._kept[1:]


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
    The small residuals that `Residuals` leaves out are found by sums over the leading
    bits of their sizes, 16 more in every one of four rounds.
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
        self,
        model: LogLinearModel,
        u: FloatArray,
        wanted: BoolArray,
        ridge: float,
        dropped: float,
    ) -> FloatArray:
        """Compute the statistics of pairs; see `Residuals`."""
        states = self._n_states
        scores = np.full(wanted.shape, -np.inf)
        least = self._least_size(model, u, dropped)
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
                    ResidualPart.pair_sums, model, u, states, least, first, last
                )
                self._fill(sums, first, last, ridge, scores)
            first = last
        scores[~np.triu(wanted, 1)] = -np.inf
        both: FloatArray = np.maximum(scores, scores.T)
        return both

    def _least_size(
        self, model: LogLinearModel, u: FloatArray, dropped: float
    ) -> float:
        """The least size of a residual that is not left out; see `Residuals.of`."""
        prefix, below, limit = 0, 0.0, 0.0
        for level in range(4):
            sums = self._parts.sum(ResidualPart.size_sums, model, u, prefix, level)
            totals = below + np.cumsum(sums)
            if level == 0:
                limit = dropped * float(totals[-1])
            found = int(np.searchsorted(totals, limit, side="right"))
            # Rounding may put the limit beyond the sum of what is left.
            found = min(found, int(np.flatnonzero(sums).max(initial=0)))
            below = float(totals[found - 1]) if found else below
            prefix = prefix << 16 | found
        size: float = np.array([prefix], dtype=np.uint64).view(np.float64)[0]
        return float(size)

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
