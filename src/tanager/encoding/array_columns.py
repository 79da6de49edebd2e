"""Arrays, lists and Python objects as columns of a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tanager.encoding.table import Column
from tanager.errors import InputError
from tanager.model.schema import State, is_missing
from tanager.types import AnyArray


def dense_array(X: Any) -> AnyArray:
    """Turn array-likes into a plain array without losing the types of cells.

    Lists become arrays of objects, since NumPy would turn ``[[1, "a"]]`` into text
    and ``[[1, True]]`` into integers. Masked cells become missing.
    """
    if isinstance(X, np.ma.MaskedArray):
        numeric = X.dtype.kind in "iuf"
        plain: AnyArray = np.array(X.data, dtype=np.float64 if numeric else object)
        plain[np.ma.getmaskarray(X)] = np.nan if numeric else None
        return plain
    if isinstance(X, (list, tuple)):
        if len({len(row) for row in X if isinstance(row, (list, tuple))}) > 1:
            raise InputError("The rows of X have different lengths.")
        return np.array([_plain_row(row) for row in X], dtype=object)
    return np.asarray(X)


def _plain_row(row: Any) -> Any:
    return row.tolist() if isinstance(row, np.ndarray) else row


def array_column(name: str, values: AnyArray) -> Column:
    """Type one column by the dtype of its array.

    Parameters
    ----------
    name : str
        Name of the column.
    values : ndarray of shape (n_rows,)
        Of any dtype.

    Returns
    -------
    Column
        Numeric for integers and floats (no copy), categorical otherwise; objects
        are looked at one by one.
    """
    kind = values.dtype.kind
    if kind in "iuf":
        return Column(name, values=values)
    if kind == "c":
        raise InputError(
            f"Complex data not supported: column {name!r} is {values.dtype}. "
            "Split it into real and imaginary parts."
        )
    if kind == "b":
        return Column(name, codes=values.view(np.int8), categories=(False, True))
    if kind in "mM":
        # Python's own date types print in one way whatever the unit is.
        unit = np.datetime_data(values.dtype)[0]
        if unit in ("ns", "ps", "fs", "as"):
            values = values.astype(f"{kind}8[us]")
        missing = np.isnat(values)
        found, codes = np.unique(values[~missing], return_inverse=True)
        full = np.full(len(values), -1, dtype=np.int64)
        full[~missing] = codes
        return coded_column(name, full, found.tolist())
    return _object_column(name, values.tolist())


def _object_column(name: str, values: Sequence[Any]) -> Column:
    """Type a column of Python objects by looking at every cell once."""
    types = set(map(type, values))
    if any(issubclass(t, (complex, np.complexfloating)) for t in types):
        raise InputError(f"Complex data not supported: column {name!r}.")
    # Number types are few; types of which some values are missing are settled below.
    if all(_is_number_type(t) or _is_missing_type(t) for t in types):
        numbers = _as_numbers(values, types)
        if numbers is not None:
            return Column(name, values=numbers)
    try:
        found: list[Any] = list(dict.fromkeys(values))
    except TypeError:  # lists, dicts and such: known by what they print
        values = [
            v if isinstance(v, State) or is_missing(v) else str(v) for v in values
        ]
        found = list(dict.fromkeys(values))
    # NaN objects are keys by identity, which is what the lookup below needs.
    position = {value: code for code, value in enumerate(found)}
    codes = np.fromiter(map(position.__getitem__, values), np.int64, len(values))
    return coded_column(name, codes, found)


def _is_number_type(kind: type) -> bool:
    return issubclass(
        kind, (int, float, np.integer, np.floating, Decimal, Fraction)
    ) and not issubclass(kind, bool)


def _is_missing_type(kind: type) -> bool:
    return kind.__name__ in ("NoneType", "NAType", "NaTType")


def _as_numbers(
    values: Sequence[Any], types: Iterable[type]
) -> npt.NDArray[Any] | None:
    """Numbers of a column without other objects; None if all are missing."""
    if all(issubclass(t, (int, np.integer)) for t in types):
        try:
            return np.array(values, dtype=np.int64)
        except OverflowError:  # beyond 64 bits only the magnitude is kept
            return np.array(values, dtype=np.float64)
    if not any(_is_number_type(t) for t in types):
        return None
    try:
        numbers = np.array(values, dtype=np.float64)  # reads None as NaN
    except TypeError:  # pandas.NA, which refuses to be a float
        numbers = np.array(
            [np.nan if is_missing(v) else float(v) for v in values], dtype=np.float64
        )
    return None if _float_objects(types) and np.isnan(numbers).all() else numbers


def _float_objects(types: Iterable[type]) -> bool:
    # NaN marks a missing cell in columns of strings too, so a column of objects that
    # are all NaN does not say what it would have held.
    return all(
        _is_missing_type(t) or issubclass(t, (float, np.floating)) for t in types
    )


def coded_column(
    name: str,
    codes: AnyArray,
    categories: Iterable[object],
    *,
    ordered: bool = False,
    declared: bool = False,
) -> Column:
    """Column from codes into any objects: missing dropped, equal ones merged.

    Parameters
    ----------
    name : str
        Name of the column.
    codes : ndarray of shape (n_rows,), integer
        Positions in `categories`, negative where missing.
    categories : iterable
        Any objects; what is not a plain scalar is known by its text.
    ordered, declared : bool, default=False
        As in `Column`.

    Returns
    -------
    Column
        With plain, distinct categories.
    """
    position: dict[State, int] = {}
    remap = []
    for category in categories:
        if is_missing(category):
            remap.append(-1)
        else:
            remap.append(position.setdefault(plain_state(category), len(position)))
    if remap != list(range(len(remap))):
        codes = np.array([*remap, -1], dtype=np.int64)[codes]
    return Column(
        name,
        codes=codes,
        categories=tuple(position),
        ordered=ordered,
        declared=declared,
    )


def plain_state(value: object) -> State:
    """Reduce a category to a plain Python scalar; other objects become their text.

    Examples
    --------
    >>> plain_state(np.int8(3)), plain_state(b"red"), plain_state((1, 2))
    (3, 'red', '(1, 2)')
    """
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating, Decimal, Fraction)):
        return float(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if hasattr(value, "to_pytimedelta"):  # pandas' own text differs from all others
        return str(value.to_pytimedelta())
    return str(value)
