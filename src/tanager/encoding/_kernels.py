"""Encoding kernels over blocks of rows; `encoding_plan` has the NumPy versions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tanager.utils.jit import kernel

TILE = 2048
"""Rows done for all columns before the next ones. In a row-major matrix neighbouring
columns share cache lines, which must still be there when the next column is done."""

FEW_CUTS = 16
"""Cuts up to which comparing with all of them is faster than a binary search."""


@kernel
def look_up(
    values: Any, low: int, table: Any, missing: Any, unknown: Any, out: Any
) -> bool:
    """Write ``table[value - low]``; `unknown` for values outside and fractions.

    `values` are category codes or numbers, NaN where missing, shape (n_rows,); `table`
    and `out` are of unsigned types. NaN gets the code `missing`. Returns whether a
    value is infinite.
    """
    size = len(table)
    infinite = False
    for i in range(len(values)):
        value = values[i]
        code = unknown
        # Compared before the cast, which is undefined for NaN and huge floats.
        if value >= low and value < low + size:
            position = int(value) - low
            if value == position + low:
                code = table[position]
        elif value != value:
            code = missing
        elif np.isinf(value):
            infinite = True
        out[i] = code
    return infinite


@kernel
def find_bins(values: Any, cuts: Any, missing: Any, out: Any) -> bool:
    """Write the number of cuts below every value; `missing` for NaN.

    `cuts` is increasing, float64, shape (n_cuts,); `out` is unsigned, shape (n_rows,).
    Returns whether a value is infinite.
    """
    infinite = False
    n_rows = len(values)
    # A contiguous copy is read several times; the positions are unsigned, so that no
    # index is compared with zero. Both make the inner loops vectorised.
    block = np.empty(min(n_rows, TILE), dtype=values.dtype)
    position = np.empty(min(n_rows, TILE), dtype=np.uint32)
    for first in range(0, n_rows, TILE):
        size = min(TILE, n_rows - first)
        for i in range(size):
            block[i] = values[first + i]
            position[i] = np.uint32(0)
        length = len(cuts)
        if length <= FEW_CUTS:
            for k in range(length):
                cut = cuts[k]
                for i in range(size):
                    position[i] += np.uint32(cut < block[i])
            length = 0
        # One halving for all rows at a time: the inner loop has no branch that
        # depends on the data.
        while length > 0:
            half = length >> 1
            skip, step = np.uint32(half), np.uint32(length - half)
            for i in range(size):
                below = cuts[np.uint64(position[i] + skip)] < block[i]
                position[i] += step if below else np.uint32(0)
            length = half
        special = False
        for i in range(size):
            out[first + i] = position[i]
            special |= not np.isfinite(block[i])
        if special:
            for i in range(size):
                if block[i] != block[i]:
                    out[first + i] = missing
                else:
                    infinite |= np.isinf(block[i])
    return infinite


@kernel
def encode_block(
    values: Any,
    columns: Any,
    is_bin: Any,
    low: Any,
    bounds: Any,
    missing: Any,
    unknown: Any,
    tables: Any,
    cuts: Any,
    out: Any,
) -> int:
    """Look up or discretise the given columns of a matrix, reading it once.

    `values` (n_rows, n_columns) has NaN where missing. By column (n_columns,): `is_bin`
    says whether it is discretised, `low` is the first number of its lookup array,
    `missing` and `unknown` its codes for missing and unknown values, `bounds`
    (n_columns, 2) its part of `tables` or `cuts`. Writes `out` (n_rows, n_columns);
    returns a column with an infinite value, or -1.
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
                infinite = look_up(
                    block, low[j], tables[part], missing[j], unknown[j], codes
                )
            if infinite:
                return int(j)
    return -1


@kernel
def scan(values: Any, out: Any, present: Any) -> bool:
    """Copy integers from 0 to 254 and mark those that occur.

    `out` (uint8) gets the integers, 255 where missing; `present`, shape (256,), is set
    where one occurs. Returns whether all values were such; if not, `out` is not valid.
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

    As `scan`, with one row of `present` per column; `failed`, shape (n_columns,), is
    set for columns with other values, which are not valid in `out`.
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
    """Replace every code by its entry in `table`, shape (256,), in place."""
    for i in range(len(codes)):
        codes[i] = table[codes[i]]
