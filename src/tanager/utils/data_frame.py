"""Columns as a pandas DataFrame, if pandas is installed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from tanager.errors import InputError


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
    """Adds `to_frame` to a value that lists its content by column."""

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
