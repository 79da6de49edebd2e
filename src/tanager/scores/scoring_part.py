"""The samples of one part of a dataset, as scores of structures see them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tanager.data.coded_data import ArrayData
from tanager.data.folds import class_ranks
from tanager.parameters.base import Smoothing
from tanager.scores.classification_scorer import ClassificationScorer
from tanager.scores.family_tables import ChangeTables, Family, count_sets
from tanager.scores.function_scorer import FunctionScorer, SampleSum, score_groups
from tanager.scores.incremental_scorer import (
    IncrementalScorer,
    Moved,
    Packing,
    Scored,
)
from tanager.scores.moves import Moves
from tanager.scores.scoring_data import ScoringData, WholeSizes, exact_weights
from tanager.types import FloatArray, IntArray


class Wanted(NamedTuple):
    """Sets of parents that are scored: numbers of tables, and places in each."""

    table: int
    places: IntArray


def total_weight(part: ArrayData) -> float:
    """Weight of the labelled samples."""
    known = part.labels < part.schema.n_classes
    return float(known.sum() if part.weights is None else part.weights[known].sum())


class LabelledPart:
    """The labelled samples of a part; `total` is the weight of all parts."""

    def __init__(self, part: ArrayData, total: float) -> None:
        known = part.labels < part.schema.n_classes
        weights = part.weights
        if weights is not None:
            weights = exact_weights(np.where(known, weights, 0.0), total)
            known = weights > 0
            weights = weights[known]
        codes = part.codes.T
        self.schema = part.schema
        self.codes = codes if known.all() else np.ascontiguousarray(codes[:, known])
        self.labels = part.labels[known].astype(np.int32)
        self.weights = weights

    def sizes(self) -> tuple[IntArray, IntArray]:
        """Number of samples of every class, and of those that lack each feature."""
        states = self.schema.n_states[:-1]
        missing = (self.codes == states[:, None]).sum(axis=1)
        return np.bincount(self.labels, minlength=self.schema.n_classes), missing

    def rows(
        self, starts: IntArray, counts: IntArray, n_folds: int, whole: WholeSizes
    ) -> ScoringData:
        """The samples with their folds, as `ScoringData.of` makes them of all.

        `counts` are the sizes of the classes; `starts` those in the parts before.
        """
        slices = np.zeros(len(self.labels), dtype=np.int32)
        if n_folds > 1:
            labels = self.labels.astype(np.intp)
            ranks = class_ranks(labels, starts) % n_folds
            slices[:] = np.where(counts[labels] >= n_folds, ranks, n_folds)
        return ScoringData(
            self.codes,
            self.labels,
            self.weights,
            self.schema.n_states[:-1].astype(np.int64),
            self.schema.n_classes,
            slices,
            max(n_folds, 1),
            None,
            tuple(self.schema.names[:-1]),
            whole,
        )


def make_rows(
    part: ArrayData,
    starts: IntArray,
    total: float,
    counts: IntArray,
    n_folds: int,
    whole: WholeSizes,
) -> ScoringData:
    """The samples of a part that are scored; arguments as in `LabelledPart`."""
    return LabelledPart(part, total).rows(starts, counts, n_folds, whole)


def count_blocks(
    rows: ScoringData, blocks: Sequence[tuple[int, IntArray]]
) -> tuple[FloatArray, ...]:
    """Count sets of parents of several children."""
    return tuple(count_sets(rows, child, sets)[0] for child, sets in blocks)


class ScoringPart:
    """The log joint of the samples of one part, and tables of changes.

    `scorer` does the work of `ClassificationScorer` or `FunctionScorer` on the samples
    of the part; its tables are made from counts of all parts.
    """

    def __init__(self, scorer: _PartClassification | _PartFunction) -> None:
        self.scorer = scorer
        self.tables: dict[int, ChangeTables] = {}

    @classmethod
    def of(
        cls,
        part: ArrayData,
        starts: IntArray,
        rules: tuple[float, IntArray, int, WholeSizes],
        function: SampleSum | None,
        log_prior: FloatArray,
        families: Sequence[Family],
    ) -> ScoringPart:
        """Start from a structure, given by the log CPTs of all families."""
        rows = make_rows(part, starts, *rules)
        scorer: _PartClassification | _PartFunction
        if function is None:
            scorer = _PartClassification(rows, log_prior + rows.class_order, families)
        else:
            scorer = _PartFunction(rows, log_prior, families)
            scorer.function = function
        return cls(scorer)

    def add_tables(self, tables: dict[int, ChangeTables]) -> ScoringPart:
        """Keep tables by their numbers."""
        self.tables |= tables
        return self

    def drop_tables(self, numbers: Sequence[int]) -> ScoringPart:
        """Drop tables."""
        for number in numbers:
            self.tables.pop(number, None)
        return self

    def apply(self, changes: Sequence[tuple[Family, float]]) -> ScoringPart:
        """Add log CPTs to the log joint, or subtract them."""
        for family, sign in changes:
            self.scorer._add(family, sign)
        self.scorer._after_change()
        return self

    def value(self) -> float:
        """Sum of the scores of the samples."""
        return self.scorer.part_value()

    def gains(self, wanted: Sequence[Wanted]) -> tuple[FloatArray, IntArray]:
        """Upper bounds of the gains of moves, or their scores, and the work.

        The bounds of the classification rate are what moves gain, without what they
        lose.
        """
        self.scorer._before(wanted)  # type: ignore[arg-type] # their number matters
        found = [self.scorer.part_gains(self._pick(one), one.places) for one in wanted]
        return _join(found)

    def losses(self, wanted: Sequence[Wanted]) -> tuple[FloatArray, IntArray]:
        """What moves lose of the classification rate, negative, and the work."""
        scorer = self.scorer
        assert isinstance(scorer, _PartClassification)
        found = [scorer.part_losses(self._pick(one), one.places) for one in wanted]
        return _join(found)

    def group_scores(
        self,
        moves: Moves,
        wanted: Sequence[tuple[IntArray, Wanted]],
        groups: list[IntArray],
    ) -> tuple[FloatArray, IntArray]:
        """Changes of the score by groups of moves, or scores, and the work."""
        packing = Packing(moves)
        for numbers, one in wanted:
            packing.add(numbers, self._pick(one), one.places)
        found = self.scorer.part_scores(packing.moved(), groups)
        return found.scores, np.array([found.visited, found.looked_up])

    def _pick(self, wanted: Wanted) -> ChangeTables:
        return self.tables[wanted.table]


class _PartScorer(IncrementalScorer):
    """What scorers of parts have in common: families are given, not counted."""

    def __init__(
        self, rows: ScoringData, log_prior: FloatArray, families: Sequence[Family]
    ) -> None:
        self.rows = rows
        self.value = 0.0
        self.smoothing = Smoothing(0.0, 0.0)
        self.log_joint = np.ascontiguousarray(log_prior[rows.folds])
        for family in families:
            self._add(family, 1.0)
        self._after_change()


class _PartClassification(_PartScorer, ClassificationScorer):
    """Classification rate of the samples of a part."""

    def part_value(self) -> float:
        return self._present_value()

    def part_gains(
        self, tables: ChangeTables, chosen: IntArray
    ) -> tuple[FloatArray, IntArray]:
        return self._gain(tables, self._in_reach(tables)[0], chosen)

    def part_losses(
        self, tables: ChangeTables, chosen: IntArray
    ) -> tuple[FloatArray, IntArray]:
        gain = np.zeros(len(chosen))
        right = self._in_reach(tables)[1]
        return gain, self._lose(tables, right, chosen, -np.inf, gain)

    def part_scores(self, moved: Moved, groups: list[IntArray]) -> Scored:
        return self._scores_of(moved, groups)


class _PartFunction(_PartScorer, FunctionScorer):
    """A sum over the samples of a part."""

    _held_out = None

    def part_value(self) -> float:
        return self._value(self.log_joint)

    def part_gains(
        self, tables: ChangeTables, chosen: IntArray
    ) -> tuple[FloatArray, IntArray]:
        return self._values_of(tables, chosen), np.array([len(self.rows.labels), 0])

    def part_scores(self, moved: Moved, groups: list[IntArray]) -> Scored:
        return score_groups(self, moved, groups, self._value)


def _join(
    found: Sequence[tuple[FloatArray, IntArray]],
) -> tuple[FloatArray, IntArray]:
    """Join the scores of blocks of moves, and add up the work."""
    work: IntArray = np.sum([more for _, more in found], axis=0)
    return np.concatenate([scores for scores, _ in found]), work
