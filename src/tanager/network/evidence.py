"""What is known, as codes: one row by names, or a table of rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tanager.encoding.row_encoder import encode_table
from tanager.errors import InputError, unknown_name
from tanager.model.schema import Schema, State, code_dtype, is_missing
from tanager.network.frame_evidence import rows_as_table
from tanager.types import CodeArray

SHOWN = 8
"""Values of a row that an error tells."""


def evidence_codes(
    schema: Schema, evidence: Mapping[str, object] | None, query: str | None = None
) -> CodeArray:
    """Codes of one row, shape (1, n_variables); unknown names and states are errors.

    Parameters
    ----------
    schema : Schema
        The variables.
    evidence : mapping from name to value, or None
        What is known; missing values count as not given.
    query : str or None, default=None
        A variable that must not be given.
    """
    if evidence is None:
        evidence = {}
    if not isinstance(evidence, Mapping):
        # A row of a data frame has names and values, too.
        if not (hasattr(evidence, "keys") and hasattr(evidence, "items")):
            raise InputError(
                "evidence must be a mapping from names to values, got "
                f"{type(evidence).__name__}."
            )
        evidence = dict(evidence.items())
    codes = schema.n_states.tolist()
    dtype = code_dtype(max(codes))
    position = schema.position
    for name, value in evidence.items():
        index = position.get(name)
        if index is None:
            raise unknown_name("variable", name, schema.names)
        if name == query:
            if is_missing(value):
                continue
            raise given_and_asked(name)
        variable = schema.variables[index]
        code = variable.code_of(value)
        if code == codes[index] and not is_missing(value):
            raise unknown_name(f"state for {name!r}:", value, variable.states)
        codes[index] = code
    return np.array([codes], dtype=dtype)


def row_codes(schema: Schema, rows: Any) -> CodeArray:
    """Codes of a table of rows, one column per variable, Fortran order.

    Parameters
    ----------
    schema : Schema
        The variables.
    rows : data frame, mapping of columns, sequence of mappings, or array
        See `rows_as_table`.
    """
    table, present = rows_as_table(rows, schema)
    widest = code_dtype(int(schema.n_states.max()))
    codes = np.empty((table.n_rows, len(schema)), dtype=widest, order="F")
    codes[...] = schema.n_states
    if present:
        codes[:, present] = encode_table(table, [schema[v] for v in present])
    return codes


def given_and_asked(name: str) -> InputError:
    """The error for a variable whose state is given where it is asked for."""
    return InputError(
        f"{name!r} is both asked for and given as evidence. Leave it out; of a table, "
        "drop the column."
    )


def impossible_evidence(evidence: Mapping[str, object] | None) -> InputError:
    """The error for evidence of probability zero."""
    known = {k: v for k, v in (evidence or {}).items() if not is_missing(v)}
    return InputError(
        f"The evidence {known!r} has probability zero under this network, so nothing "
        "follows from it. Check it, or take back what contradicts the rest."
    )


def impossible_row(
    schema: Schema, codes: CodeArray, impossible: np.ndarray[Any, Any]
) -> InputError:
    """The error for rows of probability zero; tells the first of them."""
    rows = np.flatnonzero(impossible)
    first = int(rows[0])
    known: dict[str, State] = {
        variable.name: variable.states[code]
        for variable, code in zip(schema, codes[first].tolist(), strict=True)
        if code < variable.n_states
    }
    shown = ", ".join(f"{k!r}: {v!r}" for k, v in list(known.items())[:SHOWN])
    more = f" and {len(known) - SHOWN} more values" if len(known) > SHOWN else ""
    others = ""
    if len(rows) > 1:
        n = len(rows) - 1
        others = f", as has {n} other" if n == 1 else f", as have {n:,} others"
    return InputError(
        f"Row {first} (counted from 0) has probability zero under this network"
        f"{others}: {{{shown}}}{more}. Nothing follows from such a row; leave it out. "
        "log_likelihood gives -inf for it."
    )
