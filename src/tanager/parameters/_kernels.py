"""Kernels of parameter learners.

`codes` is always given transposed, shape (n_variables, n_rows), each row contiguous.
"""

from __future__ import annotations

from math import frexp, ldexp, log

import numpy as np

from tanager.core.jit import kernel
from tanager.inference._expected_kernels import share_of_classes
from tanager.inference._kernels import add_touched, touched_cells

BLOCK = 256
ROWS = 64


@kernel
def count_by_loss(
    codes, labels, weights, order, n_states, n_classes, offsets, start, axis_variable,
    axis_stride, row_offsets, alpha, chunk, counts, masses, inverses,
):  # fmt: skip
    """One pass of the discriminative frequency estimate over the rows in `order`.

    Table j belongs to feature j and has the axes (parents, j, class); the last table is
    that of the class. The joint of a row with a class is a product of
    ``(count + alpha) / mass``, one factor per table. Inverse masses are kept, so that
    no logarithm is taken, and only cells of a row's own class cost a division. After
    every `chunk` factors, if there are more, the product is brought to [0.5, 1) and its
    power of two put aside: nothing underflows.

    Parameters
    ----------
    row_offsets : int array, shape (n_tables,)
        Where a table's rows, axes (parents, class), start in `masses`; the table of the
        class has one row.
    alpha : float
        Pseudo-count of every cell, above 0.
    chunk : int
        Number of factors whose product, even if begun at 0.5, cannot underflow.
    counts : float64 array, shape (n_cells,)
        Added to in place.
    masses, inverses : float64 arrays, shape (n_table_rows,)
        Sum of ``count + alpha`` over the states of the owner, and one over it; kept up
        to date.
    """
    if n_classes < 2:
        return  # its probability is one: nothing is lost
    n_features = offsets.shape[0] - 1
    n_rows = order.shape[0]
    weighted = weights.shape[0] > 0
    prior = offsets[n_features]
    all_rows = row_offsets[n_features]
    split = chunk <= n_features  # one factor more: the class
    unseen = -(np.int64(1) << np.int64(48))  # added once per missing axis
    cells = np.empty((ROWS, n_features), dtype=np.int64)
    rows = np.empty((ROWS, n_features), dtype=np.int64)
    joint = np.empty(n_classes)
    power = np.zeros(n_classes, dtype=np.int64)
    for begin in range(0, n_rows, ROWS):
        size = min(ROWS, n_rows - begin)
        for j in range(n_features):
            for a in range(start[j], start[j + 1]):
                variable = axis_variable[a]
                column = codes[variable]
                states = n_states[variable]
                stride = axis_stride[a]
                # The owner is the axis after the parents: its rows lack it.
                row_stride = 0 if variable == j else stride // n_states[j]
                if a == start[j]:
                    for m in range(size):
                        code = np.int64(column[order[begin + m]])
                        cells[m, j] = (
                            offsets[j] + code * stride if code < states else unseen
                        )
                        rows[m, j] = row_offsets[j] + code * row_stride
                else:
                    for m in range(size):
                        code = np.int64(column[order[begin + m]])
                        cells[m, j] += code * stride if code < states else unseen
                        rows[m, j] += code * row_stride
        for m in range(size):
            label = np.int64(labels[order[begin + m]])
            if label >= n_classes:
                continue
            cell = cells[m]
            row = rows[m]
            for pair in range(0, n_classes, 2):
                # Two neighbours at a time, in registers; of an odd number one twice.
                c = min(pair, n_classes - 2)
                d = c + 1
                scale = inverses[all_rows]
                product_c = (counts[prior + c] + alpha) * scale
                product_d = (counts[prior + d] + alpha) * scale
                power_c = np.int64(0)
                power_d = np.int64(0)
                for first in range(0, n_features, chunk):
                    if split:
                        product_c, more = frexp(product_c)
                        power_c += more
                        product_d, more = frexp(product_d)
                        power_d += more
                    for j in range(first, min(first + chunk, n_features)):
                        k = cell[j]
                        r = row[j]
                        # The second is always true; the compiler then knows, too.
                        if k >= 0 and r >= 0:
                            product_c *= (counts[k + c] + alpha) * inverses[r + c]
                            product_d *= (counts[k + d] + alpha) * inverses[r + d]
                joint[c] = product_c
                joint[d] = product_d
                power[c] = power_c
                power[d] = power_d
            if split:
                highest = unseen
                for c in range(n_classes):
                    joint[c], more = frexp(joint[c])
                    power[c] += more
                    highest = max(highest, power[c])
                for c in range(n_classes):
                    joint[c] = ldexp(joint[c], int(max(power[c] - highest, -2000)))
            mass = 0.0
            for c in range(n_classes):
                mass += joint[c]
            loss = 1.0 - joint[label] / mass
            if weighted:
                loss *= weights[order[begin + m]]
            if not loss > 0.0:
                continue
            counts[prior + label] += loss
            masses[all_rows] += loss
            inverses[all_rows] = 1.0 / masses[all_rows]
            for j in range(n_features):
                k = cell[j]
                r = row[j] + label
                if k >= 0 and r >= 0:
                    counts[k + label] += loss
                    masses[r] += loss
                    inverses[r] = 1.0 / masses[r]


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
        # Beside 1.5 * 2^52 only whole numbers fit: k is what the last bits hold.
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
def add_to_touched(row, cells, n_tables, m, n_classes, out):
    """Add `row`, shape (n_classes,), to the cells of `out` that row m touches."""
    # Four classes at a time, in registers.
    c = 0
    while c + 4 <= n_classes:
        row_0 = row[c]
        row_1 = row[c + 1]
        row_2 = row[c + 2]
        row_3 = row[c + 3]
        for t in range(n_tables):
            k = cells[t, m] + c
            sum_0 = out[k] + row_0
            sum_1 = out[k + 1] + row_1
            sum_2 = out[k + 2] + row_2
            sum_3 = out[k + 3] + row_3
            out[k] = sum_0
            out[k + 1] = sum_1
            out[k + 2] = sum_2
            out[k + 3] = sum_3
        c += 4
    while c < n_classes:
        row_0 = row[c]
        for t in range(n_tables):
            out[cells[t, m] + c] += row_0
        c += 1


