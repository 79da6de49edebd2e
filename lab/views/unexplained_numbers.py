"""Published numbers that are not explained, and what was tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lab.runner.cell import Cell, Numbers
from lab.runner.experiment import Experiment
from lab.runner.results import Results
from lab.views.published_scores import Key, Score, published
from lab.views.table import Entry, Table, View, pivot

HEAD = ("number", "hypothesis", "published", "ours", "sd", "difference", "verdict")
EXPLAINS = "explains it"
NOT = "not explained; the nearest is"
PER_CENT = 100.0


@dataclass(frozen=True)
class Trial:
    """A published number, and ours by a hypothesis.

    Parameters
    ----------
    number, hypothesis : str
        What they are, in words.
    published, ours : float
        Both in per cent.
    deviation : float or None
        Of ours over repetitions.
    verdict : str
        Whether the hypothesis explains the number.
    """

    number: str
    hypothesis: str
    published: float
    ours: float
    deviation: float | None
    verdict: str

    @property
    def difference(self) -> float:
        """Ours less the published one."""
        return self.ours - self.published

    @property
    def row(self) -> tuple[Entry, ...]:
        """Entries of a table with the columns of `HEAD`."""
        return (
            self.number,
            self.hypothesis,
            self.published,
            self.ours,
            self.deviation,
            self.difference,
            self.verdict,
        )


def hypotheses(experiment: Experiment, results: Results) -> View:
    """Numbers in question under every hypothesis, and whether one explains them.

    Options of the experiment: ``numbers`` are tables with a ``name``, the parameters of
    its cells in ``where`` (a list for several values), and the ``published`` number, or
    none if it is the average of the published file over the same datasets.
    ``hypotheses`` are tables with a ``text`` and the further parameters of their cells
    in ``where``, and the names of the ``numbers`` it is about, if not all; those that
    lack a dataset of a number are left out. One that was
    ``fitted`` to the numbers in question explains none. What is measured is the mean of
    ``accuracy`` over folds and then over datasets, or, in per cent, the ratio of the
    sums of the two numbers in ``ratio`` of the hypothesis or of the number. ``spread``
    is a parameter of repetitions; their standard deviation is shown. A hypothesis
    explains a number if ours is within ``tolerance`` points of it (of the experiment or
    of the number), or within two such deviations.
    """
    options = experiment.options
    theirs = published(experiment) if experiment.published else {}
    asked = {key for one in options["hypotheses"] for key in one["where"]}
    trials = [
        trial
        for number in options["numbers"]
        for one in options["hypotheses"]
        if number["name"] in one.get("numbers", [number["name"]])
        and (trial := _tried(number, one, asked, results, theirs, options)) is not None
    ]
    nearest = [
        min(of, key=lambda one: (one.verdict != EXPLAINS, abs(one.difference)))
        for name in dict.fromkeys(one.number for one in trials)
        for of in [[one for one in trials if one.number == name]]
    ]
    said = [
        f"{one.number}: {'explained by' if one.verdict == EXPLAINS else NOT} "
        f'"{one.hypothesis}" ({one.difference:+.2f}).'
        for one in nearest
    ]
    differences = {(one.hypothesis, one.number): one.difference for one in trials}
    return View(
        (
            Table("", HEAD, tuple(one.row for one in trials)),
            pivot(
                "Ours less the published number",
                "hypothesis",
                list(dict.fromkeys(one.hypothesis for one in trials)),
                [one.number for one in nearest],
                lambda row, column: differences.get((row, column)),
            ),
            Table("The nearest hypotheses", HEAD, tuple(one.row for one in nearest)),
        ),
        " ".join(said),
        all(one.verdict == EXPLAINS for one in nearest) if nearest else None,
    )


def _tried(
    number: Mapping[str, Any],
    hypothesis: Mapping[str, Any],
    asked: set[str],
    results: Results,
    theirs: Mapping[Key, Score],
    options: Mapping[str, Any],
) -> Trial | None:
    """A number by a hypothesis; None if it is not measured on all of its datasets."""
    where = number["where"]
    others = asked - where.keys() - hypothesis["where"].keys()
    cells = [
        (cell, numbers)
        for cell, numbers in results
        if _has(cell, where)
        and _has(cell, hypothesis["where"])
        and others.isdisjoint(cell.parameters)
    ]
    data = {cell.parameters["data"] for cell, _ in cells}
    if not cells or not data.issuperset(_listed(where["data"])):
        return None
    ratio = hypothesis.get("ratio", number.get("ratio"))
    ours, deviation = _summary(cells, ratio, options.get("spread"))
    known = number.get("published")
    if known is None:
        keys = dict.fromkeys(_key(cell) for cell, _ in cells)
        known = float(np.mean([theirs[key].value for key in keys]))
    tolerance = number.get("tolerance", options["tolerance"])
    near = abs(ours - known) <= max(tolerance, 2 * (deviation or 0.0))
    verdict = EXPLAINS if near else "does not explain it"
    if near and hypothesis.get("fitted"):
        verdict = "was fitted to it"
    return Trial(
        number["name"], hypothesis["text"], float(known), ours, deviation, verdict
    )


def _has(cell: Cell, wanted: Mapping[str, Any]) -> bool:
    """Whether a cell has these parameters, or one of several values of each."""
    return all(
        name in cell.parameters
        and (cell.parameters[name] == value or cell.parameters[name] in _listed(value))
        for name, value in wanted.items()
    )


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _key(cell: Cell) -> Key:
    return (
        str(cell.parameters["data"]).rpartition("/")[2],
        str(cell.parameters["method"]),
    )


def _summary(
    cells: list[tuple[Cell, Numbers]], ratio: list[str] | None, spread: str | None
) -> tuple[float, float | None]:
    """What the cells give in per cent, and its deviation over repetitions, if any."""
    groups: dict[Any, list[tuple[Cell, Numbers]]] = {}
    for cell, numbers in cells:
        repetition = cell.parameters.get(spread) if spread else None
        groups.setdefault(repetition, []).append((cell, numbers))
    means = [_mean(of, ratio) for of in groups.values()]
    deviation = float(np.std(means, ddof=1)) if len(means) > 1 else None
    return float(np.mean(means)), deviation


def _mean(cells: list[tuple[Cell, Numbers]], ratio: list[str] | None) -> float:
    if ratio is not None:
        right, total = (
            sum(float(np.mean(numbers[name])) for _, numbers in cells) for name in ratio
        )
        return PER_CENT * right / total
    by_data: dict[Any, list[float]] = {}
    for cell, numbers in cells:
        accuracy = float(np.mean(numbers["accuracy"]))
        by_data.setdefault(cell.parameters["data"], []).append(accuracy)
    return PER_CENT * float(np.mean([np.mean(of) for of in by_data.values()]))
