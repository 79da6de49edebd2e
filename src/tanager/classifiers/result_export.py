"""Results that are exported row by row: data frames and CSV files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from tanager.io.csv_text import csv_bytes
from tanager.utils.atomic_write import PathLike, write_bytes
from tanager.utils.data_frame import make_frame


class ExportableResult(ABC):
    """A result that prints as text and exports its rows."""

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """The rows as dictionaries with the same keys."""

    def columns(self) -> dict[str, list[Any]]:
        """The same by column."""
        rows = self.rows()
        return {key: [row[key] for row in rows] for key in rows[0]}

    def to_frame(self) -> Any:
        """The rows as a pandas DataFrame.

        Raises
        ------
        InputError
            If pandas is not installed.
        """
        return make_frame(self.columns())

    def to_csv(self, path: PathLike) -> None:
        """Write the rows to a CSV file, whole or not at all."""
        write_bytes(path, csv_bytes(self.columns()))

    def __repr__(self) -> str:
        return str(self)
