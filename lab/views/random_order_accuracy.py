"""Trees along many random orders compared with one order that was made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lab.runner.experiment import Experiment
from lab.runner.results import Results
from lab.views.pooled_counts import PooledCount, pooled_counts
from lab.views.table import Entry, Table, View
from tanager.types import FloatArray

MADE = "TAN-OMI-CR-ML"
COLUMNS = ("OMI", "mean", "std", "median", "min", "max")
"""Of the published file; min and max are by the score on the training samples."""


@dataclass(frozen=True)
class Orders:
    """What random orders came to on a dataset.

    Parameters
    ----------
    right : ndarray of shape (n_orders,)
        Test samples of all folds that are classified correctly.
    rows : float
        Test samples of all folds.
    lowest, highest : PooledCount
        Of the orders with the least and greatest score on the training samples of each
        fold.
    """

    right: FloatArray
    rows: float
    lowest: PooledCount
    highest: PooledCount

    @property
    def percents(self) -> FloatArray:
        """Per cent of samples classified correctly, by order."""
        return 100.0 * self.right / self.rows


def orders_of(results: Results) -> dict[str, Orders]:
    """Random orders by dataset, from cells of `random_order_accuracy`.

    Only those folds of a dataset count of which as many blocks of orders are known as
    of any other.
    """
    found: dict[str, dict[Any, list[Mapping[str, Any]]]] = {}
    for cell, numbers in results:
        if cell.measurement == "random_order_accuracy":
            data, fold = str(cell.parameters["data"]), cell.parameters.get("fold")
            found.setdefault(data, {}).setdefault(fold, []).append(numbers)
    return {data: _of_set(list(folds.values())) for data, folds in found.items()}


def _of_set(folds: list[list[Mapping[str, Any]]]) -> Orders:
    most = max(len(blocks) for blocks in folds)
    right: list[FloatArray] = []
    rows, lowest, highest = 0.0, PooledCount(0, 0), PooledCount(0, 0)
    for blocks in folds:
        if len(blocks) < most:
            continue
        mine, scores = (
            np.concatenate([np.atleast_1d(block[name]) for block in blocks])
            for name in ("right", "score")
        )
        n_rows = float(np.sum(blocks[0]["rows"]))
        right.append(mine.astype(np.float64))
        rows += n_rows
        lowest += PooledCount(float(mine[scores.argmin()]), n_rows)
        highest += PooledCount(float(mine[scores.argmax()]), n_rows)
    return Orders(np.sum(right, axis=0), rows, lowest, highest)


def random_order_accuracy(experiment: Experiment, results: Results) -> View:
    """Accuracy of TAN-OMI-CR and of random orders, by dataset and overall."""
    made, random = pooled_counts(results), orders_of(results)
    paper = _published(experiment)
    numbers: dict[str, dict[str, float]] = {}
    weights: dict[str, float] = {}
    for data, found in random.items():
        if (data, MADE) in made:
            name = data.rpartition("/")[2]
            numbers[name] = _numbers(made[data, MADE], found)
            weights[name] = found.rows
    if not numbers:
        return View((Table("", HEAD, ()),), "", None)
    numbers["average"] = _average(numbers, weights)
    known = [paper[name] for name in weights if name in paper]
    if len(known) == len(weights):
        both = dict(zip(weights, known, strict=True))
        paper["average"] = _average(both, weights)
    long = [
        _line(name, column, paper.get(name, {}).get(column), own[column])
        for name, own in numbers.items()
        for column in COLUMNS
        if column in own
    ]
    wide = Table(
        f"Accuracy in %, {len(next(iter(random.values())).right)} random orders; "
        "ours, then published",
        ("dataset", *_titles(""), *_titles(", published")),
        tuple(
            (name, *_shown(own), *_shown(paper.get(name, {})))
            for name, own in numbers.items()
        ),
    )
    text, holds = _judged(numbers)
    return View((Table("", HEAD, tuple(long)), wide), text, holds)


HEAD = ("dataset", "number", "published", "ours", "difference")


def _published(experiment: Experiment) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for row in experiment.published:
        found.setdefault(row["dataset"], {})[row["number"]] = float(row["cr"])
    return found


def _numbers(made: PooledCount, found: Orders) -> dict[str, float]:
    values = found.percents
    return {
        "OMI": made.percent,
        "mean": float(values.mean()),
        "std": float(values.std()),
        "median": float(np.median(values)),
        "min": found.lowest.percent,
        "max": found.highest.percent,
    }


def _average(
    numbers: Mapping[str, Mapping[str, float]], weights: Mapping[str, float]
) -> dict[str, float]:
    """Averages weighted by test samples; deviations have none."""
    rows = [weights[name] for name in weights]
    return {
        column: float(np.average([numbers[n][column] for n in weights], weights=rows))
        for column in COLUMNS
        if column != "std"
    }


def _line(
    name: str, column: str, theirs: float | None, ours: float
) -> tuple[Entry, ...]:
    return name, column, theirs, ours, None if theirs is None else ours - theirs


def _titles(end: str) -> list[str]:
    return [f"{title}{end}" for title in ("OMI", "random", "median", "min", "max")]


def _shown(of: Mapping[str, float]) -> list[Entry]:
    if not of:
        return [None] * 5
    spread = f" ± {of['std']:.2f}" if "std" in of else ""
    mean = f"{of['mean']:.2f}{spread}"
    return [of["OMI"], mean, of["median"], of["min"], of["max"]]


def _judged(numbers: Mapping[str, Mapping[str, float]]) -> tuple[str, bool]:
    """OMI above the mean of random orders, and no gain by choosing among these."""
    sets = [own for name, own in numbers.items() if name != "average"]
    mean = numbers["average"]
    above = sum(own["OMI"] > own["mean"] for own in sets)
    chosen = sum(own["max"] > own["mean"] for own in sets)
    omi, highest = mean["OMI"] > mean["mean"], mean["max"] <= mean["mean"]
    return (
        f"OMI is {'above' if omi else 'not above'} random orders, {mean['OMI']:.2f} "
        f"and {mean['mean']:.2f} over the samples of {len(sets)} datasets, and ahead "
        f"on {above} of them. The order that is best on the training data has "
        f"{mean['max']:.2f}, and is ahead of the mean on {chosen} datasets: choosing "
        f"orders by the training data {'does not help' if highest else 'helps'} here.",
        omi and highest,
    )
