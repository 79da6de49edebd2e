"""Learning curves: accuracy by the number of training samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lab.runner.experiment import Experiment
from lab.runner.results import Results
from lab.views.claims import t_tests, together, winner
from lab.views.small_multiples import Line, draw, line, wide
from lab.views.table import Entry, Table, View


def learning_curves(experiment: Experiment, results: Results) -> View:
    """Accuracy by the number of training samples, a panel for every dataset.

    Options of the experiment: ``scale`` makes numbers the unit of the paper; the claim
    is that ``base`` is ahead of all other methods on the datasets ``ahead`` alone, and
    behind all of them on the datasets ``behind``. One method is ahead of another if its
    mean over the numbers of samples is higher by a one-sided paired t-test over the
    runs; where the sign is right and the test is not significant, nothing is concluded.
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
    verdict, holds = _judged(_by_run(results), options)
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


Runs = Mapping[str, Mapping[tuple[str, str], float]]


def _by_run(results: Results) -> dict[str, dict[tuple[str, str], float]]:
    """Accuracies by dataset, run and method: means over the numbers of samples."""
    found = {}
    for data in results.levels("data"):
        of_set = results.where(data=data)
        known = {m: of_set.where(method=m) for m in of_set.levels("method")}
        places = [set(of.levels("n_rows")) for of in known.values()]
        common = set.intersection(*places)
        means = {
            method: np.mean([of.where(n_rows=n).values("accuracy") for n in common], 0)
            for method, of in known.items()
            if common
        }
        found[data.rpartition("/")[2]] = {
            (str(run), method): float(accuracy)
            for method, runs in means.items()
            for run, accuracy in enumerate(runs)
        }
    return found


def _judged(runs: Runs, options: Mapping[str, Any]) -> tuple[str, bool | None]:
    """On which datasets one method is ahead of all others, and behind all of them."""
    base = options["base"]
    found: dict[str, list[str]] = {"ahead": [], "behind": []}
    holding: list[bool | None] = []
    for name, of in runs.items():
        methods = list(dict.fromkeys(method for _, method in of))
        others = [method for method in methods if method != base]
        tests = t_tests(of, methods)
        if tests is None or base not in methods:
            continue
        sides = {"ahead": [(base, m) for m in others]}
        sides["behind"] = [(m, base) for m in others]
        for side, pairs in sides.items():
            clear = all(tests.better(*pair) for pair in pairs)
            if clear:
                found[side].append(name)
            if name in options[side]:
                right = all(winner(tests, *pair)[0] == pair[0] for pair in pairs)
                holding.append(True if clear else None if right else False)
            elif side == "ahead":
                holding.append(not clear)
    if not holding:
        return "", None
    told = ", ".join
    return (
        f"{base} is significantly ahead of all others on "
        f"{told(found['ahead']) or 'no dataset'} (the paper: {told(options['ahead'])}) "
        f"and significantly behind all of them on "
        f"{told(found['behind']) or 'no dataset'} (the paper: "
        f"{told(options['behind'])}), of {len(runs)} datasets.",
        together(holding),
    )
