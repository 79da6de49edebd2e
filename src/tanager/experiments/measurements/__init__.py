"""What can be measured: functions from the parameters of a cell to numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from tanager.experiments.cell import Numbers
from tanager.experiments.measurements.folds import cross_validated
from tanager.experiments.measurements.rivals import rival

__all__ = ["MEASUREMENTS", "cross_validated", "rival"]

MEASUREMENTS: Mapping[str, Callable[..., Numbers]] = MappingProxyType(
    {function.__name__: function for function in (cross_validated, rival)}
)
"""Functions by name."""
