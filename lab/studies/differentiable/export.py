"""``python -m lab.studies.differentiable.export``: the results as cells of the paper.

Writes the settings that were measured into the folder of the paper, from which the
command `tanager reproduce` plans Table 1, and the numbers into files of cells, from
which it makes tables and figures without measuring anything again:

    tanager reproduce roth2020 --saved -o experiments/results/papers
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from lab.runner import Cell, Results, catalogue
from lab.runner.cell import Numbers, Value
from lab.runner.output import cells_file
from lab.runner.results import write
from lab.studies.differentiable import beyond, comparison, recovery
from lab.studies.differentiable.results import FOLDER
from lab.studies.differentiable.sets import SETS
from lab.studies.differentiable.settings import Setting
from lab.views.tried import set_of
from tanager.utils.atomic_write import write_text

LAB = Path(__file__).parents[2]
PAPER = LAB / "papers" / "roth2020"
CELLS = LAB / "results"

COLUMNS = (
    "method",
    "epochs",
    "start",
    "seed",
    "image_order",
    "lambda_",
    "share",
    "eta",
    "rate",
)
FILES = {
    "table1": tuple(SETS),
    "section4.5": ("beyond",),
    "section4.6": ("recovery",),
}
"""Where the numbers of an experiment come from."""
ERRORS = (
    "error",
    "validation_error",
    "arcs",
    "seconds",
    "validation_seconds",
    "warnings",
)
ORDERS = {
    ("random", "random"): "random order",
    (None, "random"): "no order",
    ("chow-liu", "information"): "order of Chow-Liu",
}
"""Methods of `beyond` by order and candidates."""

Row = Mapping[str, str]


def main(paper: Path = PAPER, cells: Path = CELLS, folder: Path = FOLDER) -> int:
    """Write settings, then the cells of the plan that they make."""
    for name in SETS:
        rows = comparison.results(name, folder).rows
        text = settings_file([setting for _, setting in settings_of(rows)])
        write_text(paper / "settings" / f"{name}.csv", text)
    catalogue.paper.cache_clear()
    measured = {
        "table1": dict(errors(folder)),
        "section4.5": dict(orders(folder)),
        "section4.6": dict(trees(folder)),
    }
    for name, known in measured.items():
        (experiment,) = catalogue.find([f"roth2020/{name}"])
        found = Results.of(experiment.cells(), known)
        file = cells_file(cells, experiment)
        file.parent.mkdir(parents=True, exist_ok=True)
        write(file, found, made_by(folder, FILES[name]))
        print(f"{name}: {len(found)} of {len(experiment.cells())} cells")
    return 0


def settings_of(rows: Sequence[Row]) -> Iterator[tuple[Row, dict[str, Value]]]:
    """Rows of a set, each with those of its parameters that are no matter of the set.

    The first settings come first.
    """
    for row in sorted(rows, key=lambda row: int(row["setting"])):
        method, start = row["method"], row["start"]
        if not start:  # frequencies
            yield row, {"method": method}
            continue
        setting = Setting.of_row(row)
        parameters: dict[str, Value] = {
            "method": method,
            "epochs": int(row["epochs"]),
            "start": start,
            "seed": setting.seed,
        }
        if method == "TAN Heuristic":
            parameters["image_order"] = setting.image_order
        numbers = asdict(setting)
        del numbers["seed"]
        yield row, parameters | numbers


def settings_file(settings: Sequence[Mapping[str, Value]]) -> str:
    """Settings as CSV, each once."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows({tuple(one.items()): one for one in settings}.values())
    return text.getvalue()


def errors(folder: Path) -> Iterator[tuple[Cell, Numbers]]:
    """Cells of Table 1."""
    for name, chosen in SETS.items():
        fixed: dict[str, Value] = {
            "data": f"images/{name}",
            "batch_size": chosen.batch_size,
        }
        rows = comparison.results(name, folder).rows
        for row, setting in settings_of(rows):
            parameters = {**fixed, **setting, "fold": int(row["fold"])}
            yield Cell("setting_tested", parameters), parse_numbers(row, ERRORS)


def orders(folder: Path) -> Iterator[tuple[Cell, Numbers]]:
    """Cells of section 4.5."""
    known = {
        (row["set"], row["method"], row["epochs"], row["seed"]): row
        for row in beyond.results(folder).rows
    }
    for cell in planned("section4.5"):
        p = cell.parameters
        method = ORDERS[p["order"], p["candidates"]]
        row = known.get((set_of(cell), method, str(p["epochs"]), str(p["seed"])))
        if row is not None:
            yield cell, parse_numbers(row, ("error", "arcs", "seconds"))


def trees(folder: Path) -> Iterator[tuple[Cell, Numbers]]:
    """Cells of section 4.6."""
    columns = (
        "arcs",
        "arcs_found",
        "other_arcs",
        "share_of_information",
        "seconds",
    )
    known = {
        (row["set"], row["start"], row["epochs"], row["seed"]): row
        for row in recovery.results(folder).rows
    }
    for cell in planned("section4.6"):
        p = cell.parameters
        row = known.get((set_of(cell), p["start"], str(p["epochs"]), str(p["seed"])))
        if row is not None:
            yield cell, parse_numbers(row, columns)


def planned(name: str) -> list[Cell]:
    """Cells of an experiment of the paper."""
    (experiment,) = catalogue.find([f"roth2020/{name}"])
    return experiment.cells()


def made_by(folder: Path, names: Sequence[str]) -> str:
    """The versions that measured some files, as their first lines say."""
    firsts = [
        (folder / f"{name}.csv").read_text("utf-8").partition("\n")[0]
        for name in names
        if (folder / f"{name}.csv").is_file()
    ]
    return "; ".join(dict.fromkeys(first.partition("; ")[2] for first in firsts))


def parse_numbers(row: Row, columns: Sequence[str]) -> Numbers:
    """Some of the numbers of a row."""
    return {column: float(row[column]) for column in columns}


if __name__ == "__main__":
    sys.exit(main())
