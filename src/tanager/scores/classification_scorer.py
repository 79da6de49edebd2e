"""`ClassificationScorer`: classification rate by visiting few samples."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np

from tanager.scores.family_tables import ChangeTables
from tanager.scores.incremental_scorer import (
    Block,
    Found,
    IncrementalScorer,
    Moved,
    Scored,
)
from tanager.scores.moves import Best, Moves
from tanager.scores.superparent_bounds import SuperparentBounds
from tanager.types import FloatArray, IntArray
from tanager.utils.threads import map_threads

MANY = 16
"""Blocks from which on sorting the samples before every call pays."""

PART_ROWS = 2048
"""Least number of samples by which one thread compares groups of moves at a time."""

MOST_PARTS = 64
"""Most parts that the samples are divided into for it."""


class ClassificationScorer(IncrementalScorer):
    """Classification rate (CR), by visiting only the samples that may change.

    Notes
    -----
    Let d be the margin of a sample, the log joint of its class minus that of the best
    other class, and D the change of its log joint by a move. A wrong sample can become
    correct only if D[y] - D[c] > -d for the class c that beats it, and a correct one
    wrong only if max D[c] - D[y] > d. All other samples are not visited. Wrong samples
    come first: they bound the gain of a move, and moves that cannot beat the best one
    are dropped before any correct sample is visited.
    """

    _changes = 0
    _next_sort = 1
    _bounds: SuperparentBounds | None = None

    def _after_change(self) -> None:
        from tanager.scores import _classification_kernels

        n_rows = len(self.rows.labels)
        self._margin = np.empty(n_rows)
        self._rival = np.empty(n_rows, dtype=np.int32)
        _classification_kernels.margins(
            self.log_joint, self.rows.labels, self._margin, self._rival
        )
        self._sorted = False
        self._changes += 1

    def _before(self, blocks: Sequence[Block]) -> None:
        if self._sorted or (len(blocks) < MANY and self._changes < self._next_sort):
            return
        # Only time depends on it: for few blocks it is enough now and then.
        self._next_sort = 16 * self._changes
        self._sort()

    def _sort(self) -> None:
        """Sort the samples by margin: wrong ones first, then the closest to wrong."""
        if self._sorted:
            return
        order = np.argsort(self._margin)
        self.rows = self.rows.reorder(order)
        self.log_joint = self.log_joint[order]
        self._margin, self._rival = self._margin[order], self._rival[order]
        if self._bounds is not None:
            self._bounds.reorder(order)
        self._sorted = True

    def _present_value(self) -> float:
        return float(self.rows.score_weights[self._margin > 0].sum())

    def _best_of(self, block: Block, least: float) -> Found:
        tables, chosen = self._tables(block)
        wrong, right = self._in_reach(tables)
        gain, work = self._gain(tables, wrong, chosen)
        needed = least - self.value
        top = int(gain.argmax())
        if gain[top] < needed:
            return Found(-1, -np.inf, *work.tolist())
        promising = np.flatnonzero(gain >= needed)
        if len(promising) > 1:
            # The score of the most promising move is a bound for all others.
            one = gain[top : top + 1].copy()
            work += self._lose(tables, right, chosen[top : top + 1], -np.inf, one)
            needed = max(needed, float(one[0]))
            promising = promising[gain[promising] >= needed]
        gain = gain[promising]
        work += self._lose(tables, right, chosen[promising], needed, gain)
        if not len(gain) or gain.max() < needed:
            return Found(-1, -np.inf, *work.tolist())
        best = int(gain.argmax())
        return Found(
            int(block.numbers[promising[best]]),
            self.value + float(gain[best]),
            *work.tolist(),
        )

    def _in_reach(self, tables: ChangeTables) -> tuple[IntArray, IntArray]:
        """Find wrong and correct samples whose class some of the tables may change."""
        from tanager.scores import _classification_kernels

        rows, bounds = self.rows, tables.bounds
        column = rows.codes[tables.child]
        if self._sorted:
            last = np.searchsorted(self._margin, float(bounds.top.max()))
            column = column[:last]
        wrong = np.empty(len(column) + 1, dtype=np.int64)
        right = np.empty(len(column) + 1, dtype=np.int64)
        n_wrong, n_right = _classification_kernels.rows_in_reach(
            column, rows.labels, rows.folds, rows.score_weights,
            self._margin, self._rival, bounds.top, bounds.lifting, wrong, right,
        )  # fmt: skip
        return wrong[:n_wrong], right[:n_right]

    def _gain(
        self, tables: ChangeTables, wrong: IntArray, chosen: IntArray
    ) -> tuple[FloatArray, IntArray]:
        """Weight gained by moves; and samples visited and looked up."""
        from tanager.scores import _classification_kernels

        rows, gain = self.rows, np.zeros(len(chosen))
        work = _classification_kernels.gains(
            rows.rows, rows.labels, rows.folds, rows.score_weights, self.log_joint,
            self._margin, self._rival, wrong, tables.delta, tables.bounds.lifting,
            tables.sets, rows.widths, tables.starts, tables.child, chosen, gain,
        )  # fmt: skip
        return gain, np.array(work)

    def _lose(
        self,
        tables: ChangeTables,
        right: IntArray,
        chosen: IntArray,
        least: float,
        gain: FloatArray,
    ) -> IntArray:
        """Subtract the weight lost; return samples visited and looked up."""
        from tanager.scores import _classification_kernels

        rows, bounds = self.rows, tables.bounds
        return np.array(
            _classification_kernels.losses(
                rows.rows, rows.labels, rows.folds, rows.score_weights, self.log_joint,
                self._margin, right, tables.delta, bounds.losing, bounds.lifting,
                tables.sets, rows.widths, tables.starts, tables.child, chosen, least,
                gain,
            )
        )  # fmt: skip

    def _scores_of(self, moved: Moved, groups: list[IntArray]) -> Scored:
        from tanager.scores import _move_group_kernels

        rows, n_rows = self.rows, len(self.rows.labels)
        members = np.concatenate(groups)
        borders = np.cumsum([0, *map(len, groups)])
        # Every part needs an array of gains: not too many parts.
        size = max(PART_ROWS, ceil(n_rows / MOST_PARTS))

        def score(first: int) -> Scored:
            gain = np.zeros(len(groups))
            work = _move_group_kernels.gains_together(
                rows.rows, rows.labels, rows.folds, rows.score_weights, self.log_joint,
                self._margin, self._rival, first, min(first + size, n_rows), *moved,
                rows.widths, rows.n_states, rows.n_folds, members, borders, gain,
            )  # fmt: skip
            return Scored(gain, *work)

        found = map_threads(score, range(0, n_rows, size), rows.n_jobs)
        return Scored(
            self.value + np.sum([part.scores for part in found], axis=0),  # exact
            sum(part.visited for part in found),
            sum(part.looked_up for part in found),
        )

    def release(self) -> None:
        """Release cached tables and bounds; see `MoveScorer`."""
        super().release()
        self._bounds = None

    def best_superparent(
        self, moves: Moves, groups: Sequence[Sequence[int]], parents: Sequence[int]
    ) -> Best:
        """Find the best group of moves that add one parent; see `MoveScorer`."""
        if not SuperparentBounds.suit(self.rows):
            return super().best_superparent(moves, groups, parents)
        if self._bounds is None:
            self._bounds = SuperparentBounds(self)
        self._sort()
        return self._bounds.best(moves, groups, parents)
