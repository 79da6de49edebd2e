"""Kernels of log-linear models: conditional likelihood, and conversion to CPTs.

`codes` is always given transposed, shape (n_variables, n_rows), each row contiguous.

The kernels of the conversion (`hand_up`, `hand_down`) pass sums between the
factors of a structure without fill-in, each with axes (feature parents..., owner,
class): `tables` lists those of the features with children before parents, `ups` the
factors that take their normalisers up, and cell k of `up` belongs to row
``rows[start + k]`` of the factor: a configuration of its parents, and a class. Factor
`prior` is that of the class.
"""

from __future__ import annotations

from math import exp, log

import numpy as np

from tanager.inference._kernels import add_to_touched, add_touched, touched_cells
from tanager.utils.jit import kernel

BLOCK = 256


@kernel
def exp_below_one(values, n, bits, scales):
    """Replace the first n values, none above 0, by their exponentials.

    In steps that vectorise, unlike a call of exp per value: with k = round(x / log 2)
    and r = x - k log 2, exp(x) is the Taylor polynomial of r, whose error is below
    rounding for |r| <= log(2) / 2 (r^14 / 14! is at most 5e-18), times 2^k, made from
    the bits of its exponent.
    `scales` is the float64 view of the integers `bits`.
    """
    for i in range(n):
        x = max(values[i], -700.0)
        # Next to 1.5 * 2^52 only whole numbers fit: k is what the last bits hold.
        scales[i] = x * 1.4426950408889634 + 6755399441055744.0
        k = scales[i] - 6755399441055744.0
        # log 2 in two parts: the first product is exact.
        r = x - k * 0.6931471803691238
        r -= k * 1.9082149292705877e-10
        # Two terms at a time: half as many steps that wait for one another.
        s = r * r
        p = 1 / 479001600 + r * (1 / 6227020800)
        p = 1 / 3628800 + r * (1 / 39916800) + s * p
        p = 1 / 40320 + r * (1 / 362880) + s * p
        p = 1 / 720 + r * (1 / 5040) + s * p
        p = 1 / 24 + r * (1 / 120) + s * p
        p = 0.5 + r * (1 / 6) + s * p
        values[i] = 1.0 + (r + s * p)
    for i in range(n):
        bits[i] = (bits[i] + 1023) << 52
    for i in range(n):
        values[i] *= scales[i]


@kernel
def class_masses(
    codes, labels, values, begin, size, offsets, start, axis_variable, axis_stride,
    n_classes, cells, joint, bits, own, masses,
):  # fmt: skip
    """Class probabilities of rows begin .. begin + size - 1, not yet normalised.

    Writes the touched cells as `touched_cells` does, exp(log joint - its maximum) to
    `joint`, shape (BLOCK, n_classes), its sum to `masses`, and the exponent of the
    row's own class, 0 for unlabelled rows, to `own`.
    """
    touched_cells(codes, begin, size, offsets, start, axis_variable, axis_stride, cells)
    for m in range(size):
        row = joint[m]
        add_touched(values, cells, offsets.shape[0], m, n_classes, row)
        highest = row[0]
        for c in range(1, n_classes):
            highest = max(highest, row[c])
        for c in range(n_classes):
            row[c] -= highest
        label = np.int64(labels[begin + m])
        own[m] = row[label] if label < n_classes else 0.0
    flat = joint.reshape(joint.size)
    exp_below_one(flat, size * n_classes, bits, bits.view(np.float64))
    for m in range(size):
        mass = 0.0
        for c in range(n_classes):
            mass += joint[m, c]
        masses[m] = mass


