"""Scores of how well a structure classifies: rows right, and any sum over rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, log2
from typing import Any

import numpy as np

from tanager.scores.incremental_scorer import (
    WAVE,
    Block,
    ExchangingScorer,
    Found,
    Moved,
    Scored,
)
from tanager.scores.margin_bounds import LastingMargins
from tanager.scores.move_tables import ChangeTables, Smoothing
from tanager.scores.moves import Best, Moves
from tanager.scores.scored_samples import ScoredRows
from tanager.types import FloatArray, IntArray, LabelArray
from tanager.utils.threads import map_threads

ValueOf = Callable[[FloatArray, LabelArray, FloatArray], float]

MANY = 16
"""Blocks from which on sorting the rows before every call pays."""

PART_ROWS = 2048
"""Rows that one thread compares groups of moves by, at a time, at least."""

MOST_PARTS = 64
"""Parts that the rows are divided into for it, at most."""

SCORE_BITS = 24
"""Binary digits of a score that count; of a sum over rows, of the mean per row."""


@dataclass(frozen=True)
class RowSum:
    """A sum over rows that kernels know.

    Parameters
    ----------
    cap : float
        0 for the rows classified right, below 0 for log P(c | x), and above 0 for the
        margin up to this.
    """

    cap: float

    def __call__(
        self, log_joint: FloatArray, labels: LabelArray, weights: FloatArray
    ) -> float:
        """The sum; a tie counts as right for the lowest class."""
        from tanager.scores import _kernels

        total: float = _kernels.row_values(log_joint, labels, weights, self.cap)
        return total


class RightRowsScorer(ExchangingScorer):
    """Weight of the rows classified right (CR), by visiting only those that may change.

    Notes
    -----
    With margin d of a row, the log joint of its class less that of the best other one,
    and D the change of the log joint by the one cell the row touches: a wrong row can
    become right only if D lifts its class above the one that beats it, D[y] - D[c] >
    -d, and a right row wrong only if max D[c] - D[y] > d. All other rows keep their
    verdict and are not visited. Wrong rows come first: they give what a move can gain
    at most, and moves that cannot come up to the best one are dropped before any right
    row is looked at, or on the way.
    """

    _changes = 0
    _next_sort = 1
    _lasting: LastingMargins | None = None

    def _after_change(self) -> None:
        from tanager.scores import _kernels

        n_rows = len(self.rows.labels)
        self._margin = np.empty(n_rows)
        self._rival = np.empty(n_rows, dtype=np.int32)
        _kernels.margins(self.log_joint, self.rows.labels, self._margin, self._rival)
        self._sorted = False
        self._changes += 1

    def _before(self, blocks: Sequence[Block]) -> None:
        if self._sorted or (len(blocks) < MANY and self._changes < self._next_sort):
            return
        # Nothing but time depends on it: for a few blocks, now and then is enough.
        self._next_sort = 16 * self._changes
        self._sort()

    def _sort(self) -> None:
        """Bring the rows into the order of their margins.

        The wrong ones come first, and of the right ones those that turn most easily.
        """
        if self._sorted:
            return
        order = np.argsort(self._margin)
        self.rows = self.rows.reordered(order)
        self.log_joint = self.log_joint[order]
        self._margin, self._rival = self._margin[order], self._rival[order]
        if self._lasting is not None:
            self._lasting.reorder(order)
        self._sorted = True

    def _present_value(self) -> float:
        return float(self.rows.score_weights[self._margin > 0].sum())

    def _best_of(self, block: Block, least: float) -> Found:
        tables, chosen = self._tables(block)
        wrong, right = self._in_reach(tables)
        gain = np.zeros(len(chosen))
        work = self._win(tables, wrong, chosen, gain)
        needed = least - self.value
        top = int(gain.argmax())
        if gain[top] < needed:
            return Found(-1, -np.inf, *work.tolist())
        promising = np.flatnonzero(gain >= needed)
        if len(promising) > 1:
            # What the most gaining move comes to is a mark for all others.
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
        """Wrong and right rows whose verdict some of the tables may turn."""
        from tanager.scores import _kernels

        rows, bounds = self.rows, tables.bounds
        column = rows.codes[tables.child]
        if self._sorted:
            last = np.searchsorted(self._margin, float(bounds.top.max()))
            column = column[:last]
        wrong = np.empty(len(column) + 1, dtype=np.int64)
        right = np.empty(len(column) + 1, dtype=np.int64)
        n_wrong, n_right = _kernels.rows_in_reach(
            column, rows.labels, rows.folds, rows.score_weights,
            self._margin, self._rival, bounds.top, bounds.lifting, wrong, right,
        )  # fmt: skip
        return wrong[:n_wrong], right[:n_right]

    def _win(
        self, tables: ChangeTables, wrong: IntArray, chosen: IntArray, gain: FloatArray
    ) -> IntArray:
        """Add what is won to `gain`; rows visited and looked up."""
        from tanager.scores import _kernels

        rows = self.rows
        return np.array(
            _kernels.gains(
                rows.rows, rows.labels, rows.folds, rows.score_weights, self.log_joint,
                self._margin, self._rival, wrong, tables.delta, tables.bounds.lifting,
                tables.sets, rows.widths, tables.starts, tables.child, chosen, gain,
            )
        )  # fmt: skip

    def _lose(
        self,
        tables: ChangeTables,
        right: IntArray,
        chosen: IntArray,
        least: float,
        gain: FloatArray,
    ) -> IntArray:
        """Take what is lost from `gain`; rows visited and looked up."""
        from tanager.scores import _kernels

        rows, bounds = self.rows, tables.bounds
        return np.array(
            _kernels.losses(
                rows.rows, rows.labels, rows.folds, rows.score_weights, self.log_joint,
                self._margin, right, tables.delta, bounds.losing, bounds.lifting,
                tables.sets, rows.widths, tables.starts, tables.child, chosen, least,
                gain,
            )
        )  # fmt: skip

    def _scores_of(self, moved: Moved, groups: list[IntArray]) -> Scored:
        from tanager.scores import _margin_bound_kernels

        rows, n_rows = self.rows, len(self.rows.labels)
        members = np.concatenate(groups)
        borders = np.cumsum([0, *map(len, groups)])
        # Every part has gains of its own: not too many parts.
        size = max(PART_ROWS, ceil(n_rows / MOST_PARTS))

        def gained(first: int) -> Scored:
            self.pause()
            gain = np.zeros(len(groups))
            work = _margin_bound_kernels.gains_together(
                rows.rows, rows.labels, rows.folds, rows.score_weights, self.log_joint,
                self._margin, self._rival, first, min(first + size, n_rows), *moved,
                rows.widths, rows.n_states, rows.n_folds, members, borders, gain,
            )  # fmt: skip
            return Scored(gain, *work)

        found = map_threads(gained, range(0, n_rows, size), rows.n_jobs)
        return Scored(
            self.value + np.sum([part.scores for part in found], axis=0),  # exact
            sum(part.visited for part in found),
            sum(part.looked_up for part in found),
        )

    def release(self) -> None:
        """Give up tables and bounds that are kept; see `MoveScorer`."""
        super().release()
        self._lasting = None

    def best_superparent(
        self, moves: Moves, groups: Sequence[Sequence[int]], parents: Sequence[int]
    ) -> Best:
        """The best group of moves that add one parent; see `MoveScorer`."""
        if not LastingMargins.suit(self.rows):
            return super().best_superparent(moves, groups, parents)
        if self._lasting is None:
            self._lasting = LastingMargins(self)
        self._sort()
        return self._lasting.best(moves, groups, parents)


class ValueScorer(ExchangingScorer):
    """Any function of the log joint and the labels, over all rows.

    Parameters
    ----------
    rows, smoothing, parents
        As in `ExchangingScorer`.
    value_of : callable
        Gives the score from log joint, labels and weights.
    """

    def __init__(
        self,
        rows: ScoredRows,
        smoothing: Smoothing,
        parents: Sequence[Sequence[int]],
        value_of: ValueOf,
    ) -> None:
        self.value_of = value_of
        held_out = np.flatnonzero(rows.slices < rows.n_folds)
        if isinstance(value_of, RowSum) or len(held_out) == len(rows.labels):
            self._judge = value_of
        else:  # a function need not heed weights: rows never held out are not shown
            self._judge = lambda log_joint, labels, weights: value_of(
                log_joint[held_out], labels[held_out], weights[held_out]
            )
        super().__init__(rows, smoothing, parents)

    def _prior(self) -> FloatArray:
        # Real numbers, unlike verdicts, need no tie between classes broken.
        return super()._prior() - self.rows.class_order

    def _present_value(self) -> float:
        rows = self.rows
        value = self._judge(self.log_joint, rows.labels, rows.score_weights)
        return float(rounded_scores(self.value_of, value, rows))

    def _best_of(self, block: Block, least: float) -> Found:
        from tanager.scores import _kernels

        rows = self.rows
        tables, chosen = self._tables(block)
        values = np.empty(len(chosen))
        if isinstance(self.value_of, RowSum):
            _kernels.changed_scores(
                rows.codes, rows.labels, rows.folds, rows.score_weights, self.log_joint,
                tables.delta, tables.sets, rows.widths, tables.starts, tables.child,
                chosen, self.value_of.cap, values,
            )  # fmt: skip
        else:
            moved = np.empty_like(self.log_joint)
            for k, t in enumerate(chosen):
                self.pause()  # a function may take its time
                moved[:] = self.log_joint
                _kernels.add_changes(
                    rows.codes, rows.folds, tables.sets[t], rows.widths, tables.child,
                    tables.delta, int(tables.starts[t]), int(tables.starts[t + 1]), 1.0,
                    moved,
                )  # fmt: skip
                values[k] = self._judge(moved, rows.labels, rows.score_weights)
        values = rounded_scores(self.value_of, values, rows)
        best = int(values.argmax())
        visited = len(rows.labels) * len(chosen)
        if not values[best] >= least:
            return Found(-1, -np.inf, visited, 0)
        return Found(int(block.numbers[best]), float(values[best]), visited, 0)

    def _scores_of(self, moved: Moved, groups: list[IntArray]) -> Scored:
        found = scores_of_groups(self, moved, groups, self._judge)
        scores = rounded_scores(self.value_of, found.scores, self.rows)
        return found._replace(scores=scores)


def rounded_scores(
    value_of: ValueOf, values: float | FloatArray, rows: ScoredRows
) -> FloatArray:
    """Scores without the last digits, which rounding in tables and sums decides.

    So equal structures, such as those with an arc turned round or with a copy of a
    feature in its place, have equal scores, and the first of them is taken.
    """
    if isinstance(value_of, RowSum):
        exponents: Any = ceil(log2(rows.score_weights.sum()))
    else:  # of a size of its own
        exponents = np.frexp(values)[1]
    unit = np.ldexp(1.0, exponents - SCORE_BITS)
    rounded: FloatArray = np.rint(values / unit) * unit
    return rounded


def scores_of_groups(
    scorer: ExchangingScorer,
    moved: Moved,
    groups: list[IntArray],
    value_of: ValueOf,
) -> Scored:
    """What `value_of` makes of the log joint after every group of moves."""
    from tanager.scores import _margin_bound_kernels

    rows = scorer.rows

    def scored(some: list[IntArray]) -> list[float]:
        scorer.pause()
        values = []
        log_joint = np.empty_like(scorer.log_joint)
        for group in some:
            log_joint[:] = scorer.log_joint
            _margin_bound_kernels.add_together(
                rows.codes, rows.folds, *moved, rows.widths, rows.n_states,
                rows.n_folds, group, log_joint,
            )  # fmt: skip
            values.append(value_of(log_joint, rows.labels, rows.score_weights))
        return values

    parts = [groups[first : first + WAVE] for first in range(0, len(groups), WAVE)]
    values = np.concatenate(map_threads(scored, parts, rows.n_jobs))
    return Scored(values, len(rows.labels) * len(groups))
