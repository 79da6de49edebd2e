"""`Table`: any tabular input as typed columns, before anything is encoded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_array

from tanager.errors import InputError
from tanager.model.schema import State
from tanager.types import AnyArray


@dataclass(frozen=True, eq=False)
class Column:
    """One column: numbers, or codes into a tuple of categories.

    Parameters
    ----------
    name : str
        Name of the column.
    values : ndarray of shape (n_rows,), integer or floating, or None
        The numbers of a numeric column, NaN where missing. May be a strided view.
    codes : ndarray of shape (n_rows,), signed integer, or None
        The positions in `categories` of a categorical column, -1 where missing.
    categories : tuple of str, int, float or bool
        The categories; not all of them need occur.
    ordered : bool, default=False
        Whether the source declares the categories to be ordered.
    declared : bool, default=False
        Whether the source declares the categories and their order. Otherwise they
        are only those met while reading, in no particular order.

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

    @property
    def is_numeric(self) -> bool:
        """Whether the column holds numbers."""
        return self.values is not None

    @property
    def data(self) -> AnyArray:
        """The numbers or the codes, whichever there are, shape (n_rows,)."""
        data = self.values if self.values is not None else self.codes
        assert data is not None  # one of the two is always given
        return data

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.data)

    def take(self, rows: AnyArray | slice) -> Column:
        """Return the column of the chosen rows only."""
        if self.values is not None:
            return replace(self, values=self.values[rows])
        return replace(self, codes=self.data[rows])


@dataclass(frozen=True, eq=False)
class Table:
    """Typed columns of equal length, or one dense numeric matrix.

    Parameters
    ----------
    names : tuple of str
        Names of the columns; ``x0, x1, ...`` where the source had none.
    n_rows : int
        Number of rows.
    columns : tuple of Column or None
        The columns, unless the table is a matrix.
    matrix : ndarray of shape (n_rows, n_columns), integer or floating, or None
        All columns at once, when the source was a numeric array. Never copied.
    has_names : bool, default=False
        Whether the source had names, all of them strings.

    Examples
    --------
    >>> table = as_table({"age": [31, None], "sky": ["blue", "grey"]})
    >>> table.names, table.n_rows, [c.is_numeric for c in table.columns]
    (('age', 'sky'), 2, [True, False])
    >>> table.column(1).categories
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
        """Rows and columns."""
        return self.n_rows, len(self.names)

    def __len__(self) -> int:
        return self.n_rows

    def column(self, index: int) -> Column:
        """Return one column by position; of a matrix, as a view."""
        if self.columns is not None:
            return self.columns[index]
        assert self.matrix is not None  # a table has columns or a matrix
        return Column(self.names[index], values=self.matrix[:, index])

    def take(self, rows: AnyArray | slice) -> Table:
        """Return the table of the chosen rows only.

        Parameters
        ----------
        rows : ndarray of shape (n_taken,), integer or bool, or slice
            The rows; a slice gives views.

        Returns
        -------
        Table
            The same columns with `n_taken` rows.
        """
        if self.matrix is not None:
            matrix = self.matrix[rows]
            return replace(self, matrix=matrix, n_rows=len(matrix))
        columns = tuple(column.take(rows) for column in self.columns or ())
        return replace(self, columns=columns, n_rows=columns[0].n_rows)


def as_table(X: Any) -> Table:
    """Read any tabular input as a `Table`; nothing is copied where it need not be.

    Parameters
    ----------
    X : ndarray, data frame, list of rows, mapping or Table
        A two-dimensional array (numbers, bool, strings, objects), a pandas, polars
        or Arrow table or any other eager frame narwhals knows, rows as lists or
        tuples, rows as mappings from names to values (a name that a row has not is
        missing there), or a mapping from names to columns.

    Returns
    -------
    Table
        A matrix for a numeric array, typed columns for everything else.

    Notes
    -----
    The type of a column decides: numbers (integer, floating, decimal) are numeric,
    anything else is categorical: bool, strings, declared categories, dates. Columns
    of Python objects are numeric if every value is a number and none is a bool, so
    ``"1.5"`` stays a category. NaN, None, NaT, ``pandas.NA`` and null are missing.

    A pandas categorical and a polars Enum declare their categories, an Enum in
    order; so does an Arrow dictionary flagged as ordered. Other Arrow dictionaries
    and polars' Categorical are ways of storing strings: their order is that of first
    use, so they are read like plain strings.

    Examples
    --------
    >>> as_table([[1, "a"], [2.5, None]]).column(0).values
    array([1. , 2.5])
    """
    if isinstance(X, Table):
        return X
    if type(X) is np.ndarray and X.dtype.kind in "iuf":  # the hot path of predict
        return _matrix_table(X)
    if issparse(X):
        check_array(X)  # raises, saying how to make it dense
    if isinstance(X, Mapping):
        return _mapping_table(X)
    if _is_frame(X):
        from tanager.encoding.frame_columns import frame_columns, frame_labels

        labels = frame_labels(X)
        names, has_names = _checked_names(labels)
        if not labels or len(X) == 0:
            return _empty((len(X), len(labels)))
        return Table(names, len(X), tuple(frame_columns(X, names)), None, has_names)
    return _array_table(X)


def _is_frame(X: object) -> bool:
    # A series of any library has one dimension; it is refused like a 1-D array.
    return not isinstance(X, (np.ndarray, list, tuple)) and (
        (
            len(getattr(X, "shape", ())) == 2
            and any(hasattr(X, name) for name in ("columns", "__arrow_c_stream__"))
        )
        or hasattr(X, "__arrow_c_array__")
        or hasattr(X, "collect")
    )


def _empty(shape: tuple[int, ...]) -> Table:
    """Raise scikit-learn's own error for a table without rows or columns."""
    check_array(np.empty(shape))
    raise InputError(f"The table is empty (shape={shape}).")