@kernel
def class_shares(
    codes, labels, values, begin, size, offsets, start, axis_variable, axis_stride,
    n_classes, cells, joint, bits, own, masses,
):  # fmt: skip
    """Class probabilities of rows begin .. begin + size - 1, not yet normalised.

    Writes the touched cells as `touched_cells` does, exp(log joint - its greatest) to
    `joint`, shape (BLOCK, n_classes), its sum to `masses`, and the exponent of the
    row's own class, 0 for rows without a label, to `own`.
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
    all with the class as last axis. Rows without a label give nothing. `weights` has
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
        class_shares(
            codes, labels, values, begin, size, offsets, start, axis_variable,
            axis_stride, n_classes, cells, joint, bits, own, masses,
        )  # fmt: skip
        for m in range(size):
            label = np.int64(labels[begin + m])
            if label >= n_classes:
                continue
            weight = weights[begin + m] if weighted else 1.0
            loss += weight * (log(masses[m]) - own[m])
            share = weight / masses[m]
            row = joint[m]
            for c in range(n_classes):
                row[c] *= share
            row[label] -= weight
            add_to_touched(row, cells, n_tables, m, n_classes, gradient)
    return loss


@kernel
def two_class_loss(
    codes, labels, weights, values, offsets, start, axis_variable, axis_stride, gradient
):
    """The same as `conditional_loss` for two classes, by the differences of their cells.

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
                odds[m] += values[cell[m]]
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
                gradient[cells[t, m]] += step
    return loss


@kernel
def class_moments(
    codes, labels, weights, values, offsets, start, axis_variable, axis_stride,
    n_classes, observed, expected, products,
):  # fmt: skip
    """Sum of -log P(c | x) over rows; adds sums over rows to three arrays.

    To `observed` the weight of every class, to `expected` P(c | x), and to `products`
    P(c | x) P(d | x) for d <= c. Tables and weights are as in `conditional_loss`.
    """
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
        class_shares(
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
                share = weight * row[c]
                expected[c] += share
                line = products[c]
                for d in range(c + 1):
                    line[d] += share * row[d]
    return loss


@kernel
def class_doubts(
    codes, labels, weights, values, offsets, start, axis_variable, axis_stride,
    n_classes, out,
):  # fmt: skip
    """Write how far rows are from telling the classes apart to `out`, shape (n_rows,).

    The row's weight times ``1 - sum_c P(c | x)^2``, divided by the most that can be.
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
        class_shares(
            codes, labels, values, begin, size, offsets, start, axis_variable,
            axis_stride, n_classes, cells, joint, bits, own, masses,
        )  # fmt: skip
        for m in range(size):
            doubt = 0.0
            for c in range(n_classes):
                share = joint[m, c] / masses[m]
                doubt += share * (1.0 - share)
            weight = weights[begin + m] if weighted else 1.0
            out[begin + m] = weight * doubt * n_classes / (n_classes - 1)


@kernel
def touched_together(
    codes, labels, weights, n_states, offsets, start, axis_variable, axis_stride,
    n_classes, out,
):  # fmt: skip
    """Add the weight of the rows that touch cells i <= j to ``out[i, j]``.

    Cells are those of one class, tables in order; a table with a missing member is not
    touched. Rows without a label give nothing. `weights` has shape (n_rows,), or (0,)
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
                    row[touched[j]] += weight


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
