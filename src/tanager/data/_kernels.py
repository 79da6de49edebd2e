"""Counting kernels.

`codes` is always given transposed, shape (n_variables, n_rows), each row contiguous.
A code equal to the number of states is a missing value. Nothing branches on it: its
cells are counted with the others and dropped at the end.
"""

from __future__ import annotations

import numpy as np

from tanager.utils.jit import kernel

BLOCK = 2048


@kernel
def count_tables(
    codes, labels, weights, n_states, offsets, start, axis_variable, axis_stride,
    has_class, sizes, n_classes, tables, out,
):  # fmt: skip
    """Add the rows to the tables numbered `tables` of the flat float64 array `out`.

    `weights` has shape (n_rows,), or (0,) when every weight is one. A row in which a
    member of the family is missing goes to a spare cell behind the table.
    """
    n_rows = labels.shape[0]
    weighted = weights.shape[0] > 0
    far = np.int64(1) << np.int64(40)
    index = np.empty(BLOCK, dtype=np.int64)
    table = np.empty(0, dtype=np.float64)
    for t in tables:
        cells = sizes[t]
        if cells + 1 > table.shape[0]:
            table = np.empty(cells + 1, dtype=np.float64)
        table[: cells + 1] = 0.0
        for begin in range(0, n_rows, BLOCK):
            size = min(BLOCK, n_rows - begin)
            index[:size] = 0
            for a in range(start[t], start[t + 1]):
                variable = axis_variable[a]
                stride = axis_stride[a]
                states = n_states[variable]
                column = codes[variable]
                for m in range(size):
                    code = np.int64(column[begin + m])
                    index[m] += code * stride if code < states else far
            if has_class[t]:
                for m in range(size):
                    label = np.int64(labels[begin + m])
                    index[m] += label if label < n_classes else far
            if weighted:
                for m in range(size):
                    table[min(index[m], cells)] += weights[begin + m]
            else:
                for m in range(size):
                    table[min(index[m], cells)] += 1.0
        offset = offsets[t]
        for cell in range(cells):
            out[offset + cell] += table[cell]


@kernel
def count_singles(
    codes, labels, weights, widths, n_states, n_classes, group_start, groups, offsets,
    table, out,
):  # fmt: skip
    """Add the rows to the tables (j, class) of single features.

    The features of a group are counted by their joint code, in one increment per row,
    and marginalised to single features at the end. Group g, for g in `groups`, has the
    features ``group_start[g] .. group_start[g + 1] - 1``. `widths` and `n_states`
    (n_features,) are the states with and without the one for "missing". The table of
    feature j starts at ``offsets[j]`` in `out`; `table` is scratch for the largest
    group, the class with one more state for "missing".
    """
    n_rows = labels.shape[0]
    weighted = weights.shape[0] > 0
    step = n_classes + 1
    index = np.empty(BLOCK, dtype=np.int64)
    for g in groups:
        cells = step
        for j in range(group_start[g], group_start[g + 1]):
            cells *= widths[j]
        table[:cells] = 0.0
        for begin in range(0, n_rows, BLOCK):
            size = min(BLOCK, n_rows - begin)
            index[:size] = 0
            for j in range(group_start[g], group_start[g + 1]):
                column = codes[j]
                width = widths[j]
                for m in range(size):
                    index[m] = index[m] * width + np.int64(column[begin + m])
            for m in range(size):
                index[m] = index[m] * step + np.int64(labels[begin + m])
            if weighted:
                for m in range(size):
                    table[index[m]] += weights[begin + m]
            else:
                for m in range(size):
                    table[index[m]] += 1.0
        stride = 1
        for j in range(group_start[g + 1] - 1, group_start[g] - 1, -1):
            for cell in range(cells // step):
                a = (cell // stride) % widths[j]
                if a < n_states[j]:
                    target = offsets[j] + a * n_classes
                    for c in range(n_classes):
                        out[target + c] += table[cell * step + c]
            stride *= widths[j]


@kernel
def join_codes(codes, widths, first, last, out):
    """Write the joint code of the columns first..last-1 of every row to `out`."""
    n_rows = out.shape[0]
    column = codes[first]
    for m in range(n_rows):
        out[m] = column[m]
    for j in range(first + 1, last):
        column = codes[j]
        width = widths[j]
        for m in range(n_rows):
            out[m] = out[m] * width + column[m]


@kernel
def count_group_pairs(
    joint, labels, weights, widths, n_states, n_classes, group_start, group_width,
    class_width, work, first, pair_offsets, even, odd, out,
):  # fmt: skip
    """Count pairs of groups of features and marginalise them to pairs of features.

    `joint` (n_groups, n_rows) are the joint codes of groups as in `count_singles`, the
    last feature fastest; `work` (n_work, 2) are the group pairs (g, h), g <= h. Only
    pairs (i, j) of features with i >= first are wanted: `out` is the flat array of
    their tables (i, j, class), and those of (i, i + 1), (i, i + 2), ... start at
    ``pair_offsets[i - first]``. `even` and `odd` are scratch for even and odd rows:
    neighbouring rows often fall into one cell, and two tables spare the processor the
    wait for its last value.
    """
    n_rows = labels.shape[0]
    n_features = n_states.shape[0]
    weighted = weights.shape[0] > 0
    one = np.uint32(1)
    for w in range(work.shape[0]):
        g = work[w, 0]
        h = work[w, 1]
        cells = group_width[g] * class_width
        if g != h:
            cells *= group_width[h]
        even[:cells] = 0
        odd[:cells] = 0
        outer = joint[g]
        inner = joint[h]
        # In a group's table with itself the second code counts for nothing.
        spread = np.int64(group_width[h] if g != h else 1)
        twice = np.int64(1 if g != h else 0)
        step = np.int64(class_width)
        paired = n_rows - n_rows % 2
        if weighted:
            for m in range(n_rows):
                code = np.int64(outer[m]) * spread + np.int64(inner[m]) * twice
                even[code * step + np.int64(labels[m])] += weights[m]
        else:
            for m in range(0, paired, 2):
                code = np.int64(outer[m]) * spread + np.int64(inner[m]) * twice
                even[code * step + np.int64(labels[m])] += one
                code = np.int64(outer[m + 1]) * spread + np.int64(inner[m + 1]) * twice
                odd[code * step + np.int64(labels[m + 1])] += one
            if paired < n_rows:
                code = (
                    np.int64(outer[paired]) * spread + np.int64(inner[paired]) * twice
                )
                even[code * step + np.int64(labels[paired])] += one
            for cell in range(cells):
                even[cell] += odd[cell]
        configurations = cells // class_width
        for i in range(group_start[g], group_start[g + 1]):
            if i < first:
                continue
            stride_i = 1
            for later in range(i + 1, group_start[g + 1]):
                stride_i *= widths[later]
            stride_i *= spread
            table = pair_offsets[i - first]
            for j in range(i + 1, n_features):
                size = n_states[i] * n_states[j] * n_classes
                if j >= group_start[h] and j < group_start[h + 1]:
                    stride_j = 1
                    for later in range(j + 1, group_start[h + 1]):
                        stride_j *= widths[later]
                    for cell in range(configurations):
                        a = (cell // stride_i) % widths[i]
                        b = (cell // stride_j) % widths[j]
                        if a < n_states[i] and b < n_states[j]:
                            target = table + (a * n_states[j] + b) * n_classes
                            for c in range(n_classes):
                                out[target + c] += even[cell * class_width + c]
                table += size
