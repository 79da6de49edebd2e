"""From numbers to tables, figures and verdicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from lab.runner.experiment import Experiment
from lab.runner.results import Results
from lab.views.accuracy_gain import accuracy_gain
from lab.views.arc_recovery import arc_recovery
from lab.views.cluster_projection import cluster_projection
from lab.views.complete_or_incomplete_tests import incomplete_test_samples
from lab.views.crosstab import crosstab
from lab.views.early_stopping import early_stopping
from lab.views.error_curves import error_curves
from lab.views.error_scatter import error_scatter
from lab.views.fit_times import fit_times
from lab.views.interpretations import interpretations
from lab.views.learning_curves import learning_curves
from lab.views.lowest_errors import errors_by_start, lowest_errors
from lab.views.margin_weight_hulls import margin_weight_hulls
from lab.views.model_comparison import model_comparison
from lab.views.order_free_gain import order_free_gain
from lab.views.order_likelihood import order_likelihood
from lab.views.paired_scores import paired_scores
from lab.views.pooled_accuracy import pooled_accuracy
from lab.views.published_scores import published_scores
from lab.views.random_order_accuracy import random_order_accuracy
from lab.views.scoreboard import (
    scoreboard_averages,
    scoreboard_costs,
    scoreboard_coverage,
    scoreboard_pairs,
    scoreboard_ranks,
    scoreboard_tables,
)
from lab.views.scoreboard_claims import scoreboard_claims
from lab.views.search_times import search_times
from lab.views.significance import significance
from lab.views.support_vector_machines import svm_accuracy, svm_size
from lab.views.sweep_curves import parameter_curves
from lab.views.t_test_matrix import t_test_matrix
from lab.views.table import Table, View, distance_of
from lab.views.training_passes import duplicate_features, training_passes
from lab.views.unexplained_numbers import hypotheses
from lab.views.win_counts import win_counts

__all__ = ["VIEWS", "Table", "View", "distance_of", "view_of"]

ViewFunction = Callable[[Experiment, Results], View]

VIEWS: Mapping[str, ViewFunction] = MappingProxyType(
    {
        view.__name__: view
        for view in (
            published_scores,
            pooled_accuracy,
            crosstab,
            paired_scores,
            parameter_curves,
            error_curves,
            duplicate_features,
            errors_by_start,
            accuracy_gain,
            incomplete_test_samples,
            margin_weight_hulls,
            early_stopping,
            lowest_errors,
            order_likelihood,
            svm_accuracy,
            svm_size,
            model_comparison,
            random_order_accuracy,
            t_test_matrix,
            training_passes,
            interpretations,
            hypotheses,
            arc_recovery,
            scoreboard_averages,
            scoreboard_claims,
            scoreboard_costs,
            scoreboard_coverage,
            scoreboard_pairs,
            scoreboard_ranks,
            scoreboard_tables,
            search_times,
            error_scatter,
            significance,
            learning_curves,
            fit_times,
            cluster_projection,
            win_counts,
            order_free_gain,
        )
    }
)
"""Views by the names that experiments call them."""


def view_of(experiment: Experiment, results: Results) -> View:
    """What is shown of an experiment, as far as it is measured."""
    return VIEWS[experiment.view](experiment, results)
