"""Training and test error by iteration, and where to stop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tanager.experiments.experiment import Experiment
from tanager.experiments.results import Results
from tanager.experiments.views.claims import t_tests
from tanager.experiments.views.drawing import COLOURS, MARKERS, panels
from tanager.experiments.views.table import Table, View

Errors = npt.NDArray[np.float64]

PER_CENT = 100.0

STOPS = {
    "the start": lambda training: 0,
    "before the training error first rises": lambda training: first_rise(training),
    "the least training error": lambda training: int(np.argmin(training)),
    "the end": lambda training: len(training) - 1,
}
"""Ways to stop that know the training error alone."""

TUNED = "cross tuning"


def iterations(experiment: Experiment, results: Results) -> View:
    """Mean errors by iteration, and the test error of several ways to stop.

    Options of the experiment: ``methods`` are those with a panel; ``fold`` and
    ``repeat`` name the single run that is drawn beside the means.
    """
    methods = [m for m in experiment.options["methods"] if m in results.levels("method")]
    long = []
    stopped = []
    said, holding = [], []
    for method in methods:
        cells = results.where(method=method)
        training, test = (_series(cells, kind) for kind in ("training", "test"))
        for k in range(training.shape[1]):
            long.append((method, k, training[:, k].mean(), test[:, k].mean()))
        errors = _by_stop(cells, training, test)
        stopped += [(method, stop, float(np.mean(e))) for stop, e in errors.items()]
        rises = "before the training error first rises"
        one, other = float(np.mean(errors[TUNED])), float(np.mean(errors[rises]))
        tests = t_tests(
            {(str(n), stop): e for stop in errors for n, e in enumerate(errors[stop])},
            [TUNED, rises],
            higher_is_better=False,
        )
        p = "" if tests is None else f" (p = {tests.p_values[0, 1]:.2g})"
        holding.append(one < other)
        said.append(
            f"{method}: test error {one:.2f} with {TUNED}, {other:.2f} if stopped "
            f"{rises}{p}, {test.min(axis=1).mean():.2f} at the best iterations."
        )
    return View(
        (
            Table("", ("classifier", "iteration", "training", "test"), tuple(long)),
            Table(
                "Mean test error by where it is stopped",
                ("classifier", "stopped at", "test error"),
                tuple(stopped),
            ),
        ),
        " ".join(said),
        all(holding) if holding else None,
        lambda figure: _draw(figure, methods, results),
    )


def first_rise(training: Sequence[float] | Errors) -> int:
    """The iteration before the one at which an error rises for the first time.

    Examples
    --------
    >>> first_rise([0.3, 0.2, 0.2, 0.25, 0.1])
    2
    >>> first_rise([0.3, 0.2])
    1
    """
    rises = np.flatnonzero(np.diff(np.asarray(training)) > 0)
    return int(rises[0]) if len(rises) else len(training) - 1


def _series(cells: Results, kind: str) -> Errors:
    """Errors in per cent, shape (n_cells, n_iterations + 1)."""
    return PER_CENT * np.array([n[f"{kind}_error"] for n in cells.numbers], dtype=float)


def _by_stop(cells: Results, training: Errors, test: Errors) -> dict[str, list[float]]:
    found = {
        name: [float(row[stop(seen)]) for seen, row in zip(training, test, strict=True)]
        for name, stop in STOPS.items()
    }
    return found | {TUNED: (PER_CENT * cells.values("tuned_error")).tolist()}


def _draw(figure: Any, methods: Sequence[str], results: Results) -> None:
    for axes, method in zip(panels(figure, len(methods)), methods, strict=True):
        cells = results.where(method=method)
        for k, kind in enumerate(("training", "test")):
            errors = _series(cells, kind)
            axes.plot(
                np.arange(errors.shape[1]),
                errors.mean(axis=0),
                label=f"{kind}, mean of {len(errors)}",
                color=COLOURS[k],
                marker=MARKERS[k],
                ms=3.5,
                lw=1.2,
            )
            axes.plot(errors[0], color=COLOURS[k], lw=0.8, ls=":", label="one of them")
        axes.set_title(method, fontsize="medium")
        axes.set(xlabel="iteration", ylabel="error, %")
        axes.legend(frameon=False, fontsize="small")
