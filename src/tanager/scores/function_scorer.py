"""`FunctionScorer`: functions of the log joint of all samples as scores."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, isfinite, log2
from typing import Any, ClassVar

import numpy as np

from tanager.errors import CapabilityError, InputError
from tanager.parameters.base import Smoothing
from tanager.scores.family_tables import ChangeTables
from tanager.scores.incremental_scorer import (
    WAVE,
    Block,
    Found,
    IncrementalScorer,
    Moved,
    Scored,
)
from tanager.scores.scoring_data import ScoringData
from tanager.types import FloatArray, IntArray, LabelArray
from tanager.utils.progress import check_stop
from tanager.utils.threads import map_threads

SCORE_BITS = 24
"""Binary digits of a score that count; of a sum over samples, of the mean."""


class ScoreFunction(metaclass=ABCMeta):
    """A score computed from the log joint, the labels and the weights.

    `is_sum`: it is a weighted sum over the samples. A sample of weight zero adds
    nothing, and the score is as large as the weights.
    """

    is_sum: ClassVar[bool] = True

    @abstractmethod
    def __call__(
        self, log_joint: FloatArray, labels: LabelArray, weights: FloatArray
    ) -> float:
        """Compute the score; arguments as in `DiscriminativeScore.value`."""

    def round(
        self, values: float | FloatArray, rows: ScoringData | float
    ) -> FloatArray:
        """Drop the last digits, which rounding in tables and sums decides.

        So equal structures, such as those with an arc reversed or with a copy of a
        feature in its place, have equal scores, and the first of them is taken. `rows`
        are the samples, or the weight of those that are scored.
        """
        total = rows if isinstance(rows, float) else float(rows.score_weights.sum())
        exponents: Any = np.frexp(values)[1]
        if self.is_sum:
            exponents = ceil(log2(total))
        unit = np.ldexp(1.0, exponents - SCORE_BITS)
        rounded: FloatArray = np.rint(values / unit) * unit
        return rounded


class SampleSum(ScoreFunction):
    """Weighted sum over the samples that a kernel computes for many moves at once.

    `margins`: of log margins up to `cap`, instead of log P(c | x).
    """

    margins: ClassVar[bool] = False
    cap: float = 0.0

    def __call__(
        self, log_joint: FloatArray, labels: LabelArray, weights: FloatArray
    ) -> float:
        """Compute the sum."""
        from tanager.scores import _classification_kernels

        return float(
            _classification_kernels.sum_scores(
                log_joint, labels, weights, self.margins, self.cap
            )
        )


class LogPosteriorSum(SampleSum):
    """Weighted sum of log P(c | x)."""


@dataclass(frozen=True)
class CappedMarginSum(SampleSum):
    """Weighted sum of log margins, each at most `cap`."""

    margins: ClassVar[bool] = True
    cap: float


@dataclass(frozen=True)
class UserFunction(ScoreFunction):
    """A function of a user, whose result is checked; `name` is for messages."""

    function: Callable[..., Any]
    name: str

    is_sum: ClassVar[bool] = False

    def __call__(
        self, log_joint: FloatArray, labels: LabelArray, weights: FloatArray
    ) -> float:
        """Compute the score, a finite float."""
        given = [part.view() for part in (log_joint, labels, weights)]
        for part in given:
            part.flags.writeable = False  # they belong to the search
        value = self.function(*given)
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise CapabilityError(
                f"The score {self.name} must return a number, greater for better "
                f"structures; it returned {value!r}."
            ) from None
        if not isfinite(number):
            raise InputError(
                f"The score {self.name} returned {number}; only finite scores can be "
                "compared."
            )
        return number


class FunctionScorer(IncrementalScorer):
    """Scores by a function of the log joint of all samples."""

    def __init__(
        self,
        rows: ScoringData,
        smoothing: Smoothing,
        parents: Sequence[Sequence[int]],
        function: ScoreFunction,
    ) -> None:
        self.function = function
        held_out = np.flatnonzero(rows.slices < rows.n_folds)
        self._held_out = held_out if len(held_out) < len(rows.labels) else None
        super().__init__(rows, smoothing, parents)

    def _prior(self) -> FloatArray:
        # Unlike classifications, real scores need no tie between classes broken.
        return super()._prior() - self.rows.class_order

    def _value(self, log_joint: FloatArray) -> float:
        labels, weights = self.rows.labels, self.rows.score_weights
        kept = self._held_out
        if kept is None or self.function.is_sum:
            return self.function(log_joint, labels, weights)
        # Other functions need not use weights: show only samples that are held out.
        return self.function(log_joint[kept], labels[kept], weights[kept])

    def _present_value(self) -> float:
        return float(self.function.round(self._value(self.log_joint), self.rows))

    def _best_of(self, block: Block, least: float) -> Found:
        tables, chosen = self._tables(block)
        values = self.function.round(self._values_of(tables, chosen), self.rows)
        best = int(values.argmax())
        visited = len(self.rows.labels) * len(chosen)
        if not values[best] >= least:
            return Found(-1, -np.inf, visited, 0)
        return Found(int(block.numbers[best]), float(values[best]), visited, 0)

    def _values_of(self, tables: ChangeTables, chosen: IntArray) -> FloatArray:
        """The score after every one of some changes, not rounded."""
        from tanager.scores import _classification_kernels

        rows = self.rows
        values = np.empty(len(chosen))
        if isinstance(self.function, SampleSum):
            # One call for all moves: with few samples the calls would take longer.
            _classification_kernels.score_changes(
                rows.codes, rows.labels, rows.folds, rows.score_weights, self.log_joint,
                tables.delta, tables.sets, rows.widths, tables.starts, tables.child,
                chosen, self.function.margins, self.function.cap, values,
            )  # fmt: skip
        else:
            moved = np.empty_like(self.log_joint)
            for k, t in enumerate(chosen):
                check_stop()  # a function of a user may be slow
                moved[:] = self.log_joint
                _classification_kernels.add_changes(
                    rows.codes, rows.folds, tables.sets[t], rows.widths, tables.child,
                    tables.delta, tables.starts[t], tables.starts[t + 1], 1.0, moved,
                )  # fmt: skip
                values[k] = self._value(moved)
        return values

    def _scores_of(self, moved: Moved, groups: list[IntArray]) -> Scored:
        found = score_groups(self, moved, groups, self._value)
        return found._replace(scores=self.function.round(found.scores, self.rows))


def score_groups(
    scorer: IncrementalScorer,
    moved: Moved,
    groups: list[IntArray],
    value: Callable[[FloatArray], float],
) -> Scored:
    """Apply `value` to the log joint after every group of moves."""
    from tanager.scores import _move_group_kernels

    rows = scorer.rows

    def score(some: list[IntArray]) -> list[float]:
        values = []
        log_joint = np.empty_like(scorer.log_joint)
        for group in some:
            log_joint[:] = scorer.log_joint
            _move_group_kernels.add_together(
                rows.codes, rows.folds, *moved, rows.widths, rows.n_states,
                rows.n_folds, group, log_joint,
            )  # fmt: skip
            values.append(value(log_joint))
        return values

    parts = [groups[first : first + WAVE] for first in range(0, len(groups), WAVE)]
    values = np.concatenate(map_threads(score, parts, rows.n_jobs))
    return Scored(values, len(rows.labels) * len(groups))
