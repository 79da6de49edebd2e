"""What can be measured: functions from the parameters of a cell to numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from tanager.experiments.cell import Numbers
from tanager.experiments.measurements.differentiable import (
    order_tested,
    setting_tested,
    tree_recovered,
)
from tanager.experiments.measurements.digits import digits_tested
from tanager.experiments.measurements.folds import cross_validated
from tanager.experiments.measurements.generated import (
    distributions_learned,
    three_features,
    trees_known,
    trees_learned,
)
from tanager.experiments.measurements.held_out import by_iteration, held_out
from tanager.experiments.measurements.missing_features import features_missing
from tanager.experiments.measurements.passes import by_passes, duplicates
from tanager.experiments.measurements.rivals import rival
from tanager.experiments.measurements.small_samples import from_few_rows
from tanager.experiments.measurements.structures import (
    ordered_likelihood,
    random_orders,
    search_timed,
    structure_tested,
)
from tanager.experiments.measurements.support_vectors import (
    machine_on_three_features,
    machine_tested,
)
from tanager.experiments.measurements.synthetic import (
    equal_features,
    irrelevant_features,
)

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
