"""Kernels of parameter learners.

`codes` is always given transposed, shape (n_variables, n_rows), each row contiguous.
"""

from __future__ import annotations

from math import exp, log

import numpy as np

from tanager.core.jit import kernel

BLOCK = 256
FLOOR = 1e-300


@kernel
def count_by_loss(
    codes, labels, weights, order, n_states, n_classes, offsets, start, axis_variable,
    axis_stride, owner, row_offsets, alpha, counts, totals,
):  # fmt: skip
    """One pass of the discriminative frequency estimate over the rows in `order`.

    Every table has the class as its last axis; before it stand the parents and then the
    owner. Only cells of a row's own class change, so logarithms are kept beside the
    counts and renewed one by one.

    Parameters
    ----------
    owner : int array, shape (n_tables,)
        Variable of every table; the class for the prior.
    row_offsets : int array, shape (n_tables,)
        Where the totals of a table's rows start in `totals`, axes (parents, class).
    counts, totals : float64 arrays
        Counts of cells and of rows, added to in place.
    """
    n_tables = offsets.shape[0]
    weighted = weights.shape[0] > 0
    log_counts = np.empty(counts.shape[0])
    log_totals = np.empty(totals.shape[0])
    for cell in range(counts.shape[0]):
        log_counts[cell] = log(max(counts[cell] + alpha, FLOOR))
    for t in range(n_tables):
        states = n_states[owner[t]]
        last = row_offsets[t + 1] if t + 1 < n_tables else totals.shape[0]
        for row in range(row_offsets[t], last):
            mass = totals[row] + alpha * states
            # Nothing counted yet reads as uniform: FLOOR over states times FLOOR.
            log_totals[row] = log(mass if mass > 0.0 else states * FLOOR)
    cells = np.empty(n_tables, dtype=np.int64)
    rows = np.empty(n_tables, dtype=np.int64)
    tables = np.empty(n_tables, dtype=np.int64)
    joint = np.empty(n_classes)
    for m in order:
        label = np.int64(labels[m])
        if label >= n_classes:
            continue
        n_used = 0
        joint[:] = 0.0
        for t in range(n_tables):
            cell = offsets[t]
            above = np.int64(0)
            seen = True
            for a in range(start[t], start[t + 1]):
                variable = axis_variable[a]
                code = np.int64(codes[variable, m])
                if code >= n_states[variable]:
                    seen = False
                    break
                cell += code * axis_stride[a]
                if variable != owner[t]:
                    above += code * axis_stride[a]
            if not seen:
                continue
            if start[t] == start[t + 1]:
                # The prior: every class is a state of one row.
                row = row_offsets[t]
                for c in range(n_classes):
                    joint[c] += log_counts[cell + c] - log_totals[row]
                rows[n_used] = row
            else:
                row = row_offsets[t] + above // n_states[owner[t]]
                for c in range(n_classes):
                    joint[c] += log_counts[cell + c] - log_totals[row + c]
                rows[n_used] = row + label
            cells[n_used] = cell + label
            tables[n_used] = t
            n_used += 1
        highest = joint[0]
        for c in range(1, n_classes):
            highest = max(highest, joint[c])
        mass = 0.0
        for c in range(n_classes):
            mass += exp(joint[c] - highest)
        loss = 1.0 - exp(joint[label] - highest) / mass
        if weighted:
            loss *= weights[m]
        if loss <= 0.0:
            continue
        for used in range(n_used):
            cell = cells[used]
            row = rows[used]
            counts[cell] += loss
            totals[row] += loss
            log_counts[cell] = log(counts[cell] + alpha)
            log_totals[row] = log(totals[row] + alpha * n_states[owner[tables[used]]])


@kernel
def conditional_loss(
    codes, labels, weights, values, offsets, start, axis_variable, axis_stride,
    n_states, n_classes, gradient,
):  # fmt: skip
    """Sum of -log P(c | x) over rows, its gradient added to `gradient`.

    The log joint of a row is the sum of the cells it touches in the tables `values`,
    all with the class as last axis. Tables with a missing member are left out, rows
    without a label give nothing. `weights` has shape (n_rows,), or (0,) for ones.
    """
    n_rows = labels.shape[0]
    n_tables = offsets.shape[0]
    weighted = weights.shape[0] > 0
    far = np.int64(1) << np.int64(60)
    cells = np.empty((n_tables, BLOCK), dtype=np.int64)
    joint = np.empty(n_classes)
    loss = 0.0
    for begin in range(0, n_rows, BLOCK):
        size = min(BLOCK, n_rows - begin)
        for t in range(n_tables):
            cell = cells[t]
            cell[:size] = offsets[t]
            for a in range(start[t], start[t + 1]):
                column = codes[axis_variable[a]]
                stride = axis_stride[a]
                states = n_states[axis_variable[a]]
                for m in range(size):
                    code = np.int64(column[begin + m])
                    cell[m] += code * stride if code < states else far
        for m in range(size):
            label = np.int64(labels[begin + m])
            if label >= n_classes:
                continue
            joint[:] = 0.0
            for t in range(n_tables):
                k = cells[t, m]
                if k < far:
                    for c in range(n_classes):
                        joint[c] += values[k + c]
            highest = joint[0]
            for c in range(1, n_classes):
                highest = max(highest, joint[c])
            own = joint[label] - highest
            mass = 0.0
            for c in range(n_classes):
                joint[c] = exp(joint[c] - highest)
                mass += joint[c]
            weight = weights[begin + m] if weighted else 1.0
            loss += weight * (log(mass) - own)
            for c in range(n_classes):
                joint[c] *= weight / mass
            joint[label] -= weight
            for t in range(n_tables):
                k = cells[t, m]
                if k < far:
                    for c in range(n_classes):
                        gradient[k + c] += joint[c]
    return loss