@kernel
def conditional_loss(
    codes, labels, weights, values, offsets, start, axis_variable, axis_stride,
    n_classes, gradient,
):  # fmt: skip
    """Sum of -log P(c | x) over rows, its gradient added to `gradient`.

    The log joint of a row is the sum of the cells it touches in the tables `values`,
    all with the class as last axis. Unlabelled rows have no effect. `weights` has
    shape (n_rows,), or (0,) for ones.
    """
    n_rows = labels.shape[0]
    n_tables = offsets.shape[0]
    weighted = weights.shape[0] > 0
    cells = np.empty((n_tables, BLOCK), dtype=np.int64)
    joint = np.empty((BLOCK, n_classes))
    bits = np.empty(BLOCK * n_classes, dtype=np.int64)
    own = np.empty(BLOCK)
    masses = np.empty(BLOCK)
    loss = 0.0
    for begin in range(0, n_rows, BLOCK):
        size = min(BLOCK, n_rows - begin)
        class_masses(
            codes, labels, values, begin, size, offsets, start, axis_variable,
            axis_stride, n_classes, cells, joint, bits, own, masses,
        )  # fmt: skip
        for m in range(size):
            label = np.int64(labels[begin + m])
            if label >= n_classes:
                continue
            weight = weights[begin + m] if weighted else 1.0
            loss += weight * (log(masses[m]) - own[m])
            scale = weight / masses[m]
            row = joint[m]
            for c in range(n_classes):
                row[c] *= scale
            row[label] -= weight
            add_to_touched(row, cells, n_tables, m, n_classes, gradient)
    return loss


@kernel
def two_class_loss(
    codes, labels, weights, values, offsets, start, axis_variable, axis_stride, gradient
):
    """Do what `conditional_loss` does for two classes, by differences of their cells.

    The log odds of the second class are the sum of the touched cells of `values`, in
    tables without the class; the gradient is that by them.
    """
    n_rows = labels.shape[0]
    n_tables = offsets.shape[0]
    weighted = weights.shape[0] > 0
    cells = np.empty((n_tables, BLOCK), dtype=np.int64)
    odds = np.empty(BLOCK)
    small = np.empty(BLOCK)
    bits = np.empty(BLOCK, dtype=np.int64)
    loss = 0.0
    for begin in range(0, n_rows, BLOCK):
        size = min(BLOCK, n_rows - begin)
        touched_cells(
            codes, begin, size, offsets, start, axis_variable, axis_stride, cells
        )
        odds[:size] = 0.0
        for t in range(n_tables):
            cell = cells[t]
            for m in range(size):
                odds[m] += values[np.uint64(cell[m])]
        for m in range(size):
            small[m] = -abs(odds[m])
        exp_below_one(small, size, bits, bits.view(np.float64))
        for m in range(size):
            label = labels[begin + m]
            if label >= 2:
                continue
            weight = weights[begin + m] if weighted else 1.0
            # Odds of the row's own class, and the probability of the other one.
            mine = odds[m] if label == 1 else -odds[m]
            other = (small[m] if mine > 0.0 else 1.0) / (1.0 + small[m])
            loss += weight * (log(1.0 + small[m]) - min(mine, 0.0))
            step = -weight * other if label == 1 else weight * other
            for t in range(n_tables):
                gradient[np.uint64(cells[t, m])] += step
    return loss


@kernel
def curvature_product(
    codes, labels, weights, posterior, values, offsets, start, axis_variable,
    axis_stride, n_classes, product,
):  # fmt: skip
    """Add the product of the Hessian of `conditional_loss` and `values` to `product`.

    `posterior` has shape (n_rows, n_columns): P(c | x) at the point of the Hessian, or
    that of the second class alone, with tables as in `two_class_loss`.
    """
    n_rows, n_columns = posterior.shape
    n_tables = offsets.shape[0]
    weighted = weights.shape[0] > 0
    cells = np.empty((n_tables, BLOCK), dtype=np.int64)
    row = np.empty(n_columns)
    changes = np.empty(BLOCK)
    for begin in range(0, n_rows, BLOCK):
        size = min(BLOCK, n_rows - begin)
        touched_cells(
            codes, begin, size, offsets, start, axis_variable, axis_stride, cells
        )
        if n_columns == 1:
            # Table after table: no sum waits for the one before.
            changes[:size] = 0.0
            for t in range(n_tables):
                cell = cells[t]
                for m in range(size):
                    changes[m] += values[np.uint64(cell[m])]
            for m in range(size):
                if labels[begin + m] >= n_classes:
                    continue
                own = posterior[begin + m]
                weight = weights[begin + m] if weighted else 1.0
                change = weight * own[0] * (1.0 - own[0]) * changes[m]
                for t in range(n_tables):
                    product[np.uint64(cells[t, m])] += change
            continue
        for m in range(size):
            if labels[begin + m] >= n_classes:
                continue
            add_touched(values, cells, n_tables, m, n_columns, row)
            own = posterior[begin + m]
            mean = 0.0
            for c in range(n_columns):
                mean += own[c] * row[c]
            weight = weights[begin + m] if weighted else 1.0
            for c in range(n_columns):
                row[c] = weight * own[c] * (row[c] - mean)
            add_to_touched(row, cells, n_tables, m, n_columns, product)
    return 0.0


