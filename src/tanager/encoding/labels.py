"""Class labels: from any one-dimensional target to codes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from tanager.encoding.frame import Column, read_frame
from tanager.errors import InputError
from tanager.model.schema import is_missing
from tanager.types import BoolArray, IndexArray
from tanager.utils.time_values import time_unit

_LABELS = (str, bytes, bool, int, float, np.generic)
"""Types of objects that are labels; float for NaN, and whole numbers."""

BY_EM = 'EM can use unlabelled samples: parameters="em".'
"""Last sentence of the error about missing labels."""


def encode_labels(
    y: object,
    n_rows: int,
    who: str,
    *,
    allow_missing: bool = False,
    some: bool = True,
    advice: str = BY_EM,
) -> tuple[npt.NDArray[Any], npt.NDArray[np.unsignedinteger]]:
    """Find the classes of a target and the label of every sample.

    `who` names the estimator in errors, `advice` ends the error about missing labels.
    With `allow_missing` labels may be missing (None, NaN, NaT, NA, null), but not all,
    unless `some` is False: then there may be no classes.
    Returns the classes, sorted, and the position of every sample's class, of the
    smallest unsigned type; ``n_classes`` where it is missing.

    Examples
    --------
    >>> encode_labels([7, None, 5], 3, "Example", allow_missing=True)
    (array([5, 7]), array([1, 2, 0], dtype=uint8))
    """
    if y is None:
        raise InputError(
            f"{who} requires y to be passed, but the target y is None. Pass the class "
            "of every sample."
        )
    y = _readable_labels(y)
    if hasattr(y, "to_frame"):
        texts = _encode_text_series(y, n_rows, allow_missing, some, advice)
        if texts is not None:
            return texts
    if isinstance(y, (list, tuple)):
        # NumPy would silently turn the numbers of a mixed list into strings.
        _refuse_mixed(y)
    target: npt.NDArray[Any] = column_or_1d(_keep_missing(y), warn=True)
    if len(target) != n_rows:
        check_consistent_length(np.empty(n_rows), target)
    missing = _find_missing(target)
    if not missing.any():
        return _encode(target)
    _check_missing(missing, allow_missing, some, advice)
    if missing.all():
        return np.empty(0, dtype=object), np.zeros(n_rows, dtype=np.uint8)
    classes, found = _encode(target[~missing])
    labels = np.full(n_rows, len(classes), dtype=found.dtype)
    labels[~missing] = found
    return classes, labels


def labels_for_cuts(y: object, n_rows: int, who: str) -> npt.NDArray[np.integer]:
    """The label of every sample as `NumericEncoder.cuts_of` takes it: -1 if missing."""
    return mark_missing(*encode_labels(y, n_rows, who, allow_missing=True))


def mark_missing(
    classes: npt.NDArray[Any], labels: npt.NDArray[np.integer]
) -> npt.NDArray[np.integer]:
    """Labels with -1 instead of ``n_classes`` where the class is missing."""
    missing = labels == len(classes)
    return np.where(missing, -1, labels.astype(np.int64)) if missing.any() else labels


def join_classes(known: npt.NDArray[Any], fresh: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """All classes, sorted; raises if labels are strings on one side only."""
    if not len(known) or not len(fresh):
        return fresh if len(fresh) else known
    if (known.dtype.kind in "OU") != (fresh.dtype.kind in "OU"):
        raise InputError(
            f"The classes so far are {known.tolist()} and the new ones "
            f"{fresh.tolist()}: labels of different types. Convert them to one type."
        )
    return np.union1d(known, fresh)


def _encode(
    target: npt.NDArray[Any],
) -> tuple[npt.NDArray[Any], npt.NDArray[np.unsignedinteger]]:
    """Classes and labels of a target in which nothing is missing."""
    if target.dtype.kind == "O":
        values = target.tolist()
        _refuse_mixed(values)
        if not values or not isinstance(values[0], str):
            target = np.array(values)
    kind = target.dtype.kind
    if kind == "f" and np.isinf(target).any():
        raise InputError("y contains infinite labels; expected classes.")
    if kind in "iub" and len(target):
        low, high = int(target.min()), int(target.max())
        if high - low <= 65_535 and high < 2**63:  # a small range needs no sorting
            steps = target.astype(np.int64) - low
            present = np.bincount(steps, minlength=high - low + 1) > 0
            found = np.flatnonzero(present)
            lookup = np.zeros(len(present), dtype=np.min_scalar_type(len(found)))
            lookup[found] = np.arange(len(found))
            return (found + low).astype(target.dtype), lookup[steps]
    check_classification_targets(target)
    classes, labels = np.unique(target, return_inverse=True)
    return classes, labels.reshape(-1).astype(np.min_scalar_type(len(classes)))


def _readable_labels(y: Any) -> Any:
    """Labels with masked ones missing; raises for types that are no classes.

    Dates, tuples and other objects would become texts, so that predictions and labels
    could not be compared.
    """
    if isinstance(y, np.ma.MaskedArray):
        objects = np.array(y.data, dtype=object)
        objects[np.ma.getmaskarray(y)] = None
        y = objects
    dtype: Any = getattr(y, "dtype", None)
    kind = getattr(dtype, "kind", None)
    if kind in ("M", "m"):
        raise _no_label(str(dtype))
    if kind in ("i", "u", "b") and not isinstance(dtype, np.dtype):
        # Integers and bools of pandas that may be missing, but are not.
        return y if y.isna().any() else y.to_numpy(dtype=dtype.numpy_dtype)
    if isinstance(y, np.ndarray) and kind == "O":
        values = y.ravel().tolist()
    elif isinstance(y, (list, tuple)) or kind == "O":
        values = list(y)
    else:
        return y
    odd = {
        found
        for found in set(map(type, values)) - {list, np.ndarray}  # a wrong shape
        if not issubclass(found, _LABELS) or time_unit(found) is not None
    }
    for value in values if odd else ():
        if type(value) in odd and not is_missing(value):
            raise _no_label(type(value).__name__)
    return y


def _no_label(kind: str) -> InputError:
    return InputError(
        f"y holds labels of type {kind}; expected classes: strings, whole numbers or "
        "bools. Convert them, for instance with [str(label) for label in y]; for a "
        "quantity, put its values into a few groups."
    )


def column_labels(
    column: Column, *, allow_missing: bool, advice: str = BY_EM
) -> tuple[npt.NDArray[Any], npt.NDArray[np.unsignedinteger]]:
    """Find the classes of a column of a batch and the label of every row.

    The result is that of `encode_labels` on the same values; there may be no classes.
    """
    if column.is_numeric:
        return encode_labels(
            column.data,
            column.n_rows,
            column.name,
            allow_missing=allow_missing,
            some=False,
            advice=advice,
        )
    counts = np.bincount(column.data + 1, minlength=len(column.categories) + 1)
    if counts[0]:
        _check_missing(column.data < 0, allow_missing, False, advice)
    found = np.flatnonzero(counts[1:])
    categories = [column.categories[k] for k in found]
    _refuse_mixed(categories)
    return _label_categories(column, found, np.array(categories))


def _encode_text_series(
    y: Any, n_rows: int, allow_missing: bool, some: bool, advice: str
) -> tuple[npt.NDArray[Any], npt.NDArray[np.unsignedinteger]] | None:
    """The same for a series of strings, by its library's own dictionary encoding."""
    column = read_frame(y.to_frame()).column(0)
    if column.is_numeric or len(column.data) != n_rows:
        return None
    counts = np.bincount(column.data + 1, minlength=len(column.categories) + 1)
    found = np.flatnonzero(counts[1:])
    categories = [column.categories[k] for k in found]
    if not all(isinstance(category, str) for category in categories):
        return None
    if counts[0]:
        _check_missing(column.data < 0, allow_missing, some, advice)
    return _label_categories(column, found, np.array(categories))


