"""Class labels: from any one-dimensional target to codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from tanager.core.errors import InputError
from tanager.core.schema import is_missing
from tanager.encoding.table import as_table


def encode_labels(
    y: object, n_rows: int, who: str
) -> tuple[npt.NDArray[Any], npt.NDArray[np.unsignedinteger]]:
    """The classes of a target and the label of every row.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        The classes, of any one type.
    n_rows : int
        Number of rows.
    who : str
        Name of the estimator, for the error.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
        The classes, sorted.
    labels : ndarray of shape (n_rows,), smallest unsigned type
        Position of every row's class.

    Examples
    --------
    >>> encode_labels(["b", "a", "b"], 3, "Example")
    (array(['a', 'b'], dtype='<U1'), array([1, 0, 1], dtype=uint8))
    """
    if y is None:
        raise InputError(
            f"{who} requires y to be passed, but the target y is None. Pass the class "
            "of every row."
        )
    if hasattr(y, "to_frame"):
        texts = _text_series(y, n_rows)
        if texts is not None:
            return texts
    if isinstance(y, (list, tuple)):
        # NumPy would turn the numbers of a mixed list into strings without a word.
        _refuse_mixed(y)
    target: npt.NDArray[Any] = column_or_1d(y, warn=True)
    if len(target) != n_rows:
        check_consistent_length(np.empty(n_rows), target)
    if target.dtype.kind == "O":
        target = _typed(target)
    kind = target.dtype.kind
    if kind == "f" and np.isnan(target).any():
        raise _missing()
    if kind == "f" and np.isinf(target).any():
        raise InputError("y contains infinite labels; expected classes.")
    if kind in "iub" and len(target):
        small = _small_integers(target)
        if small is not None:
            return small
    check_classification_targets(target)
    classes, labels = np.unique(target, return_inverse=True)
    return classes, labels.reshape(-1).astype(np.min_scalar_type(len(classes)))


def _small_integers(
    target: npt.NDArray[Any],
) -> tuple[npt.NDArray[Any], npt.NDArray[np.unsignedinteger]] | None:
    """The same for integers in a small range, without sorting the rows."""
    low, high = int(target.min()), int(target.max())
    if high - low > 65_535:
        return None
    steps = target.astype(np.int64) - low
    present = np.bincount(steps, minlength=high - low + 1) > 0
    found = np.flatnonzero(present)
    lookup = np.zeros(len(present), dtype=np.min_scalar_type(len(found)))
    lookup[found] = np.arange(len(found))
    return (found + low).astype(target.dtype), lookup[steps]


def _text_series(
    y: Any, n_rows: int
) -> tuple[npt.NDArray[Any], npt.NDArray[np.unsignedinteger]] | None:
    """The same for a series of strings, by its library's own dictionary encoding."""
    column = as_table(y.to_frame()).column(0)
    if column.is_numeric or column.n_rows != n_rows:
        return None
    counts = np.bincount(column.data + 1, minlength=len(column.categories) + 1)
    found = np.flatnonzero(counts[1:])
    categories = [column.categories[k] for k in found]
    if not all(isinstance(category, str) for category in categories):
        return None
    if counts[0]:
        raise _missing()
    classes, order = np.unique(np.array(categories), return_inverse=True)
    lookup = np.zeros(len(column.categories), dtype=np.min_scalar_type(len(classes)))
    lookup[found] = order.reshape(-1)
    return classes, lookup[column.data]


def _typed(target: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """An object array of labels as an array of their one type."""
    values = target.tolist()
    if any(map(is_missing, values)):
        raise _missing()
    _refuse_mixed(values)
    if values and isinstance(values[0], str):
        return target
    return np.array(values)


def _refuse_mixed(labels: Sequence[object]) -> None:
    if len({isinstance(label, str) for label in labels if not is_missing(label)}) > 1:
        raise InputError(
            "y mixes labels of different types, such as strings and numbers; convert "
            "them to one type."
        )


def _missing() -> InputError:
    return InputError("y contains missing labels; drop these rows or label them.")
