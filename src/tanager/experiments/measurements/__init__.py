"""What can be measured: functions from the parameters of a cell to numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from tanager.experiments.cell import Numbers
from tanager.experiments.measurements.folds import cross_validated
from tanager.experiments.measurements.held_out import by_iteration, held_out
from tanager.experiments.measurements.passes import by_passes, duplicates
from tanager.experiments.measurements.small_samples import from_few_rows
from tanager.experiments.measurements.synthetic import (
    equal_features,
    irrelevant_features,
)

__all__ = [
    "MEASUREMENTS",
    "by_iteration",
    "by_passes",
    "cross_validated",
    "duplicates",
    "equal_features",
    "from_few_rows",
    "held_out",
    "irrelevant_features",
]

MEASUREMENTS: Mapping[str, Callable[..., Numbers]] = MappingProxyType(
    {
        function.__name__: function
        for function in (
            by_iteration,
            by_passes,
            cross_validated,
            duplicates,
            equal_features,
            from_few_rows,
            held_out,
            irrelevant_features,
        )
    }
)
"""Functions by name."""
