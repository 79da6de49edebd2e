"""Tables of raw rows for a network, matched by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tanager.encoding.table import Column, Table, as_table
from tanager.errors import InputError, unknown_name
from tanager.model.schema import Schema, Variable, is_missing


def rows_as_table(rows: Any, schema: Schema) -> tuple[Table, list[int]]:
    """Rows as a table of the variables that have a column.

    Parameters
    ----------
    rows : data frame, mapping of columns, sequence of mappings, or array
        An array must have one column per variable, in order.
    schema : Schema
        The variables; columns are matched by name.

    Returns
    -------
    table : Table
        The columns found, in the order of the schema.
    present : list of int
        Their positions in the schema.
    """
    if isinstance(rows, Mapping) and all(
        isinstance(value, (str, int, float, np.generic)) or is_missing(value)
        for value in rows.values()
    ):
        rows = [rows]
    if isinstance(rows, (list, tuple)) and rows and isinstance(rows[0], Mapping):
        names = list(dict.fromkeys(name for row in rows for name in row))
        if not names:  # nothing is known of any row
            return Table((), len(rows), (), has_names=True), []
        rows = {name: [row.get(name) for row in rows] for name in names}
    table = as_table(rows)
    if not table.has_names:
        if table.n_columns != len(schema):
            raise InputError(
                f"Rows without column names need one column per variable: expected "
                f"{len(schema)}, got {table.n_columns}."
            )
        names = list(schema.names)
    else:
        names = list(table.names)
    for name in names:
        if name not in schema.position:
            raise unknown_name("variable", name, schema.names)
    present = sorted(schema.position[name] for name in names)
    columns = []
    for v in present:
        column = table.column(names.index(schema.names[v]))
        _check_states(column, schema[v])
        columns.append(_numbers_of_labels(column, schema[v]))
    picked = Table(
        names=tuple(schema.names[v] for v in present),
        n_rows=table.n_rows,
        columns=tuple(columns),
        has_names=True,
    )
    return picked, present


def _check_states(column: Column, variable: Variable) -> None:
    """Refuse values that are no state: their probability is not defined."""
    if column.is_numeric:
        if variable.cuts is not None or column.values is None:
            return
        values = np.unique(column.values)
        found = [value.item() for value in values if not is_missing(value)]
    else:
        # Few categories are looked up; the rows only where one of them is no state.
        strange = [
            code
            for code, value in enumerate(column.categories)
            if variable.code_of(value) == variable.n_states
        ]
        found = [column.categories[code] for code in strange if code in column.data]
    for value in found:
        if variable.code_of(value) == variable.n_states:
            raise unknown_name(f"state for {variable.name!r}:", value, variable.states)


def _numbers_of_labels(column: Column, variable: Variable) -> Column:
    """Labels of bins as numbers that lie in them; other columns as they are."""
    if column.is_numeric or variable.cuts is None:
        return column
    # A cut lies in the bin below it.
    above = np.nextafter(variable.cuts[-1], np.inf) if variable.cuts else 0.0
    inside = np.array([*variable.cuts, above])
    numbers = [inside[variable.code_of(state)] for state in column.categories]
    values = np.array([*numbers, np.nan])[column.data]
    return Column(column.name, values=values)
