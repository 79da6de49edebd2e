"""What can be measured: functions from the parameters of a cell to numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from lab.measurements.differentiable import (
    order_tested,
    setting_tested,
    tree_recovered,
)
from lab.measurements.digits import digits_tested
from lab.measurements.folds import cross_validated
from lab.measurements.generated import (
    distributions_learned,
    three_features,
    trees_known,
    trees_learned,
)
from lab.measurements.held_out import by_iteration, held_out
from lab.measurements.missing_features import features_missing
from lab.measurements.passes import by_passes, duplicates
from lab.measurements.rivals import rival
from lab.measurements.small_samples import from_few_rows
from lab.measurements.structures import (
    ordered_likelihood,
    random_orders,
    search_timed,
    structure_tested,
)
from lab.measurements.support_vectors import (
    machine_on_three_features,
    machine_tested,
)
from lab.measurements.synthetic import (
    equal_features,
    irrelevant_features,
)
from lab.runner.cell import Numbers

__all__ = ["MEASUREMENTS"]

MEASUREMENTS: Mapping[str, Callable[..., Numbers]] = MappingProxyType(
    {
        function.__name__: function
        for function in (
            by_iteration,
            by_passes,
            cross_validated,
            digits_tested,
            distributions_learned,
            duplicates,
            equal_features,
            features_missing,
            from_few_rows,
            held_out,
            irrelevant_features,
            machine_on_three_features,
            machine_tested,
            order_tested,
            ordered_likelihood,
            random_orders,
            rival,
            search_timed,
            setting_tested,
            structure_tested,
            three_features,
            tree_recovered,
            trees_known,
            trees_learned,
        )
    }
)
"""Functions by name."""