@kernel
def class_moments(
    codes, labels, weights, values, offsets, start, axis_variable, axis_stride,
    sums,
):  # fmt: skip
    """Sum of -log P(c | x) over rows; adds to `sums`, shape (n_classes + 2, n_classes).

    To its first row the weight of every class, to the second P(c | x), and to the
    others P(c | x) P(d | x) for d <= c. Tables and weights are as in
    `conditional_loss`.
    """
    n_classes = sums.shape[1]
    observed = sums[0]
    expected = sums[1]
    products = sums[2:]
    n_rows = labels.shape[0]
    weighted = weights.shape[0] > 0
    cells = np.empty((offsets.shape[0], BLOCK), dtype=np.int64)
    joint = np.empty((BLOCK, n_classes))
    bits = np.empty(BLOCK * n_classes, dtype=np.int64)
    own = np.empty(BLOCK)
    masses = np.empty(BLOCK)
    loss = 0.0
    for begin in range(0, n_rows, BLOCK):
        size = min(BLOCK, n_rows - begin)
        class_masses(
            codes, labels, values, begin, size, offsets, start, axis_variable,
            axis_stride, n_classes, cells, joint, bits, own, masses,
        )  # fmt: skip
        for m in range(size):
            label = np.int64(labels[begin + m])
            if label >= n_classes:
                continue
            weight = weights[begin + m] if weighted else 1.0
            loss += weight * (log(masses[m]) - own[m])
            observed[label] += weight
            row = joint[m]
            for c in range(n_classes):
                row[c] /= masses[m]
            for c in range(n_classes):
                mass = weight * row[c]
                expected[c] += mass
                line = products[c]
                for d in range(c + 1):
                    line[d] += mass * row[d]
    return loss


@kernel
def class_uncertainties(
    codes, labels, weights, values, offsets, start, axis_variable, axis_stride,
    n_classes, out,
):  # fmt: skip
    """Write how uncertain the class of every row is to `out`, shape (n_rows,).

    The row's weight times ``1 - sum_c P(c | x)^2``, divided by its maximum.
    Tables and weights are as in `conditional_loss`.
    """
    n_rows = labels.shape[0]
    weighted = weights.shape[0] > 0
    cells = np.empty((offsets.shape[0], BLOCK), dtype=np.int64)
    joint = np.empty((BLOCK, n_classes))
    bits = np.empty(BLOCK * n_classes, dtype=np.int64)
    own = np.empty(BLOCK)
    masses = np.empty(BLOCK)
    for begin in range(0, n_rows, BLOCK):
        size = min(BLOCK, n_rows - begin)
        class_masses(
            codes, labels, values, begin, size, offsets, start, axis_variable,
            axis_stride, n_classes, cells, joint, bits, own, masses,
        )  # fmt: skip
        for m in range(size):
            uncertainty = 0.0
            for c in range(n_classes):
                probability = joint[m, c] / masses[m]
                uncertainty += probability * (1.0 - probability)
            weight = weights[begin + m] if weighted else 1.0
            out[begin + m] = weight * uncertainty * n_classes / (n_classes - 1)


