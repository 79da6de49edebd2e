"""Published accuracies beside ours, by readings of what the paper leaves open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tanager.experiments.experiment import Experiment
from tanager.experiments.results import Results
from tanager.experiments.views.beside import Key, Score, measured, published
from tanager.experiments.views.table import Table, View

PER_CENT = 100.0

Scores = Mapping[Key, Score]


def readings(experiment: Experiment, results: Results) -> View:
    """Accuracies and their averages by every reading.

    Options of the experiment: ``value`` and ``deviation`` as of `beside`; ``plain``
    names the reading of cells without the parameters in question, ``readings`` the
    others with the parameters they have. Where a reading has no cells of its own, on
    sets that it leaves as they are, it has those of the plain one. The claim is that
    averages by the plain one are within ``tolerance`` points of the published ones.
    """
    options = experiment.options
    theirs = published(experiment)
    own = _own(results, options["plain"], options["readings"])
    plain = own[options["plain"]]
    methods = list(dict.fromkeys(method for _, method in theirs))
    known = [m for m in methods if any(key[1] == m for key in plain)]
    sets = [
        name
        for name in dict.fromkeys(name for name, _ in theirs)
        if all((name, method) in plain for method in known)
    ]
    head = ("dataset", "classifier", "reading", "published", "ours", "sd", "difference")
    long = Table("", head, tuple(_lines(own, theirs)))
    if not known or not sets:
        return View((long,), "", None)
    differences = {
        (method, reading): np.array(
            [
                scores.get((name, method), plain[name, method]).value
                - theirs[name, method].value
                for name in sets
            ]
        )
        for reading, scores in own.items()
        for method in known
        if any(key[1] == method for key in scores)
    }
    means = {key: float(values.mean()) for key, values in differences.items()}
    distances = {key: float(abs(v).mean()) for key, v in differences.items()}
    averages = f"Averages over {len(sets)} sets, ours less the published one"
    distance = "Mean distance of an accuracy to the published one"
    tables = [
        Table(
            title,
            ("classifier", *own),
            tuple((m, *(of.get((m, reading)) for reading in own)) for m in known),
        )
        for title, of in ((averages, means), (distance, distances))
    ]
    tolerance = options.get("tolerance", 1.0)
    said = [_told(means, reading, known, tolerance) for reading in own]
    holds = all(abs(means[m, options["plain"]]) <= tolerance for m in known)
    verdict = " ".join(text for text in said if text)
    return View((long, *tables, _by_set(own, theirs)), verdict, holds)


def _own(
    results: Results, plain: str, others: Mapping[str, Mapping[str, str | float]]
) -> dict[str, Scores]:
    """Accuracies of the cells of every reading."""
    asked = {name for parameters in others.values() for name in parameters}
    own: dict[str, Scores] = {}
    every: dict[str, Mapping[str, str | float]] = {plain: {}, **others}
    for reading, parameters in every.items():
        cells = [
            (cell, numbers)
            for cell, numbers in results
            if asked & set(cell.parameters) == set(parameters)
        ]
        chosen = Results(tuple(c for c, _ in cells), tuple(n for _, n in cells))
        own[reading] = measured(
            chosen.where(**parameters), "accuracy", PER_CENT, of_means=True
        )
    return own


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
    """How far the averages of one reading are from the published ones."""
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
    """The accuracies on which readings differ."""
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
    return Table("Accuracy in per cent", ("set", "published", *own), rows)
