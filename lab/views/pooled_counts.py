"""Fractions of test samples that are classified correctly, by dataset and method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lab.runner.results import Results

RIGHT = "right_"
"""Begin of the names of numbers that count samples classified correctly."""


@dataclass(frozen=True)
class PooledCount:
    """Number of correctly classified samples, and of all samples.

    Examples
    --------
    >>> count = PooledCount(90, 100)
    >>> count.percent, count.deviation
    (90.0, 3.0)
    """

    right: float
    rows: float

    @property
    def percent(self) -> float:
        """Per cent of the samples."""
        return 100.0 * self.right / self.rows

    @property
    def deviation(self) -> float:
        """Standard deviation of the per cent, as of a fraction."""
        fraction = self.right / self.rows
        return 100.0 * float(np.sqrt(fraction * (1.0 - fraction) / self.rows))

    def __add__(self, other: PooledCount) -> PooledCount:
        return PooledCount(self.right + other.right, self.rows + other.rows)


PooledCounts = Mapping[tuple[str, str], PooledCount]
"""By name of the dataset and of the method."""


def pooled_counts(results: Results) -> dict[tuple[str, str], PooledCount]:
    """Counts over the folds that are known, from cells of `structure_accuracy`."""
    found: dict[tuple[str, str], PooledCount] = {}
    for cell, numbers in results:
        if cell.measurement != "structure_accuracy":
            continue
        for name in numbers:
            if name.startswith(RIGHT):
                method = f"{cell.parameters['structure']}-{name.removeprefix(RIGHT)}"
                key = str(cell.parameters["data"]), method
                count = PooledCount(_number(numbers[name]), _number(numbers["rows"]))
                found[key] = found.get(key, PooledCount(0, 0)) + count
    return found


def sets_of(counts: PooledCounts, *methods: str) -> list[str]:
    """Datasets on which all of these methods are known."""
    sets = dict.fromkeys(data for data, _ in counts)
    return [data for data in sets if all((data, one) in counts for one in methods)]


def together(counts: PooledCounts, method: str, sets: Sequence[str]) -> PooledCount:
    """All rows of some datasets as if they were one.

    Examples
    --------
    >>> counts = {("a", "NB"): PooledCount(9, 10), ("b", "NB"): PooledCount(50, 100)}
    >>> round(together(counts, "NB", ["a", "b"]).percent, 2)
    53.64
    """
    return sum((counts[data, method] for data in sets), PooledCount(0, 0))


def _number(value: float | Sequence[float]) -> float:
    return float(np.sum(value))
