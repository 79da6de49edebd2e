"""Kernels that choose how many features of an order to keep."""

from __future__ import annotations

from math import log

import numpy as np

from tanager.core.jit import kernel

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
    are the counts summed over a table's owner, from ``row_offsets[t]`` on.
    """
    n_features = order.shape[0]
    weighted = weights.shape[0] > 0
    prior = offsets[n_features]
    joint = np.empty(n_classes)
    for m in range(labels.shape[0]):
        label = np.int64(labels[m])
        if label >= n_classes:
            continue
        weight = weights[m] if weighted else 1.0
        own = min(weight, 1.0)
        for c in range(n_classes):
            joint[c] = log_theta[prior + c]
        # The total is the same for all classes: that of all rows will do.
        joint[label] = _log_share(
            counts[prior + label] - own, totals[row_offsets[n_features]], alpha,
            n_classes,
        )  # fmt: skip
        if _is_best(joint, label):
            out[0] += weight
        for s in range(n_features):
            t = order[s]
            cell = offsets[t]
            seen = True
            for a in range(start[t], start[t + 1]):
                code = np.int64(codes[axis_variable[a], m])
                if code >= n_states[axis_variable[a]]:
                    seen = False
                cell += code * axis_stride[a]
            if seen:
                row = (cell - offsets[t]) // (n_states[t] * n_classes) * n_classes
                for c in range(n_classes):
                    if c != label:
                        joint[c] += log_theta[cell + c]
                joint[label] += _log_share(
                    counts[cell + label] - own,
                    totals[row_offsets[t] + row + label] - own,
                    alpha,
                    n_states[t],
                )
            if _is_best(joint, label):
                out[s + 1] += weight
        out[n_features + 1] += weight


@kernel
def _log_share(count, total, alpha, n_states):
    """Log of a smoothed share; of no counts at all, that of the uniform one."""
    share = max(count, 0.0) + alpha
    whole = max(total, 0.0) + alpha * n_states
    if whole <= 0.0:
        return -log(n_states)
    if share <= 0.0:
        return -np.inf
    return log(share / whole)


@kernel
def _is_best(joint, label):
    """Whether a class has the largest value, the lowest class of those tied."""
    best = joint.max() - TIE
    for c in range(label):
        if joint[c] >= best:
            return False
    return joint[label] >= best
