"""Support vector machines compared with the best network: size and accuracy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from lab.runner.experiment import Experiment
from lab.runner.results import Results
from lab.views.pooled_counts import PooledCount, pooled_counts
from lab.views.table import Entry, Table, View

HEAD = ("dataset", "number", "published", "ours", "difference")

SIZES = ("features", "support_vectors", "svm_parameters", "bn_parameters")
RATES = ("bn_cr", "svm_cr")


def svm_size(experiment: Experiment, results: Results) -> View:
    """Parameters of a network and of a machine on the same sets.

    Options of the experiment: ``network`` is the structure that the paper takes, and
    ``tables`` the kind of its tables; ``columns`` maps those of the published file to
    sets; ``closed`` are those whose data are not public; ``ratios`` are the least and
    the greatest number of times that the machine is larger in the paper.
    """
    return _view(experiment, results, SIZES, partial(_smaller, experiment))


def svm_accuracy(experiment: Experiment, results: Results) -> View:
    """Accuracy of a network and of a machine; options as in `svm_size`."""
    return _view(experiment, results, RATES, _behind)


Found = Mapping[str, Mapping[str, float]]


def _view(
    experiment: Experiment,
    results: Results,
    kinds: Sequence[str],
    judge: Callable[[Found], tuple[str, bool | None]],
) -> View:
    options = experiment.options
    paper = {row["dataset"]: row for row in experiment.published}
    found = {
        column: _numbers(results, data, options["network"], options["tables"])
        for column, data in options["columns"].items()
    }
    long: list[tuple[Entry, ...]] = []
    for column, numbers in found.items():
        for kind in kinds:
            text = paper.get(column, {}).get(kind)
            theirs = float(text) if text else None
            if kind in numbers:
                ours = numbers[kind]
                difference = None if theirs is None else ours - theirs
                long.append((column, kind, theirs, ours, difference))
    wide = [
        (column, *(_shown(numbers.get(k), paper.get(column, {}).get(k)) for k in kinds))
        for column, numbers in found.items()
        if numbers
    ]
    wide += [
        (
            f"{column}, not public",
            *(_shown(None, paper[column].get(kind)) for kind in kinds),
        )
        for column in options["closed"]
        if any(paper[column].get(kind) for kind in kinds)
    ]
    head = ("dataset", *(kind.replace("_", " ") for kind in kinds))
    verdict, holds = judge({column: n for column, n in found.items() if n})
    return View(
        (Table("", HEAD, tuple(long)), Table("Ours (published)", head, tuple(wide))),
        verdict,
        holds,
        # Parameters and features are no distances that could be averaged.
        distance=verdict.removesuffix(".") if kinds is SIZES and verdict else None,
    )


def _numbers(
    results: Results, data: str, network: str, tables: str
) -> dict[str, float]:
    """What is known of a dataset, by the names of the published columns."""
    own = results.where(data=data)
    found: dict[str, float] = {}
    if (count := pooled_counts(own).get((data, f"{network}-{tables}"))) is not None:
        of_network = own.where(structure=network)
        found["bn_cr"] = count.percent
        found["bn_parameters"] = float(of_network.values("free_parameters").mean())
    for cell, numbers in own:
        if cell.measurement == "svm_accuracy":
            right, rows, features, vectors, parameters = (
                float(np.sum(numbers[name]))
                for name in ("right", "rows", "features", "vectors", "parameters")
            )
            found["svm_cr"] = PooledCount(right, rows).percent
            found["features"], found["support_vectors"] = features, vectors
            found["svm_parameters"] = parameters
    return found


def _shown(ours: float | None, theirs: str | None) -> str:
    shown = "" if ours is None else f"{ours:,.2f}".removesuffix(".00")
    return f"{shown} ({theirs})".strip() if theirs else shown


def _smaller(experiment: Experiment, found: Found) -> tuple[str, bool | None]:
    ratios = {
        column: numbers["svm_parameters"] / numbers["bn_parameters"]
        for column, numbers in found.items()
        if {"svm_parameters", "bn_parameters"} <= set(numbers)
    }
    if not ratios:
        return "", None
    paper = {row["dataset"]: row for row in experiment.published}
    said = ", ".join(
        f"{ratio:.0f} times on {column} (published {_ratio(paper[column])})"
        for column, ratio in ratios.items()
    )
    least, most = experiment.options["ratios"]
    return (
        f"The machine has more parameters than the network by {said}.",
        all(least <= ratio <= most for ratio in ratios.values()),
    )


def _ratio(row: Mapping[str, str]) -> str:
    return f"{float(row['svm_parameters']) / float(row['bn_parameters']):.0f}"


def _behind(found: Found) -> tuple[str, bool | None]:
    gaps = {
        column: numbers["svm_cr"] - numbers["bn_cr"]
        for column, numbers in found.items()
        if {"svm_cr", "bn_cr"} <= set(numbers)
    }
    if not gaps:
        return "", None
    said = ", ".join(f"{gap:+.2f} points on {column}" for column, gap in gaps.items())
    return (
        f"The machine less the network: {said}.",
        all(gap > 0 for gap in gaps.values()),
    )
