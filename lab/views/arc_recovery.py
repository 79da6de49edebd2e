"""Arcs of a known tree that were found again."""

from __future__ import annotations

from lab.runner.experiment import Experiment
from lab.runner.results import Results
from lab.views.claims import together
from lab.views.setting_errors import set_of
from lab.views.table import Entry, Table, View

HEAD = (
    "dataset",
    "seed",
    "published",
    "ours, arcs found",
    "difference",
    "other arcs",
    "information, %",
    "seconds",
)

NUMBERS = ("arcs", "arcs_found", "other_arcs", "share_of_information", "seconds")


def arc_recovery(experiment: Experiment, results: Results) -> View:
    """Arcs found of all arcs of the tree, run by run; published are all of them.

    Option of the experiment: less than ``fewest`` runs on a dataset are not judged.
    """
    rows: list[tuple[Entry, ...]] = []
    runs: dict[str, list[bool]] = {}
    for cell, numbers in results:
        arcs, found, others, share, seconds = (
            float(numbers[name])  # type: ignore[arg-type]
            for name in NUMBERS
        )
        name = set_of(cell)
        seed = cell.parameters["seed"]
        assert isinstance(seed, int)
        runs.setdefault(name, []).append(found == arcs and not others)
        counts = int(arcs), int(found), int(found - arcs), int(others)
        rows.append((name, seed, *counts, 100 * share, seconds))
    fewest = experiment.options["fewest"]
    said = "; ".join(f"{name} {sum(of)} of {len(of)}" for name, of in runs.items())
    return View(
        (Table("", HEAD, tuple(rows)),),
        f"Runs that found the tree and no other arc: {said}." if said else "",
        together([all(of) if len(of) >= fewest else None for of in runs.values()]),
    )
