"""Groups of features that are counted by their joint code."""

from __future__ import annotations

import numpy as np

from tanager.types import BoolArray, CodeArray, IntArray

GROUP_CELLS = 4096
"""Cells of a joint table that stay in the first-level cache."""


def column_widths(codes: CodeArray, n_states: IntArray) -> IntArray:
    """States of every column, and one more where a value is missing.

    Parameters
    ----------
    codes : ndarray of unsigned int, shape (n_rows, n_features), Fortran order
    n_states : ndarray of int64, shape (n_features,)

    Returns
    -------
    ndarray of int64, shape (n_features,)
    """
    some_missing: BoolArray = codes.max(axis=0, initial=0) >= n_states
    return n_states + some_missing


def group_starts(
    widths: IntArray, limit: int, first: int = 0, border: int | None = None
) -> IntArray:
    """Starts of groups of consecutive features from `first` on, and the end.

    A group grows while the product of its widths is at most `limit`, and never crosses
    `border`. A feature that is wider by itself is a group of its own.

    Examples
    --------
    >>> group_starts(np.array([5, 5, 5, 90, 2, 2, 2]), 28)
    array([0, 2, 3, 4, 7])
    """
    starts = [first]
    width = 1
    for j in range(first, len(widths)):
        if j > starts[-1] and (j == border or width * int(widths[j]) > limit):
            starts.append(j)
            width = 1
        width *= int(widths[j])
    return np.array([*starts, len(widths)], dtype=np.int64)
