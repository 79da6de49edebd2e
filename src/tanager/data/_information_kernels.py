"""Kernels for information measures on flat pair tables, and on rows."""

from __future__ import annotations

from math import log

import numpy as np

from tanager.utils.jit import kernel

BLOCK = 2048
"""Rows whose cells are found before any is counted."""


@kernel
def pair_information(values, offsets, n_states, n_classes, first, out):
    """I(X_i; X_j | C) of every pair held in `values`, in nats, into both triangles.

    `offsets` holds the start of the table (i, i + 1) for i = first, first + 1, ...
    """
    n_features = n_states.shape[0]
    widest = 0
    for j in range(n_features):
        widest = max(widest, n_states[j])
    row = np.empty(widest * n_classes)
    column = np.empty(widest * n_classes)
    whole = np.empty(n_classes)
    for k in range(offsets.shape[0]):
        i = first + k
        cell = offsets[k]
        for j in range(i + 1, n_features):
            row[:] = 0.0
            column[:] = 0.0
            whole[:] = 0.0
            joint = 0.0
            for a in range(n_states[i]):
                for b in range(n_states[j]):
                    for c in range(n_classes):
                        count = float(values[cell])
                        cell += 1
                        if count > 0.0:
                            joint += count * log(count)
                            row[a * n_classes + c] += count
                            column[b * n_classes + c] += count
                            whole[c] += count
            total = 0.0
            apart = 0.0
            for index in range(n_states[i] * n_classes):
                if row[index] > 0.0:
                    apart += row[index] * log(row[index])
            for index in range(n_states[j] * n_classes):
                if column[index] > 0.0:
                    apart += column[index] * log(column[index])
            for c in range(n_classes):
                if whole[c] > 0.0:
                    apart -= whole[c] * log(whole[c])
                    total += whole[c]
            value = (joint - apart) / total if total > 0.0 else 0.0
            # Rounding may leave a tiny negative number where nothing is shared.
            out[i, j] = max(value, 0.0)
            out[j, i] = out[i, j]


@kernel
def pair_class_information(values, offsets, n_states, n_classes, first, out):
    """I(C; X_i, X_j) of every pair held in `values`, in nats, into both triangles.

    `offsets` as in `pair_information`.
    """
    n_features = n_states.shape[0]
    whole = np.empty(n_classes)
    for k in range(offsets.shape[0]):
        i = first + k
        cell = offsets[k]
        for j in range(i + 1, n_features):
            whole[:] = 0.0
            shared = 0.0
            for _ in range(n_states[i] * n_states[j]):
                both = 0.0
                for c in range(n_classes):
                    count = float(values[cell])
                    cell += 1
                    if count > 0.0:
                        shared += count * log(count)
                        both += count
                        whole[c] += count
                if both > 0.0:
                    shared -= both * log(both)
            total = 0.0
            for c in range(n_classes):
                if whole[c] > 0.0:
                    shared -= whole[c] * log(whole[c])
                    total += whole[c]
            value = shared / total + log(total) if total > 0.0 else 0.0
            out[i, j] = max(value, 0.0)
            out[j, i] = out[i, j]


@kernel
def information_given(codes, weights, n_states, i, j, given, table):
    """I(X_i; X_j | given) in nats, its degrees of freedom, and the weight of the rows.

    `codes` (n_variables, n_rows); rows in which a tested variable is missing are left
    out. `weights` (n_rows,), or (0,) for ones. `table` is scratch, one cell longer than
    the table over (given, i, j).
    """
    n_rows = codes.shape[1]
    weighted = weights.shape[0] > 0
    far = np.int64(1) << np.int64(40)
    n_given = 1
    for v in given:
        n_given *= n_states[v]
    states_i = n_states[i]
    states_j = n_states[j]
    cells = n_given * states_i * states_j
    table[: cells + 1] = 0.0
    index = np.empty(BLOCK, dtype=np.int64)
    for begin in range(0, n_rows, BLOCK):
        size = min(BLOCK, n_rows - begin)
        index[:size] = 0
        stride = cells
        for place in range(given.shape[0] + 2):
            if place < given.shape[0]:
                v = given[place]
            elif place == given.shape[0]:
                v = i
            else:
                v = j
            states = n_states[v]
            stride //= states
            column = codes[v]
            for m in range(size):
                code = np.int64(column[begin + m])
                index[m] += code * stride if code < states else far
        if weighted:
            for m in range(size):
                table[min(index[m], cells)] += weights[begin + m]
        else:
            for m in range(size):
                table[min(index[m], cells)] += 1.0
    row = np.empty(states_i)
    column_sums = np.empty(states_j)
    shared = 0.0
    degrees = 0.0
    total = 0.0
    cell = 0
    for _ in range(n_given):
        row[:] = 0.0
        column_sums[:] = 0.0
        whole = 0.0
        for a in range(states_i):
            for b in range(states_j):
                count = table[cell]
                cell += 1
                if count > 0.0:
                    shared += count * log(count)
                    row[a] += count
                    column_sums[b] += count
                    whole += count
        if whole > 0.0:
            total += whole
            shared += whole * log(whole)
            rows_seen = 0
            for a in range(states_i):
                if row[a] > 0.0:
                    rows_seen += 1
                    shared -= row[a] * log(row[a])
            columns_seen = 0
            for b in range(states_j):
                if column_sums[b] > 0.0:
                    columns_seen += 1
                    shared -= column_sums[b] * log(column_sums[b])
            degrees += (rows_seen - 1) * (columns_seen - 1)
    if total <= 0.0:
        return 0.0, 0.0, 0.0
    return shared / total, degrees, total
