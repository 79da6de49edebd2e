"""Encoding kernels over blocks of rows; `encoding_plan` has the NumPy versions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tanager.utils.jit import kernel

TILE = 512
"""Rows done for all columns before the next ones. In a row-major matrix neighbouring
columns share cache lines, which must still be there when the next column is done."""


@kernel
def look_up(values: Any, low: int, table: Any, missing: Any, out: Any) -> bool:
    """Write ``table[value - low]``; `missing` for values outside and fractions.

    Parameters
    ----------
    values : ndarray of shape (n_rows,), integer or floating
        Category codes or numbers, NaN where missing.
    low : int
        Number that stands first in `table`.
    table : ndarray of shape (n_numbers,), unsigned integer
        Code of every number from `low` up.
    missing : unsigned integer
        The reserved code, of the type of `table`.
    out : ndarray of shape (n_rows,), unsigned integer
        Filled with the codes.

    Returns
    -------
    bool
        Whether an infinite number was met.
    """
    size = len(table)
    infinite = False
    for i in range(len(values)):
        value = values[i]
        code = missing
        # Compared before the cast, which is undefined for NaN and huge floats.
        if value >= low and value < low + size:
            position = int(value) - low
            if value == position + low:
                code = table[position]
        elif np.isinf(value):
            infinite = True
        out[i] = code
    return infinite


@kernel
def find_bins(values: Any, cuts: Any, missing: Any, out: Any) -> bool:
    """Write the number of cuts below every value; `missing` for NaN.

    Parameters
    ----------
    values : ndarray of shape (n_rows,), integer or floating
        Numbers, NaN where missing.
    cuts : ndarray of shape (n_cuts,), float64
        Increasing.
    missing : unsigned integer
        The reserved code, of the type of `table`.
    out : ndarray of shape (n_rows,), unsigned integer
        Filled with the codes.

    Returns
    -------
    bool
        Whether an infinite number was met.
    """
    infinite = False
    n_rows = len(values)
    position = np.empty(min(n_rows, TILE), dtype=np.int64)
    for first in range(0, n_rows, TILE):
        size = min(TILE, n_rows - first)
        position[:size] = 0
        length = len(cuts)
        # One halving for all rows at a time: the inner loop has no branch that
        # depends on the data, and is vectorised.
        while length > 0:
            half = length >> 1
            step = length - half
            for i in range(size):
                below = cuts[position[i] + half] < values[first + i]
                position[i] += step if below else 0
            length = half
        for i in range(size):
            value = values[first + i]
            out[first + i] = position[i] if value == value else missing
            infinite |= np.isinf(value)
    return infinite


@kernel
def encode_block(
    values: Any,
    columns: Any,
    is_bin: Any,
    low: Any,
    bounds: Any,
    missing: Any,
    tables: Any,
    cuts: Any,
    out: Any,
) -> int:
    """Look up or bin several columns of a matrix, reading it once.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns), integer or floating
        Numbers, NaN where missing.
    columns : ndarray of shape (n_chosen,), int64
        Columns to do.
    is_bin : ndarray of shape (n_columns,), bool
        Whether a column is cut into bins or looked up.
    low : ndarray of shape (n_columns,), int64
        First number of every table.
    bounds : ndarray of shape (n_columns, 2), int64
        Where the part of a column begins and ends in `tables` or `cuts`.
    missing : ndarray of shape (n_columns,), unsigned integer
        Reserved codes.
    tables : ndarray, unsigned integer
        All tables, one after the other.
    cuts : ndarray, float64
        All cuts, one column after the other.
    out : ndarray of shape (n_rows, n_columns), unsigned integer
        Filled with the codes.

    Returns
    -------
    int
        A column in which an infinite number was met, or -1.
    """
    n_rows = len(values)
    for first in range(0, n_rows, TILE):
        last = min(first + TILE, n_rows)
        for j in columns:
            block = values[first:last, j]
            codes = out[first:last, j]
            part = slice(bounds[j, 0], bounds[j, 1])
            if is_bin[j]:
                infinite = find_bins(block, cuts[part], missing[j], codes)
            else:
                infinite = look_up(block, low[j], tables[part], missing[j], codes)
            if infinite:
                return int(j)
    return -1


@kernel
def scan(values: Any, out: Any, present: Any) -> bool:
    """Write small whole numbers as they are and mark those that occur.

    Parameters
    ----------
    values : ndarray of shape (n_rows,), integer or floating
        Numbers, NaN where missing.
    out : ndarray of shape (n_rows,), uint8
        Filled with the numbers, 255 where missing.
    present : ndarray of shape (256,), bool
        Set where a number occurs; the last entry stands for missing.

    Returns
    -------
    bool
        Whether all numbers were whole and from 0 to 254; if not, `out` is not valid.
    """
    valid = True
    for i in range(len(values)):
        value = values[i]
        code = np.uint8(255)
        if value >= 0 and value < 255:
            code = np.uint8(value)
            valid &= value == code
        else:
            valid &= value != value
        out[i] = code
    # A second loop over what is now in the cache: the first one can be vectorised.
    for i in range(len(values)):
        present[out[i]] = True
    return valid


@kernel
def scan_block(values: Any, columns: Any, out: Any, present: Any, failed: Any) -> None:
    """Scan several columns of a matrix, reading it once.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns), integer or floating
        Numbers, NaN where missing.
    columns : ndarray of shape (n_chosen,), int64
        Columns to do.
    out : ndarray of shape (n_rows, n_columns), uint8
        Filled with the numbers.
    present : ndarray of shape (n_columns, 256), bool
        Set where a number occurs.
    failed : ndarray of shape (n_columns,), bool
        Set for the columns that hold other numbers; they are not valid in `out`.
    """
    n_rows = len(values)
    for first in range(0, n_rows, TILE):
        last = min(first + TILE, n_rows)
        for j in columns:
            if not failed[j]:
                block = values[first:last, j]
                failed[j] = not scan(block, out[first:last, j], present[j])


@kernel
def recode(codes: Any, table: Any) -> None:
    """Replace every code by its entry in `table`, in place.

    Parameters
    ----------
    codes : ndarray of shape (n_rows,), uint8
        Positions in `table`.
    table : ndarray of shape (256,), uint8
        New codes.
    """
    for i in range(len(codes)):
        codes[i] = table[codes[i]]
