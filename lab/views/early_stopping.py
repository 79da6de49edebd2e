"""Training and test error by iteration, and where to stop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lab.runner.experiment import Experiment
from lab.runner.results import Results
from lab.views.claims import t_tests, together, told
from lab.views.figure_style import COLOURS, MARKERS, panels
from lab.views.table import Table, View
from tanager.compare import PairTests
from tanager.types import FloatArray

PER_CENT = 100.0

RISES = "before the training error first rises"
TUNED = "cross tuning"


def early_stopping(experiment: Experiment, results: Results) -> View:
    """Mean errors by iteration, and the test error of several ways to stop.

    Options of the experiment: ``methods`` are those with a panel.
    """
    known = results.levels("method")
    methods = [method for method in experiment.options["methods"] if method in known]
    long, stopped, said = [], [], []
    holding: list[bool | None] = []
    for method in methods:
        cells = results.where(method=method)
        training, test = (_series(cells, kind) for kind in ("training", "test"))
        means = zip(training.mean(axis=0), test.mean(axis=0), strict=True)
        long += [(method, k, float(a), float(b)) for k, (a, b) in enumerate(means)]
        errors = _by_stop(cells, training, test)
        stopped += [(method, stop, float(np.mean(e))) for stop, e in errors.items()]
        one, other = float(np.mean(errors[TUNED])), float(np.mean(errors[RISES]))
        tests = _tests(errors)
        holding.append(told(tests, [[TUNED, ">", RISES]])[1])
        level = "" if tests is None else f" (p = {tests.p_values[0, 1]:.2g})"
        said.append(
            f"{method}: test error {one:.2f} with {TUNED}, {other:.2f} if stopped "
            f"{RISES}{level}, {test.min(axis=1).mean():.2f} if the iteration of every "
            "run were chosen on the test samples."
        )
    return View(
        (
            Table("", ("classifier", "iteration", "training", "test"), tuple(long)),
            Table(
                "Mean test error in per cent by where it is stopped",
                ("classifier", "stopped at", "test error"),
                tuple(stopped),
            ),
        ),
        " ".join(said),
        together(holding),
        lambda figure: _draw(figure, methods, results),
    )


def first_rise(training: Sequence[float] | FloatArray) -> int:
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


def _series(cells: Results, kind: str) -> FloatArray:
    """Errors in per cent, shape (n_cells, n_iterations + 1)."""
    return PER_CENT * np.array([n[f"{kind}_error"] for n in cells.numbers], dtype=float)


def _by_stop(
    cells: Results, training: FloatArray, test: FloatArray
) -> dict[str, list[float]]:
    """Test errors of all runs where a run is stopped."""
    runs = np.arange(len(test))
    places = {
        "the start": np.zeros(len(test), dtype=np.intp),
        RISES: np.array([first_rise(run) for run in training]),
        "the lowest training error": training.argmin(axis=1),
        "the end": np.full(len(test), test.shape[1] - 1),
    }
    found = {name: test[runs, place].tolist() for name, place in places.items()}
    return found | {TUNED: (PER_CENT * cells.values("tuned_error")).tolist()}


def _tests(errors: Mapping[str, Sequence[float]]) -> PairTests | None:
    """How significant the difference between the two ways to stop is."""
    scores = {(str(n), k): e for k in errors for n, e in enumerate(errors[k])}
    return t_tests(scores, [TUNED, RISES], higher_is_better=False)


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
        axes.set_title(method, fontsize="medium")
        axes.set(xlabel="iteration", ylabel="error, %")
        axes.legend(frameon=False, fontsize="small")
