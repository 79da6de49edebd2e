"""Learning curves: accuracy by the number of training samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lab.runner.experiment import Experiment
from lab.runner.results import Results
from lab.views.small_multiples import Line, draw, line, wide
from lab.views.table import Entry, Table, View


def learning_curves(experiment: Experiment, results: Results) -> View:
    """Accuracy by the number of training samples, a panel for every dataset.

    Options of the experiment: ``scale`` makes numbers the unit of the paper; the claim
    is that ``base`` is the best of the methods, by more than ``tolerance`` in the mean
    over the numbers of samples, on no more than half of the datasets.
    """
    options = experiment.options
    panels: dict[str, list[Line]] = {}
    for data in results.levels("data"):
        of_set = results.where(data=data)
        panels[data.rpartition("/")[2]] = [
            line(m, of_set.where(method=m), "n_rows", "accuracy", options["scale"])
            for m in of_set.levels("method")
        ]
    rows: list[tuple[Entry, ...]] = [
        (name, one.label, int(x), None, accuracy, None)
        for name, lines in panels.items()
        for one in lines
        for x, accuracy in one.points.items()
    ]
    head = ("dataset", "classifier", "rows", "published", "ours", "difference")
    means = {name: _means(lines) for name, lines in panels.items()}
    methods = results.levels("method")
    mean = Table(
        "Mean over the numbers of samples",
        ("dataset", *methods),
        tuple((s, *(of.get(m) for m in methods)) for s, of in means.items()),
    )
    verdict, holds = _judged(means, options["base"], options["tolerance"])
    return View(
        (
            Table("", head, tuple(rows)),
            mean,
            *(wide(name, "rows", lines) for name, lines in panels.items()),
        ),
        verdict,
        holds,
        lambda figure: draw(figure, panels, "training samples", "accuracy, %"),
    )


def _means(lines: Sequence[Line]) -> dict[str, float]:
    """Means over the places that all lines have."""
    common = [x for x in lines[0].points if all(x in one.points for one in lines)]
    if not common:
        return {}
    return {one.label: float(np.mean([one.points[x] for x in common])) for one in lines}


def _judged(
    means: Mapping[str, Mapping[str, float]], base: str, tolerance: float
) -> tuple[str, bool | None]:
    """On which datasets one method is the best, and on which it is the worst."""
    best, worst, n_sets = [], [], 0
    for name, of in means.items():
        others = [accuracy for method, accuracy in of.items() if method != base]
        if base in of and others:
            n_sets += 1
            if of[base] > max(others) + tolerance:
                best.append(name)
            elif of[base] < min(others) - tolerance:
                worst.append(name)
    if not n_sets:
        return "", None
    told = (
        f"By more than {tolerance:g} {base} is the best on "
        f"{', '.join(best) or 'no set'} and the worst on "
        f"{', '.join(worst) or 'no set'}, of {n_sets} datasets."
    )
    return told, len(best) <= n_sets / 2
