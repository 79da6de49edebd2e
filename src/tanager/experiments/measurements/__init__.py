"""What can be measured: functions from the parameters of a cell to numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from tanager.experiments.cell import Numbers
from tanager.experiments.measurements.folds import cross_validated
from tanager.experiments.measurements.passes import by_passes, duplicates
from tanager.experiments.measurements.small_samples import from_few_rows

__all__ = [
    "MEASUREMENTS",
    "by_passes",
    "cross_validated",
    "duplicates",
    "from_few_rows",
]

_FUNCTIONS = (cross_validated, by_passes, duplicates, from_few_rows)

MEASUREMENTS: Mapping[str, Callable[..., Numbers]] = MappingProxyType(
    {function.__name__: function for function in _FUNCTIONS}
)
"""Functions by name."""