@kernel
def add_cell_pairs(
    codes, labels, weights, n_states, offsets, start, axis_variable, axis_stride,
    n_classes, out,
):  # fmt: skip
    """Add the weight of the rows that touch cells i <= j to ``out[i, j]``.

    Cells are those of one class, tables in order; a table with a missing member is not
    touched. Unlabelled rows have no effect. `weights` has shape (n_rows,), or (0,)
    for ones.
    """
    n_rows = labels.shape[0]
    n_tables = offsets.shape[0]
    weighted = weights.shape[0] > 0
    unseen = -(np.int64(1) << np.int64(48))
    cells = np.empty((BLOCK, n_tables), dtype=np.int64)
    touched = np.empty(n_tables, dtype=np.int64)
    for begin in range(0, n_rows, BLOCK):
        size = min(BLOCK, n_rows - begin)
        for t in range(n_tables):
            for m in range(size):
                cells[m, t] = offsets[t] // n_classes
            for a in range(start[t], start[t + 1]):
                column = codes[axis_variable[a]]
                states = n_states[axis_variable[a]]
                stride = axis_stride[a] // n_classes
                for m in range(size):
                    code = np.int64(column[begin + m])
                    cells[m, t] += code * stride if code < states else unseen
        for m in range(size):
            if labels[begin + m] >= n_classes:
                continue
            weight = weights[begin + m] if weighted else 1.0
            n_touched = 0
            for t in range(n_tables):
                if cells[m, t] >= 0:
                    touched[n_touched] = cells[m, t]
                    n_touched += 1
            for i in range(n_touched):
                row = out[touched[i]]
                for j in range(i, n_touched):
                    row[np.uint64(touched[j])] += weight


@kernel
def hand_up(log_theta, tables, ups, states, starts, rows, ends, prior, n_classes):
    """Normalise `log_theta`, normalisers going up; the log of the last one."""
    for place in range(tables.shape[0]):
        t = tables[place]
        n_states = states[place]
        n_rows = (ends[t + 1] - ends[t]) // n_states
        totals = np.empty(n_rows)
        for row in range(n_rows):
            block, c = divmod(row, n_classes)
            first = ends[t] + block * n_states * n_classes + c
            last = first + n_states * n_classes
            highest = log_theta[first]
            for k in range(first, last, n_classes):
                highest = max(highest, log_theta[k])
            mass = 0.0
            for k in range(first, last, n_classes):
                mass += exp(log_theta[k] - highest)
            totals[row] = highest + log(mass)
            for k in range(first, last, n_classes):
                log_theta[k] -= totals[row]
        up = ups[place]
        for k in range(ends[up + 1] - ends[up]):
            log_theta[ends[up] + k] += totals[rows[starts[place] + k]]
    highest = log_theta[ends[prior]]
    for k in range(ends[prior], ends[prior + 1]):
        highest = max(highest, log_theta[k])
    mass = 0.0
    for k in range(ends[prior], ends[prior + 1]):
        mass += exp(log_theta[k] - highest)
    total = highest + log(mass)
    for k in range(ends[prior], ends[prior + 1]):
        log_theta[k] -= total
    return total


@kernel
def hand_down(joint, tables, ups, states, starts, rows, ends, n_classes):
    """Turn conditional tables `joint` into joint ones of every family and class."""
    for place in range(tables.shape[0] - 1, -1, -1):
        t = tables[place]
        n_states = states[place]
        above = np.zeros((ends[t + 1] - ends[t]) // n_states)
        up = ups[place]
        for k in range(ends[up + 1] - ends[up]):
            above[rows[starts[place] + k]] += joint[ends[up] + k]
        for row in range(above.shape[0]):
            block, c = divmod(row, n_classes)
            first = ends[t] + block * n_states * n_classes + c
            for k in range(first, first + n_states * n_classes, n_classes):
                joint[k] *= above[row]
