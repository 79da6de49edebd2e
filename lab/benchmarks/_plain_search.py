"""Plain structure search: every candidate, every sample, every class."""

from __future__ import annotations

import numpy as np

from tanager.scores.family_tables import ChangeTables
from tanager.scores.function_scorer import score_groups
from tanager.scores.incremental_scorer import (
    Block,
    Found,
    IncrementalScorer,
    Moved,
    Scored,
)
from tanager.types import FloatArray, IntArray
from tanager.utils.jit import kernel


@kernel
def scan(columns, widths, child, labels, weights, log_joint, table):  # type: ignore[no-untyped-def]
    """Weight of the samples classified correctly after one change.

    `table` has the axes (configuration, state, class), the class fastest.
    """
    n_classes = log_joint.shape[1]
    total = 0.0
    for m in range(labels.shape[0]):
        code = np.int64(0)
        for place in range(columns.shape[0]):
            code = code * widths[place] + np.int64(columns[place, m])
        cells = table[code, child[m]]
        best = 0
        top = log_joint[m, 0] + cells[0]
        for c in range(1, n_classes):
            value = log_joint[m, c] + cells[c]
            if value > top:
                top = value
                best = c
        if best == labels[m]:
            total += weights[m]
    return total


class PlainScorer(IncrementalScorer):
    """Scores a move by looking at every sample; tables are made, and kept, as ours are.

    For complete samples and no folds.
    """

    def _present_value(self) -> float:
        return self._weight_of_correct(self.log_joint)

    def _weight_of_correct(self, log_joint: FloatArray) -> float:
        correct = log_joint.argmax(axis=1) == self.rows.labels
        return float(self.rows.score_weights[correct].sum())

    def _best_of(self, block: Block, least: float) -> Found:
        rows = self.rows
        tables, chosen = self._tables(block)
        values = np.array([self._score(tables, int(t)) for t in chosen])
        best = int(values.argmax())
        visited = len(rows.labels) * len(chosen)
        if values[best] < least:
            return Found(-1, -np.inf, visited, 0)
        return Found(int(block.numbers[best]), float(values[best]), visited, 0)

    def _score(self, tables: ChangeTables, t: int) -> float:
        rows = self.rows
        first, last = tables.starts[t : t + 2]
        table = np.ascontiguousarray(
            tables.delta[0, :, :, first:last].transpose(2, 0, 1)
        )
        total: float = scan(
            rows.codes[tables.sets[t]], rows.widths[tables.sets[t]],
            rows.codes[tables.child], rows.labels, rows.score_weights, self.log_joint,
            np.ascontiguousarray(table),
        )  # fmt: skip
        return total

    def _scores_of(self, moved: Moved, groups: list[IntArray]) -> Scored:
        return score_groups(self, moved, groups, self._weight_of_correct)
