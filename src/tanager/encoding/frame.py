"""`Frame`: the data of a user, of any tabular type, as typed columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_array

from tanager.errors import InputError
from tanager.model.schema import State, is_missing
from tanager.types import AnyArray
from tanager.utils.time_values import (
    array_seconds,
    seconds_of,
    time_object,
    time_unit,
)


@dataclass(frozen=True, eq=False)
class Column:
    """One column: numbers, or codes into a tuple of categories.

    Parameters
    ----------
    name : str
        Name of the column.
    values : ndarray of shape (n_rows,), integer or floating, or None
        The values of a numeric column, NaN where missing. May be a strided view.
    codes : ndarray of shape (n_rows,), signed integer, or None
        The positions in `categories` of a categorical column, -1 where missing.
    categories : tuple of str, int, float or bool
        The categories; not all of them need occur.
    ordered : bool, default=False
        Whether the source declares the categories to be ordered.
    declared : bool, default=False
        Whether the source declares the categories and their order. Otherwise they
        are those found while reading, in no particular order.
    unit : {"datetime", "time", "timedelta"} or None, default=None
        What the values of a numeric column are if they are no plain numbers: seconds
        since 1970 (UTC), since midnight, or of a duration.

    Attributes
    ----------
    is_numeric : bool
        Whether the column has `values`.
    data : ndarray of shape (n_rows,)
        `values` of a numeric column, `codes` of a categorical one.

    Examples
    --------
    >>> column = Column("sky", codes=np.array([1, -1]), categories=("grey", "blue"))
    >>> column.is_numeric, column.n_rows
    (False, 2)
    """

    name: str
    values: AnyArray | None = None
    codes: AnyArray | None = None
    categories: tuple[State, ...] = ()
    ordered: bool = False
    declared: bool = False
    unit: str | None = None
    is_numeric: bool = field(init=False)
    data: AnyArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Set `is_numeric` and `data`."""
        data = self.codes if self.values is None else self.values
        assert data is not None  # one of the two is always given
        object.__setattr__(self, "is_numeric", self.values is not None)
        object.__setattr__(self, "data", data)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.data)

    def take(self, rows: AnyArray | slice) -> Column:
        """Select rows."""
        if self.values is not None:
            return replace(self, values=self.values[rows])
        return replace(self, codes=self.data[rows])

    def is_observed(self, rows: AnyArray | slice = slice(None)) -> AnyArray:
        """Whether each of the given rows has a value, shape (n_rows,)."""
        data = self.data[rows]
        return ~np.isnan(data) if self.is_numeric else data >= 0

    def is_incomplete(self) -> bool:
        """Whether there are both values and missing values."""
        observed = self.is_observed()
        return bool(observed.any() and not observed.all())


@dataclass(frozen=True, eq=False)
class Frame:
    """Typed columns of equal length, or one dense numeric matrix.

    Parameters
    ----------
    names : tuple of str
        Names of the columns; ``x0, x1, ...`` where the source had none.
    n_rows : int
        Number of rows.
    columns : tuple of Column or None
        The columns, unless the frame is a matrix.
    matrix : ndarray of shape (n_rows, n_columns), integer or floating, or None
        All columns at once, when the source was a numeric array. Never copied.
    has_names : bool, default=False
        Whether the source had names, all of them strings.

    Examples
    --------
    >>> frame = read_frame({"age": [31, None], "sky": ["blue", "grey"]})
    >>> frame.names, frame.n_rows, [c.is_numeric for c in frame.columns]
    (('age', 'sky'), 2, [True, False])
    >>> frame.column(1).categories
    ('blue', 'grey')
    """

    names: tuple[str, ...]
    n_rows: int
    columns: tuple[Column, ...] | None = None
    matrix: AnyArray | None = None
    has_names: bool = False

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.names)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.n_rows, len(self.names)

    def __len__(self) -> int:
        return self.n_rows

    def column(self, index: int) -> Column:
        """Return one column by position; of a matrix, as a view."""
        if self.columns is not None:
            return self.columns[index]
        assert self.matrix is not None  # a frame has columns or a matrix
        return Column(self.names[index], values=self.matrix[:, index])

    def take(self, rows: AnyArray | slice) -> Frame:
        """Select rows by an index array or a slice, which gives views."""
        if self.matrix is not None:
            matrix = self.matrix[rows]
            return replace(self, matrix=matrix, n_rows=len(matrix))
        columns = tuple(column.take(rows) for column in self.columns or ())
        return replace(self, columns=columns, n_rows=columns[0].n_rows)


