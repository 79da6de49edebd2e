"""Accuracies under several interpretations of what a paper leaves open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lab.runner.cell import Cell
from lab.runner.experiment import Experiment
from lab.runner.results import Results
from lab.views.published_scores import Key, Score, measured, published
from lab.views.table import Table, View, distance_of

PER_CENT = 100.0

Scores = Mapping[Key, Score]
Means = dict[tuple[str, str], float]


def interpretations(experiment: Experiment, results: Results) -> View:
    """Accuracies and their averages by every interpretation.

    Options of the experiment: ``value`` and ``deviation`` as of `published_scores`;
    ``plain`` names the interpretation of cells without the parameters in question, or
    with those in ``of_plain``, ``interpretations`` the others with the parameters they
    have. Where no cells of an interpretation are planned, on datasets that it leaves as
    they are, it has those of the plain one; where they are planned and not known, the
    dataset is in no average. The claim is that averages by the plain one are within
    ``tolerance`` points of the published ones; averages are also shown without the
    datasets ``apart``, whose published numbers are in doubt.
    """
    options = experiment.options
    theirs = published(experiment)
    every = {
        options["plain"]: options.get("of_plain", {}),
        **options["interpretations"],
    }
    own = _own(results, every)
    planned = {r: set(c) for r, c in _cells(experiment.cells(), every).items()}
    plain = own[options["plain"]]
    methods = list(dict.fromkeys(method for _, method in theirs))
    known = [m for m in methods if any(key[1] == m for key in plain)]

    def whole(key: Key) -> bool:
        """Whether an accuracy is known by all interpretations that have its method."""
        return key in plain.keys() & theirs.keys() and all(
            key in scores or key not in planned[reading]
            for reading, scores in own.items()
            if any(method == key[1] for _, method in scores)
        )

    sets = [
        name
        for name in dict.fromkeys(name for name, _ in theirs)
        if all(whole((name, method)) for method in known)
    ]
    head = ("dataset", "classifier", "reading", "published", "ours", "sd", "difference")
    long = Table("", head, tuple(_lines(own, theirs)))
    if not known or not sets:
        return View((long,), "", None)
    apart = [name for name in sets if name in options.get("apart", ())]
    differences = {
        (method, reading): {
            name: scores.get((name, method), plain[name, method]).value
            - theirs[name, method].value
            for name in sets
        }
        for reading, scores in own.items()
        for method in known
        if any(key[1] == method for key in scores)
    }

    def means(without: Sequence[str] = ()) -> Means:
        return {
            key: float(np.mean([d for name, d in of.items() if name not in without]))
            for key, of in differences.items()
        }

    over = f"Averages over {len(sets)} datasets" if len(sets) > 1 else f"On {sets[0]}"
    averages = f"{over}, ours less the published one"
    shown = {averages: means()}
    if apart:
        shown[f"The same without {', '.join(apart)}"] = means(apart)
    shown["Mean distance of an accuracy to the published one"] = {
        key: float(np.mean(np.abs(list(of.values()))))
        for key, of in differences.items()
    }
    tables = [
        Table(
            title,
            ("classifier", *own),
            tuple((m, *(of.get((m, reading)) for reading in own)) for m in known),
        )
        for title, of in shown.items()
    ]
    tolerance = options.get("tolerance", 1.0)
    said = [_told(shown[averages], reading, known, tolerance) for reading in own]
    holds = all(abs(shown[averages][m, options["plain"]]) <= tolerance for m in known)
    verdict = " ".join(text for text in said if text)
    of_plain = Table(
        "",
        ("dataset", "classifier", "difference"),
        tuple((*row[:2], row[-1]) for row in _lines({"": plain}, theirs)),
    )
    distance = f"{options['plain']}: {distance_of(of_plain)}"
    return View(
        (long, *tables, _by_set(own, theirs)), verdict, holds, distance=distance
    )


def _own(
    results: Results, every: Mapping[str, Mapping[str, str | float]]
) -> dict[str, Scores]:
    """Accuracies of the cells of every interpretation."""
    return {
        reading: measured(
            Results.of([c for of in by_key.values() for c in of], dict(results)),
            "accuracy",
            PER_CENT,
            of_means=True,
        )
        for reading, by_key in _cells(results.cells, every).items()
    }


def _cells(
    cells: Sequence[Cell], every: Mapping[str, Mapping[str, str | float]]
) -> dict[str, dict[Key, list[Cell]]]:
    """Cells of every interpretation by dataset and method."""
    asked = {name for parameters in every.values() for name in parameters}
    found: dict[str, dict[Key, list[Cell]]] = {reading: {} for reading in every}
    for cell in cells:
        given = {k: v for k, v in cell.parameters.items() if k in asked}
        name = str(cell.parameters["data"]).rpartition("/")[2]
        key = name, str(cell.parameters["method"])
        for reading, parameters in every.items():
            if given == dict(parameters):
                found[reading].setdefault(key, []).append(cell)
    return found


def _lines(
    own: Mapping[str, Scores], theirs: Scores
) -> list[tuple[str | float | None, ...]]:
    """Rows of the long table."""
    return [
        (
            *key, reading, theirs[key].value, score.value, score.deviation,
            score.value - theirs[key].value,
        )
        for reading, scores in own.items()
        for key, score in scores.items()
        if key in theirs
    ]  # fmt: skip


def _told(
    means: Mapping[tuple[str, str], float],
    reading: str,
    methods: Sequence[str],
    tolerance: float,
) -> str:
    """How far the averages of one interpretation are from the published ones."""
    found = {m: means[m, reading] for m in methods if (m, reading) in means}
    if not found:
        return ""
    near = sum(abs(difference) <= tolerance for difference in found.values())
    each = ", ".join(f"{m} {difference:+.2f}" for m, difference in found.items())
    return (
        f"By {reading}: {near} of {len(found)} averages within {tolerance:g} "
        f"point{'' if tolerance == 1 else 's'} ({each})."
    )


def _by_set(own: Mapping[str, Scores], theirs: Scores) -> Table:
    """The accuracies on which interpretations differ."""
    plain, *others = own
    keys = [
        key
        for key in theirs
        if key in own[plain] and any(key in own[other] for other in others)
    ]
    rows = tuple(
        (
            ", ".join(key), theirs[key].value,
            *(scores[key].value if key in scores else None for scores in own.values()),
        )
        for key in keys
    )  # fmt: skip
    return Table("Accuracy in per cent", ("dataset", "published", *own), rows)
