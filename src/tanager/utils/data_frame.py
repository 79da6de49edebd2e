"""Columns as a pandas DataFrame, if pandas is installed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from tanager.errors import InputError
from tanager.utils.text import shorten, table_text

SHOWN_ROWS = 10
"""Rows of a printed value; the number of others is stated."""

CELL_WIDTH = 40
"""Longest text of a cell in print."""


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


class FrameMixin(ABC):
    """Adds `to_frame` and a printed table to a value that lists its content by column.

    Examples
    --------
    >>> class Scores(FrameMixin):
    ...     def columns(self):
    ...         return {"name": ["a", "b"], "score": [0.25, 1e-7]}
    >>> print(Scores())
    name  score
    a      0.25
    b     1e-07
    """

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

    def __str__(self) -> str:
        columns = self.columns()
        n_rows = max(map(len, columns.values()), default=0)
        rows = [
            [_cell(column[k]) for column in columns.values()]
            for k in range(min(n_rows, SHOWN_ROWS))
        ]
        right = [
            place
            for place, column in enumerate(columns.values())
            if column and all(isinstance(v, (int, float)) for v in column[:SHOWN_ROWS])
        ]
        text = table_text(list(columns), rows, right=right)
        more = n_rows - SHOWN_ROWS
        return text if more <= 0 else f"{text}\n... and {more:,} more rows"


def _cell(value: object) -> str:
    """A value in few letters; nothing for None and NaN."""
    if value is None or value != value:
        return ""
    return (
        f"{value:.4g}" if isinstance(value, float) else shorten(str(value), CELL_WIDTH)
    )
