"""`NumericSummary`: the weights of the values of a numeric column, which add."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tanager.encoding.column_facts import is_whole, tells_apart
from tanager.encoding.numeric_encoders import distinct_counts, midpoints
from tanager.types import AnyArray, FloatArray, IndexArray, LabelArray
from tanager.utils.time_values import round_times

if TYPE_CHECKING:
    from tanager.encoding.numeric_encoders import NumericEncoder

MAX_DISTINCT = 65_536
"""Distinct values up to which a summary is exact."""


@dataclass(frozen=True, eq=False)
class NumericSummary:
    """The weight of every value of a numeric column, by class; summaries add.

    Parameters
    ----------
    n_observed, n_missing : int
        Number of rows with and without a value.
    low, high : ndarray of shape (n_cells,), float64
        Least and greatest value in every cell, increasing.
    counts : ndarray of shape (n_cells, n_classes), float64
        Weight of every cell in every class, or in all together.
    level : int, default=0
        Floats that differ in their last `level` bits only are in one cell. Zero means
        that every distinct value has its own cell: the summary is exact.
    max_cells : int, default=65,536
        Greatest number of cells.
    by_class : bool, default=False
        Whether there is a column of counts for every class, and not one for all.
    unit : {"datetime", "time", "timedelta"} or None, default=None
        What the values are in seconds, if they are dates or times.
    n_values, n_distinct : int, default=0
        Number of rows in the cells, and of different values. Once the summary is no
        longer exact, values that several batches share count in each of them.
    whole : bool, default=True
        Whether all values are whole numbers.
    separate : bool, default=True
        Whether floats tell all values of a batch apart; integers beyond 2^53 may not.

    Notes
    -----
    The level is the least one at which there are at most `max_cells` cells, so the
    summary is a function of the values and weights alone: it does not depend on how
    they were split into batches or on the order of these. Cells of a level are
    intervals, and every cell of a level is inside one of the next. One level more at
    most halves their number, so a summary that is not exact has at least
    ``max_cells / 2`` cells.

    *Error bound.* Cuts between values are cuts between cells, and each lies halfway
    between two neighbouring values, as those of the exact summary. At level ``l`` the
    values of a cell differ by less than ``2**(l - 52)`` of their size. The weight
    between an exact quantile and the cut that replaces it is less than that of one
    cell, at most `rank_error` of the total.

    Examples
    --------
    >>> def summary(values):
    ...     return NumericSummary.of(np.array(values), max_cells=3)
    >>> (summary([1.0, 2.0]) + summary([2.0])).counts.ravel()
    array([1., 2.])
    >>> four = summary([1.0, 1.5]) + summary([8.0, 9.0])
    >>> four.low, four.high, four.is_exact
    (array([1. , 1.5, 8. ]), array([1. , 1.5, 9. ]), False)
    """

    n_observed: int
    n_missing: int
    low: FloatArray
    high: FloatArray
    counts: FloatArray
    level: int = 0
    max_cells: int = MAX_DISTINCT
    by_class: bool = False
    unit: str | None = None
    n_values: int = 0
    n_distinct: int = 0
    whole: bool = True
    separate: bool = True

    @classmethod
    def of(
        cls,
        values: AnyArray,
        labels: LabelArray | None = None,
        weights: FloatArray | None = None,
        *,
        n_classes: int = 1,
        by_class: bool = False,
        max_cells: int = MAX_DISTINCT,
        unit: str | None = None,
    ) -> NumericSummary:
        """Summarise the values of one batch.

        `values` (n_rows,) are finite, or NaN where missing. `labels` (n_rows,) are
        below `n_classes`, which marks rows whose class is missing; these count as
        observed only. None puts all rows into one class. `weights` (n_rows,) are
        positive; None means one each.
        """
        keep = None
        n_observed = len(values)
        if values.dtype.kind == "f":
            known = ~np.isnan(values)
            n_observed = int(np.count_nonzero(known))
            keep = None if n_observed == len(values) else known
        n_missing = len(values) - n_observed
        if labels is not None and (labels == n_classes).any():
            labelled = labels != n_classes
            keep = labelled if keep is None else keep & labelled
        if keep is not None:
            values = values[keep]
            labels = None if labels is None else labels[keep]
            weights = None if weights is None else weights[keep]
        low, counts = np.empty(0), np.empty((0, n_classes))
        if len(values):
            low, found = distinct_counts(values, labels, weights)
            low = low + 0.0  # no negative zero, which has other bits than zero
            counts = np.zeros((len(low), n_classes))
            counts[:, : found.shape[1]] = found
        whole = unit is None and is_whole(low)
        summary = cls(
            n_observed, n_missing, low, low, counts, 0, max_cells, by_class, unit,
            len(values), len(low), whole, not whole or tells_apart(values),
        )  # fmt: skip
        return summary._coarsen(0)

    @property
    def is_exact(self) -> bool:
        """Whether every distinct value has its own cell."""
        return self.level == 0

    @property
    def rank_error(self) -> float:
        """Greatest fraction of the weight in one cell of several values."""
        joined = self.counts[self.low < self.high].sum(axis=1)
        total = float(self.counts.sum())
        return float(joined.max(initial=0.0)) / total if total else 0.0

    def __add__(self, other: NumericSummary) -> NumericSummary:
        if not isinstance(other, NumericSummary):
            return NotImplemented
        low = np.concatenate([self.low, other.low])
        order = np.argsort(low, kind="stable")  # both are sorted: a merge
        high = np.concatenate([self.high, other.high])[order]
        counts = np.concatenate([self.counts, other.counts])[order]
        both = NumericSummary(
            self.n_observed + other.n_observed,
            self.n_missing + other.n_missing,
            low[order],
            high,
            counts,
            max(self.level, other.level),
            min(self.max_cells, other.max_cells),
            self.by_class,
            self.unit if self.n_observed else other.unit,
            self.n_values + other.n_values,
            self.n_distinct + other.n_distinct,
            self.whole and other.whole,
            self.separate and other.separate,
        )
        both = both._coarsen(both.level)
        return replace(both, n_distinct=len(both.low)) if both.is_exact else both

    def select_classes(self, positions: IndexArray, n_classes: int) -> NumericSummary:
        """Move the weight of class `i` to class ``positions[i]`` of `n_classes`."""
        counts = np.zeros((len(self.counts), n_classes))
        counts[:, positions] = self.counts
        return replace(self, counts=counts)

    def find_cuts(self, encoder: NumericEncoder, scale: float = 1.0) -> FloatArray:
        """Find the cut points of the column, with weights multiplied by `scale`.

        They equal those of ``encoder.cuts_of`` on all rows if the summary is exact and
        the weights are whole numbers.
        """
        if not len(self.low):
            return np.empty(0)
        values = self.low.copy()
        values[-1] = self.high[-1]  # the range is exact, for cuts of equal width
        cells, classes = np.nonzero(self.counts)
        weights = self.counts[cells, classes] * scale
        labels = classes if encoder.uses_labels else None
        cuts = encoder.find_cuts(values[cells], labels, weights)
        if not self.is_exact and encoder.cuts_between_values:
            cell = np.searchsorted(values, cuts, side="right") - 1
            cuts = midpoints(self.high[cell], self.low[cell + 1])
        if self.unit is not None and len(cuts):
            cuts = round_times(cuts, np.concatenate([self.low, self.high]))
        return cuts

    def _coarsen(self, level: int) -> NumericSummary:
        """Join neighbouring cells that are one at `level`, or as high as needed."""
        # The bits of floats, read as integers: neighbours in value that share all but
        # the last bits are in one cell, and cells of one sign are in order.
        bits = self.low.view(np.int64)
        differing = (bits[1:] ^ bits[:-1]).view(np.uint64)
        fresh = differing >> np.uint64(level) != 0
        while np.count_nonzero(fresh) >= self.max_cells:
            level += 1
            fresh = differing >> np.uint64(level) != 0
        if fresh.all():
            return replace(self, level=level)
        starts = np.concatenate([[0], np.flatnonzero(fresh) + 1])
        return replace(
            self,
            low=self.low[starts],
            high=np.maximum.reduceat(self.high, starts),
            counts=np.add.reduceat(self.counts, starts, axis=0),
            level=level,
        )
