"""Numbers of the scoreboard by table and rival, with what they have in common."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from lab.runner.cell import Value
from lab.runner.limits import MEMORY_LIMIT, TIME_LIMIT
from lab.runner.results import Results
from lab.scoreboard.plan import LARGE, NOT_YET
from lab.scoreboard.rivals import OURS
from tanager.types import FloatArray

SCORES = {
    "accuracy": 1.0,
    "log_loss": -1.0,
    "auc": 1.0,
    "brier": -1.0,
    "calibration_error": -1.0,
}
"""Scores with their sign: whether more is better."""

DECIMALS = 5
"""Of means that are ranked and compared: files have six digits of every fold, and what
is equal has to remain so."""

RANKED_FROM = 0.8
"""Fraction of the tables of the default that a rival needs for means and ranks."""


class ScoreTable:
    """Means over folds, by table and rival.

    Parameters
    ----------
    results : Results
        Cells with the parameters ``data``, ``rival`` and ``fold``.
    """

    def __init__(self, results: Results) -> None:
        self._numbers = {
            (str(p["data"]), str(p["rival"]), p["fold"]): numbers
            for cell, numbers in results
            for p in (cell.parameters,)
        }
        self._reasons = {
            (str(p["data"]), str(p["rival"]), p["fold"]): reason
            for cell, reason in results.missing.items()
            for p in (cell.parameters,)
        }
        self._folds: dict[tuple[str, str], set[Value]] = {}
        for table, rival, fold in self._numbers:
            self._folds.setdefault((table, rival), set()).add(fold)
        planned = [*self._numbers, *self._reasons]
        names = dict.fromkeys(table for table, _, _ in planned)
        self.rivals = list(dict.fromkeys(rival for _, rival, _ in planned))
        sizes = {name: self.n_samples(name) for name in names}
        self.tables = sorted(names, key=lambda n: (sizes[n] is None, sizes[n] or 0, n))

    def folds(self, table: str, rival: str) -> set[Value]:
        """The folds in which a rival is measured on a table."""
        return self._folds.get((table, rival), set())

    def mean(
        self, table: str, rival: str, number: str, among: Sequence[str] = ()
    ) -> float:
        """The mean over the folds in which it and the rivals `among` are measured."""
        value = self.optional_mean(table, rival, number, among)
        assert value is not None
        return value

    def optional_mean(
        self, table: str, rival: str, number: str, among: Sequence[str] = ()
    ) -> float | None:
        """The same; None if the number is not known in any of these folds."""
        folds = self._common_folds(table, (rival, *among))
        found = [self._numbers[table, rival, fold].get(number) for fold in folds]
        known = [float(np.mean(value)) for value in found if value is not None]
        return float(np.mean(known)) if known else None

    def _common_folds(self, table: str, rivals: Sequence[str]) -> list[Value]:
        folds = set.intersection(*(self.folds(table, rival) for rival in rivals))
        return sorted(folds, key=str)

    @cached_property
    def ranked(self) -> list[str]:
        """Rivals that are measured on enough tables for means and ranks."""
        ours = [table for table in self.tables if self.folds(table, OURS)]
        least = RANKED_FROM * len(ours)
        return [
            rival
            for rival in self.rivals
            if ours and sum(bool(self.folds(table, rival)) for table in ours) >= least
        ]

    @cached_property
    def common(self) -> list[str]:
        """Tables with a fold in which all of the ranked rivals are measured."""
        if not self.ranked:
            return []
        return [name for name in self.tables if self._common_folds(name, self.ranked)]

    def average(self, rival: str, number: str) -> float:
        """The mean over the common tables, in the folds that they have in common."""
        means = [self.mean(table, rival, number, self.ranked) for table in self.common]
        return float(np.mean(means))

    def shared(self, first: str, second: str) -> list[str]:
        """Tables with a fold in which both are measured."""
        return [
            name for name in self.tables if self._common_folds(name, (first, second))
        ]

    def gains(
        self, first: str, second: str, score: str, tables: Sequence[str] | None = None
    ) -> FloatArray:
        """By how much the first rival is better than the second one, by table."""
        names = self.shared(first, second) if tables is None else tables
        means = [
            (
                self.mean(n, first, score, (second,)),
                self.mean(n, second, score, (first,)),
            )
            for n in names
        ]
        difference = np.array([one - other for one, other in means])
        return np.round(SCORES[score] * difference, DECIMALS)

    def n_samples(self, table: str) -> int | None:
        """Samples of a table; None if no rival is measured on it."""
        for (name, _, _), numbers in self._numbers.items():
            if name == table:
                return int(
                    float(np.sum(numbers["n_train"])) + float(np.sum(numbers["n_test"]))
                )
        return None

    def is_large(self, table: str) -> bool:
        """Whether a table has `LARGE` samples or more."""
        return (self.n_samples(table) or 0) >= LARGE

    def kind_of_reason(self, table: str, rival: str) -> str:
        """Why a rival has no numbers on a table, in two words; empty if not yet."""
        reasons = [
            r for (t, own, _), r in self._reasons.items() if (t, own) == (table, rival)
        ]
        return next((self.kind(r) for r in reasons if self.kind(r)), "")

    @staticmethod
    def kind(reason: str) -> str:
        """A reason in two words: a limit, a failure, or nothing if not measured yet."""
        for known in (TIME_LIMIT, MEMORY_LIMIT):
            if reason.startswith(known):
                return known
        return "" if reason == NOT_YET else "failed"
