"""Accuracies by column, some of which are averages over many datasets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lab.runner.experiment import Experiment
from lab.runner.results import Results
from lab.views import claims
from lab.views.pooled_counts import (
    PooledCount,
    PooledCounts,
    pooled_counts,
    sets_of,
    together,
)
from lab.views.table import Entry, Table, View, pivot

Published = Mapping[tuple[str, str], Mapping[str, str]]


def pooled_accuracy(experiment: Experiment, results: Results) -> View:
    """Accuracies of methods in some columns compared with the published ones.

    Options of the experiment: ``columns`` maps those of the published file to the begin
    of the names of their datasets, whose test samples are taken together, and
    ``n_sets`` says how many they are, if not one; ``closed`` are columns whose data
    are not public; ``tolerance`` says which averages are near the published ones;
    ``instead`` maps names of ours to the published ones they stand for, and
    ``elsewhere`` lists published ones that another experiment measures; ``orderings``
    are claims about all columns, such as ``["TAN-CR-ML", ">", "TAN-CMI-ML"]``.
    """
    options = experiment.options
    counts = pooled_counts(results)
    instead = options.get("instead", {})
    paper = {(row["dataset"], row["classifier"]): row for row in experiment.published}
    methods = list(dict.fromkeys(method for _, method in counts))
    lines = []
    for column, begin in options["columns"].items():
        own = {key: one for key, one in counts.items() if key[0].startswith(begin)}
        for method in methods:
            sets = sets_of(own, method)
            if sets:
                theirs = paper.get((column, instead.get(method, method)))
                count = together(own, method, sets)
                whole = len(sets) == options["n_sets"].get(column, 1)
                lines.append(_line(column, method, len(sets), count, theirs, whole))
    head = ("column", "classifier", "datasets", "published", "sd", "ours", "sd")
    long = Table("", (*head, "difference"), tuple(lines))
    holding: list[bool | None] = []
    said = [
        _ordered(counts, options, ordering, holding)
        for ordering in options.get("orderings", ())
    ]
    said.append(_near(long, options["tolerance"]))
    return View(
        (long, _wide(long, options, paper), _by_set(counts, options, methods)),
        " ".join(text for text in said if text),
        claims.together(holding),
    )


def _line(
    column: str,
    method: str,
    n_sets: int,
    count: PooledCount,
    theirs: Mapping[str, str] | None,
    whole: bool,
) -> tuple[Entry, ...]:
    """A row; averages over some of the datasets have no difference."""
    published = float(theirs["cr"]) if theirs else None
    deviation = float(theirs["std"]) if theirs and theirs["std"] else None
    difference = None
    if whole and published is not None:
        difference = count.percent - published
    ours = count.percent, count.deviation
    return (column, method, n_sets, published, deviation, *ours, difference)


def _ordered(
    counts: PooledCounts,
    options: Mapping[str, Any],
    ordering: Sequence[str],
    holding: list[bool | None],
) -> str:
    """Whether one method is ahead of another, in all columns that have both.

    A column of several datasets is decided when all of them are known.
    """
    left, relation, right = ordering
    numbers, answers = [], []
    for column, begin in options["columns"].items():
        sets = [s for s in sets_of(counts, left, right) if s.startswith(begin)]
        if not sets:
            continue
        one, other = (together(counts, name, sets).percent for name in (left, right))
        n_sets = options["n_sets"].get(column, 1)
        whole = len(sets) == n_sets
        answers.append(one > other if whole else None)
        of = "" if whole else f" over {len(sets)} of {n_sets} datasets"
        numbers.append(f"{column} {one:.2f} and {other:.2f}{of}")
    if not answers:
        return ""
    holding += answers
    answer = {True: "yes", False: "no", None: "open"}[claims.together(answers)]
    return f"{left} {relation} {right}: {answer} ({', '.join(numbers)})."


def _near(long: Table, tolerance: float) -> str:
    """Which numbers are not near the published ones, in all columns."""
    found = {
        f"{row[0]} {row[1]}": row[-1] for row in long.rows if isinstance(row[-1], float)
    }
    if not found:
        return ""
    far = [f"{name} {by:+.2f}" for name, by in found.items() if abs(by) > tolerance]
    points = f"{tolerance:g} point{'' if tolerance == 1 else 's'}"
    said = f"{len(found) - len(far)} of {len(found)} numbers are within {points}"
    said += " of the published ones"
    return f"{said}; not {', '.join(far)}." if far else f"{said}."


def _wide(long: Table, options: Mapping[str, Any], paper: Published) -> Table:
    columns = [*options["columns"]]
    closed = [*options["closed"]]
    instead = options.get("instead", {})
    entries = {(str(row[1]), str(row[0])): row for row in long.rows}
    elsewhere = options.get("elsewhere", ())
    published_methods = [m for _, m in paper if m not in elsewhere]
    methods = dict.fromkeys(published_methods + [m for m, _ in entries])

    def entry(method: str, column: str) -> str:
        published = paper.get((column, instead.get(method, method)))
        theirs = f"({published['cr']})" if published else ""
        if column in closed:
            return f"not public {theirs}" if theirs else ""
        row = entries.get((method, column))
        if row is None:
            return f"not measured {theirs}" if theirs else ""
        some = row[2] != options["n_sets"].get(column, 1)
        return (
            f"{row[5]:.2f}{f' on {row[2]} datasets' if some else ''} {theirs}".strip()
        )

    return pivot(
        "Ours (published)", "classifier", [*methods], [*columns, *closed], entry
    )


def _by_set(
    counts: PooledCounts, options: Mapping[str, Any], methods: Sequence[str]
) -> Table:
    begin = next(iter(options["columns"].values()))
    sets = [data for data in sets_of(counts) if data.startswith(begin)]
    short = {data.removeprefix(begin): data for data in sets}

    def entry(name: str, method: str) -> Entry:
        count = counts.get((short[name], method))
        return None if count is None else count.percent

    shown = [m for m in methods if any((data, m) in counts for data in sets)]
    return pivot("Accuracy by dataset", "dataset", list(short), shown, entry)
