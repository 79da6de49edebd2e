"""Codes of a row or two of a pandas data frame, without reading its columns."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

from tanager.encoding.encoding_plan import FEW_ROWS
from tanager.encoding.numeric_encoders import MAX_EXACT
from tanager.model.schema import Schema, is_missing
from tanager.types import CodeArray

PLAIN = frozenset((str, int, float, bool))
"""Types of values that are states as they are."""


def encode_rows(X: Any, schema: Schema, names: Sequence[str]) -> CodeArray | None:
    """Encode a row or two of a pandas data frame whose values are all known.

    Parameters
    ----------
    X : any input of `read_frame`
        The samples.
    schema : Schema
        The features.
    names : sequence of str
        The names of the columns that are expected, in order.

    Returns
    -------
    ndarray of shape (n_rows, n_features), unsigned, column-major, or None
        The same codes as those of `encode_frame`. None unless X is a pandas data frame
        of few rows with these columns, and every value is a number that is finite, a
        known category of a plain type, or missing: all else is for `read_frame`,
        which explains what is wrong.

    Notes
    -----
    Most of the time that single samples take is spent on making an object for every
    column. pandas selects a row without doing so.

    Examples
    --------
    >>> import pandas as pd
    >>> from tanager.model import Variable
    >>> schema = Schema((Variable.binned("age", [30.0]), Variable("sky", ("a", "b"))))
    >>> X = pd.DataFrame({"age": [41], "sky": ["b"]})
    >>> encode_rows(X, schema, ["age", "sky"])
    array([[1, 1]], dtype=uint8)
    >>> encode_rows(X.replace("b", "c"), schema, ["age", "sky"]) is None
    True
    """
    if not nw.dependencies.is_pandas_dataframe(X) or not 0 < len(X) <= FEW_ROWS:
        return None
    if X.columns.tolist() != names:
        return None
    rules = schema.value_rules
    types = X.dtypes.tolist()
    # Categories that are numbers, and True, are no values of a numeric feature.
    for kinds, kind in zip(rules.frame_kinds, types, strict=True):
        if kind.kind not in kinds:
            return None
    codes = np.empty((len(X), len(schema)), dtype=rules.dtype, order="F")
    for i in range(len(X)):
        row = X.iloc[i]
        values = row.tolist()
        # Columns of numbers of several types have become floats, exact up to a limit.
        if (
            row.dtype.kind == "f"
            and any(kind is not types[0] for kind in types)
            and any(not is_missing(v) and abs(v) >= MAX_EXACT for v in values)
        ):
            return None
        found = _known_codes(values, schema)
        if found is None:
            return None
        codes[i] = found
    return codes


def _known_codes(row: list[Any], schema: Schema) -> list[int] | None:
    """Codes of plain values; None if one of them is not known."""
    codes = []
    for variable, value in zip(schema.variables, row, strict=True):
        if variable.is_left_out:
            codes.append(0)
            continue
        if type(value) not in PLAIN:
            if isinstance(value, np.generic):
                value = value.item()
            elif is_missing(value):
                value = np.nan
            if type(value) not in PLAIN:
                return None
        if value != value:
            codes.append(variable.missing_code)
        elif variable.cuts is not None:
            if value in (np.inf, -np.inf):
                return None
            codes.append(bisect_left(variable.cuts, value))
        else:
            code = variable.code_by_state.get(value)
            if code is None:
                return None
            codes.append(code)
    return codes
