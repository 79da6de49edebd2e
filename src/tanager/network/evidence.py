"""Evidence as codes: one mapping from names to values, or a data frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tanager.encoding.encoding_plan import encode_frame
from tanager.encoding.frame import Column, Frame, read_frame
from tanager.errors import InputError, unknown_name
from tanager.model.schema import Schema, State, Variable, is_missing
from tanager.types import BoolArray, CodeArray

SHOWN = 8
"""Values of a row that an error message shows."""


def evidence_codes(
    schema: Schema, evidence: Mapping[str, object] | None, query: str | None = None
) -> CodeArray:
    """Codes of one row, shape (1, n_variables); unknown names and states are errors.

    Missing values in `evidence` count as not given; `query` must not be given.
    """
    if evidence is None:
        evidence = {}
    if not isinstance(evidence, Mapping):
        # A row of a data frame has names and values.
        if not (hasattr(evidence, "keys") and hasattr(evidence, "items")):
            raise InputError(
                "evidence must be a mapping from names to values, got "
                f"{type(evidence).__name__}."
            )
        evidence = dict(evidence.items())
    codes = schema.n_states.tolist()
    dtype = np.min_scalar_type(max(codes))
    position = schema.position
    for name, value in evidence.items():
        index = position.get(name)
        if index is None:
            raise unknown_name("variable", name, schema.names)
        if name == query:
            if is_missing(value):
                continue
            raise query_is_given(name)
        variable = schema.variables[index]
        code = variable.code_of(value)
        if code == codes[index] and not is_missing(value):
            raise unknown_name(f"state for {name!r}:", value, variable.states)
        codes[index] = code
    return np.array([codes], dtype=dtype)


def row_codes(schema: Schema, rows: Any) -> CodeArray:
    """Codes of many rows, shape (n_rows, n_variables), Fortran order.

    `rows` is a data frame, a mapping of columns, a sequence of mappings, or an array
    with one column per variable. Columns are matched by name; a variable without a
    column is missing. Missing values are not observed, as in `evidence_codes`.
    """
    table, present, unobserved = _match_columns(rows, schema)
    widest = np.min_scalar_type(int(schema.n_states.max()))
    codes = np.empty((table.n_rows, len(schema)), dtype=widest, order="F")
    codes[...] = schema.n_states
    if present:
        codes[:, present] = encode_frame(table, [schema[v] for v in present])
    for v, missing in unobserved.items():
        codes[missing, v] = schema[v].n_states
    return codes


def _match_columns(
    rows: Any, schema: Schema
) -> tuple[Frame, list[int], dict[int, BoolArray]]:
    """The columns in the order of the schema, and their positions in it.

    Also, for variables with a state of a missing value, the rows that are not observed.
    """
    if isinstance(rows, Mapping) and all(
        isinstance(value, (str, int, float, np.generic)) or is_missing(value)
        for value in rows.values()
    ):
        rows = [rows]
    if isinstance(rows, (list, tuple)) and rows and isinstance(rows[0], Mapping):
        names = list(dict.fromkeys(name for row in rows for name in row))
        if not names:  # no evidence in any row
            return Frame((), len(rows), (), has_names=True), [], {}
        rows = {name: [row.get(name) for row in rows] for name in names}
    table = read_frame(rows)
    if not table.has_names and table.n_columns != len(schema):
        raise InputError(
            "Data without column names needs one column per variable: expected "
            f"{len(schema)}, got {table.n_columns}."
        )
    names = list(table.names if table.has_names else schema.names)
    for name in names:
        if name not in schema.position:
            raise unknown_name("variable", name, schema.names)
    present = sorted(schema.position[name] for name in names)
    columns = []
    unobserved = {}
    for v in present:
        column = table.column(names.index(schema.names[v]))
        _check_states(column, schema[v])
        if schema[v].missing_state:
            unobserved[v] = ~column.is_observed()
        columns.append(_bins_as_numbers(column, schema[v]))
    picked = Frame(
        names=tuple(schema.names[v] for v in present),
        n_rows=table.n_rows,
        columns=tuple(columns),
        has_names=True,
    )
    return picked, present, unobserved


def _check_states(column: Column, variable: Variable) -> None:
    """Raise an error for a value that is no state: its probability is undefined."""
    if column.is_numeric:
        if variable.cuts is not None or column.values is None:
            return
        values = np.unique(column.values)
        found = [value.item() for value in values if not is_missing(value)]
    else:
        # Rows are searched only if a category is no state.
        unknown = [
            code
            for code, value in enumerate(column.categories)
            if variable.code_of(value) == variable.n_states
        ]
        found = [column.categories[code] for code in unknown if code in column.data]
    for value in found:
        if variable.code_of(value) == variable.n_states:
            raise unknown_name(f"state for {variable.name!r}:", value, variable.states)


def _bins_as_numbers(column: Column, variable: Variable) -> Column:
    """A column of bin labels as numbers inside the bins; other columns unchanged.

    The state of a missing value becomes NaN.
    """
    if column.is_numeric or variable.cuts is None:
        return column
    # A cut belongs to the bin below it.
    above = np.nextafter(variable.cuts[-1], np.inf) if variable.cuts else 0.0
    inside = np.array([*variable.cuts, above, np.nan])
    numbers = [inside[variable.code_of(state)] for state in column.categories]
    values = np.array([*numbers, np.nan])[column.data]
    return Column(column.name, values=values)


def known_states(schema: Schema, row: CodeArray) -> dict[str, State]:
    """The states of one row, (n_variables,), without missing ones, by name."""
    return {
        variable.name: variable.states[code]
        for variable, code in zip(schema, row.tolist(), strict=True)
        if code < variable.n_states
    }


def query_is_given(name: str) -> InputError:
    """The error for a query whose state is given as evidence."""
    return InputError(
        f"{name!r} is both the query and given as evidence. Remove it from the "
        "evidence, or drop its column."
    )


def impossible_evidence(evidence: Mapping[str, object] | None) -> InputError:
    """The error for evidence of probability zero."""
    known = {k: v for k, v in (evidence or {}).items() if not is_missing(v)}
    return InputError(
        f"The evidence {known!r} has probability zero under this network, so there is "
        "no posterior. Check it, or remove the values that contradict each other."
    )


def impossible_row(schema: Schema, codes: CodeArray, which: BoolArray) -> InputError:
    """The error for rows of probability zero; shows the first of them."""
    rows = np.flatnonzero(which)
    first = int(rows[0])
    known = known_states(schema, codes[first])
    shown = ", ".join(f"{k!r}: {v!r}" for k, v in list(known.items())[:SHOWN])
    more = f" and {len(known) - SHOWN} more values" if len(known) > SHOWN else ""
    others = f" (and {len(rows) - 1:,} more)" if len(rows) > 1 else ""
    return InputError(
        f"Row {first}{others}, counted from 0, has probability zero under this "
        f"network: {{{shown}}}{more}. It has no posterior; leave it out. "
        "log_likelihood returns -inf for it."
    )
