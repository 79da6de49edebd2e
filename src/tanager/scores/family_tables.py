"""Log CPTs of families, and `ChangeTables`, their differences for other parents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tanager.errors import TableSizeError
from tanager.model.layout import MAX_CELLS
from tanager.parameters.base import Smoothing
from tanager.scores.scoring_data import STEPS, ScoringData
from tanager.types import FloatArray, IntArray

FloatArray32 = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Family:
    """Log CPT of one feature and its present parents.

    `log_theta` has the axes (fold, state, class, configuration), on the grid, where the
    configuration counts the last parent fastest.
    """

    child: int
    parents: IntArray
    log_theta: FloatArray


@dataclass(frozen=True, eq=False)
class ChangeTables:
    """Differences of the log CPTs of one feature, for every set of parents.

    `sets`, shape (n_sets, size), holds the parents, those of the present family last;
    `delta`, axes (fold, state, class, configuration), log probabilities less those of
    the present family. The configurations of set t start at ``starts[t]``.
    """

    child: int
    sets: IntArray
    starts: IntArray
    delta: FloatArray

    @property
    def n_bytes(self) -> int:
        """Memory, with the bounds."""
        by_class: int = self.delta[..., 0].size * (self.delta.shape[2] + 1)
        return self.delta.nbytes * 3 // 2 + 4 * by_class

    def places(self, sets: IntArray) -> IntArray | None:
        """Positions of some sets among these; None unless all are here."""
        if sets is self.sets:
            return np.arange(len(sets))
        if sets.shape[1] != self.sets.shape[1]:
            return None
        powers, known, order = self._keys
        # A feature that none of these has is no digit of their keys.
        if powers is None or sets.max(initial=0) > self.sets.max(initial=0):
            return None
        keys = sets @ powers
        found = np.searchsorted(known, keys)
        found[found == len(known)] = 0
        return order[found] if (known[found] == keys).all() else None

    @cached_property
    def _keys(self) -> tuple[IntArray | None, IntArray, IntArray]:
        """Powers that make a key of a set, the sorted keys, and the set of each."""
        base, size = int(self.sets.max(initial=0)) + 2, self.sets.shape[1]
        if base**size >= 2**62:
            return None, np.empty(0, np.int64), np.empty(0, np.int64)
        powers = base ** np.arange(size, dtype=np.int64)
        keys = self.sets @ powers
        order = np.argsort(keys, kind="stable")
        return powers, keys[order], order

    @property
    def bounds(self) -> Bounds:
        """Bounds of the changes of a margin by the tables, computed once."""
        # Not a cached_property, whose lock up to Python 3.11 is one for all tables.
        if "_bounds" not in self.__dict__:
            from tanager.scores import _family_table_kernels

            shape = self.delta.shape[:3]
            losing = np.empty(self.delta.shape, dtype=np.float32)
            top = np.empty(shape, dtype=np.float32)
            lifting = np.empty((*shape, shape[2]), dtype=np.float32)
            _family_table_kernels.pushes(self.delta, losing, top, lifting)
            self.__dict__["_bounds"] = Bounds(losing, top, lifting)
        bounds: Bounds = self.__dict__["_bounds"]
        return bounds


class Bounds(NamedTuple):
    """Bounds of the changes of a margin; see `_family_table_kernels.pushes`."""

    losing: FloatArray32
    top: FloatArray32
    lifting: FloatArray32


def set_widths(rows: ScoringData, sets: IntArray) -> IntArray:
    """Number of configurations of every set."""
    widths: IntArray = rows.widths[sets].prod(axis=1, dtype=np.int64)
    return widths


class SetPlaces(NamedTuple):
    """Where the counts and the configurations of every set of parents start.

    Both have shape (n_sets + 1,).
    """

    offsets: IntArray
    starts: IntArray


def set_places(rows: ScoringData, child: int, sets: IntArray) -> SetPlaces:
    """Lay out the counts of sets; `TableSizeError` if a table would be too large."""
    states = int(rows.n_states[child])
    widths = rows.widths[sets].astype(np.float64)  # integers overflow
    cells = widths.prod(axis=1) * (states * rows.n_classes)
    largest = int(cells.argmax())
    if cells[largest] > MAX_CELLS:
        names = [rows.names[p] for p in sets[largest]]
        raise TableSizeError(
            f"The CPT of {rows.names[child]!r} given the class and {names} would "
            f"have {cells[largest]:,.0f} cells, more than the {MAX_CELLS:,} allowed. "
            "Use a smaller k, fewer bins (a coarser encoder), group rare categories of "
            "these columns, or forbid arcs between them."
        )
    starts = np.concatenate([[0], np.cumsum(set_widths(rows, sets))]).astype(np.int64)
    return SetPlaces(starts * (states * rows.n_classes * rows.n_slices), starts)


def count_sets(
    rows: ScoringData, child: int, sets: IntArray
) -> tuple[FloatArray, IntArray, IntArray]:
    """Count every set by slice, configuration, state and class.

    Returns the counts, one set after the other, and their `SetPlaces`.
    """
    from tanager.scores import _family_table_kernels

    offsets, starts = set_places(rows, child, sets)
    counts = np.zeros(int(offsets[-1]))
    _family_table_kernels.count_sets(
        rows.codes, rows.labels, rows.slices, rows.count_weights, sets, rows.widths,
        child, int(rows.n_states[child]), rows.n_classes, rows.n_slices, offsets,
        counts,
    )  # fmt: skip
    return counts, offsets, starts


def change_tables(
    rows: ScoringData,
    smoothing: Smoothing,
    family: Family,
    sets: IntArray,
    counts: FloatArray | None = None,
) -> ChangeTables:
    """Count the sets and make their tables; the present parents come last in each.

    `counts` are those of `count_sets`, if they are known.
    """
    from tanager.scores import _family_table_kernels

    child = family.child
    offsets, starts = set_places(rows, child, sets)
    if counts is None:
        counts = count_sets(rows, child, sets)[0]
    shape = (rows.n_folds, int(rows.n_states[child]), rows.n_classes, int(starts[-1]))
    delta = np.empty(shape)
    _family_table_kernels.log_tables(
        counts, offsets, sets, rows.widths, rows.n_states, child, rows.n_classes,
        rows.n_slices, rows.n_folds, smoothing.alpha, smoothing.zero, STEPS,
        family.log_theta, starts, delta,
    )  # fmt: skip
    return ChangeTables(child, sets, starts, delta)


def find_tables(
    kept: Mapping[int, ChangeTables], child: int, sets: IntArray
) -> tuple[ChangeTables, IntArray] | None:
    """Find the tables with all sets of a feature, and the position of each set."""
    tables = kept.get(child)
    places = None if tables is None else tables.places(sets)
    return None if tables is None or places is None else (tables, places)


def family_of(
    rows: ScoringData,
    smoothing: Smoothing,
    child: int,
    parents: Sequence[int],
    counts: FloatArray | None = None,
) -> Family:
    """Make the log CPT of a feature under given parents; `counts` as there."""
    of = np.array(parents, dtype=np.int64)
    shape = (rows.n_folds, int(rows.n_states[child]), rows.n_classes, 1)
    nothing = Family(child, of[:0], np.zeros(shape))
    tables = change_tables(rows, smoothing, nothing, of[None, :], counts)
    return Family(child, of, tables.delta)