def _label_categories(
    column: Column, found: IndexArray, categories: npt.NDArray[Any]
) -> tuple[npt.NDArray[Any], npt.NDArray[np.unsignedinteger]]:
    """Classes and labels of a column in which the categories in `found` occur."""
    classes, order = np.unique(categories, return_inverse=True)
    # One more entry, the last one, for missing labels, whose code is -1.
    lookup = np.full(
        len(column.categories) + 1,
        len(classes),
        dtype=np.min_scalar_type(len(classes)),
    )
    lookup[found] = order.reshape(-1)
    return classes, lookup[column.data]


def _surely_known(labels: Iterable[object]) -> bool:
    """Whether all labels are of types that have no missing value.

    This avoids a Python call of `is_missing` for every label.
    """
    return {str, int, bool}.issuperset(map(type, labels))


def _refuse_mixed(labels: Sequence[object]) -> None:
    if {str}.issuperset(map(type, labels)):
        return
    if len({isinstance(label, str) for label in labels if not is_missing(label)}) > 1:
        raise InputError(
            "y mixes labels of different types, such as strings and numbers; convert "
            "them to one type."
        )


def _keep_missing(y: Any) -> Any:
    """Return labels as an array of objects if some are missing, else unchanged.

    NumPy would turn integers into floats, and NaN among strings into a string.
    """
    if isinstance(y, (list, tuple)):
        some_missing = not _surely_known(y) and any(map(is_missing, y))
        values = y if some_missing else None
    elif hasattr(y, "null_count"):  # a number in Arrow, a method in polars
        nulls = y.null_count() if callable(y.null_count) else y.null_count
        listed = y.to_pylist if hasattr(y, "to_pylist") else y.to_list
        values = listed() if nulls else None
    elif hasattr(y, "isna") and not isinstance(getattr(y, "dtype", None), np.dtype):
        some_missing = np.ndim(y) == 1 and y.isna().any()
        values = y.astype(object).tolist() if some_missing else None
    else:
        values = None
    if values is None:
        return y
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects


def _find_missing(target: npt.NDArray[Any]) -> BoolArray:
    """Which labels are missing."""
    kind = target.dtype.kind
    if kind == "O" and not _surely_known(values := target.tolist()):
        return np.fromiter(map(is_missing, values), np.bool_, len(target))
    missing: BoolArray = np.zeros(len(target), dtype=np.bool_)
    if kind == "f":
        np.isnan(target, out=missing)
    elif kind in "mM":
        np.isnat(target, out=missing)
    return missing


def _check_missing(
    missing: BoolArray, allow_missing: bool, some: bool, advice: str
) -> None:
    if not allow_missing:
        raise InputError(
            f"y contains missing labels in {np.count_nonzero(missing)} of "
            f"{len(missing)} samples, the first in row {int(missing.argmax())}. Label "
            f"these samples or drop them; {advice}"
        )
    if some and missing.all():
        raise InputError(
            f"y contains only missing labels, in all {len(missing)} samples; expected "
            "some samples of every class. Label some samples."
        )
