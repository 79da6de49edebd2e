"""Data frames of other libraries: which they are, and their columns."""

from __future__ import annotations

from functools import partial
from typing import Any
from weakref import ReferenceType, ref

import narwhals as nw
import numpy as np

from tanager.encoding.frame import (
    Column,
    Frame,
    array_column,
    check_column_names,
    coded_column,
    refuse_empty,
)
from tanager.errors import InputError
from tanager.model.schema import State
from tanager.types import AnyArray
from tanager.utils.jit import SMALL_WORK

DASK_KINDS = ("DataFrame", "Series", "Array", "Bag")
"""Dask collections that are read: data frames, arrays, and bags of frames."""

_CATEGORIES: dict[int, tuple[ReferenceType[Any], tuple[State, ...]]] = {}
"""Categories of the pandas categoricals read before, by the id of their index."""


def is_dask(data: Any) -> bool:
    """Whether an object is a Dask DataFrame, Series, Array or Bag; imports nothing."""
    kind = type(data)
    return kind.__module__.partition(".")[0] in ("dask", "dask_expr") and any(
        base.__name__ in DASK_KINDS for base in kind.__mro__
    )


def read_data_frame(X: Any) -> Frame:
    """Read an eager data frame of any library that narwhals supports."""
    if hasattr(X, "collect"):  # asking a lazy frame for its columns may compute it
        raise InputError(
            f"X is a lazy {type(X).__module__.split('.')[0]} frame, whose rows have no "
            "fixed order; collect it first, for instance with X.collect()."
        )
    labels = getattr(getattr(X, "schema", None), "names", None)
    if not isinstance(labels, list):  # Arrow has a list there; its `columns` are data
        labels = list(X.columns)
    names, has_names = check_column_names(labels)
    if not labels or len(X) == 0:
        return refuse_empty((len(X), len(labels)))
    if (matrix := _small_matrix(X)) is not None:
        return Frame(names, len(X), matrix=matrix, has_names=has_names)
    frame: Any = nw.from_native(X, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        frame = nw.from_native(_arrow_table(X), eager_only=True)
    if frame.implementation.is_polars():
        read = _polars_column
    elif frame.implementation.is_pyarrow():
        read = _arrow_column
    else:
        read = _pandas_column
    columns = []
    for name, series in zip(names, frame.iter_columns(), strict=True):
        if series.dtype.is_temporal():
            columns.append(_time_column(name, series))
            continue
        if not series.dtype.is_numeric():
            columns.append(read(name, series))
            continue
        if series.dtype.is_decimal() or series.dtype in (nw.Int128, nw.UInt128):
            series = series.cast(nw.Float64())
        columns.append(array_column(name, series.to_numpy()))
    return Frame(names, len(X), tuple(columns), None, has_names)


def _time_column(name: str, series: nw.Series[Any]) -> Column:
    """A column of dates, times of day or durations."""
    kind = series.dtype
    if kind == nw.Time:
        return array_column(name, _objects(series.to_list()))
    unit = "m8[us]" if kind == nw.Duration else "M8[us]"
    if kind == nw.Datetime and getattr(kind, "time_zone", None) is not None:
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    values = series.to_numpy()
    if values.dtype.kind == "O":  # Arrow's types in pandas, dates with missing ones
        return array_column(name, _objects(list(values)))
    return array_column(name, values.astype(unit))


def _small_matrix(X: Any) -> AnyArray | None:
    """The numbers of a small pandas data frame whose columns have one NumPy type.

    A copy of them takes less time than to read column after column, of which a single
    sample needs one number each. None for other data frames.
    """
    if not nw.dependencies.is_pandas_dataframe(X) or X.size > SMALL_WORK:
        return None
    kinds = set(X.dtypes)
    kind = kinds.pop()
    if kinds or not isinstance(kind, np.dtype) or kind.kind not in "iuf":
        return None
    matrix: AnyArray = X.to_numpy()
    return matrix


def _arrow_table(X: Any) -> Any:
    """Read a record batch or another object that implements Arrow's interface."""
    try:
        import pyarrow
    except ImportError:
        raise InputError(
            f"Reading {type(X).__name__} needs Arrow: pip install tanager[arrow]."
        ) from None
    try:
        return pyarrow.table(X)
    except TypeError:
        raise InputError(
            f"X is of type {type(X).__name__}, which cannot be read as a data frame; "
            "pass an array, a pandas, polars or Arrow data frame, rows or a mapping."
        ) from None


def _pandas_column(name: str, series: nw.Series[Any]) -> Column:
    native = series.to_native()
    if hasattr(native, "cat"):
        return _categorical_column(name, native)
    if type(native.dtype).__name__ == "PeriodDtype":
        return array_column(name, native.dt.to_timestamp().to_numpy())
    if series.dtype in (nw.Object, nw.Unknown):  # objects, sparse, complex
        return array_column(name, np.asarray(native))
    codes, found = native.factorize()
    return coded_column(name, codes, found.tolist())


def _categorical_column(name: str, native: Any) -> Column:
    """The column of a pandas categorical.

    Its categories are read once for all data frames that share them: a batch or a
    single sample may have fewer rows than categories.
    """
    index, ordered = native.cat.categories, bool(native.cat.ordered)
    codes = native.cat.codes.to_numpy()
    known = _CATEGORIES.get(id(index))
    if known is not None and known[0]() is index:
        return Column(
            name, codes=codes, categories=known[1], ordered=ordered, declared=True
        )
    column = coded_column(name, codes, index.tolist(), ordered=ordered, declared=True)
    if column.data is codes:  # no category was dropped or merged
        # An index that is gone takes its entry along, before its id is used again.
        gone = partial(_CATEGORIES.pop, id(index), None)
        _CATEGORIES[id(index)] = ref(index, lambda _: gone()), column.categories
    return column


def _polars_column(name: str, series: nw.Series[Any]) -> Column:
    import polars

    native = series.to_native()
    if native.null_count() == len(native):
        declared = series.dtype == nw.Enum
        found = native.dtype.categories.to_list() if declared else []
        codes: AnyArray = np.full(len(native), -1, dtype=np.int64)
        return coded_column(name, codes, found, ordered=declared, declared=declared)
    if series.dtype == nw.Enum:
        codes = native.to_physical().cast(polars.Int64).fill_null(-1).to_numpy()
        found = native.dtype.categories.to_list()
        return coded_column(name, codes, found, ordered=True, declared=True)
    if series.dtype in (nw.String, nw.Categorical):
        # The codes of a Categorical number all strings of the process; those of an
        # Enum are dense.
        text = native.cast(polars.String)
        found = text.unique().drop_nulls().sort()
        physical = text.cast(polars.Enum(found)).to_physical()
        codes = physical.cast(polars.Int64).fill_null(-1).to_numpy()
        return coded_column(name, codes, found.to_list())
    if series.dtype == nw.Boolean:
        found = native.unique().drop_nulls().sort()
        whole = native.cast(polars.Int64)
        position = np.searchsorted(
            found.cast(polars.Int64).to_numpy(), whole.fill_null(0).to_numpy()
        )
        codes = np.where(native.is_null().to_numpy(), -1, position)
        return coded_column(name, codes, found.to_list())
    return array_column(name, _objects(native.to_list()))


def _arrow_column(name: str, series: nw.Series[Any]) -> Column:
    import pyarrow

    native = series.to_native()
    kind = native.type
    if pyarrow.types.is_null(kind):
        return coded_column(name, np.full(len(native), -1, dtype=np.int64), [])
    ordered = pyarrow.types.is_dictionary(kind) and bool(kind.ordered)
    try:
        encoded = native.dictionary_encode().unify_dictionaries()
    except pyarrow.ArrowNotImplementedError:  # lists, structs
        return array_column(name, _objects(native.to_pylist()))
    chunks = encoded.chunks
    codes = np.concatenate(
        [chunk.indices.cast("int64").fill_null(-1).to_numpy() for chunk in chunks]
    )
    found = chunks[0].dictionary.to_pylist()
    return coded_column(name, codes, found, ordered=ordered, declared=ordered)


def _objects(values: list[Any]) -> AnyArray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