def read_frame(X: Any) -> Frame:
    """Read any tabular input as a `Frame`, without copying where possible.

    Parameters
    ----------
    X : ndarray, data frame, list of rows, mapping or Frame
        A two-dimensional array (numbers, bool, strings, objects), a pandas, polars
        or Arrow data frame or any other eager frame that narwhals supports, rows as
        lists or tuples, rows as mappings from names to values (a name absent from a
        row is missing there), or a mapping from names to columns.

    Returns
    -------
    Frame
        A matrix for a numeric array, typed columns for everything else.

    Notes
    -----
    The type of a column decides: integers, floats and decimals are numeric, and so are
    dates, times of day and durations, as seconds; anything else is categorical: bool,
    strings, declared categories. Columns of Python objects are numeric if every value
    is a number and none is a bool, so ``"1.5"`` stays a category. NaN, None, NaT,
    ``pandas.NA`` and null are missing. Dates with a time zone count in UTC.

    A pandas categorical and a polars Enum declare their categories, an Enum in
    order; so does an Arrow dictionary flagged as ordered. Other Arrow dictionaries
    and polars' Categorical only store strings, in the order of first use, so they are
    read like plain strings.

    Examples
    --------
    >>> read_frame([[1, "a"], [2.5, None]]).column(0).values
    array([1. , 2.5])
    """
    if isinstance(X, Frame):
        return X
    if type(X) is np.ndarray and X.dtype.kind in "iuf":  # the hot path of predict
        return _read_matrix(X)
    if issparse(X):
        _check_array(X)  # raises, and says how to make it dense
    if isinstance(X, Mapping):
        return _read_mapping(X)
    # A series of any library has one dimension; it is refused like a 1-D array.
    if not isinstance(X, (np.ndarray, list, tuple)) and (
        (
            len(getattr(X, "shape", ())) == 2
            and any(hasattr(X, name) for name in ("columns", "__arrow_c_stream__"))
        )
        or hasattr(X, "__arrow_c_array__")
        or hasattr(X, "collect")
    ):
        from tanager.encoding.dataframe_libraries import read_data_frame

        return read_data_frame(X)
    return _read_array(X)


def refuse_empty(shape: tuple[int, ...]) -> Frame:
    """Raise scikit-learn's own error for a frame without rows or columns."""
    _check_array(np.empty(shape))
    raise InputError(f"X is empty (shape={shape}).")


FLOATS = frozenset((float, np.float64))
PLAIN_CELLS = frozenset((*FLOATS, int, str, bool, type(None)))
"""Types of cells that a list is typed by as it is, without an array of objects."""


def _check_array(array: Any, **options: Any) -> AnyArray:
    """Check an array as scikit-learn does, with its words in an `InputError`."""
    try:
        checked: AnyArray = check_array(array, **options)
    except ValueError as error:
        raise InputError(str(error)) from None
    return checked


def _read_matrix(matrix: AnyArray) -> Frame:
    # Infinite values are refused later, where the column can be named.
    if matrix.ndim != 2 or 0 in matrix.shape:
        _check_array(matrix)  # raises; too slow to be called for every single row
    if matrix.dtype.itemsize > 8:
        with np.errstate(over="ignore"):  # what is too large becomes infinite
            matrix = matrix.astype(np.float64)
    return Frame(_default_names(matrix.shape[1]), len(matrix), matrix=matrix)


@lru_cache(maxsize=16)
def _default_names(n_columns: int) -> tuple[str, ...]:
    """Names as scikit-learn generates them."""
    return tuple(f"x{j}" for j in range(n_columns))


def _read_array(X: Any) -> Frame:
    if isinstance(X, (list, tuple)):
        if not X:
            raise InputError(
                "X is empty: found 0 sample(s) while a minimum of 1 is required."
            )
        if isinstance(X[0], Mapping):
            return _read_mapping(_transpose_mappings(X))
    array = _dense_array(X)
    if array.dtype.kind in "iuf":
        return _read_matrix(array)
    if array.dtype.kind != "V":
        if array.ndim != 2 or 0 in array.shape or array.dtype.kind == "c":
            _check_array(array, dtype=None)  # raises; slow, as above
    elif array.ndim != 2:
        raise InputError(
            "X is a structured array; expected a two-dimensional one. "
            "Pass a mapping, {name: X[name] for name in X.dtype.names}."
        )
    names = _default_names(array.shape[1])
    columns = tuple(array_column(n, array[:, j]) for j, n in enumerate(names))
    return Frame(names, len(array), columns)


