"""Times of searches relative to one of them."""

from __future__ import annotations

from collections.abc import Mapping

from lab.runner.experiment import Experiment
from lab.runner.results import Results
from lab.views.table import Entry, Table, View

HEAD = (
    "column",
    "structure",
    "datasets",
    "published, %",
    "ours, %",
    "difference",
    "seconds",
    "scored samples, %",
    "samples visited, %",
)


def search_times(experiment: Experiment, results: Results) -> View:
    """Seconds of searches in per cent of those of another, over some datasets together.

    Options of the experiment: ``columns`` maps those of the published file to the begin
    of the names of their datasets; ``base`` is the structure that counts as 100 per
    cent; ``claims`` are ``[slower, faster, least, most]``, how many times as long the
    one takes as the other.

    Scored samples are what a plain search would take: every candidate, of all datasets,
    times the training samples. samples visited is the fraction of these that had to be
    classified again here.
    """
    options = experiment.options
    paper = {
        (row["dataset"], row["structure"]): float(row["percent"])
        for row in experiment.published
    }
    lines = []
    for column, begin in options["columns"].items():
        lines += _lines(column, _totals(results, begin), options["base"], paper)
    closed = [
        (f"{column}, not public", structure, None, percent, *[None] * 5)
        for (column, structure), percent in paper.items()
        if column not in options["columns"]
    ]
    long = Table("", HEAD, (*lines, *closed), 3)
    text, holds = _judged(lines, options["claims"])
    shown = Table("Searches on the same samples, one thread", HEAD, long.rows, 3)
    return View((long, shown), text, holds)


Totals = Mapping[str, Mapping[str, float]]


def _totals(results: Results, begin: str) -> dict[str, dict[str, float]]:
    """Sums over the datasets that every structure is known on."""
    found: dict[str, dict[str, Mapping[str, float]]] = {}
    for cell, numbers in results:
        data = str(cell.parameters["data"])
        if cell.measurement == "search_times" and data.startswith(begin):
            structure = str(cell.parameters["structure"])
            found.setdefault(structure, {})[data] = {
                name: float(value)  # type: ignore[arg-type]
                for name, value in numbers.items()
            }
    if not found:
        return {}
    # Sorted, so that sums do not depend on the order of a set.
    common = sorted(set.intersection(*(set(by_set) for by_set in found.values())))
    return {
        structure: {
            "sets": len(common),
            "seconds": sum(by_set[data]["seconds"] for data in common),
            "scored": sum(_scored(by_set[data]) for data in common),
            "visited": sum(
                _scored(by_set[data]) * by_set[data]["visited"] for data in common
            ),
        }
        for structure, by_set in found.items()
        if common
    }


def _scored(numbers: Mapping[str, float]) -> float:
    return numbers["candidates"] * numbers["rows"]


def _lines(
    column: str, totals: Totals, base: str, paper: Mapping[tuple[str, str], float]
) -> list[tuple[Entry, ...]]:
    if base not in totals:
        return []
    whole = totals[base]
    lines: list[tuple[Entry, ...]] = []
    for structure, own in totals.items():
        ours = 100.0 * own["seconds"] / whole["seconds"]
        theirs = paper.get((column, structure))
        scored, visited = own["scored"], own["visited"]
        lines.append(
            (
                column,
                structure,
                int(own["sets"]),
                theirs,
                ours,
                None if theirs is None else ours - theirs,
                own["seconds"],
                100.0 * scored / whole["scored"] if scored else None,
                100.0 * visited / scored if scored else None,
            )
        )
    return lines


def _judged(
    lines: list[tuple[Entry, ...]], claims: list[tuple[str, str, float, float]]
) -> tuple[str, bool | None]:
    ours = {line[:2]: line[4] for line in lines}
    said, holding = [], []
    for slower, faster, least, most in claims:
        for column in dict.fromkeys(line[0] for line in lines):
            one, other = ours.get((column, slower)), ours.get((column, faster))
            if not isinstance(one, float) or not isinstance(other, float):
                continue
            ratio = one / other
            holding.append(least <= ratio <= most)
            said.append(
                f"{column}, {slower} takes {least:g} to {most:g} times as long as "
                f"{faster}: {'yes' if holding[-1] else 'no'}, {ratio:.1f} times."
            )
    return " ".join(said), all(holding) if holding else None
