"""Checks of arguments and rows that belong to the classifier alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tanager.encoding.table import Table
from tanager.errors import InputError
from tanager.model.schema import Variable
from tanager.types import CodeArray

MEANINGS = ("marginalize", "error")
"""What a missing value or an unknown category may be taken for."""


def check_choice(argument: str, value: object, choices: Sequence[str]) -> None:
    """Refuse an argument that is none of the choices."""
    if value not in choices:
        listed = " or ".join(repr(choice) for choice in choices)
        raise InputError(f"{argument} must be {listed}, got {value!r}.")


def random_generator(random_state: Any) -> np.random.Generator:
    """A numpy Generator from a seed, Generator, RandomState or None.

    Examples
    --------
    >>> float(random_generator(0).random()) == float(random_generator(0).random())
    True
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise InputError(
            "random_state must be None, a whole number of at least 0, a numpy "
            f"Generator or a RandomState, got {random_state!r}."
        ) from None


def refuse_missing(table: Table) -> None:
    """Raise if any value is missing (``missing="error"``)."""
    for j in range(table.n_columns):
        column = table.column(j)
        absent = column.data < 0 if not column.is_numeric else np.isnan(column.data)
        if absent.any():
            raise InputError(
                f"Column {column.name!r} has {int(absent.sum())} missing value(s), the "
                f"first in row {int(absent.argmax())}, and missing='error' was asked "
                "for. Fill them in, or use missing='marginalize'."
            )


def refuse_unknown(
    table: Table, variables: Sequence[Variable], codes: CodeArray, start: int
) -> None:
    """Raise if a value is there but not known (``unknown="error"``).

    Parameters
    ----------
    table : Table
        The raw rows.
    variables : sequence of Variable
        What the columns were at fit.
    codes : ndarray of unsigned int, shape (n_rows, n_columns)
        Codes of the rows from `start` on.
    start : int
        Number of the first row.
    """
    for j, variable in enumerate(variables):
        rows = np.flatnonzero(codes[:, j] == variable.n_states) + start
        if not len(rows):
            continue
        column = table.column(j)
        values = column.data[rows]
        present = values >= 0 if not column.is_numeric else ~np.isnan(values)
        if present.any():
            first = int(present.argmax())
            value = values[first]
            shown = value if column.is_numeric else column.categories[int(value)]
            raise InputError(
                f"Column {variable.name!r} has the value {shown!r} in row {rows[first]}"
                ", which was not there in fit, and unknown='error' was asked for. Use "
                "unknown='marginalize' to treat it as missing."
            )
