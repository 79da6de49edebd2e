"""Numbers of many cells, chosen and averaged; also as a file."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from lab.files import write_text
from lab.runner.cell import Cell, Numbers, Value
from lab.runner.versions import versions
from tanager import InputError
from tanager.types import FloatArray

MISSING = "not measured because"
"""Column of the reasons why cells have no numbers."""

DIGITS = 6
"""Significant digits of a number in a file."""


@dataclass(frozen=True)
class Results:
    """Cells and what was measured.

    Parameters
    ----------
    cells : tuple of Cell
        In the order of the plan.
    numbers : tuple of mappings
        What was measured, one for every cell.
    missing : mapping from Cell to str
        Further cells that have no numbers, and why.
    """

    cells: tuple[Cell, ...]
    numbers: tuple[Numbers, ...]
    missing: Mapping[Cell, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        plan: Sequence[Cell],
        known: Mapping[Cell, Numbers],
        missing: Mapping[Cell, str] = MappingProxyType({}),
    ) -> Results:
        """Those cells of a plan that are known, and of which it is known why not."""
        cells = [cell for cell in plan if cell in known]
        why = {cell: missing[cell] for cell in plan if cell in missing.keys() - known}
        return cls(tuple(cells), tuple(known[cell] for cell in cells), why)

    def __len__(self) -> int:
        return len(self.cells)

    def __iter__(self) -> Iterator[tuple[Cell, Numbers]]:
        return zip(self.cells, self.numbers, strict=True)

    def where(self, **parameters: Value) -> Results:
        """The cells with these parameters.

        Examples
        --------
        >>> cells = [Cell("m", {"data": "iris", "repeat": r}) for r in (1, 2)]
        >>> every = Results.of(cells, {cells[0]: {"a": 1.0}, cells[1]: {"a": 3.0}})
        >>> every.where(repeat=2).values("a")
        array([3.])
        >>> every.where(data="iris").values("a").mean()
        np.float64(2.0)
        """
        kept = [
            (cell, numbers)
            for cell, numbers in self
            if all(_is(cell, name, value) for name, value in parameters.items())
        ]
        missing = {
            cell: why
            for cell, why in self.missing.items()
            if all(_is(cell, name, value) for name, value in parameters.items())
        }
        return Results(
            tuple(cell for cell, _ in kept), tuple(n for _, n in kept), missing
        )

    def values(self, name: str) -> FloatArray:
        """One of the numbers of all cells, series one after the other."""
        found = [np.atleast_1d(numbers[name]) for numbers in self.numbers]
        return np.concatenate(found).astype(np.float64) if found else np.empty(0)

    def mean(self, name: str) -> float | None:
        """The mean of one of the numbers; None if no cell is known."""
        values = self.values(name)
        return float(values.mean()) if len(values) else None

    def levels(self, parameter: str) -> list[Any]:
        """The different values of a parameter, in the order of the plan."""
        return list(
            dict.fromkeys(
                cell.parameters[parameter]
                for cell in self.cells
                if parameter in cell.parameters
            )
        )


def _is(cell: Cell, name: str, value: Value) -> bool:
    return name in cell.parameters and cell.parameters[name] == value


def write(path: Path, results: Results, made_by: str | None = None) -> None:
    """Write cells as CSV, a row each; series with blanks between the numbers.

    Cells without numbers come last, with the reason in the column `MISSING`.

    Parameters
    ----------
    path : Path
        The file.
    results : Results
        What goes into it.
    made_by : str or None, default=None
        What measured the cells, for the first line; None means the code of today.
    """
    planned = (*results.cells, *results.missing)
    parameters = _names(cell.parameters for cell in planned)
    numbers = _names(results.numbers)
    text = io.StringIO()
    text.write(f"# {made_by or versions()}\n")
    writer = csv.writer(text, lineterminator="\n")
    head = ["measurement", *parameters, *(f"= {name}" for name in numbers)]
    writer.writerow([*head, *([MISSING] if results.missing else [])])
    every = [*results, *((cell, {}) for cell in results.missing)]
    for cell, found in every:
        known = [
            json.dumps(cell.parameters[name]) if name in cell.parameters else ""
            for name in parameters
        ]
        shown = [_shown(found[name]) if name in found else "" for name in numbers]
        why = [results.missing.get(cell, "")] if results.missing else []
        writer.writerow([cell.measurement, *known, *shown, *why])
    write_text(path, text.getvalue())


def read(path: Path) -> Results:
    """Read what `write` has written.

    Raises
    ------
    InputError
        If the file is not there or not such a file.
    """
    try:
        lines = path.read_text("utf-8").splitlines()
        rows = csv.DictReader(line for line in lines if line[:1] != "#")
        cells, numbers, missing = [], [], {}
        for row in rows:
            measurement = row.pop("measurement")
            why = row.pop(MISSING, "")
            cell = Cell(
                measurement,
                {k: json.loads(v) for k, v in row.items() if k[:2] != "= " and v},
            )
            if why:
                missing[cell] = why
                continue
            cells.append(cell)
            numbers.append(
                {k[2:]: _read(v) for k, v in row.items() if k[:2] == "= " and v}
            )
    except OSError as error:
        raise InputError(
            f"Cannot read '{path}': {error.strerror or error}; run `python -m lab "
            "reproduce` first, or name another folder."
        ) from error
    except (KeyError, ValueError, AttributeError) as error:
        raise InputError(
            f"'{path}' is not a file of cells ({error}); remove it and run `python -m "
            "lab reproduce` again."
        ) from error
    return Results(tuple(cells), tuple(numbers), missing)


def _names(mappings: Any) -> list[str]:
    return list(dict.fromkeys(name for mapping in mappings for name in mapping))


def _shown(value: float | Sequence[float]) -> str:
    return " ".join(f"{number:.{DIGITS}g}" for number in np.atleast_1d(value).tolist())


def _read(text: str) -> float | list[float]:
    numbers = [float(number) for number in text.split(" ")]
    return numbers if len(numbers) > 1 else numbers[0]
