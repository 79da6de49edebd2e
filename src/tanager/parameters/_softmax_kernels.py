"""Kernels of CPTs that follow a gradient.

`codes` is row-major here, shape (n_rows, n_features): a batch takes rows anywhere.
"""

from __future__ import annotations

from math import exp, log, sqrt

import numpy as np

from tanager.utils.jit import kernel

LARGEST_STEP = 7.3
"""Steps of Adam are at most so many times the rate, by the inequality of Cauchy."""


@kernel
def batch_log_joint(
    codes, rows, log_theta, offsets, start, axis_variable, axis_stride, has_class,
    cells, out,
):  # fmt: skip
    """Write the log joint of complete rows to `out`, shape (n_batch, n_classes).

    One CPT after the other, so that it stays in the first-level cache; its layout is
    that of `CompiledLayout`. `cells`, shape (n_tables, at least n_batch), is filled
    with the cell of every CPT and row, that of the first class where it has the class.
    """
    n_batch, n_classes = out.shape
    width = np.uint64(n_classes)
    out[:] = 0.0
    for t in range(offsets.shape[0]):
        touched = cells[t]
        for m in range(n_batch):
            touched[m] = offsets[t]
        for a in range(start[t], start[t + 1]):
            variable = axis_variable[a]
            stride = axis_stride[a]
            for m in range(n_batch):
                touched[m] += np.int64(codes[rows[m], variable]) * stride
        # Unsigned cells: numba then has no negative index to look out for.
        if has_class[t]:
            for m in range(n_batch):
                row = out[m]
                cell = np.uint64(touched[m])
                for c in range(width):
                    row[c] += log_theta[cell + c]
        else:
            for m in range(n_batch):
                row = out[m]
                alike = log_theta[np.uint64(touched[m])]
                for c in range(n_classes):
                    row[c] += alike


@kernel
def add_to_cells(cells, by_joint, has_class, gradient):
    """Add `by_joint`, derivatives by the log joint, to the cells that rows touch.

    `cells` are those of `batch_log_joint`, `by_joint` has shape (n_batch, n_classes)
    and `gradient` (n_cells,). CPTs without the class gain the sum over the classes.
    """
    n_batch, n_classes = by_joint.shape
    width = np.uint64(n_classes)
    for t in range(cells.shape[0]):
        touched = cells[t]
        if has_class[t]:
            for m in range(n_batch):
                row = by_joint[m]
                cell = np.uint64(touched[m])
                for c in range(width):
                    gradient[cell + c] += row[c]
        else:
            for m in range(n_batch):
                total = 0.0
                for c in range(n_classes):
                    total += by_joint[m, c]
                gradient[np.uint64(touched[m])] += total


