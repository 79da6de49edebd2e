"""The tables of docs/parameters.md, from the files of results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np

from lab.studies.parameters import comparison, copies, costs, gaps, unlabelled
from lab.studies.parameters.methods import SMOOTH
from lab.studies.parameters.results import Results

T = TypeVar("T")
Method = tuple[str, str]

BY_SET = (
    ("NB", "FE"),
    ("NB", "DFE"),
    ("NB", "CL"),
    SMOOTH,
    ("NB", "HYB"),
    ("NB", "Ada"),
    ("TAN", "FE"),
    ("TAN", "DFE"),
    ("TAN", "CL"),
    ("TAN", "HYB"),
    ("TAN", "Ada"),
)
"""Methods whose accuracy is shown set by set."""


def document() -> str:
    """All tables, in Markdown, each under its title."""
    tables = {
        "Means": means(),
        "Accuracy by set": by_set(),
        "Copies": by_copies(),
        "Gaps in the rows to classify": by_gaps(),
        "Gaps in the training rows": means_with_gaps(),
        "Rows without a class": by_labelled(),
        "Costs": by_costs(),
    }
    return "\n\n".join(f"{title}:\n\n{table}" for title, table in tables.items())


def means() -> str:
    """Means over all sets, and over those with numbers, by method."""
    results = Results("complete", comparison.KEYS, comparison.SEED)
    numeric = [s for s in _sets(results) if (s, *SMOOTH) in results]
    return _means(results, numeric, "numeric")


def means_with_gaps() -> str:
    """Means over sets with cells removed, and over those all methods were run on."""
    results = Results("incomplete", comparison.KEYS, comparison.SEED)
    methods = _methods(results)
    small = [s for s in _sets(results) if all((s, *m) in results for m in methods)]
    return _means(results, small, "smallest")


def _means(results: Results, some: Sequence[str], which: str) -> str:
    """Accuracy and log loss over all and over some sets, and seconds, by method."""
    every = _sets(results)
    head = [
        "",
        f"accuracy, {len(every)} datasets",
        "log loss",
        f"accuracy, {len(some)} {which}",
        "log loss",
        "median fit time (s)",
        "max fit time (s)",
    ]
    lines = [
        [
            _name(method),
            *_scores(results, method, every),
            *_scores(results, method, some),
            *_times(results, method),
        ]
        for method in _methods(results)
    ]
    return markdown(head, lines)


def _sets(results: Results) -> list[str]:
    """The sets, in the order of the results."""
    return unique(row["set"] for row in results.rows)


def _methods(results: Results) -> list[tuple[str, str]]:
    """Structures with parameters, in the order of the results."""
    return unique((row["structure"], row["parameters"]) for row in results.rows)


def by_set() -> str:
    """Accuracy in per cent, sets in rows."""
    results = Results("complete", comparison.KEYS, comparison.SEED)
    accuracy = results.numbers("accuracy")
    lines = [
        [name.split("/")[1], *(percent(accuracy.get((name, *m))) for m in BY_SET)]
        for name in unique(row["set"] for row in results.rows)
    ]
    return markdown(["", *map(_name, BY_SET)], lines)


def by_copies() -> str:
    """Error in per cent, and log loss, by the number of equal features."""
    results = Results("copies", copies.KEYS, copies.SEED)
    error, log_loss = results.numbers("error"), results.numbers("log_loss")
    names = ("best", *copies.LEARNERS)
    lines = [
        [
            str(m),
            *(
                f"{percent(error[str(m), name])} / {log_loss[str(m), name]:.2f}"
                for name in names
            ),
        ]
        for m in copies.COPIES
    ]
    return markdown(["m", "true model", *copies.LEARNERS], lines)


def by_gaps() -> str:
    """Error in per cent by the share of features missing."""
    results = Results("gaps", gaps.KEYS, gaps.SEED)
    error = results.numbers("error")
    lines = [
        [
            f"{name.split('/')[1]}, {_name(method)}",
            *(percent(error.get((name, *method, str(share)))) for share in gaps.SHARES),
        ]
        for name in gaps.SETS
        for method in gaps.METHODS
    ]
    return markdown(["", *(f"{share:.0%}" for share in gaps.SHARES)], lines)


def by_labelled() -> str:
    """Mean accuracy in per cent over sets by the number of labelled rows."""
    results = Results("unlabelled", unlabelled.KEYS, unlabelled.SEED)
    accuracy = results.numbers("accuracy")
    lines = []
    for structure in ("NB", "TAN"):
        for labelled in map(str, unlabelled.LABELLED):
            line = [f"{structure}, {labelled} labelled"]
            for method in unlabelled.WEIGHTS:
                found, base = (
                    np.array(
                        [accuracy[s, structure, labelled, m] for s in unlabelled.SETS]
                    )
                    for m in (method, "FE")
                )
                better = "" if method == "FE" else f" ({(found > base).sum()})"
                line.append(percent(float(found.mean())) + better)
            lines.append(line)
    return markdown(["", *unlabelled.WEIGHTS], lines)


DECISIONS = {"likeliest": "most probable class", "cheapest": "lowest expected cost"}
"""What the decisions of lab.studies.parameters.costs choose."""


def by_costs() -> str:
    """Mean cost of a sample."""
    results = Results("costs", costs.KEYS, costs.SEED)
    cost = results.numbers("cost")
    ways = unique((row["parameters"], row["decision"]) for row in results.rows)
    lines = [
        [name.split("/")[1], *(f"{cost[name, *way]:.2f}" for way in ways)]
        for name in costs.DEAR
    ]
    return markdown(["", *(f"{p}, {DECISIONS[d]}" for p, d in ways)], lines)


def _scores(results: Results, method: Method, sets: Sequence[str]) -> list[str]:
    """Mean accuracy and log loss over some sets; empty where one is not there."""
    if any((name, *method) not in results for name in sets):
        return ["", ""]
    accuracy, log_loss = results.numbers("accuracy"), results.numbers("log_loss")
    return [
        percent(float(np.mean([accuracy[name, *method] for name in sets]))),
        f"{np.mean([log_loss[name, *method] for name in sets]):.2f}",
    ]


def _times(results: Results, method: Method) -> list[str]:
    seconds = [s for k, s in results.numbers("seconds").items() if k[1:] == method]
    return [f"{np.median(seconds):.2g}", f"{max(seconds):.2g}"]


def _name(method: Method) -> str:
    return " ".join(method)


def percent(share: float | None, digits: int = 1) -> str:
    """A share in per cent; empty where there is none."""
    return "" if share is None else f"{100 * share:.{digits}f}"


def markdown(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table in Markdown, all columns but the first aligned to the right."""
    rows = [head, ["---"] + ["---:"] * (len(head) - 1), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def unique(items: Iterable[T]) -> list[T]:
    """Every item once, in the order of its first place."""
    return list(dict.fromkeys(items))
