"""The tables of docs/structure.md, from the files of results."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from lab.runner import find
from lab.studies.parameters.results import Results
from lab.studies.parameters.tables import markdown, percent, unique
from lab.studies.structure import (
    comparison,
    digits,
    random_orders,
    three_features,
    times,
)
from lab.studies.structure.coded import FOLDER, SEED, results
from lab.studies.structure.methods import STRUCTURES

RESIDUALS = FOLDER.parent / "residual"
"""Where lab.studies.residual has its results."""

Method = tuple[str, str]

ORDERS = {"OMI": "omi", "std": "sd", "min": "lowest", "max": "highest"}
"""Columns of the paper's Table 8 by the names they have here."""

BY_SET: tuple[Method, ...] = (
    ("NB", "ML"),
    ("TAN-CMI", "ML"),
    ("TAN-OMI-CR", "ML"),
    ("TAN-CR", "ML"),
    ("2-tree-OMI-CR", "ML"),
    ("KDB2", "ML"),
    ("NB", "CL"),
    ("TAN-CMI", "CL"),
    ("TAN-OMI-CR", "CL"),
    ("TAN-CR", "CL"),
    ("KDB2", "CL"),
)
"""Methods whose accuracy is shown set by set."""

BY_RESIDUALS = ("NB-CL", "TAN-CMI-CL", "TAN-RES-CL", "2-tree-RES-CL")
"""Methods of lab.studies.residual that are shown."""

BY_ROWS = tuple(s for s in three_features.STRUCTURES if s != "NB")
"""Structures that can have the arc of the three features."""


def document() -> str:
    """All tables, in Markdown, each under its title."""
    tables = {
        "Means": means(),
        "Accuracy by set": by_set(),
        "Time": by_time(),
        "Digits": by_digits(),
        "Random orders": by_orders(),
        "Three features": by_rows(),
    }
    if (RESIDUALS / "images.csv").exists():
        tables["Residual trees"] = by_residuals()
    return "\n\n".join(f"{title}:\n\n{table}" for title, table in tables.items())


def published(name: str) -> tuple[Mapping[str, str], ...]:
    """Rows of a table of the 2010 paper."""
    (table,) = find([f"pernkopf2010/{name}"])
    return table.published


def published_orders() -> dict[str, dict[str, float]]:
    """Table 8 of the paper by set: OMI and random orders, in per cent."""
    found: dict[str, dict[str, float]] = {}
    for row in published("table8"):
        column = ORDERS.get(row["number"], row["number"])
        found.setdefault(f"uci25/{row['dataset']}", {})[column] = float(row["cr"])
    return found


def means() -> str:
    """Accuracy over all test rows beside the published one, log loss and time."""
    found = results("comparison", comparison.KEYS)
    paper = _accuracies("uci")
    head = [
        "",
        "ML",
        "published",
        "CL",
        "published",
        "log loss ML",
        "log loss CL",
        "arcs",
        "median search time (s)",
        "max search time (s)",
    ]
    lines = []
    for structure, parameters_of in STRUCTURES.items():
        any_of_it = (structure, parameters_of[0])
        seconds = _of(found, "search_seconds", any_of_it)
        lines.append(
            [
                structure,
                *(
                    text
                    for parameters in ("ML", "CL")
                    for text in (
                        _over_rows(found, (structure, parameters)),
                        paper.get(f"{structure}-{parameters}", ""),
                    )
                ),
                *(_log_loss(found, (structure, p)) for p in ("ML", "CL")),
                f"{np.mean(list(_of(found, 'arcs', any_of_it).values())):.1f}",
                _seconds(float(np.median(list(seconds.values())))),
                _seconds(max(seconds.values())),
            ]
        )
    return markdown(head, lines)


def by_set() -> str:
    """Accuracy in per cent, sets in rows, beside the published TAN-OMI-CR-ML."""
    found = results("comparison", comparison.KEYS)
    accuracy = found.numbers("accuracy")
    paper = published_orders()
    lines = []
    for name in sorted(unique(row["set"] for row in found.rows)):
        line = [name.split("/")[1]]
        for method in BY_SET:
            line.append(percent(accuracy.get((name, *method))))
            if method == ("TAN-OMI-CR", "ML"):
                line.append(f"{paper[name]['omi']:.1f}")
        lines.append(line)
    head = [" ".join(method) for method in BY_SET]
    head.insert(BY_SET.index(("TAN-OMI-CR", "ML")) + 1, "published")
    return markdown(["", *head], lines)


def by_time() -> str:
    """Seconds of a search and the accuracy it comes to, by set."""
    found = results("times", times.KEYS)
    seconds = found.numbers("seconds")
    rates = [found.numbers(f"accuracy_{which}") for which in ("ml", "cl")]
    names = [name.split("/")[1] for name in times.SETS]
    lines = [
        [
            structure,
            *(
                _seconds(seconds[n, structure]) if (n, structure) in seconds else ""
                for n in times.SETS
            ),
            *(percent(rate.get((n, structure))) for n in times.SETS for rate in rates),
        ]
        for structure in times.STRUCTURES
    ]
    head = [
        *(f"{name}, time (s)" for name in names),
        *(f"{name}, {which}" for name in names for which in ("ML", "CL")),
    ]
    return markdown(["", *head], lines)