@kernel
def move_table(steps, theta, log_theta, states, width, bound, total, shift):
    """Add steps to the logarithms of a CPT, and normalise it; `steps` is cleared.

    `theta` follows by factors near one, without a logarithm or exponential per cell:
    both are short series where the steps are short, and no step is larger than `bound`.
    The small loops are such that the compiler makes them wide. `steps`, `theta` and
    `log_theta` have shape (n_cells,); `states` are the owner's, `width` the cells after
    its axis; `total` and `shift` (at least width,) are room to work in.
    """
    size = theta.shape[0]
    if bound <= 0.025:
        for k in range(size):
            z = steps[k]
            e = 1.0 / 120.0 + z * (1.0 / 720.0)
            e = 1.0 / 24.0 + z * e
            e = 1.0 / 6.0 + z * e
            e = 0.5 + z * e
            e = 1.0 + z * e
            theta[k] *= 1.0 + z * e
    elif bound <= 0.25:
        for k in range(size):
            z = steps[k]
            e = 1.0 / 362880.0 + z * (1.0 / 3628800.0)
            e = 1.0 / 40320.0 + z * e
            e = 1.0 / 5040.0 + z * e
            e = 1.0 / 720.0 + z * e
            e = 1.0 / 120.0 + z * e
            e = 1.0 / 24.0 + z * e
            e = 1.0 / 6.0 + z * e
            e = 0.5 + z * e
            e = 1.0 + z * e
            theta[k] *= 1.0 + z * e
    elif bound <= 4.0:
        for k in range(size):
            z = 0.25 * steps[k]
            e = 1.0 / 39916800.0 + z * (1.0 / 479001600.0)
            e = 1.0 / 3628800.0 + z * e
            e = 1.0 / 362880.0 + z * e
            e = 1.0 / 40320.0 + z * e
            e = 1.0 / 5040.0 + z * e
            e = 1.0 / 720.0 + z * e
            e = 1.0 / 120.0 + z * e
            e = 1.0 / 24.0 + z * e
            e = 1.0 / 6.0 + z * e
            e = 0.5 + z * e
            e = 1.0 + z * e
            e = 1.0 + z * e
            e = e * e
            theta[k] *= e * e
    else:
        for k in range(size):
            theta[k] *= exp(steps[k])
    # Few arrays in each of the loops below, or the compiler gives up making them wide.
    n_rows = size // width
    rows = theta.reshape((n_rows, width))
    logs = log_theta.reshape((n_rows, width))
    moves = steps.reshape((n_rows, width))
    for block in range(n_rows // states):
        total[:] = 0.0
        for x in range(states):
            row = rows[block * states + x]
            for c in range(width):
                total[c] += row[c]
        if bound <= 0.25:
            for c in range(width):
                # log((1 + s) / (1 - s)) by its series: s is below an eighth.
                s = np.divide(total[c] - 1.0, total[c] + 1.0)
                q = s * s
                e = 1.0 / 13.0 + q * (1.0 / 15.0)
                e = 1.0 / 11.0 + q * e
                e = 1.0 / 9.0 + q * e
                e = 1.0 / 7.0 + q * e
                e = 1.0 / 5.0 + q * e
                e = 1.0 / 3.0 + q * e
                shift[c] = 2.0 * s * (1.0 + q * e)
        else:
            for c in range(width):
                shift[c] = log(total[c])
        for c in range(width):
            total[c] = np.divide(1.0, total[c])
        for x in range(states):
            row = rows[block * states + x]
            for c in range(width):
                row[c] *= total[c]
            row = logs[block * states + x]
            move = moves[block * states + x]
            for c in range(width):
                row[c] += move[c] - shift[c]
    for k in range(size):
        steps[k] = 0.0


@kernel
def adam_on_softmax(
    gradient, theta, log_theta, first, second, offsets, n_states, widths,
    beta1, beta2, epsilon, rate, mean, root,
):  # fmt: skip
    """One step of Adam on the softmax parameters; `gradient` is cleared.

    The derivative by a softmax parameter is that by the log probability less theta
    times its sum over the states. `log_theta` moves as the parameters do and is
    normalised again, and `theta` with it: see `move_table`. `first` and `second` are
    the running means of `Adam`, `mean` and `root` the factors of `Adam.advance`; `rate`
    is at most 0.5. `offsets` (n_tables + 1,), `n_states` and `widths` (n_tables,) are
    the first cell, the owner's states and the cells after its axis of every CPT.
    """
    widest = widths.max()
    total = np.empty(widest)
    shift = np.empty(widest)
    fresh1 = 1.0 - beta1
    fresh2 = 1.0 - beta2
    length = -rate * mean
    for t in range(n_states.shape[0]):
        begin, end = offsets[t], offsets[t + 1]
        states, width = n_states[t], widths[t]
        size = end - begin
        shape = (size // (states * width), states, width)
        slopes = gradient[begin:end].reshape(shape)
        table = theta[begin:end].reshape(shape)
        for b in range(shape[0]):
            total[:width] = 0.0
            for x in range(states):
                for c in range(width):
                    total[c] += slopes[b, x, c]
            for x in range(states):
                for c in range(width):
                    slopes[b, x, c] -= table[b, x, c] * total[c]
        flat = gradient[begin:end]
        mean_slope = first[begin:end]
        mean_square = second[begin:end]
        for k in range(size):
            slope = flat[k]
            mean_slope[k] += fresh1 * (slope - mean_slope[k])
            mean_square[k] += fresh2 * (slope * slope - mean_square[k])
            # Plain division looks for a zero first, which keeps it from being wide.
            flat[k] = np.divide(
                length * mean_slope[k], root * sqrt(mean_square[k]) + epsilon
            )
        move_table(
            flat, theta[begin:end], log_theta[begin:end], states, width,
            LARGEST_STEP * rate, total, shift,
        )  # fmt: skip


@kernel
def normalise(theta, log_theta, offsets, n_states, widths):
    """Normalise `log_theta` over the owner's states and set `theta` to match."""
    for t in range(n_states.shape[0]):
        states, width = n_states[t], widths[t]
        for block in range(offsets[t], offsets[t + 1], states * width):
            for c in range(block, block + width):
                highest = log_theta[c]
                for k in range(c, c + states * width, width):
                    highest = max(highest, log_theta[k])
                mass = 0.0
                for k in range(c, c + states * width, width):
                    theta[k] = exp(log_theta[k] - highest)
                    mass += theta[k]
                shift = highest + log(mass)
                for k in range(c, c + states * width, width):
                    theta[k] /= mass
                    log_theta[k] -= shift


@kernel
def by_softmax(gradient, theta, offsets, n_states, widths):
    """Turn the derivative by log theta into that by the softmax parameters.

    In place: ``g - theta * sum(g)``, the sum over the owner's states.
    """
    for t in range(n_states.shape[0]):
        states, width = n_states[t], widths[t]
        for block in range(offsets[t], offsets[t + 1], states * width):
            for c in range(block, block + width):
                total = 0.0
                for k in range(c, c + states * width, width):
                    total += gradient[k]
                for k in range(c, c + states * width, width):
                    gradient[k] -= theta[k] * total
