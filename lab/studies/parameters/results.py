"""Results as CSV files that can be gone on with."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path

from lab.runner.versions import versions
from tanager.utils.atomic_write import write_text

FOLDER = Path(__file__).parents[2] / "results" / "parameters"


class Results:
    """Rows of numbers under keys, written whole after every new one.

    Parameters
    ----------
    name : str
        Name of the file, without ".csv".
    keys : tuple of str
        Columns that say what was measured.
    seed : int
        Goes into the header, beside the versions.
    folder : Path, default=FOLDER
        Where the file lies.
    """

    def __init__(
        self, name: str, keys: tuple[str, ...], seed: int, folder: Path = FOLDER
    ) -> None:
        self.path = folder / f"{name}.csv"
        self.keys = keys
        self.seed = seed
        self.rows: list[dict[str, str]] = []
        if self.path.exists():
            lines = self.path.read_text("utf-8").splitlines()
            self.rows = list(csv.DictReader(line for line in lines if line[:1] != "#"))

    def __contains__(self, key: tuple[object, ...]) -> bool:
        wanted = [str(part) for part in key]
        return any([row[k] for k in self.keys] == wanted for row in self.rows)

    def add(
        self,
        key: tuple[object, ...],
        numbers: Mapping[str, float],
        texts: Mapping[str, str] | None = None,
    ) -> None:
        """Add a row and write the file; columns of texts stand before the numbers."""
        row = dict(zip(self.keys, map(str, key), strict=True)) | dict(texts or {})
        row |= {name: f"{number:.6g}" for name, number in numbers.items()}
        self.rows.append(row)
        text = io.StringIO()
        text.write(f"# seed {self.seed}; {versions()}\n")
        writer = csv.DictWriter(text, list(row), lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        write_text(self.path, text.getvalue())
        print(self.path.stem, *row.values(), flush=True)

    def numbers(self, column: str) -> dict[tuple[str, ...], float]:
        """A column by the keys of its rows."""
        return {
            tuple(row[k] for k in self.keys): float(row[column]) for row in self.rows
        }
