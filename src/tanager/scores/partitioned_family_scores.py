"""`PartitionedFamilyScores`: scores of families from counts of samples in parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.data.partitioned_data import sum_of_weights
from tanager.model.layout import MAX_CELLS
from tanager.scores.family_scores import (
    Criterion,
    Family,
    FamilyData,
    FamilyScores,
    join_family,
    no_samples_error,
)
from tanager.types import BoolArray, FloatArray, IntArray
from tanager.utils.progress import check_stop

ROUND_CELLS = 4_000_000
"""Cells of the tables that are counted in one round."""


class WholeFamilies:
    """Samples in parts with the class as one more column; see `FamilyData`.

    `rows` has no samples, but the sizes of all tables; `placed` has those of the parts.
    """

    def __init__(self, data: CodedData) -> None:
        self.total = data.place(sum_of_weights).sum(float)
        if not self.total > 0.0:
            raise no_samples_error()
        self.placed = data.place(FamilyData.of, self.total)
        missing = self.placed.sum(_lacking)
        states = data.schema.n_states.astype(np.int64)
        self.widths: IntArray = states + (missing > 0)
        self.rows = FamilyData(
            np.empty((len(states), 0), dtype=np.uint8),
            np.empty(0),
            states,
            tuple(data.schema.names),
            data.n_jobs,
        )

    def count(self, families: Sequence[Family]) -> tuple[FloatArray, ...]:
        """Counts of the joint codes of families, the child fastest."""
        return self.placed.sum(_count_families, list(families), self.widths)


class PartitionedFamilyScores(FamilyScores):
    """Scores of families, each computed once, of samples in parts.

    Tables of many families are counted in one round, and scored here: the scores are
    those of all samples in one place; see `FamilyScores`.
    """

    def __init__(
        self,
        whole: WholeFamilies,
        criterion: Criterion,
        allowed: BoolArray | None = None,
    ) -> None:
        super().__init__(whole.rows, criterion, allowed)
        self._whole = whole

    def _find(self, families: Sequence[Family]) -> None:
        columns = {family: np.full(self.n_variables, np.nan) for family in families}
        for some in self._rounds(families):
            check_stop()
            asked = [(child, (*parents, z)) for (child, parents), z in some]
            tables = self._whole.count(asked)
            for ((child, parents), z), table in zip(some, tables, strict=True):
                columns[child, parents][z] = self._score_table(child, table)
        for family, column in columns.items():
            self._further[family] = self._finish(column, len(family[1]) + 1)

    def _score(self, child: int, parents: tuple[int, ...]) -> float:
        check_stop()
        self._check_size(child, parents)
        (table,) = self._whole.count([(child, parents)])
        score = np.array([self._score_table(child, table)])
        return float(self._finish(score, len(parents))[0])

    def _rounds(self, families: Sequence[Family]) -> Iterator[list[tuple[Family, int]]]:
        """Families and one more parent, as many as are counted in one round."""
        widths = self._whole.widths
        batch: list[tuple[Family, int]] = []
        cells = 0
        for child, parents in families:
            own = prod(widths[[child, *parents]].tolist())
            wanted = self.allowed[:, child] & (widths <= MAX_CELLS // own)
            wanted[[child, *parents]] = False
            for z in np.flatnonzero(wanted).tolist():
                if batch and cells + own * int(widths[z]) > ROUND_CELLS:
                    yield batch
                    batch, cells = [], 0
                batch.append(((child, parents), z))
                cells += own * int(widths[z])
        if batch:
            yield batch

    def _score_table(self, child: int, counts: FloatArray) -> float:
        """Score a family, given its counts, as samples with these weights."""
        from tanager.scores import _family_score_kernels

        width = int(self._whole.widths[child])
        n_joint = len(counts)
        cells = np.flatnonzero(counts).astype(np.min_scalar_type(n_joint - 1))
        table = np.empty(max(4 * _family_score_kernels.LANE_CELLS, n_joint))
        return float(
            _family_score_kernels.family_score(
                cells, counts[cells], n_joint // width, width,
                self.rows.n_states[child], self._numbers, table,
            )
        )  # fmt: skip

    def _check_size(self, child: int, parents: tuple[int, ...]) -> None:
        """Raise if the table of a family is too large."""
        self.size_of(child, parents, self._whole.widths)


def _lacking(rows: FamilyData) -> IntArray:
    missing: IntArray = (rows.codes == rows.n_states[:, None]).sum(axis=1)
    return missing


def _count_families(
    rows: FamilyData, families: Sequence[Family], widths: IntArray
) -> tuple[FloatArray, ...]:
    """Count the joint codes of families, the child fastest."""
    weights = rows.weights if len(rows.weights) else None
    found = []
    for child, parents in families:
        n_joint = prod(widths[[*parents, child]].tolist())
        joint = join_family(rows.codes, widths, parents, child, n_joint)
        found.append(np.bincount(joint, weights, n_joint).astype(np.float64))
    return tuple(found)
