"""Scores: published, ours, the difference, and averages over datasets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lab.runner.catalogue import paper
from lab.runner.experiment import Experiment
from lab.runner.results import Results
from lab.views.table import Table, View, distance_of, pivot
from tanager.types import FloatArray

Key = tuple[str, str]

HEAD = ("dataset", "classifier", "published", "sd", "ours", "sd", "difference")
"""Of the long table, a row for every dataset and method."""


@dataclass(frozen=True)
class Score:
    """A number of a row and a column, and how much it varies."""

    value: float
    deviation: float | None


def published_scores(experiment: Experiment, results: Results) -> View:
    """Scores by dataset and method compared with the published ones.

    Options of the experiment: ``number`` is the measured one (``accuracy``); ``scale``
    makes it the unit of the paper (100 for per cent); ``value`` and ``deviation`` are
    columns of the published file, whose rows are by ``dataset`` and ``classifier``;
    ``of_means`` says that published deviations are those of means over the folds;
    ``apart`` names sets whose published numbers are in doubt: averages are given
    without them, too; ``orderings`` are claims about averages, such as ``["NB+DFE",
    ">", "NB+FE"]`` or with ``"~"`` for a difference of at most ``tolerance``.
    """
    options = experiment.options
    ours = measured(
        results,
        options.get("number", "accuracy"),
        options["scale"],
        of_means=options.get("of_means", False),
    )
    theirs = published(experiment)
    rows = [row for row in _unique(ours, theirs, 0) if any(k[0] == row for k in ours)]
    columns = [c for c in _unique(ours, theirs, 1) if any(k[1] == c for k in ours)]
    long = [
        line((row, column), ours, theirs)
        for row in rows
        for column in columns
        if (row, column) in ours or (row, column) in theirs
    ]
    whole = [
        r for r in rows if all((r, c) in ours and (r, c) in theirs for c in columns)
    ]
    averages = {c: _averages(c, whole, ours, theirs) for c in columns}

    def entry(row: str, column: str) -> str:
        return _pair(ours.get((row, column)), theirs.get((row, column)))

    tolerance = options.get("tolerance", 1.0)

    def means(kept: Sequence[str], but: str = "") -> Table:
        return Table(
            f"Averages over the {len(kept)} datasets of which all is known{but}, and "
            "distances on single datasets",
            (
                "classifier", "published", "ours", "difference", "mean distance",
                f"within {tolerance:g}", "largest",
            ),
            tuple(
                (
                    c,
                    *_averages(c, kept, ours, theirs),
                    *_distances(c, kept, ours, theirs, tolerance),
                )
                for c in columns
            ),
        )  # fmt: skip

    shown = [means(whole)]
    apart = [row for row in whole if row in options.get("apart", ())]
    if apart:
        kept = [row for row in whole if row not in apart]
        shown.append(means(kept, f", without {', '.join(apart)}"))
    wide = pivot("Ours (published)", "dataset", rows, columns, entry)
    verdict, holds = judged(
        {c: a[1] for c, a in averages.items() if a[1] is not None},
        options.get("orderings", ()),
        tolerance,
    )
    every = Table("", HEAD, tuple(long))
    apart_by = [a[2] for a in averages.values() if a[2] is not None]
    distance = distance_of(every)
    if apart_by:
        distance = (
            f"averages {min(apart_by):+.2f} to {max(apart_by):+.2f}; on datasets, "
            f"{distance}"
        )
    return View((every, *shown, wide), verdict, holds, distance=distance)


def measured(
    results: Results, number: str, scale: float, *, of_means: bool = False
) -> dict[Key, Score]:
    """Means over folds and repetitions, by dataset and method.

    Parameters
    ----------
    results : Results
        Cells with ``data`` and ``method``.
    number : str
        What is averaged.
    scale : float
        What it is multiplied by.
    of_means : bool, default=False
        Whether deviations are those of the means; then a single fraction of
        ``test_rows`` has one, too, that of the binomial distribution.
    """
    found = {}
    for data in results.levels("data"):
        of_set = results.where(data=data)
        for method in of_set.levels("method"):
            cells = of_set.where(method=method)
            values = cells.values(number)
            spread = float(values.std(ddof=1)) if len(values) > 1 else None
            if of_means:
                spread = _of_mean(cells, values, spread)
            found[data.rpartition("/")[2], method] = Score(
                scale * float(values.mean()), None if spread is None else scale * spread
            )
    return found


def _of_mean(cells: Results, values: FloatArray, spread: float | None) -> float | None:
    if spread is not None:
        return spread / float(np.sqrt(len(values)))
    if "test_rows" not in cells.numbers[0]:
        return None
    share, rows = float(values[0]), float(cells.values("test_rows")[0])
    return float((share * (1.0 - share) / rows) ** 0.5)


def published(experiment: Experiment) -> dict[Key, Score]:
    """Published numbers by dataset and method."""
    value = experiment.options["value"]
    deviation = experiment.options.get("deviation")
    return {
        (row["dataset"], row["classifier"]): Score(
            float(row[value]),
            float(row[deviation]) if deviation and row[deviation] else None,
        )
        for row in experiment.published
        if row[value]
    }


def published_means(experiment: Experiment) -> dict[Key, Score]:
    """Published numbers of the experiment that the option ``means`` names."""
    name = experiment.options["means"]
    of = next(one for one in paper(experiment.paper).experiments if one.name == name)
    return published(of)


def judged(
    averages: Mapping[str, float],
    orderings: Sequence[Sequence[str]],
    tolerance: float,
) -> tuple[str, bool | None]:
    """Claims about averages in words, and whether all of them hold.

    Examples
    --------
    >>> judged({"a": 2.0, "b": 1.5}, [["a", ">", "b"], ["a", "~", "b"]], 1.0)
    ('a > b: yes, 2.00 and 1.50. a ~ b: yes, 2.00 and 1.50.', True)
    >>> judged({"a": 2.0}, [["a", ">", "b"]], 1.0)
    ('', None)
    """
    said, holding = [], []
    for left, relation, right in orderings:
        if left not in averages or right not in averages:
            continue
        one, other = averages[left], averages[right]
        holds = one > other if relation == ">" else abs(one - other) <= tolerance
        holding.append(holds)
        answer = "yes" if holds else "no"
        said.append(f"{left} {relation} {right}: {answer}, {one:.2f} and {other:.2f}.")
    return " ".join(said), all(holding) if holding else None


def _unique(
    ours: Mapping[Key, Score], theirs: Mapping[Key, Score], k: int
) -> list[str]:
    """Names in the order of the paper, those of ours alone after them."""
    return list(dict.fromkeys([key[k] for key in theirs] + [key[k] for key in ours]))


def line(
    key: Key, ours: Mapping[Key, Score], theirs: Mapping[Key, Score]
) -> tuple[str | float | None, ...]:
    """A row of the long table, under `HEAD`."""
    one, other = ours.get(key), theirs.get(key)
    difference = one.value - other.value if one and other else None
    return (*key, *_numbers(other), *_numbers(one), difference)


def _numbers(score: Score | None) -> tuple[float | None, float | None]:
    return (None, None) if score is None else (score.value, score.deviation)


def _averages(
    column: str,
    rows: Sequence[str],
    ours: Mapping[Key, Score],
    theirs: Mapping[Key, Score],
) -> tuple[float | None, float | None, float | None]:
    if not rows:
        return None, None, None
    one = float(np.mean([ours[row, column].value for row in rows]))
    other = float(np.mean([theirs[row, column].value for row in rows]))
    return other, one, one - other


def _distances(
    column: str,
    rows: Sequence[str],
    ours: Mapping[Key, Score],
    theirs: Mapping[Key, Score],
    tolerance: float,
) -> tuple[float | str | None, ...]:
    """Mean distance of a dataset, how many are near, and the one farthest away."""
    by = {row: ours[row, column].value - theirs[row, column].value for row in rows}
    if not by:
        return None, None, None
    far = max(by, key=lambda row: abs(by[row]))
    near = sum(abs(one) <= tolerance for one in by.values())
    mean = float(np.mean(np.abs(list(by.values()))))
    return mean, f"{near} of {len(by)}", f"{by[far]:+.2f} ({far})"


def _pair(one: Score | None, other: Score | None) -> str:
    ours = "" if one is None else f"{one.value:.2f}"
    return ours if other is None else f"{ours} ({other.value:.2f})".strip()