def by_digits() -> str:
    """Accuracy and seconds of searches on MNIST, beside the paper's accuracy."""
    found = results("digits", digits.KEYS)
    paper = _accuracies("mnist")
    columns = {
        name: found.numbers(name)
        for name in ("accuracy_ml", "arcs", "seconds", "candidates", "share_visited")
    }
    lines = []
    for structure in digits.STRUCTURES:
        of = {name: numbers[(structure,)] for name, numbers in columns.items()}
        lines.append(
            [
                structure,
                f"{100 * of['accuracy_ml']:.2f}",
                paper.get(f"{structure}-ML", ""),
                f"{of['arcs']:.0f}",
                f"{of['seconds']:,.1f}",
                f"{of['candidates']:,.0f}" if of["candidates"] else "",
                f"{100 * of['share_visited']:.3f}" if of["candidates"] else "",
            ]
        )
    head = ["ML", "published", "arcs", "time (s)", "candidates", "visited (%)"]
    return markdown(["", *head], lines)


def by_orders() -> str:
    """Accuracy by OMI and by random orders, beside the published numbers."""
    found = results("random-orders", random_orders.KEYS)
    paper = published_orders()
    columns = ("omi", "mean", "lowest", "highest")
    numbers = {column: found.numbers(column) for column in (*columns, "sd")}
    lines = []
    for name in random_orders.SETS:
        own = {c: percent(values[name,]) for c, values in numbers.items()}
        theirs = {c: f"{paper[name][c]:.1f}" for c in numbers}
        line = [name.split("/")[1]]
        for one in (own, theirs):
            line += [
                one["omi"],
                f"{one['mean']} ± {one['sd']}",
                one["lowest"],
                one["highest"],
            ]
        lines.append(line)
    head = ["OMI", "random", "lowest", "highest"]
    return markdown(["", *head, *(f"{title}, published" for title in head)], lines)


def by_residuals(folder: Path = RESIDUALS) -> str:
    """Error, log loss and processor seconds of fits with residual trees."""
    found = Results("images", ("set", "method"), SEED, folder)
    columns = [found.numbers(c) for c in ("error", "log_loss", "processor_seconds")]
    error, log_loss, seconds = columns
    lines = [
        [
            method,
            *(percent(error[name, method], 2) for name in times.SETS),
            *(f"{log_loss[name, method]:.3f}" for name in times.SETS),
            *(f"{seconds[name, method]:.2g}" for name in times.SETS),
        ]
        for method in BY_RESIDUALS
    ]
    names = [name.split("/")[1] for name in times.SETS]
    head = [
        f"{name}, {what}"
        for what in ("error", "log loss", "time (s)")
        for name in names
    ]
    return markdown(["", *head], lines)


def by_rows() -> str:
    """How often the arc between X1 and X3 is found, and accuracy, by rows."""
    numbers = results("three-features", three_features.KEYS)
    found, accuracy = numbers.numbers("found"), numbers.numbers("accuracy")
    lines = [
        [
            structure,
            *(
                f"{100 * found[structure, 'ML', str(n)]:.0f} / "
                f"{percent(accuracy[structure, 'ML', str(n)])}"
                for n in three_features.SIZES
            ),
        ]
        for structure in BY_ROWS
    ]
    return markdown(["training samples", *map(str, three_features.SIZES)], lines)


def _accuracies(column: str) -> dict[str, str]:
    """A column of the paper's Table 1 by classifier; of random orders the mean."""
    return {
        row["classifier"].replace(" (mean)", ""): row["cr"]
        for row in published("table1")
        if row["dataset"] == column
    }


def _of(found: Results, column: str, method: Method) -> dict[str, float]:
    """A column of one method, by set."""
    return {
        key[0]: value
        for key, value in found.numbers(column).items()
        if key[1:] == method
    }


def _over_rows(found: Results, method: Method) -> str:
    """Accuracy over the test rows of all sets."""
    accuracy, rows = (_of(found, c, method) for c in ("accuracy", "rows"))
    if not accuracy:
        return ""
    right = sum(accuracy[name] * rows[name] for name in rows)
    return f"{100 * right / sum(rows.values()):.2f}"


def _log_loss(found: Results, method: Method) -> str:
    """Mean log loss over the sets."""
    values = list(_of(found, "log_loss", method).values())
    return f"{np.mean(values):.2f}" if values else ""


def _seconds(seconds: float) -> str:
    """Seconds, where they matter."""
    return f"{seconds:.2g}" if seconds >= 0.001 else "0"
