"""The results as Markdown tables."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lab.measurements.gumbel import METHODS
from lab.studies.differentiable import beyond, comparison, recovery
from lab.studies.differentiable.results import FOLDER
from lab.studies.differentiable.sets import SETS
from lab.studies.parameters.tables import markdown, percent

HERE = Path(__file__).parent
WEIGHTS = tuple(name for name in comparison.OF_SETTING if name != "seed")
"""Columns that make a setting, whatever the draw."""

Row = Mapping[str, str]

PUBLISHED_AS = {
    "TAN Subset 8": ("TAN Subset", "SL-HYB"),
    "TAN All": ("TAN All", "SL-HYB"),
    "TAN Heuristic": ("TAN Heuristic", "SL-HYB"),
}
"""What the methods are called in the paper, where it is not structure-loss. Their best
TAN Subset is that of 8 candidates on all sets; their best TAN Heuristic is over orders
and numbers of candidates."""


@dataclass(frozen=True)
class Summary:
    """A method on a set, over its settings.

    Parameters
    ----------
    best : float
        Least test error of a run, its mean over the folds.
    validated : float
        Mean test error, in every fold that of the run of least error on rows held out
        from the training rows.
    n_settings, n_runs : int
        Weights and rates measured on all folds, and these with all draws of trees,
        orders and candidates.
    seconds : float
        Of a run on all training rows, the median.
    """

    best: float
    validated: float
    n_settings: int
    n_runs: int
    seconds: float


def document(folder: Path = FOLDER) -> str:
    """All tables, each under its title."""
    every = {
        "Table 1, test errors in per cent": table_1(folder),
        "The Chow-Liu tree": by_recovery(folder),
        "Beyond the paper": by_method(folder),
    }
    return "\n\n".join(f"{title}:\n\n{table}" for title, table in every.items())


def published() -> dict[tuple[str, str, str], float]:
    """Errors in per cent by set, structure and loss."""
    lines = (HERE / "published.csv").read_text("utf-8").splitlines()
    return {
        (row["set"], row["structure"], row["loss"]): float(row["error"])
        for row in csv.DictReader(line for line in lines if line[:1] != "#")
    }


def table_1(folder: Path = FOLDER) -> str:
    """Test errors in per cent beside the published ones.

    A line for every set, method, start of the tables and number of epochs.
    """
    paper = published()
    lines = []
    for name, chosen in SETS.items():
        rows = comparison.results(name, folder).rows
        kinds = {(row["method"], row["start"], int(row["epochs"])) for row in rows}
        for kind in sorted(kinds, key=lambda k: (list(METHODS).index(k[0]), *k[1:])):
            method, start, epochs = kind
            summary = summarised(
                [row for row in rows if _kind(row) == kind], chosen.n_folds
            )
            if summary is None:
                continue
            structure, _, loss = method.rpartition("-")
            published_as = PUBLISHED_AS.get(method, (structure, loss))
            theirs = paper.get((name, *published_as))
            lines.append(
                [
                    name,
                    method,
                    "" if theirs is None else f"{theirs:.2f}",
                    _beside(summary.best, theirs),
                    _beside(summary.validated, theirs),
                    str(summary.n_settings),
                    str(summary.n_runs),
                    str(epochs),
                    start,
                    f"{summary.seconds:.3g}",
                ]
            )
    head = [
        "method",
        "published, least",
        "ours, least",
        "ours, validated",
        "settings",
        "runs",
        "epochs",
        "start",
        "s",
    ]
    return markdown(["set", *head], lines)


def by_recovery(folder: Path = FOLDER) -> str:
    """Arcs of the Chow-Liu tree that were found, a line for every run."""
    lines = [
        [
            row["set"],
            row["start"],
            row["epochs"],
            row["seed"],
            f"{row['arcs_found']} of {row['arcs']}",
            row["other_arcs"],
            percent(float(row["share_of_information"]), 2),
            f"{float(row['seconds']):.3g}",
        ]
        for row in recovery.results(folder).rows
    ]
    head = ["start", "epochs", "seed", "arcs found", "others", "information, %", "s"]
    return markdown(["set", *head], lines)


def by_method(folder: Path = FOLDER) -> str:
    """Errors, log loss and seconds by method, means over the seeds."""
    columns = ("error", "error_cl", "log_loss", "log_loss_cl", "seconds", "seconds_cl")
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in beyond.results(folder).rows:
        groups.setdefault((row["set"], row["method"], row["epochs"]), []).append(row)
    lines = []
    for (name, method, _), rows in groups.items():
        numbers = np.array([[float(row[c]) for c in columns] for row in rows])
        means, spread = numbers.mean(axis=0), numbers.std(axis=0)
        lines.append(
            [
                name,
                method,
                *(_known(_spread(means[i], spread[i], len(rows))) for i in (0, 1)),
                *(_known(f"{means[i]:.3f}") for i in (2, 3)),
                *(_known(f"{means[i]:.3g}") for i in (4, 5)),
            ]
        )
    head = [
        "structure",
        "error, hybrid",
        "error, CL",
        "log loss, hybrid",
        "log loss, CL",
        "s, hybrid",
        "s, CL",
    ]
    return markdown(["set", *head], lines)


def summarised(rows: Sequence[Row], n_folds: int) -> Summary | None:
    """Best and validated error over settings; None if none has all folds."""
    by_setting: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows:
        by_setting.setdefault((row["plan"], row["setting"]), {})[row["fold"]] = row
    whole = [folds for folds in by_setting.values() if len(folds) == n_folds]
    if not whole:
        return None
    folds = [str(fold) for fold in range(1, n_folds + 1)]
    errors, held_out, seconds = (
        np.array([[float(of[fold][column]) for fold in folds] for of in whole])
        for column in ("error", "validation_error", "seconds")
    )
    chosen = held_out.argmin(axis=0)
    return Summary(
        best=float(errors.mean(axis=1).min()),
        validated=float(errors[chosen, np.arange(n_folds)].mean()),
        n_settings=len({tuple(of["1"][c] for c in WEIGHTS) for of in whole}),
        n_runs=len(whole),
        seconds=float(np.median(seconds)),
    )


def _known(text: str) -> str:
    """Nothing for what could not be measured."""
    return "" if "nan" in text else text


def _spread(mean: float, deviation: float, n_seeds: int) -> str:
    """A mean in per cent and, of several seeds, its deviation."""
    spread = "" if n_seeds == 1 else f" ± {100 * deviation:.2f}"
    return f"{100 * mean:.2f}{spread}"


def _kind(row: Row) -> tuple[str, str, int]:
    return row["method"], row["start"], int(row["epochs"])


def _beside(ours: float, theirs: float | None) -> str:
    """Our error in per cent and how much it is above the published one."""
    difference = "" if theirs is None else f" ({100 * ours - theirs:+.2f})"
    return percent(ours, 2) + difference
