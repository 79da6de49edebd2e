"""Kernels of parameter learners.

`codes` is always given transposed, shape (n_variables, n_rows), each row contiguous.
"""

from __future__ import annotations

from math import exp, log

import numpy as np

from tanager.core.jit import kernel
from tanager.inference._expected_kernels import share_of_classes
from tanager.inference._kernels import add_touched, touched_cells

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
def exp_below_one(values, n, bits, scales):
    """Replace the first n values, none above 0, by their exponentials.

    In steps that vectorise, unlike a call of exp per value: with k = round(x / log 2)
    and r = x - k log 2, exp(x) is the Taylor polynomial of r, whose error is below
    rounding for |r| <= log(2) / 2, times 2^k, made from the bits of its exponent.
    `scales` is the float64 view of the integers `bits`.
    """
    for i in range(n):
        x = max(values[i], -700.0)
        k = np.floor(x * 1.4426950408889634 + 0.5)
        # log 2 in two parts: the first product is exact.
        r = x - k * 0.6931471803691238
        r -= k * 1.9082149292705877e-10
        p = 1 / 39916800 * r + 1 / 3628800
        p = p * r + 1 / 362880
        p = p * r + 1 / 40320
        p = p * r + 1 / 5040
        p = p * r + 1 / 720
        p = p * r + 1 / 120
        p = p * r + 1 / 24
        p = p * r + 1 / 6
        p = p * r + 0.5
        p = p * r + 1.0
        values[i] = p * r + 1.0
        bits[i] = (np.int64(k) + 1023) << 52
    for i in range(n):
        values[i] *= scales[i]


@kernel
def conditional_loss(
    codes, labels, weights, values, offsets, start, axis_variable, axis_stride,
    n_classes, gradient,
):  # fmt: skip
    """Sum of -log P(c | x) over rows, its gradient added to `gradient`.

    The log joint of a row is the sum of the cells it touches in the tables `values`,
    all with the class as last axis. Rows without a label give nothing. `weights` has
    shape (n_rows,), or (0,) for ones.
    """
    n_rows = labels.shape[0]
    n_tables = offsets.shape[0]
    weighted = weights.shape[0] > 0
    cells = np.empty((n_tables, BLOCK), dtype=np.int64)
    joint = np.empty((BLOCK, n_classes))
    flat = joint.reshape(BLOCK * n_classes)
    bits = np.empty(BLOCK * n_classes, dtype=np.int64)
    scales = bits.view(np.float64)
    own = np.empty(BLOCK)
    loss = 0.0
    for begin in range(0, n_rows, BLOCK):
        size = min(BLOCK, n_rows - begin)
        touched_cells(
            codes, begin, size, offsets, start, axis_variable, axis_stride, cells
        )
        for m in range(size):
            row = joint[m]
            add_touched(values, cells, n_tables, m, n_classes, row)
            highest = row[0]
            for c in range(1, n_classes):
                highest = max(highest, row[c])
            for c in range(n_classes):
                row[c] -= highest
            label = np.int64(labels[begin + m])
            own[m] = row[label] if label < n_classes else 0.0
        exp_below_one(flat, size * n_classes, bits, scales)
        for m in range(size):
            label = np.int64(labels[begin + m])
            if label >= n_classes:
                continue
            row = joint[m]
            mass = 0.0
            for c in range(n_classes):
                mass += row[c]
            weight = weights[begin + m] if weighted else 1.0
            loss += weight * (log(mass) - own[m])
            share = weight / mass
            for c in range(n_classes):
                row[c] *= share
            row[label] -= weight
            for t in range(n_tables):
                k = cells[t, m]
                for c in range(n_classes):
                    gradient[k + c] += row[c]
    return loss


@kernel
def expected_classes(
    codes, weights, values, offsets, start, axis_variable, axis_stride, n_classes, out
):
    """Sum of log P(x) over complete rows without a label, its gradient added to `out`.

    The log joint is made up as in `conditional_loss`; a row adds P(c | x) to the cells
    it touches. `weights` has shape (n_rows,), or (0,) for ones.
    """
    n_rows = codes.shape[1]
    n_tables = offsets.shape[0]
    cells = np.empty((n_tables, BLOCK), dtype=np.int64)
    joint = np.empty(n_classes)
    by_class = np.empty(n_classes)
    value = 0.0
    for begin in range(0, n_rows, BLOCK):
        size = min(BLOCK, n_rows - begin)
        touched_cells(
            codes, begin, size, offsets, start, axis_variable, axis_stride, cells
        )
        for m in range(size):
            weight = weights[begin + m] if weights.shape[0] > 0 else 1.0
            if weight == 0.0:
                continue
            add_touched(values, cells, n_tables, m, n_classes, joint)
            value += weight * share_of_classes(joint, weight, by_class)
            for t in range(n_tables):
                k = cells[t, m]
                for c in range(n_classes):
                    out[k + c] += by_class[c]
    return value