def _matrix_table(matrix: AnyArray) -> Table:
    # Infinite values are refused later, where the column can be named.
    if matrix.ndim != 2 or 0 in matrix.shape:
        check_array(matrix)  # raises; too slow to be asked for every single row
    return Table(_numbered_names(matrix.shape[1]), len(matrix), matrix=matrix)


@lru_cache(maxsize=16)
def _numbered_names(n_columns: int) -> tuple[str, ...]:
    """Names as scikit-learn makes them up."""
    return tuple(f"x{j}" for j in range(n_columns))


def _array_table(X: Any) -> Table:
    from tanager.encoding.array_columns import array_column, dense_array

    if isinstance(X, (list, tuple)) and not X:
        raise InputError(
            "X is empty: found 0 sample(s) while a minimum of 1 is required."
        )
    if isinstance(X, (list, tuple)) and isinstance(X[0], Mapping):
        return _mapping_table(_columns_of(X))
    array = dense_array(X)
    if array.dtype.kind in "iuf":
        return _matrix_table(array)
    if array.dtype.kind != "V":
        array = check_array(array, dtype=None, ensure_all_finite=False)
    elif array.ndim != 2:
        raise InputError(
            "X is a structured array; expected a two-dimensional one. "
            "Pass a mapping, {name: X[name] for name in X.dtype.names}."
        )
    names = _numbered_names(array.shape[1])
    columns = tuple(array_column(n, array[:, j]) for j, n in enumerate(names))
    return Table(names, len(array), columns)


def _mapping_table(X: Mapping[Any, Any]) -> Table:
    from tanager.encoding.array_columns import array_column, dense_array

    names, has_names = _checked_names(list(X))
    columns = []
    for name, values in zip(names, X.values(), strict=True):
        array = dense_array(values)
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
        return _empty((n_rows, len(columns)))
    return Table(names, n_rows, tuple(columns), None, has_names)


def _columns_of(rows: Sequence[Any]) -> dict[Any, list[Any]]:
    """Columns of rows that are mappings, in the order in which the names occur."""
    for i, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InputError(
                f"Row 0 of X is a mapping, but row {i} is a {type(row).__name__}; "
                "expected one kind of rows. A data frame or a mapping of columns will "
                "do as well."
            )
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _checked_names(labels: list[object]) -> tuple[tuple[str, ...], bool]:
    """Names for the labels of a source, and whether these were names at all."""
    if len(set(labels)) < len(labels):
        repeated = sorted({repr(label) for label in labels if labels.count(label) > 1})
        raise InputError(
            f"Column names occur more than once: {', '.join(repeated)}. "
            "Names must be unique, rename the columns."
        )
    kinds = {type(label).__name__ for label in labels if not isinstance(label, str)}
    if kinds and any(isinstance(label, str) for label in labels):
        # The type and words scikit-learn uses, which its checks look for.
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
        return _numbered_names(len(labels)), False
    return tuple(str(label) for label in labels), True