def _read_mapping(X: Mapping[Any, Any]) -> Frame:
    names, has_names = check_column_names(list(X))
    columns = []
    for name, values in zip(names, X.values(), strict=True):
        if isinstance(values, list) and PLAIN_CELLS.issuperset(map(type, values)):
            columns.append(_object_column(name, values))
            continue
        array = _dense_array(values)
        if array.ndim != 1:
            raise InputError(
                f"Column {name!r} has {array.ndim} dimensions; expected a sequence of "
                "single values."
            )
        columns.append(array_column(name, array))
    lengths = {column.name: column.n_rows for column in columns}
    if len(set(lengths.values())) > 1:
        raise InputError(f"The columns have different lengths: {lengths}.")
    n_rows = columns[0].n_rows if columns else 1
    if n_rows == 0 or not columns:
        return refuse_empty((n_rows, len(columns)))
    return Frame(names, n_rows, tuple(columns), None, has_names)


def _transpose_mappings(rows: Sequence[Any]) -> dict[Any, list[Any]]:
    """Columns of rows that are mappings, in the order in which the names occur."""
    for i, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InputError(
                f"Row 0 of X is a mapping, but row {i} is a {type(row).__name__}; "
                "expected rows of one type. You can also pass a data frame or a "
                "mapping of columns."
            )
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def check_column_names(labels: list[object]) -> tuple[tuple[str, ...], bool]:
    """Names for the column labels of a source, and whether all labels were strings."""
    if len(set(labels)) < len(labels):
        repeated = sorted({repr(label) for label in labels if labels.count(label) > 1})
        raise InputError(
            f"Column names occur more than once: {', '.join(repeated)}. "
            "Names must be unique, rename the columns."
        )
    kinds = {type(label).__name__ for label in labels if not isinstance(label, str)}
    if kinds and any(isinstance(label, str) for label in labels):
        # The type and message of scikit-learn, whose estimator checks match them.
        raise TypeError(
            "Feature names are only supported if all input features have string names, "
            f"but your input has {sorted({*kinds, 'str'})} as feature name / column "
            "name types. If you want feature names to be stored and validated, you "
            "must convert them all to strings, by using X.columns = "
            "X.columns.astype(str) for example. Otherwise you can remove feature / "
            "column names from your input data, or convert them all to a non-string "
            "data type."
        )
    if kinds:
        return _default_names(len(labels)), False
    return tuple(str(label) for label in labels), True


