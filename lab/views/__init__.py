"""From numbers to tables, figures and verdicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from lab.runner.experiment import Experiment
from lab.runner.results import Results
from lab.views.beside import beside
from lab.views.columns import columns
from lab.views.crosstab import crosstab
from lab.views.curve_panels import curve_panels
from lab.views.curves import curves
from lab.views.gains import gains
from lab.views.gaps import gaps
from lab.views.hulls import hulls
from lab.views.iterations import iterations
from lab.views.least_errors import errors_by_start, least_errors
from lab.views.likelihoods import likelihoods
from lab.views.machines import machine_rates, machine_sizes
from lab.views.models import models
from lab.views.orders import orders
from lab.views.paired_tests import paired_tests
from lab.views.passes import duplicates, passes
from lab.views.readings import readings
from lab.views.recovered import recovered
from lab.views.relative_times import relative_times
from lab.views.scatter import scatter
from lab.views.significance import significance
from lab.views.small_samples import small_samples
from lab.views.table import Table, View
from lab.views.times import times
from lab.views.wins import wins
from lab.views.without_order import without_order

__all__ = ["VIEWS", "Table", "View", "view_of"]

ViewFunction = Callable[[Experiment, Results], View]

VIEWS: Mapping[str, ViewFunction] = MappingProxyType(
    {
        view.__name__: view
        for view in (
            beside,
            columns,
            crosstab,
            curve_panels,
            curves,
            duplicates,
            errors_by_start,
            gains,
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
