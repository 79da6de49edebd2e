"""`Counts` of families, and `PairCounts` of all pairs of features in one pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isqrt, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from tanager.errors import InputError
from tanager.model.layout import FamilyLayout
from tanager.types import BoolArray, CodeArray, FloatArray, IndexArray, IntArray
from tanager.utils import jit
from tanager.utils.stored_fields import StoredFields
from tanager.utils.threads import map_threads, n_threads

COUNTS_AT_ONCE = 100_000_000
"""Increments of one call of a kernel, about: between two calls work can be ended."""

GROUP_CELLS = 4096
"""Cells of a joint table that stay in the first-level cache."""


@dataclass(frozen=True, eq=False)
class Counts:
    """Weighted counts of every table of a layout.

    Parameters
    ----------
    layout : FamilyLayout
        The tables.
    values : ndarray of float64, shape (layout.n_cells,)
        The counts, one table after the other.

    Examples
    --------
    >>> layout = FamilyLayout.of_families((2,), ((0,),), None)
    >>> one = Counts(layout, np.array([3.0, 1.0]))
    >>> (one + one).values.tolist()
    [6.0, 2.0]
    """

    layout: FamilyLayout
    values: FloatArray

    def __add__(self, other: Counts) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        if self.layout != other.layout:
            raise InputError(
                "Only counts of the same families over the same states can be added; "
                "bring both to one schema first."
            )
        return Counts(self.layout, self.values + other.values)

    def scale(self, weight: float) -> Counts:
        """Multiply all counts."""
        return Counts(self.layout, weight * self.values)

    def table(self, index: int) -> FloatArray:
        """Counts of table `index`, axes in memory order."""
        return self.layout.table(self.values, index)

    def recode(
        self, n_states: Sequence[int], positions: Sequence[IndexArray]
    ) -> Counts:
        """Move the counts to a schema with more states.

        For every variable `n_states` is the new number of states and `positions` has
        the new code of each of its old states, -1 for one that is dropped.
        """
        old = self.layout
        layout = FamilyLayout(
            tuple(int(r) for r in n_states), old.axes, old.owners, old.target
        )
        moved = Counts(layout, np.zeros(layout.n_cells))
        for index, axes in enumerate(layout.axes):
            move_cells(
                self.table(index), moved.table(index), [positions[v] for v in axes]
            )
        return moved


@dataclass(frozen=True, eq=False)
class PairCounts(StoredFields):
    """Counts of (x_i, x_j, class) for pairs of features i < j.

    A pair is counted over the samples in which both features are observed.

    Parameters
    ----------
    n_states : tuple of int
        Number of states of every feature.
    n_classes : int
        Number of classes.
    values : ndarray of uint32 or float64, shape (n_cells,)
        The tables one after the other: by i, then by j, each with axes
        (i, j, class) in memory order.
    first, last : int
        The pairs held are those with ``first <= i < last``.
    """

    n_states: tuple[int, ...]
    n_classes: int
    values: npt.NDArray[np.uint32] | FloatArray
    first: int
    last: int

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.n_states)

    @property
    def n_pairs(self) -> int:
        """Number of pairs held."""
        return sum(self.n_features - 1 - i for i in range(self.first, self.last))

    @cached_property
    def offsets(self) -> IntArray:
        """Start of the table (i, i + 1) for every i from `first` on."""
        return pair_offsets(self.n_states, self.n_classes, self.first, self.last)

    def table(self, i: int, j: int) -> npt.NDArray[np.uint32] | FloatArray:
        """Counts with axes (i, j, class), for i and j in either order."""
        if i > j:
            return self.table(j, i).transpose(1, 0, 2)
        if not self.first <= i < min(j, self.last):
            raise InputError(f"The pair ({i}, {j}) is not among those counted.")
        r_i = self.n_states[i]
        before = sum(self.n_states[i + 1 : j]) * r_i * self.n_classes
        start = int(self.offsets[i - self.first]) + before
        shape = (r_i, self.n_states[j], self.n_classes)
        return self.values[start : start + int(np.prod(shape))].reshape(shape)

    def __add__(self, other: PairCounts) -> PairCounts:
        if not isinstance(other, PairCounts):
            return NotImplemented
        mine = (self.n_states, self.n_classes, self.first, self.last)
        if mine != (other.n_states, other.n_classes, other.first, other.last):
            raise InputError("Only counts of the same pairs can be added.")
        # As float64: the sum of two 32-bit counts may need more bits.
        values = self.values.astype(np.float64) + other.values
        return PairCounts(self.n_states, self.n_classes, values, self.first, self.last)

    def scale(self, weight: float) -> PairCounts:
        """Multiply all counts."""
        return replace(self, values=weight * self.values.astype(np.float64))

    def recode(
        self,
        n_states: Sequence[int],
        n_classes: int,
        positions: Sequence[IndexArray],
    ) -> PairCounts:
        """Move the counts to more states; `positions` as in `Counts.recode`."""
        states = tuple(int(r) for r in n_states)
        cells = pair_cells(states, n_classes, self.first, self.last)
        values = np.zeros(cells, dtype=np.float64)
        moved = PairCounts(states, n_classes, values, self.first, self.last)
        for i in range(self.first, self.last):
            for j in range(i + 1, self.n_features):
                axes = [positions[i], positions[j], positions[-1]]
                move_cells(self.table(i, j), moved.table(i, j), axes)
        return moved


def pair_cells(
    n_states: Sequence[int], n_classes: int, first: int = 0, last: int | None = None
) -> int:
    """Cells of all pair tables with first <= i < last, as an exact integer."""
    last = len(n_states) if last is None else last
    after = sum(n_states[last:])
    cells = 0
    for i in range(last - 1, first - 1, -1):
        cells += n_states[i] * after
        after += n_states[i]
    return cells * n_classes


def pair_offsets(
    n_states: Sequence[int], n_classes: int, first: int, last: int
) -> IntArray:
    """Start of the table (i, i + 1) for first <= i < last, shape (last - first,)."""
    states = np.asarray(n_states, dtype=np.int64)
    after = states.sum() - np.cumsum(states)
    sizes = states[first:last] * after[first:last] * n_classes
    starts: IntArray = np.cumsum(sizes) - sizes
    return starts


def count_tables(
    codes: CodeArray,
    labels: npt.NDArray[np.integer],
    weights: FloatArray | None,
    layout: FamilyLayout,
    n_jobs: int | None,
) -> Counts:
    """Count every table of a layout, over rows where all of its variables are observed.

    `codes` (n_rows, n_features) in Fortran order; the number of states means missing.
    """
    counts = Counts(layout, np.zeros(layout.n_cells))
    if len(codes) * layout.n_tables > jit.SMALL_WORK:
        _count_tables_by_kernel(codes, labels, weights, counts, n_jobs)
        return counts
    # One bincount per table.
    for index, axes in enumerate(layout.axes):
        seen = np.ones(len(codes), dtype=np.bool_)
        joint = np.zeros(len(codes), dtype=np.int64)
        for v in axes:
            column = labels if v == layout.target else codes[:, v]
            seen &= column < layout.n_states[v]
            joint = joint * layout.n_states[v] + column
        some_weights = None if weights is None else weights[seen]
        cells = np.bincount(joint[seen], some_weights, layout.sizes[index])
        counts.table(index)[...] = cells.reshape(layout.shapes[index])
    return counts


def _count_tables_by_kernel(
    codes: CodeArray,
    labels: npt.NDArray[np.integer],
    weights: FloatArray | None,
    counts: Counts,
    n_jobs: int | None,
) -> None:
    """Count by kernels: single features in groups, other families one by one.

    One thread counts a table over all rows in order, so the sums do not depend on the
    number of threads.
    """
    from tanager.data import _kernels

    layout, compiled = counts.layout, counts.layout.compiled
    n_states = np.array(layout.n_states, dtype=np.int64)
    some_weights = np.empty(0) if weights is None else weights
    rest = np.arange(layout.n_tables)
    table_of = {
        axes[0]: t
        for t, axes in enumerate(layout.axes)
        if len(axes) == 2 and axes[1] == layout.target
    }
    if len(table_of) == len(n_states) - 1:
        # Every feature with the class: several features by one increment.
        rest = np.delete(rest, list(table_of.values()))
        states, n_classes = n_states[:-1], compiled.n_classes
        widths = column_widths(codes, states)
        starts = group_starts(widths, GROUP_CELLS // (n_classes + 1))
        size = int(np.multiply.reduceat(widths, starts[:-1]).max()) * (n_classes + 1)
        offsets = layout.offsets[[table_of[j] for j in range(len(states))]]
        _map_parts(
            lambda groups: _kernels.count_singles(
                codes.T, labels, some_weights, widths, states, n_classes, starts,
                groups, offsets, np.empty(size), counts.values,
            ),
            np.arange(len(starts) - 1, dtype=np.int64),
            len(labels),
            n_jobs,
        )  # fmt: skip
    sizes = np.array(layout.sizes, dtype=np.int64)
    _map_parts(
        lambda tables: _kernels.count_tables(
            codes.T, labels, some_weights, n_states, compiled.offsets, compiled.start,
            compiled.axis_variable, compiled.axis_stride, compiled.has_class, sizes,
            compiled.n_classes, tables, counts.values,
        ),
        rest.astype(np.int64),
        len(labels),
        n_jobs,
    )  # fmt: skip


def _map_parts(
    count: Callable[[IntArray], None],
    numbers: IntArray,
    n_rows: int,
    n_jobs: int | None,
) -> None:
    """Split tables or groups into one part per thread, or more where there are many."""
    n_parts = max(n_threads(n_jobs), len(numbers) * n_rows // COUNTS_AT_ONCE)
    n_parts = max(1, min(len(numbers), n_parts))
    parts = [numbers[p::n_parts] for p in range(n_parts)]
    map_threads(count, parts, n_jobs, what="counts", unit="part")


def count_pairs(
    codes: CodeArray,
    labels: npt.NDArray[np.integer],
    weights: FloatArray | None,
    n_states: Sequence[int],
    n_classes: int,
    first: int,
    last: int,
    n_jobs: int | None,
) -> PairCounts:
    """Count all pairs (i, j), first <= i < last, i < j, given the class.

    `codes` (n_rows, n_features) in Fortran order; a row whose label is the number of
    classes, which means missing, is not counted.
    """
    states = tuple(int(r) for r in n_states)
    cells = pair_cells(states, n_classes, first, last)
    dtype: Any = np.uint32 if weights is None else np.float64
    values = np.zeros(cells, dtype=dtype)
    pairs = PairCounts(states, n_classes, values, first, last)
    if len(codes) * pairs.n_pairs > jit.SMALL_WORK:
        _count_grouped(codes, labels, weights, pairs, n_jobs)
    else:
        _count_by_bincount(codes, labels, weights, pairs)
    return pairs


def _count_by_bincount(
    codes: CodeArray,
    labels: npt.NDArray[np.integer],
    weights: FloatArray | None,
    pairs: PairCounts,
) -> None:
    """Fill `pairs` in NumPy: one bincount per pair, for small inputs."""
    states, n_classes = pairs.n_states, pairs.n_classes
    wide = codes.astype(np.int64)
    label = labels.astype(np.int64)
    for i in range(pairs.first, pairs.last):
        for j in range(i + 1, pairs.n_features):
            # One state more on every axis for missing values, cut off again below.
            joint = wide[:, i] * (states[j] + 1) + wide[:, j]
            shape = (states[i] + 1, states[j] + 1, n_classes + 1)
            cells = np.bincount(joint * (n_classes + 1) + label, weights, prod(shape))
            pairs.table(i, j)[...] = cells.reshape(shape)[:-1, :-1, :-1]


def _count_grouped(
    codes: CodeArray,
    labels: npt.NDArray[np.integer],
    weights: FloatArray | None,
    pairs: PairCounts,
    n_jobs: int | None,
) -> None:
    """Fill `pairs` by kernels, counting groups of features at once.

    Consecutive features with few states form a group with a joint code. One increment
    in the table of two groups of two features each serves the four pairs across them,
    which are marginalised afterwards; that takes about a quarter of the increments. One
    thread counts a pair of groups over all rows in order, so the result is the same for
    any number of threads.
    """
    from tanager.data import _kernels

    n_rows = codes.shape[0]
    states = np.array(pairs.n_states, dtype=np.int64)
    columns = codes.T
    widths = column_widths(codes, states)
    limit = isqrt(GROUP_CELLS // (pairs.n_classes + 1))
    starts = group_starts(widths, limit, pairs.first, pairs.last)
    group_widths = np.multiply.reduceat(widths, starts[:-1])
    n_groups = len(group_widths)
    if n_groups == len(states) - pairs.first:
        joint = columns[pairs.first :]
    else:
        joint = np.empty(
            (n_groups, n_rows), np.min_scalar_type(int(group_widths.max()))
        )
        map_threads(
            lambda g: _kernels.join_codes(
                columns, widths, starts[g], starts[g + 1], joint[g]
            ),
            range(n_groups),
            n_jobs,
        )
    outer = [g for g in range(n_groups) if starts[g] < pairs.last]
    work = np.array(
        [(g, h) for g in outer for h in range(g, n_groups)], dtype=np.int64
    ).reshape(-1, 2)
    some_weights = np.empty(0) if weights is None else weights
    sizes = group_widths[work[:, 0]] * np.where(
        work[:, 0] == work[:, 1], 1, group_widths[work[:, 1]]
    )
    # One more class for rows whose label is missing; it is dropped at the end.
    class_width = pairs.n_classes + 1
    scratch_cells = int(sizes.max()) * class_width

    def count(part: IntArray) -> None:
        even = np.empty(scratch_cells, dtype=pairs.values.dtype)
        odd = np.empty(scratch_cells, dtype=pairs.values.dtype)
        _kernels.count_group_pairs(
            joint, labels, some_weights, widths, states, pairs.n_classes, starts,
            group_widths, class_width, part, pairs.first, pairs.offsets, even, odd,
            pairs.values,
        )  # fmt: skip

    # Several parts per thread, so that all threads end at about the same time.
    n_parts = 1 if n_threads(n_jobs) == 1 else 8 * n_threads(n_jobs)
    n_parts = min(len(work), max(n_parts, len(work) * n_rows // COUNTS_AT_ONCE))
    parts = [work[part::n_parts] for part in range(n_parts)]
    map_threads(count, parts, n_jobs, what="counts of pairs", unit="part")


def column_widths(codes: CodeArray, n_states: IntArray) -> IntArray:
    """States of every column, and one more if a value is missing: (n_features,)."""
    some_missing: BoolArray = codes.max(axis=0, initial=0) >= n_states
    return n_states + some_missing


def group_starts(
    widths: IntArray, limit: int, first: int = 0, border: int | None = None
) -> IntArray:
    """Starts of groups of consecutive features from `first` on, and the end.

    A group grows while the product of its widths is at most `limit`, and never crosses
    `border`. A feature that is wider by itself is a group of its own.
    """
    starts = [first]
    width = 1
    for j in range(first, len(widths)):
        if j > starts[-1] and (j == border or width * int(widths[j]) > limit):
            starts.append(j)
            width = 1
        width *= int(widths[j])
    return np.array([*starts, len(widths)], dtype=np.int64)


def move_cells(
    source: npt.NDArray[Any],
    target: npt.NDArray[Any],
    positions: Sequence[IndexArray],
) -> None:
    """Copy a table into a larger one; `positions` as in `Counts.recode`, per axis."""
    kept = [np.flatnonzero(position >= 0) for position in positions]
    new = [position[old] for position, old in zip(positions, kept, strict=True)]
    target[np.ix_(*new)] = source[np.ix_(*kept)]