def _dense_array(X: Any) -> AnyArray:
    """Turn array-likes into a plain array and keep the types of cells.

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
        rows = [row.tolist() if isinstance(row, np.ndarray) else row for row in X]
        return np.array(rows, dtype=object)
    return np.asarray(X)


def array_column(name: str, values: AnyArray) -> Column:
    """Type one column by the dtype of its array, shape (n_rows,).

    Numeric for integers and floats (no copy), categorical otherwise; an array of
    objects is typed by its values.
    """
    kind = values.dtype.kind
    if kind in "iuf":
        if values.dtype.itemsize > 8:  # what is too large becomes infinite
            with np.errstate(over="ignore"):
                values = values.astype(np.float64)
        return Column(name, values=values)
    if kind == "c":
        raise InputError(
            f"Complex data not supported: column {name!r} is {values.dtype}. "
            "Split it into real and imaginary parts."
        )
    if kind == "b":
        return Column(name, codes=values.view(np.int8), categories=(False, True))
    if kind in "mM":
        unit = "datetime" if kind == "M" else "timedelta"
        return Column(name, values=array_seconds(values), unit=unit)
    return _object_column(name, values.tolist())


def _object_column(name: str, values: Sequence[Any]) -> Column:
    """Type a column of Python objects in one pass over the cells."""
    types = set(map(type, values))
    if types <= FLOATS and any(value == value for value in values):  # NaN is missing
        return Column(name, values=np.array(values, dtype=np.float64))
    if any(issubclass(t, (complex, np.complexfloating)) for t in types):
        raise InputError(f"Complex data not supported: column {name!r}.")
    if all(_is_number_type(t) or _is_missing_type(t) for t in types):
        numbers = _as_numbers(name, values, types)
        if numbers is not None:
            return Column(name, values=numbers)
    known = [t for t in types if not (_is_missing_type(t) or issubclass(t, float))]
    units = {time_unit(t) for t in known}
    if len(units) == 1 and (unit := units.pop()) is not None:
        times = np.fromiter(map(_seconds_or_nan, values), np.float64, len(values))
        if not any(np.isfinite(v) for v in values if isinstance(v, float)):
            return Column(name, values=times, unit=unit)
    try:
        found: list[Any] = list(dict.fromkeys(values))
    except TypeError:  # lists, dicts and other unhashable objects: by their text
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


def _seconds_or_nan(value: Any) -> float:
    return np.nan if is_missing(value) else seconds_of(value)


def _as_numbers(
    name: str, values: Sequence[Any], types: Iterable[type]
) -> AnyArray | None:
    """Array of a column of numbers and missing values; None if all are missing."""
    if all(issubclass(t, (int, np.integer)) for t in types):
        for dtype in (np.int64, np.uint64):
            try:
                return np.array(values, dtype=dtype)
            except OverflowError:
                continue  # beyond 64 bits only the magnitude is kept
    if not any(_is_number_type(t) for t in types):
        return None
    try:
        numbers = np.array(values, dtype=np.float64)  # reads None as NaN
    except (TypeError, ValueError, OverflowError):
        # pandas.NA and signalling NaN cannot be converted, nor can 10**400.
        numbers = np.array([_as_float(name, v) for v in values], dtype=np.float64)
    # NaN marks a missing cell in columns of strings too, so a column of objects that
    # are all NaN has no known type.
    floats = all(
        _is_missing_type(t) or issubclass(t, (float, np.floating)) for t in types
    )
    return None if floats and np.isnan(numbers).all() else numbers


def _as_float(name: str, value: Any) -> float:
    if is_missing(value) or (isinstance(value, Decimal) and value.is_nan()):
        return np.nan
    try:
        return float(value)
    except OverflowError:
        shown = str(value) if isinstance(value, Decimal) else f"{value!s:.12}..."
        raise InputError(
            f"Column {name!r} holds {shown}, a number too large; expected numbers up "
            "to 1.8e308. Scale the column, or replace the value by a missing one."
        ) from None


def coded_column(
    name: str,
    codes: AnyArray,
    categories: Iterable[object],
    *,
    ordered: bool = False,
    declared: bool = False,
) -> Column:
    """Make a column from codes (n_rows,) into any objects, negative where missing.

    Missing categories are dropped and equal ones merged; objects that are no plain
    scalars become their text. `ordered` and `declared` are those of `Column`.
    """
    found = list(categories)
    texts = [category for category in found if type(category) is str]
    if len(found) == len(texts) == len(set(texts)):
        # Many distinct texts, the common case, need no look at each of them.
        return Column(
            name, codes=codes, categories=tuple(texts), ordered=ordered,
            declared=declared,
        )  # fmt: skip
    position: dict[State, int] = {}
    remap = []
    for category in found:
        if is_missing(category):
            remap.append(-1)
        else:
            remap.append(position.setdefault(plain_state(category), len(position)))
    if remap != list(range(len(remap))):
        codes = np.array([*remap, -1], dtype=np.int64)[codes]
    states = tuple(position)
    return Column(
        name, codes=codes, categories=states, ordered=ordered, declared=declared
    )


def as_categories(column: Column) -> Column:
    """The values of a numeric column as categories; dates and times become texts.

    The texts are those of Python's own types, as earlier versions stored them.
    """
    observed = column.is_observed()
    found, positions = np.unique(column.data[observed], return_inverse=True)
    codes = np.full(column.n_rows, -1, dtype=np.int64)
    codes[observed] = positions
    states = found.tolist()
    if column.unit is not None:
        states = [time_object(value, column.unit) for value in states]
    return coded_column(column.name, codes, states)


def plain_state(value: object) -> State:
    """Reduce a category to a plain Python scalar; other objects become their text."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating, Decimal, Fraction)):
        return float(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if hasattr(value, "to_pytimedelta"):  # the text of pandas differs from all others
        return str(value.to_pytimedelta())
    return str(value)
