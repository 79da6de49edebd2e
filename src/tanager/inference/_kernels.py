"""Kernels that score rows by adding table cells.

`codes` is always given transposed, shape (n_variables, n_rows), each row contiguous.
"""

from __future__ import annotations

from math import exp, inf, log

import numpy as np

from tanager.utils.jit import kernel

BLOCK = 256
MANY_CLASSES = 8


@kernel
def touched_cells(
    codes, begin, size, offsets, start, axis_variable, axis_stride, cells
):
    """Write the cells that rows begin .. begin + size - 1 touch to `cells`.

    ``cells[t, m]`` is that of table t and row begin + m, in the first class.
    """
    for t in range(offsets.shape[0]):
        cell = cells[t]
        cell[:size] = offsets[t]
        for a in range(start[t], start[t + 1]):
            column = codes[axis_variable[a]]
            stride = axis_stride[a]
            for m in range(size):
                cell[m] += np.int64(column[begin + m]) * stride


@kernel
def add_touched(values, cells, n_tables, m, n_classes, out):
    """Write the sum of the cells that row m touches to `out`, shape (n_classes,)."""
    # Unsigned cells throughout: numba then has no negative index to look out for.
    if n_classes >= MANY_CLASSES and n_tables > 0:
        # All classes of a table side by side: such loops are vectorised.
        width = np.uint64(n_classes)
        k = np.uint64(cells[0, m])
        for c in range(width):
            out[c] = values[k + np.uint64(c)]
        for t in range(1, n_tables):
            k = np.uint64(cells[t, m])
            for c in range(width):
                out[c] += values[k + np.uint64(c)]
        return
    # Four or two classes at a time: the sums stay in registers.
    c = 0
    while c + 4 <= n_classes:
        sum_0 = 0.0
        sum_1 = 0.0
        sum_2 = 0.0
        sum_3 = 0.0
        for t in range(n_tables):
            k = np.uint64(cells[t, m] + c)
            sum_0 += values[k]
            sum_1 += values[k + np.uint64(1)]
            sum_2 += values[k + np.uint64(2)]
            sum_3 += values[k + np.uint64(3)]
        out[c] = sum_0
        out[c + 1] = sum_1
        out[c + 2] = sum_2
        out[c + 3] = sum_3
        c += 4
    while c + 2 <= n_classes:
        sum_0 = 0.0
        sum_1 = 0.0
        for t in range(n_tables):
            k = np.uint64(cells[t, m] + c)
            sum_0 += values[k]
            sum_1 += values[k + np.uint64(1)]
        out[c] = sum_0
        out[c + 1] = sum_1
        c += 2
    if c < n_classes:
        sum_0 = 0.0
        for t in range(n_tables):
            sum_0 += values[np.uint64(cells[t, m] + c)]
        out[c] = sum_0


@kernel
def add_to_touched(row, cells, n_tables, m, n_classes, out):
    """Add `row`, shape (n_classes,), to the cells of `out` that row m touches."""
    width = np.uint64(n_classes)
    for t in range(n_tables):
        k = np.uint64(cells[t, m])
        for c in range(width):
            out[k + np.uint64(c)] += row[c]


@kernel
def add_tables(
    codes, values, offsets, start, axis_variable, axis_stride, n_class_tables,
    n_classes, out,
):  # fmt: skip
    """Write the sum of the touched cells of every table to `out`, (n_rows, n_classes).

    Tables 0 .. n_class_tables - 1 hold all classes side by side; the others hold one
    number for all classes. Sums run over the tables in order, whatever the block.
    """
    n_rows = codes.shape[1]
    n_tables = offsets.shape[0]
    cells = np.empty((n_tables, BLOCK), dtype=np.int64)
    for begin in range(0, n_rows, BLOCK):
        size = min(BLOCK, n_rows - begin)
        touched_cells(
            codes, begin, size, offsets, start, axis_variable, axis_stride, cells
        )
        for m in range(size):
            add_touched(values, cells, n_class_tables, m, n_classes, out[begin + m])
            if n_class_tables < n_tables:
                shared = 0.0
                for t in range(n_class_tables, n_tables):
                    shared += values[cells[t, m]]
                for c in range(n_classes):
                    out[begin + m, c] += shared


@kernel
def add_to_tables(
    codes, by_class, offsets, start, axis_variable, axis_stride, n_classes, out
):
    """Add the values of every row, (n_rows, n_classes), to the cells it touches.

    The transpose of `add_tables`, for tables that all have the class.
    """
    n_rows = codes.shape[1]
    n_tables = offsets.shape[0]
    cells = np.empty((n_tables, BLOCK), dtype=np.int64)
    for begin in range(0, n_rows, BLOCK):
        size = min(BLOCK, n_rows - begin)
        touched_cells(
            codes, begin, size, offsets, start, axis_variable, axis_stride, cells
        )
        for m in range(size):
            add_to_touched(by_class[begin + m], cells, n_tables, m, n_classes, out)


@kernel
def class_posterior(joint, weight, by_class):
    """Write weight P(c | e) to `by_class` and return log P(e), from log P(c, e).

    The posterior is zero where every class is impossible.
    """
    highest = joint.max()
    if highest == -inf:
        by_class[:] = 0.0
        return highest
    mass = 0.0
    for c in range(joint.shape[0]):
        by_class[c] = exp(joint[c] - highest)
        mass += by_class[c]
    for c in range(joint.shape[0]):
        by_class[c] *= weight / mass
    return highest + log(mass)
