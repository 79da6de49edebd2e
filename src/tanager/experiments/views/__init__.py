"""From numbers to tables, figures and verdicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from tanager.experiments.experiment import Experiment
from tanager.experiments.results import Results
from tanager.experiments.views.beside import beside
from tanager.experiments.views.columns import columns
from tanager.experiments.views.curve_panels import curve_panels
from tanager.experiments.views.curves import curves
from tanager.experiments.views.gaps import gaps
from tanager.experiments.views.hulls import hulls
from tanager.experiments.views.iterations import iterations
from tanager.experiments.views.least_errors import least_errors
from tanager.experiments.views.likelihoods import likelihoods
from tanager.experiments.views.machines import machine_rates, machine_sizes
from tanager.experiments.views.models import models
from tanager.experiments.views.orders import orders
from tanager.experiments.views.paired_tests import paired_tests
from tanager.experiments.views.passes import duplicates, passes
from tanager.experiments.views.readings import readings
from tanager.experiments.views.recovered import recovered
from tanager.experiments.views.relative_times import relative_times
from tanager.experiments.views.scatter import scatter
from tanager.experiments.views.significance import significance
from tanager.experiments.views.small_samples import small_samples
from tanager.experiments.views.table import Table, View
from tanager.experiments.views.times import times
from tanager.experiments.views.wins import wins
from tanager.experiments.views.without_order import without_order

__all__ = ["VIEWS", "Table", "View", "view_of"]

ViewFunction = Callable[[Experiment, Results], View]

VIEWS: Mapping[str, ViewFunction] = MappingProxyType(
    {
        view.__name__: view
        for view in (
            beside,
            columns,
            curve_panels,
            curves,
            duplicates,
            gaps,
            hulls,
            iterations,
            least_errors,
            likelihoods,
            machine_rates,
            machine_sizes,
            models,
            orders,
            paired_tests,
            passes,
            readings,
            recovered,
            relative_times,
            scatter,
            significance,
            small_samples,
            times,
            wins,
            without_order,
        )
    }
)
"""Views by the names that experiments call them."""


def view_of(experiment: Experiment, results: Results) -> View:
    """What is shown of an experiment, as far as it is measured."""
    return VIEWS[experiment.view](experiment, results)
