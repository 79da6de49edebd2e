"""`IncrementalScorer`: keep the log joint, and exchange one family at a time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from tanager.errors import InputError
from tanager.parameters.base import Smoothing
from tanager.scores.base import MoveScorer
from tanager.scores.family_tables import (
    ChangeTables,
    Family,
    change_tables,
    family_of,
    find_tables,
    set_widths,
)
from tanager.scores.moves import Best, Moves
from tanager.scores.scoring_data import STEPS, ScoringData
from tanager.types import FloatArray, IntArray
from tanager.utils.progress import check_stop
from tanager.utils.threads import map_threads

CACHE_BYTES = 256_000_000
"""Most memory of all tables of changes that are cached."""

BLOCK_CELLS = 2_000_000
"""Most cells of the tables of changes that a thread makes at a time."""

WAVE = 8
"""Blocks or groups scored before the best score so far is updated.

Not the number of threads, so that results do not depend on them.
"""


class Found(NamedTuple):
    """The best move of a block: its number, -1 for none, its score, and the work."""

    number: int
    score: float
    visited: int
    looked_up: int


class Scored(NamedTuple):
    """Scores of groups of moves, and the work."""

    scores: FloatArray
    visited: int
    looked_up: int = 0


class Moved(NamedTuple):
    """Moves with their tables, as the kernels for groups of moves read them.

    Table t has the axes (configuration, fold, state, class), from ``offsets[t]`` on.
    """

    children: IntArray
    sets: IntArray
    sizes: IntArray
    offsets: IntArray
    tables: FloatArray


class Packing:
    """Concatenates the tables of moves to a `Moved`; every move is added once."""

    def __init__(self, moves: Moves) -> None:
        self._moves = moves
        self._offsets = np.empty(len(moves), dtype=np.int64)
        self._sets = np.full(moves.parents.shape, -1, dtype=np.int64)
        self._tables: list[FloatArray] = [np.empty(0)]
        self._cells = 0

    def add(self, numbers: IntArray, tables: ChangeTables, places: IntArray) -> None:
        """Add moves; the table of each is that of the set at its position."""
        starts, lengths = tables.starts[places], np.diff(tables.starts)[places]
        ends = np.cumsum(lengths)
        columns = np.arange(ends[-1]) + np.repeat(starts - (ends - lengths), lengths)
        # The configuration first, so that the table of a move is contiguous.
        table = tables.delta[..., columns].transpose(3, 0, 1, 2)
        self._offsets[numbers] = self._cells + (ends - lengths) * table[0].size
        self._sets[numbers, : tables.sets.shape[1]] = tables.sets[places]
        self._tables.append(table.ravel())
        self._cells += table.size

    def moved(self) -> Moved:
        """All moves."""
        moves, tables = self._moves, np.concatenate(self._tables)
        return Moved(moves.children, self._sets, moves.sizes, self._offsets, tables)


@dataclass(frozen=True, eq=False)
class Block:
    """Moves of one child, by their numbers, that are scored together.

    `sets`, shape (n_sets, size), holds the parents after the moves, the present ones
    last. If `whole`, these are all moves of the child of this size, and their tables
    may be cached.
    """

    child: int
    sets: IntArray
    numbers: IntArray
    whole: bool = False


class IncrementalScorer(MoveScorer):
    """Scores by the log joint under frequencies, one family exchanged at a time."""

    def __init__(
        self, rows: ScoringData, smoothing: Smoothing, parents: Sequence[Sequence[int]]
    ) -> None:
        self.rows = rows
        self.smoothing = smoothing
        self.parents = [tuple(of) for of in parents]
        self.families = [
            family_of(rows, smoothing, child, of)
            for child, of in enumerate(self.parents)
        ]
        self.kept_tables: dict[int, ChangeTables] = {}
        self._recent: dict[int, float] = {}
        self.log_joint = self._prior()
        for family in self.families:
            self._add(family, 1.0)
        self._after_change()
        self.value = self._present_value()

    def best(self, moves: Moves, *, above: float) -> Best:
        """Find the best move above a score; see `MoveScorer`."""
        blocks = [
            block
            for child, numbers in moves.groups()
            for block in self.blocks(moves, child, numbers)
        ]
        # A child whose moves were good in the last step comes first: others are
        # dropped earlier.
        blocks.sort(key=lambda block: -self._recent.get(block.child, -np.inf))
        self._before(blocks)
        least = float(np.nextafter(above, np.inf))
        index, score, visited, looked_up = -1, -np.inf, 0, 0
        waves = [blocks[:1]] + [
            blocks[first : first + WAVE] for first in range(1, len(blocks), WAVE)
        ]
        for wave in waves:
            check_stop()
            mark = least
            results = map_threads(
                lambda block, mark=mark: self._best_of(block, mark),  # type: ignore[misc]
                wave,
                self.rows.n_jobs,
            )
            for block, found in zip(wave, results, strict=True):
                visited += found.visited
                looked_up += found.looked_up
                if found.number < 0:
                    continue
                self._recent[block.child] = found.score
                if found.score > score or (
                    found.score == score and found.number < index
                ):
                    index, score = found.number, found.score
                    least = max(least, score)
        return Best(
            index if index >= 0 else None, score, len(moves), visited, looked_up
        )

    def best_together(self, moves: Moves, groups: Sequence[Sequence[int]]) -> Best:
        """Find the best group of moves; see `MoveScorer`."""
        parts = []
        for some in self.batches(moves, groups):
            check_stop()
            wanted = np.unique(np.concatenate([np.asarray(group) for group in some]))
            few = Moves(moves.children[wanted], moves.parents[wanted])
            each = [np.searchsorted(wanted, group) for group in some]
            parts.append(self._scores_of(self.pack(few), each))
        scores = np.concatenate([part.scores for part in parts])
        index = int(scores.argmax())
        return Best(
            index,
            float(scores[index]),
            len(groups),
            sum(part.visited for part in parts),
            sum(part.looked_up for part in parts),
        )

    def release(self) -> None:
        """Release cached tables; see `MoveScorer`."""
        self.kept_tables.clear()

    def apply(self, child: int, parents: Sequence[int], score: float | None) -> None:
        """Give a feature new parents; see `MoveScorer`."""
        present = self.families[child]
        sets = added_parents(present, parents)
        if sets is not None:
            # One pass adds the change to the log joint.
            made = change_tables(self.rows, self.smoothing, present, sets)
            self._add(Family(child, sets[0], made.delta), 1.0)
            self.families[child] = changed_family(present, sets[0], made.delta)
        else:
            family = family_of(self.rows, self.smoothing, child, parents)
            self._add(present, -1.0)
            self._add(family, 1.0)
            self.families[child] = family
        self.parents[child] = tuple(parents)
        self.kept_tables.pop(child, None)
        self._after_change()
        self.value = self._present_value() if score is None else score

    @abstractmethod
    def _present_value(self) -> float:
        """The score of the present log joint."""

    @abstractmethod
    def _best_of(self, block: Block, least: float) -> Found:
        """Find the best move of a block with a score of at least `least`."""

    @abstractmethod
    def _scores_of(self, moved: Moved, groups: list[IntArray]) -> Scored:
        """Score every group of moves."""

    def _after_change(self) -> None:
        """Update what depends on the log joint."""

    def _before(self, blocks: Sequence[Block]) -> None:
        """Prepare for scoring blocks."""

    def batches(
        self, moves: Moves, groups: Sequence[Sequence[int]]
    ) -> list[Sequence[Sequence[int]]]:
        """Split groups into batches whose tables are made together."""
        cells = self.move_cells(moves)
        if cells.sum() * 16 <= CACHE_BYTES:
            return [groups]
        # They are in memory twice while they are concatenated.
        limit = max(1, CACHE_BYTES // 16)
        held = np.cumsum([cells[list(group)].sum() for group in groups]) // limit
        borders = np.flatnonzero(np.diff(held)) + 1
        first, last = [0, *borders.tolist()], [*borders.tolist(), len(groups)]
        return [groups[a:b] for a, b in zip(first, last, strict=True)]

    def move_cells(self, moves: Moves) -> IntArray:
        """Number of cells of the table of every move, over all folds."""
        widths = np.append(self.rows.widths, 1)[moves.parents]  # the padding is -1
        own = self.rows.n_states[moves.children] * self.rows.n_classes
        cells: IntArray = widths.prod(axis=1, dtype=np.int64) * own * self.rows.n_folds
        return cells

    def pack(self, moves: Moves, *, keep: bool = True) -> Moved:
        """Pack moves with their tables; cache these if `keep` and they are complete."""
        packing = Packing(moves)
        for child, numbers in moves.groups():
            for block in self.blocks(moves, child, numbers):
                some = block if keep else replace(block, whole=False)
                packing.add(block.numbers, *self._tables(some))
        return packing.moved()

    def keep_tables(self, moves: Moves) -> None:
        """Cache tables that will be used again, as many as fit."""
        cells = self.move_cells(moves)
        for child, numbers in moves.groups():
            check_stop()
            for block in self.blocks(moves, child, numbers):
                found = find_tables(self.kept_tables, child, block.sets)
                if not block.whole or found is not None:
                    continue
                # About as much as they and their bounds take.
                if self._kept_bytes() + 16 * cells[block.numbers].sum() <= CACHE_BYTES:
                    self._tables(block)

    def _prior(self) -> FloatArray:
        """Log prior of the classes, with ties broken, for every sample."""
        log_theta = log_prior(self.rows, self.smoothing, count_slices(self.rows))
        prior: FloatArray = (log_theta + self.rows.class_order)[self.rows.folds]
        return prior

    def _add(self, family: Family, sign: float) -> None:
        """Add a family to the log joint, or subtract it."""
        from tanager.scores import _classification_kernels

        rows = self.rows
        _classification_kernels.add_changes(
            rows.codes, rows.folds, family.parents, rows.widths, family.child,
            family.log_theta, 0, family.log_theta.shape[3], sign, self.log_joint,
        )  # fmt: skip

    def blocks(self, moves: Moves, child: int, numbers: IntArray) -> list[Block]:
        """Split moves of one child and size into blocks of limited table size."""
        return split_moves(self.rows, self.parents[child], moves, child, numbers)

    def _tables(self, block: Block) -> tuple[ChangeTables, IntArray]:
        """Tables with the sets of a block, and the position of each set."""
        found = find_tables(self.kept_tables, block.child, block.sets)
        if found is not None:
            return found
        made = change_tables(
            self.rows, self.smoothing, self.families[block.child], block.sets
        )
        if block.whole and self._kept_bytes() + made.n_bytes <= CACHE_BYTES:
            self.kept_tables[block.child] = made
        return made, np.arange(len(block.sets))

    def _kept_bytes(self) -> int:
        return sum(tables.n_bytes for tables in list(self.kept_tables.values()))


def count_slices(rows: ScoringData) -> FloatArray:
    """Weight of the samples of every slice and class, shape (n_slices, n_classes)."""
    counts = np.zeros((rows.n_slices, rows.n_classes))
    weights = np.ones(len(rows.labels)) if rows.weights is None else rows.weights
    np.add.at(counts, (rows.slices, rows.labels), weights)
    return counts


def log_prior(
    rows: ScoringData, smoothing: Smoothing, counts: FloatArray
) -> FloatArray:
    """Log prior of the classes in every fold, on the grid, from `count_slices`."""
    from tanager.scores import _family_table_kernels

    counts = counts.copy()
    if rows.n_folds > 1:
        counts = (counts.sum(axis=0) - counts)[: rows.n_folds]
    for of_fold in counts:
        _family_table_kernels.log_row(of_fold, smoothing.alpha, smoothing.zero, STEPS)
    return counts


def added_parents(present: Family, parents: Sequence[int]) -> IntArray | None:
    """A set of parents with the present ones last; None if some are taken away.

    It has shape (1, n_parents).
    """
    new = [p for p in parents if p not in present.parents]
    if len(new) + len(present.parents) != len(parents):
        return None
    return np.array([[*new, *present.parents]], dtype=np.int64)


def changed_family(present: Family, parents: IntArray, delta: FloatArray) -> Family:
    """The family of the same child after a change by which it gets more parents."""
    place = np.arange(delta.shape[3]) % present.log_theta.shape[3]
    return Family(present.child, parents, delta + present.log_theta[..., place])


def split_moves(
    rows: ScoringData,
    present: Sequence[int],
    moves: Moves,
    child: int,
    numbers: IntArray,
) -> list[Block]:
    """Split moves of one child and size into blocks of limited table size.

    `present` are the parents of the child, which every move keeps.
    """
    size = int(moves.sizes[numbers[0]])
    sets = moves.parents[numbers, :size]
    if present:
        old = np.isin(sets, present)
        if (old.sum(axis=1) != len(present)).any():
            raise InputError(
                f"Feature {child} has the parents {list(present)}; a move that is "
                "scored by frequencies must keep them and add others, got "
                f"{sets[(old.sum(axis=1) != len(present)).argmax()].tolist()}."
            )
        new = sets[~old].reshape(len(sets), size - len(present))
        kept = np.broadcast_to(np.array(present), (len(sets), len(present)))
        sets = np.hstack([new, kept])
    cells = set_widths(rows, sets) * int(
        rows.n_folds * rows.n_states[child] * rows.n_classes
    )
    if cells.sum() <= BLOCK_CELLS:
        return [Block(child, np.ascontiguousarray(sets), numbers, whole=True)]
    borders = np.flatnonzero(np.diff(np.cumsum(cells) // BLOCK_CELLS)) + 1
    return [
        Block(child, np.ascontiguousarray(some), which)
        for some, which in zip(
            np.split(sets, borders), np.split(numbers, borders), strict=True
        )
    ]
