"""Scoring kernels: complete rows of any network, incomplete rows of trees.

`codes` is always given transposed, shape (n_variables, n_rows), each row contiguous.
"""

from __future__ import annotations

from math import exp, inf, log

import numpy as np

from tanager.inference.tree import TINY
from tanager.utils.jit import kernel

BLOCK = 256
ROWS = 64
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
def add_missing(
    codes, theta, by_child, offsets, n_states, n_classes, parent, inner, child_start,
    child, summed, log_summed, summed_offset, summed_rows, out, unsafe,
):  # fmt: skip
    """Add what missing inner features of a forest contribute to `out`.

    A missing feature is summed over, from the leaves to the roots. Where only the
    feature itself is missing, the sum was tabulated beforehand (`summed`). Otherwise
    its observed children and the messages of its missing ones are multiplied as
    probabilities, and one logarithm is taken per row and class at the end. Rows in
    which a product comes near the smallest float are marked in `unsafe` for
    `add_missing_log`.

    Parameters
    ----------
    theta : float64 array
        Probabilities; the table of feature j starts at ``offsets[j]`` and has axes
        (parent, j, class), or (j, class) for a root.
    by_child : float64 array
        The same numbers with axes (j, parent, class): what an observed child says of
        its parent lies side by side.
    parent : int array, shape (n_features,)
        Feature parent, or -1.
    inner : int array
        Features with children, every one after its descendants.
    child_start, child : int arrays
        Children of feature j: ``child[child_start[j]:child_start[j + 1]]``.
    summed, log_summed : float64 arrays
        Sums over feature j, axes (children with one more state for "missing"...,
        parent, class), starting at ``summed_offset[j]``, or none there if that is -1.
    summed_rows : int array, shape (n_features,)
        Number of configurations of the children; the last one is "all missing".
    """
    n_rows = codes.shape[1]
    n_features = n_states.shape[0]
    widest = 0
    for j in range(n_features):
        widest = max(widest, n_states[j])
    belief = np.empty(widest * n_classes)
    total = np.empty(n_classes)
    factor = np.empty(n_classes)
    message = np.empty((n_features, widest * n_classes))
    sends = np.zeros(n_features, dtype=np.int8)
    sent = np.empty(n_features, dtype=np.int64)
    # Rows of a small block side by side: in a column-major block all codes of one row
    # would compete for the same few places of the cache.
    rows = np.empty((ROWS, codes.shape[0]), dtype=np.int64)
    absent = np.empty((ROWS, inner.shape[0] + 1), dtype=np.int64)
    n_absent = np.empty(ROWS, dtype=np.int64)
    for begin in range(0, n_rows, ROWS):
        block = min(ROWS, n_rows - begin)
        for j in range(codes.shape[0]):
            column = codes[j]
            for m in range(block):
                rows[m, j] = column[begin + m]
        n_absent[:] = 0
        for j in inner:
            states = n_states[j]
            for m in range(block):
                # Always written, only sometimes kept: no branch to mispredict.
                absent[m, n_absent[m]] = j
                n_absent[m] += rows[m, j] == states
        for m in range(block):
            row = rows[m]
            touched = False
            safe = True
            for place in range(n_absent[m]):
                j = absent[m, place]
                up = parent[j]
                to_parent = up >= 0 and row[up] == n_states[up]
                tabulated = summed_offset[j] >= 0
                index = 0
                for k in range(child_start[j], child_start[j + 1]):
                    i = child[k]
                    tabulated = tabulated and sends[i] == 0
                    index = index * (n_states[i] + 1) + row[i]
                if tabulated:
                    if index == summed_rows[j] - 1:
                        continue  # nothing below is observed: sums to one
                    wide = n_classes if up < 0 else n_states[up] * n_classes
                    cell = summed_offset[j] + index * wide
                    if to_parent:
                        sends[j] = 2
                        sent[j] = cell
                    else:
                        if up >= 0:
                            cell += row[up] * n_classes
                        for c in range(n_classes):
                            out[begin + m, c] += log_summed[cell + c]
                    continue
                size = n_states[j] * n_classes
                if to_parent:
                    for a in range(size):
                        belief[a] = 1.0
                else:
                    cell = offsets[j]
                    if up >= 0:
                        cell += row[up] * size
                    for a in range(size):
                        belief[a] = theta[cell + a]
                seen = False
                for k in range(child_start[j], child_start[j + 1]):
                    i = child[k]
                    if row[i] < n_states[i]:
                        cell = offsets[i] + row[i] * size
                        for a in range(size):
                            belief[a] *= by_child[cell + a]
                        seen = True
                    elif sends[i] == 1:
                        for a in range(size):
                            belief[a] *= message[i, a]
                        seen = True
                    elif sends[i] == 2:
                        cell = sent[i]
                        for a in range(size):
                            belief[a] *= summed[cell + a]
                        seen = True
                if not seen:
                    continue
                if to_parent:
                    sends[j] = 1
                    cell = offsets[j]
                    for b in range(n_states[up]):
                        total[:] = 0.0
                        for a in range(n_states[j]):
                            for c in range(n_classes):
                                total[c] += theta[cell + c] * belief[a * n_classes + c]
                            cell += n_classes
                        for c in range(n_classes):
                            message[j, b * n_classes + c] = total[c]
                    for c in range(n_classes):
                        largest = 0.0
                        for b in range(n_states[up]):
                            largest = max(largest, message[j, b * n_classes + c])
                        safe = safe and largest > TINY
                    continue
                total[:] = 0.0
                for a in range(n_states[j]):
                    for c in range(n_classes):
                        total[c] += belief[a * n_classes + c]
                if not touched:
                    factor[:] = 1.0
                    touched = True
                for c in range(n_classes):
                    safe = safe and total[c] > TINY
                    factor[c] *= total[c]
                    if factor[c] < TINY and total[c] > TINY:
                        out[begin + m, c] += log(factor[c] / total[c])
                        factor[c] = total[c]
            for place in range(n_absent[m]):
                sends[absent[m, place]] = 0
            if not safe:
                unsafe[begin + m] = True
            elif touched:
                for c in range(n_classes):
                    out[begin + m, c] += log(factor[c])


