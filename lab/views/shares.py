"""Shares of test rows that are classified right, by set and method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lab.runner.results import Results

RIGHT = "right_"
"""Begin of the names of numbers that count rows classified right."""


@dataclass(frozen=True)
class Share:
    """Rows classified right, of how many.

    Examples
    --------
    >>> share = Share(90, 100)
    >>> share.percent, share.deviation
    (90.0, 3.0)
    """

    right: float
    rows: float

    @property
    def percent(self) -> float:
        """Per cent of the rows."""
        return 100.0 * self.right / self.rows

    @property
    def deviation(self) -> float:
        """Standard deviation of the per cent, as of a share."""
        share = self.right / self.rows
        return 100.0 * float(np.sqrt(share * (1.0 - share) / self.rows))

    def __add__(self, other: Share) -> Share:
        return Share(self.right + other.right, self.rows + other.rows)


Shares = Mapping[tuple[str, str], Share]
"""By name of the set and of the method."""


def shares_of(results: Results) -> dict[tuple[str, str], Share]:
    """Shares over the folds that are known, from cells of `structure_tested`."""
    found: dict[tuple[str, str], Share] = {}
    for cell, numbers in results:
        if cell.measurement != "structure_tested":
            continue
        for name in numbers:
            if name.startswith(RIGHT):
                method = f"{cell.parameters['structure']}-{name.removeprefix(RIGHT)}"
                key = str(cell.parameters["data"]), method
                share = Share(_number(numbers[name]), _number(numbers["rows"]))
                found[key] = found.get(key, Share(0, 0)) + share
    return found


def sets_of(shares: Shares, *methods: str) -> list[str]:
    """Sets on which all of these methods are known."""
    sets = dict.fromkeys(data for data, _ in shares)
    return [data for data in sets if all((data, one) in shares for one in methods)]


def together(shares: Shares, method: str, sets: Sequence[str]) -> Share:
    """All rows of some sets as if they were one.

    Examples
    --------
    >>> shares = {("a", "NB"): Share(9, 10), ("b", "NB"): Share(50, 100)}
    >>> round(together(shares, "NB", ["a", "b"]).percent, 2)
    53.64
    """
    return sum((shares[data, method] for data in sets), Share(0, 0))


def _number(value: float | Sequence[float]) -> float:
    return float(np.sum(value))
