"""Kernels that choose how many features of an order to keep."""

from __future__ import annotations

from math import log

import numpy as np

from tanager.utils.jit import kernel

TIE = 1e-9
"""Log joints that are no farther apart are equal: the rest is rounding."""


@kernel
def correct_by_prefix(
    codes, labels, weights, n_states, n_classes, order, offsets, start, axis_variable,
    axis_stride, row_offsets, counts, totals, log_theta, alpha, out,
):  # fmt: skip
    """Add the weight of rows that are right without themselves to `out`.

    ``out[s]`` gains the weight of the rows whose class is found by the first s features
    of `order`, ``out[-1]`` that of all rows with a label. Table t belongs to variable t
    and has the axes (parents, t, class), the class being the last variable. `totals`
    are the counts of the configurations of a table, from ``row_offsets[t]`` on.
    """
    n_features = order.shape[0]
    n_rows = labels.shape[0]
    prior = offsets[n_features]
    joint = np.empty((n_rows, n_classes))
    for m in range(n_rows):
        label = np.int64(labels[m])
        if label >= n_classes:
            continue
        weight = weights[m] if weights.shape[0] > 0 else 1.0
        for c in range(n_classes):
            joint[m, c] = log_theta[prior + c]
        # The total is the same for all classes: that of all rows will do.
        joint[m, label] = _log_frequency(
            counts[prior + label] - min(weight, 1.0),
            totals[row_offsets[n_features]],
            alpha,
            n_classes,
        )
        if _is_best(joint[m], label):
            out[0] += weight
        out[n_features + 1] += weight
    # One table after the other: it stays in the cache while the rows go by.
    for s in range(n_features):
        t = order[s]
        step = n_states[t] * n_classes
        for m in range(n_rows):
            label = np.int64(labels[m])
            if label >= n_classes:
                continue
            weight = weights[m] if weights.shape[0] > 0 else 1.0
            cell = np.int64(0)
            seen = True
            for a in range(start[t], start[t + 1]):
                code = np.int64(codes[axis_variable[a], m])
                seen &= code < n_states[axis_variable[a]]
                cell += code * axis_stride[a]
            if seen:
                row = row_offsets[t] + cell // step * n_classes
                cell += offsets[t]
                own = joint[m, label]
                for c in range(n_classes):
                    joint[m, c] += log_theta[cell + c]
                joint[m, label] = own + _log_frequency(
                    counts[cell + label] - min(weight, 1.0),
                    totals[row + label] - min(weight, 1.0),
                    alpha,
                    n_states[t],
                )
            if _is_best(joint[m], label):
                out[s + 1] += weight


@kernel
def _log_frequency(count, total, alpha, n_states):
    """Log of a smoothed frequency; uniform without any counts."""
    part = max(count, 0.0) + alpha
    whole = max(total, 0.0) + alpha * n_states
    if whole <= 0.0:
        return -log(n_states)
    if part <= 0.0:
        return -np.inf
    return log(part / whole)


@kernel
def _is_best(joint, label):
    """Whether a class has the largest value, the lowest class of those tied."""
    best = joint[0]
    for c in range(1, joint.shape[0]):
        best = max(best, joint[c])
    for c in range(label):
        if joint[c] >= best - TIE:
            return False
    return joint[label] >= best - TIE
