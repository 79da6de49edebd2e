"""What can be measured: functions from the parameters of a cell to numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from lab.measurements.classifier_evaluation import (
    classifier_scores,
    decision_costs,
    missing_at_test,
)
from lab.measurements.differentiable import (
    order_tested,
    setting_tested,
    structure_screened,
    tree_recovered,
)
from lab.measurements.digits import digits_tested
from lab.measurements.feature_copies import copied_features
from lab.measurements.folds import cross_validated
from lab.measurements.generated import (
    distributions_learned,
    three_features,
    trees_known,
    trees_learned,
)
from lab.measurements.gumbel_variants import gumbel_variant
from lab.measurements.held_out import by_iteration, held_out
from lab.measurements.image_downsampling import downsampling
from lab.measurements.known_networks import network_recovery
from lab.measurements.missing_features import features_missing
from lab.measurements.passes import by_passes, duplicates
from lab.measurements.rivals import rival
from lab.measurements.small_samples import from_few_rows
from lab.measurements.structure_evaluation import (
    decisive_arc,
    digit_scores,
    network_scores,
    order_scores,
    search_scores,
    structure_scores,
)
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
from lab.measurements.unlabelled_samples import few_labels, semi_supervised
from lab.runner.cell import Numbers

__all__ = ["MEASUREMENTS"]

MEASUREMENTS: Mapping[str, Callable[..., Numbers]] = MappingProxyType(
    {
        function.__name__: function
        for function in (
            by_iteration,
            by_passes,
            classifier_scores,
            copied_features,
            cross_validated,
            decision_costs,
            decisive_arc,
            digit_scores,
            digits_tested,
            distributions_learned,
            downsampling,
            duplicates,
            equal_features,
            features_missing,
            few_labels,
            from_few_rows,
            gumbel_variant,
            held_out,
            irrelevant_features,
            machine_on_three_features,
            machine_tested,
            missing_at_test,
            network_recovery,
            network_scores,
            order_scores,
            order_tested,
            ordered_likelihood,
            random_orders,
            rival,
            search_scores,
            search_timed,
            semi_supervised,
            setting_tested,
            structure_scores,
            structure_screened,
            structure_tested,
            three_features,
            tree_recovered,
            trees_known,
            trees_learned,
        )
    }
)
"""Functions by name."""
