"""`PartitionedScorer`: scores of moves, added up over samples in parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.data.folds import fold_count
from tanager.parameters.base import Smoothing
from tanager.scores.base import MoveScorer
from tanager.scores.family_tables import ChangeTables, Family, change_tables, family_of
from tanager.scores.function_scorer import SampleSum
from tanager.scores.incremental_scorer import (
    CACHE_BYTES,
    Block,
    added_parents,
    changed_family,
    count_slices,
    log_prior,
    split_moves,
)
from tanager.scores.moves import Best, Moves
from tanager.scores.scoring_data import ScoringData, WholeSizes, no_rows_error
from tanager.scores.scoring_part import (
    LabelledPart,
    ScoringPart,
    Wanted,
    count_blocks,
    make_rows,
    total_weight,
)
from tanager.types import FloatArray, IntArray
from tanager.utils.progress import check_stop

ROUND_CELLS = 8_000_000
"""Cells of the tables of moves that are scored in one round."""


class PartitionedRows:
    """Labelled samples in parts, with folds.

    `rows` has no samples, but the sizes of all tables; `placed` has those of the parts.
    `rules` and, for every part, `starts` are what `make_rows` makes them with.
    """

    def __init__(self, data: CodedData, folds: int | None) -> None:
        total = data.place(total_weight).sum(_same)
        if not total > 0.0:
            raise no_rows_error()
        sizes = data.place(LabelledPart, total).collect(LabelledPart.sizes)
        counts = np.sum([of_class for of_class, _ in sizes], axis=0)
        missing = np.sum([lacking for _, lacking in sizes], axis=0)
        before = [np.zeros_like(counts), *(of_class for of_class, _ in sizes[:-1])]
        self.starts = list(np.cumsum(before, axis=0))
        n_classes = data.schema.n_classes
        n_folds = 0 if folds is None else fold_count(counts, n_classes, folds)
        rare = n_folds > 1 and bool(((counts > 0) & (counts < n_folds)).any())
        states = data.schema.n_states[:-1].astype(np.int64)
        whole = WholeSizes(states + (missing > 0), max(n_folds, 1) + rare)
        self.rows = ScoringData(
            np.empty((len(states), 0), dtype=np.uint8),
            np.empty(0, dtype=np.int32),
            None,
            states,
            n_classes,
            np.empty(0, dtype=np.int32),
            max(n_folds, 1),
            data.n_jobs,
            tuple(data.schema.names[:-1]),
            whole,
        )
        self.rules = (total, counts, n_folds, whole)
        self.placed = data.place(make_rows, *self.rules, each=self.starts)
        self.total = total


class PartitionedScorer(MoveScorer):
    """Classification rate, or another sum over the samples, of samples in parts.

    Parameters
    ----------
    data : CodedData
        The samples.
    smoothing : Smoothing
        How counts become frequencies.
    parents : sequence of sequences of int
        The structure to start from.
    function : SampleSum or None
        The score; None is the classification rate.
    folds : int or None
        As in `ScoringData.of`.

    Notes
    -----
    Parts count sets of parents. The counts of all parts become tables of changes, which
    go back to the parts and stay there as long as they are valid. Parts then sum what
    moves gain; those that cannot be the best are dropped, and parts sum what the others
    lose. Sums of weights and of log probabilities are exact, as in
    `ClassificationScorer`: the moves found are the same.
    """

    def __init__(
        self,
        data: CodedData,
        smoothing: Smoothing,
        parents: Sequence[Sequence[int]],
        function: SampleSum | None,
        folds: int | None,
    ) -> None:
        self.smoothing = smoothing
        self.function = function
        self.parents = [tuple(of) for of in parents]
        parts = PartitionedRows(data, folds)
        self.rows = parts.rows
        self._counting = parts.placed
        slices = self._counting.sum(count_slices)
        self._scored = float(slices[: self.rows.n_folds].sum())
        empty = [
            (child, np.array([of], np.int64)) for child, of in enumerate(self.parents)
        ]
        found = self._counting.sum(count_blocks, empty)
        self.families = [
            family_of(self.rows, smoothing, child, of, own)
            for (child, of), own in zip(enumerate(self.parents), found, strict=True)
        ]
        self._parts = data.place(
            ScoringPart.of,
            parts.rules,
            function,
            log_prior(self.rows, smoothing, slices),
            tuple(self.families),  # as they are now: lost values are made of them
            each=parts.starts,
        )
        self._tables: dict[int, ChangeTables] = {}  # those that the parts have
        self._n_made = 0
        self.value = self._present_value()

    def best(self, moves: Moves, *, above: float) -> Best:
        """Find the best move above a score; see `MoveScorer`."""
        least = float(np.nextafter(above, np.inf))
        index, score = -1, -np.inf
        work = np.zeros(2, dtype=np.int64)
        for batch in self._batches(moves):
            check_stop()
            wanted = self._place_tables(batch)
            numbers = np.concatenate([block.numbers for block in batch])
            scores, more = self._scores(wanted, max(least, score))
            work += more
            reached = np.flatnonzero(scores >= max(least, score))
            if len(reached):
                top = scores[reached].max()
                first = int(numbers[reached[scores[reached] == top]].min())
                if top > score or first < index:
                    index, score = first, float(top)
        found = index if index >= 0 else None
        return Best(found, score, len(moves), *work.tolist())

    def best_together(self, moves: Moves, groups: Sequence[Sequence[int]]) -> Best:
        """Find the best group of moves; see `MoveScorer`."""
        scores = np.empty(len(groups))
        work = np.zeros(2, dtype=np.int64)
        for some in self._group_batches(moves, groups):
            check_stop()
            own = [np.asarray(groups[g]) for g in some]
            kept = np.unique(np.concatenate(own))
            few = Moves(moves.children[kept], moves.parents[kept])
            blocks = list(self._blocks(few))
            wanted = self._place_tables(blocks)
            numbered = [
                (block.numbers, one) for block, one in zip(blocks, wanted, strict=True)
            ]
            within = [np.searchsorted(kept, group) for group in own]
            found, more = self._parts.sum(
                ScoringPart.group_scores, few, numbered, within
            )
            scores[some] = found
            work += more
        scores = self._finish(scores)
        index = int(scores.argmax())
        return Best(index, float(scores[index]), len(groups), *work.tolist())

    def apply(self, child: int, parents: Sequence[int], score: float | None) -> None:
        """Give a feature new parents; see `MoveScorer`."""
        present = self.families[child]
        sets = added_parents(present, parents)
        if sets is not None:
            delta = self._change_of(present, sets)
            changes = [(Family(child, sets[0], delta), 1.0)]
            self.families[child] = changed_family(present, sets[0], delta)
        else:
            of = np.array([parents], dtype=np.int64)
            (counts,) = self._counting.sum(count_blocks, [(child, of)])
            family = family_of(self.rows, self.smoothing, child, parents, counts)
            changes = [(present, -1.0), (family, 1.0)]
            self.families[child] = family
        self.parents[child] = tuple(parents)
        self._parts.update(ScoringPart.apply, changes)
        self._drop([n for n, tables in self._tables.items() if tables.child == child])
        self.value = self._present_value() if score is None else score

    def _present_value(self) -> float:
        value = self._parts.sum(ScoringPart.value)
        if self.function is None:
            return value
        return float(self.function.round(value, self._scored))

    def _finish(self, found: FloatArray) -> FloatArray:
        """Scores from sums over the parts."""
        if self.function is None:
            return self.value + found
        return self.function.round(found, self._scored)

    def _scores(
        self, wanted: list[Wanted], least: float
    ) -> tuple[FloatArray, IntArray]:
        """Scores of moves, -inf for some that are less than `least`, and the work."""
        found, work = self._parts.sum(ScoringPart.gains, wanted)
        if self.function is not None:
            return self._finish(found), work
        scores = np.full(len(found), -np.inf)
        promising = found >= least - self.value
        if not promising.any():
            return scores, work
        borders = np.cumsum([0, *(len(one.places) for one in wanted)])
        kept = [
            Wanted(one.table, one.places[promising[a:b]])
            for one, a, b in zip(wanted, borders[:-1], borders[1:], strict=True)
            if promising[a:b].any()
        ]
        lost, more = self._parts.sum(ScoringPart.losses, kept)
        scores[promising] = self.value + (found[promising] + lost)
        return scores, work + more

    def _blocks(self, moves: Moves) -> Iterator[Block]:
        for child, numbers in moves.groups():
            yield from split_moves(
                self.rows, self.parents[child], moves, child, numbers
            )

    def _cells(self, block: Block) -> int:
        widths = self.rows.widths[block.sets].prod(axis=1, dtype=np.int64)
        states = self.rows.n_states[block.child] * self.rows.n_classes
        return int(widths.sum() * states * self.rows.n_folds)

    def _batches(self, moves: Moves) -> Iterator[list[Block]]:
        """Blocks of moves that are scored in one round."""
        batch: list[Block] = []
        cells = 0
        for block in self._blocks(moves):
            if batch and cells + self._cells(block) > ROUND_CELLS:
                yield batch
                batch, cells = [], 0
            batch.append(block)
            cells += self._cells(block)
        if batch:
            yield batch

    def _group_batches(
        self, moves: Moves, groups: Sequence[Sequence[int]]
    ) -> list[IntArray]:
        """Numbers of groups whose tables are made together."""
        widths = np.append(self.rows.widths, 1)[moves.parents]  # the padding is -1
        own = self.rows.n_states[moves.children] * self.rows.n_classes
        cells = widths.prod(axis=1, dtype=np.int64) * own * self.rows.n_folds
        if cells.sum() <= ROUND_CELLS:
            return [np.arange(len(groups))]
        held = np.cumsum([cells[list(group)].sum() for group in groups])
        borders = np.flatnonzero(np.diff(held // ROUND_CELLS)) + 1
        return np.split(np.arange(len(groups)), borders)

    def _place_tables(self, blocks: Sequence[Block]) -> list[Wanted]:
        """Give the parts the tables of blocks that they do not have."""
        wanted: list[Wanted | None] = [self._find(block) for block in blocks]
        absent = [k for k, one in enumerate(wanted) if one is None]
        if absent:
            new = [blocks[k] for k in absent]
            counts = self._counting.sum(
                count_blocks, [(block.child, block.sets) for block in new]
            )
            made = {}
            for k, block, own in zip(absent, new, counts, strict=True):
                family = self.families[block.child]
                made[self._n_made] = change_tables(
                    self.rows, self.smoothing, family, block.sets, own
                )
                wanted[k] = Wanted(self._n_made, np.arange(len(block.sets)))
                self._n_made += 1
            self._make_room(sum(tables.n_bytes for tables in made.values()), wanted)
            self._tables |= made
            self._parts.update(ScoringPart.add_tables, made)
        return [one for one in wanted if one is not None]

    def _find(self, block: Block) -> Wanted | None:
        for number, tables in self._tables.items():
            if tables.child == block.child:
                places = tables.places(block.sets)
                if places is not None:
                    return Wanted(number, places)
        return None

    def _make_room(self, n_bytes: int, wanted: Sequence[Wanted | None]) -> None:
        """Drop the oldest tables, other than those wanted now."""
        used = {one.table for one in wanted if one is not None}
        kept = n_bytes + sum(tables.n_bytes for tables in self._tables.values())
        gone = []
        for number, tables in self._tables.items():
            if kept > CACHE_BYTES and number not in used:
                gone.append(number)
                kept -= tables.n_bytes
        self._drop(gone)

    def _drop(self, numbers: Sequence[int]) -> None:
        if numbers:
            for number in numbers:
                del self._tables[number]
            self._parts.update(ScoringPart.drop_tables, list(numbers))

    def _change_of(self, present: Family, sets: IntArray) -> FloatArray:
        """The change of the log CPT of a child that gets more parents."""
        for tables in self._tables.values():
            if tables.child == present.child:
                places = tables.places(sets)
                if places is not None:
                    first, last = tables.starts[places[0] : places[0] + 2]
                    return tables.delta[..., first:last].copy()
        (counts,) = self._counting.sum(count_blocks, [(present.child, sets)])
        return change_tables(self.rows, self.smoothing, present, sets, counts).delta


def _same(value: float) -> float:
    return value