@kernel
def add_missing_log(
    codes, log_theta, offsets, n_states, n_classes, parent, inner, child_start, child,
    out,
):  # fmt: skip
    """Do what `add_missing` does, in log space: slower, and safe for any numbers."""
    n_rows = codes.shape[1]
    n_features = n_states.shape[0]
    widest = 0
    for j in range(n_features):
        widest = max(widest, n_states[j])
    belief = np.empty(widest * n_classes)
    message = np.empty((n_features, widest * n_classes))
    sends = np.zeros(n_features, dtype=np.bool_)
    for m in range(n_rows):
        for j in inner:
            if codes[j, m] != n_states[j]:
                continue
            size = n_states[j] * n_classes
            belief[:size] = 0.0
            seen = False
            for k in range(child_start[j], child_start[j + 1]):
                i = child[k]
                code = np.int64(codes[i, m])
                if code < n_states[i]:
                    cell = offsets[i] + code * n_classes
                    for a in range(n_states[j]):
                        for c in range(n_classes):
                            belief[a * n_classes + c] += log_theta[cell + c]
                        cell += n_states[i] * n_classes
                    seen = True
                elif sends[i]:
                    for a in range(size):
                        belief[a] += message[i, a]
                    seen = True
            sends[j] = seen
            if not seen:
                continue
            up = parent[j]
            cell = offsets[j]
            to_parent = up >= 0 and codes[up, m] == n_states[up]
            if up >= 0 and not to_parent:
                cell += np.int64(codes[up, m]) * size
            for b in range(n_states[up] if to_parent else 1):
                for c in range(n_classes):
                    largest = -inf
                    for a in range(n_states[j]):
                        k = a * n_classes + c
                        largest = max(largest, log_theta[cell + k] + belief[k])
                    total = largest
                    if largest > -inf:
                        sum_exp = 0.0
                        for a in range(n_states[j]):
                            k = a * n_classes + c
                            sum_exp += exp(log_theta[cell + k] + belief[k] - largest)
                        total = largest + log(sum_exp)
                    if to_parent:
                        message[j, b * n_classes + c] = total
                    else:
                        out[m, c] += total
                cell += size
