"""What can be measured: functions from the parameters of a cell to numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from lab.measurements.classifier_evaluation import (
    classifier_scores,
    decision_costs,
    missing_at_test,
)
from lab.measurements.cross_validation import cross_validation_scores
from lab.measurements.default_candidates import model_scores
from lab.measurements.dfe_variants import dfe_variant
from lab.measurements.digit_preparations import digit_accuracy
from lab.measurements.feature_copies import copied_features
from lab.measurements.gradient_structures import (
    order_errors,
    setting_errors,
    structure_screening,
    tree_recovery,
)
from lab.measurements.greiner_errors import (
    equal_features,
    irrelevant_features,
)
from lab.measurements.gumbel_variants import gumbel_variant
from lab.measurements.holdout_evaluation import holdout_scores, iteration_errors
from lab.measurements.image_downsampling import downsampling_distance
from lab.measurements.image_scores import image_errors
from lab.measurements.incomplete_samples import incomplete_sample_scores
from lab.measurements.known_distributions import (
    distribution_likelihood,
    known_tree_accuracy,
    learned_tree_accuracy,
    three_features,
)
from lab.measurements.known_networks import network_recovery
from lab.measurements.missing_test_features import missing_feature_accuracy
from lab.measurements.out_of_core import out_of_core_fit
from lab.measurements.parameter_learner_variants import learner_seconds, learner_variant
from lab.measurements.published_orders import (
    pseudo_tree_errors,
    published_order_errors,
)
from lab.measurements.repeated_passes import duplicate_features, pass_accuracy
from lab.measurements.rival_scores import rival_scores
from lab.measurements.rounded_models import rounding_loss
from lab.measurements.search_accuracy import (
    order_likelihood,
    random_order_accuracy,
    search_times,
    structure_accuracy,
)
from lab.measurements.serving_latency import serving_latency
from lab.measurements.small_samples import small_sample_accuracy
from lab.measurements.structure_evaluation import (
    decisive_arc,
    digit_scores,
    network_scores,
    order_scores,
    search_scores,
    structure_scores,
)
from lab.measurements.svm_scores import (
    svm_accuracy,
    svm_three_features,
)
from lab.measurements.unlabelled_samples import few_labels, semi_supervised
from lab.runner.cell import Numbers

__all__ = ["MEASUREMENTS"]

MEASUREMENTS: Mapping[str, Callable[..., Numbers]] = MappingProxyType(
    {
        function.__name__: function
        for function in (
            iteration_errors,
            pass_accuracy,
            classifier_scores,
            copied_features,
            cross_validation_scores,
            decision_costs,
            decisive_arc,
            dfe_variant,
            digit_scores,
            digit_accuracy,
            distribution_likelihood,
            downsampling_distance,
            duplicate_features,
            equal_features,
            missing_feature_accuracy,
            few_labels,
            small_sample_accuracy,
            gumbel_variant,
            holdout_scores,
            image_errors,
            incomplete_sample_scores,
            irrelevant_features,
            learner_seconds,
            learner_variant,
            svm_three_features,
            svm_accuracy,
            missing_at_test,
            network_recovery,
            network_scores,
            order_scores,
            order_errors,
            order_likelihood,
            out_of_core_fit,
            random_order_accuracy,
            model_scores,
            pseudo_tree_errors,
            rival_scores,
            published_order_errors,
            rounding_loss,
            search_scores,
            search_times,
            semi_supervised,
            serving_latency,
            setting_errors,
            structure_scores,
            structure_screening,
            structure_accuracy,
            three_features,
            tree_recovery,
            known_tree_accuracy,
            learned_tree_accuracy,
        )
    }
)
"""Functions by name."""
