"""Columns as a pandas DataFrame, if pandas is installed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from tanager.errors import InputError
from tanager.utils.text import escape_controls, one_line, pluralise, shorten, table_text

SHOWN_ROWS = 20
"""Rows of a table that is printed."""

MAX_CELL = 40
"""Characters of a cell that is printed."""


def make_frame(columns: Mapping[str, Sequence[Any]]) -> Any:
    """The `columns()` of a value as a pandas DataFrame.

    Raises `InputError` if pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise InputError(
            "to_frame needs pandas, which is not installed: pip install pandas. "
            "columns() gives the same as a dictionary."
        ) from error
    return pd.DataFrame(columns)


def columns_text(
    columns: Mapping[str, Sequence[Any]], n_rows: int, *, width: int | None = MAX_CELL
) -> str:
    """The first of `n_rows` rows of a table, and how many more there are.

    Cells have at most `width` characters; None shortens none.

    Examples
    --------
    >>> print(columns_text({"feature": ["age", "sex"], "value": [0.25, None]}, 2))
    feature  value
    age       0.25
    sex
    """
    shown = [list(column[:SHOWN_ROWS]) for column in columns.values()]
    right = [
        j
        for j, column in enumerate(shown)
        if all(value is None or isinstance(value, (int, float)) for value in column)
    ]
    rows = [
        [_cell_text(value, width) for value in row] for row in zip(*shown, strict=True)
    ]
    names = [escape_controls(one_line(name)) for name in columns]
    text = table_text(names, rows, right=right)
    lines = [line.rstrip() for line in text.splitlines()]
    if n_rows > len(rows):
        lines.append(f"... {pluralise(n_rows - len(rows), 'more row')}: to_frame()")
    return "\n".join(lines)


def _cell_text(value: Any, width: int | None) -> str:
    if value is None:
        return ""
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    text = escape_controls(one_line(text))
    return text if width is None else shorten(text, width)


class FrameMixin(ABC):
    """Adds `to_frame` and a table as `repr` to a value that lists its columns."""

    @abstractmethod
    def columns(self) -> dict[str, list[Any]]:
        """List the content by column."""

    def to_frame(self) -> Any:
        """The `columns` as a pandas DataFrame.

        Raises
        ------
        InputError
            If pandas is not installed.
        """
        return make_frame(self.columns())

    def __repr__(self) -> str:
        columns = self.columns()
        n_rows = len(next(iter(columns.values()), ()))
        name = type(self).__name__
        if not n_rows:
            return f"<{name}: empty>"
        size = pluralise(n_rows, "row")
        return f"<{name}: {size}>\n{columns_text(columns, n_rows)}"
