"""A test of every pair of methods: numbers, and arrows to read them by."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tanager.compare._markdown import above_diagonal
from tanager.compare.score_table import Results
from tanager.errors import InputError, unknown_name
from tanager.types import BoolArray, FloatArray


@dataclass(frozen=True, eq=False)
class PairTests:
    """What a test says of every pair of methods.

    Parameters
    ----------
    methods : tuple of str
        Names of the methods.
    statistics : ndarray of shape (n_methods, n_methods)
        Positive where the method of the row is better than that of the column;
        ``statistics[j, i]`` is ``-statistics[i, j]``.
    p_values : ndarray of shape (n_methods, n_methods)
        Symmetric; 1 on the diagonal.
    alpha : float
        Level of significance.

    Examples
    --------
    >>> tests = PairTests(
    ...     methods=("NB", "TAN"),
    ...     statistics=np.array([[0.0, -2.5], [2.5, 0.0]]),
    ...     p_values=np.array([[1.0, 0.01], [0.01, 1.0]]),
    ...     alpha=0.05,
    ... )
    >>> tests.better("TAN", "NB"), tests.better("NB", "TAN")
    (True, False)
    >>> print(tests.markdown())
    |     |    TAN |
    |-----|-------:|
    | NB  | ⇑ 0.01 |
    """

    methods: tuple[str, ...]
    statistics: FloatArray
    p_values: FloatArray
    alpha: float

    @property
    def significant(self) -> BoolArray:
        """Which pairs differ, of shape (n_methods, n_methods)."""
        return np.asarray(self.p_values < self.alpha)

    def better(self, first: str, second: str) -> bool:
        """Whether the first method is significantly better than the second."""
        for name in (first, second):
            if name not in self.methods:
                raise unknown_name("method", name, self.methods)
        i, j = self.methods.index(first), self.methods.index(second)
        return bool(self.significant[i, j] and self.statistics[i, j] > 0)

    def markdown(self) -> str:
        """The p-values above the diagonal as a table in Markdown.

        Arrows point to the better method, ← and ⇐ to that of the row, ↑ and ⇑ to that
        of the column. They are double where the difference is significant, and = stands
        for none at all.
        """
        return above_diagonal(self.methods, self._cell)

    def entry(self, row: str, column: str) -> str:
        """Arrow and p-value of a pair, as in `markdown`."""
        return self._cell(self.methods.index(row), self.methods.index(column))

    def _cell(self, i: int, j: int) -> str:
        statistic = self.statistics[i, j]
        if statistic == 0.0:
            arrow = "="
        elif self.significant[i, j]:
            arrow = "⇐" if statistic > 0 else "⇑"
        else:
            arrow = "←" if statistic > 0 else "↑"
        return f"{arrow} {p_text(self.p_values[i, j])}"


def pair_differences(results: Results) -> dict[tuple[int, int], FloatArray]:
    """Differences of the means on every dataset, by the places of two methods."""
    names = results.methods
    return {
        (i, j): results.differences(names[i], names[j])
        for i, j in combinations(range(len(names)), 2)
    }


def check_enough(results: Results, what: str, *, methods: int, datasets: int) -> None:
    """Raise `InputError` if there are too few methods or datasets."""
    for kind, n, least in (
        ("methods", results.n_methods, methods),
        ("datasets", results.n_datasets, datasets),
    ):
        if n < least:
            raise InputError(f"{what} needs at least {least} {kind}, got {n}.")


def p_text(p: float) -> str:
    """A p-value to two digits, the least ones as a bound: '0.012', '< 0.0001'."""
    return "< 0.0001" if p < 0.0001 else f"{p:.2g}"
