"""Kernels of Adam steps on candidate CPTs, with a gradient or by momentum alone.

Between two gradients of a CPT, Adam's mean and mean square decay by constant factors,
so that all of its steps go along one line. One number per CPT says how far it has gone.
"""

from __future__ import annotations

import numpy as np

from tanager.parameters._softmax_kernels import LARGEST_STEP, move_table
from tanager.utils.jit import kernel


@kernel
def step_table(
    slopes, theta, log_theta, mean, root, states, kept, kept_root, length, scale, adam,
    total, shift,
):  # fmt: skip
    """Update a CPT by a gradient, and move it along its new momentum.

    `slopes` is the derivative by `log_theta`, and is set to zero. `mean` and `root` are
    the running mean of the gradient and the root of that of its square at the last
    gradient; they have decayed by the factors `kept` and `kept_root` since. The softmax
    parameters move by ``-length * mean / (scale * root + epsilon)``. The axis of the
    owner, with `states` states, comes first; `total` and `shift` are buffers.
    """
    beta1, beta2, epsilon = adam
    size = theta.shape[0]
    width = size // states
    moves = slopes.reshape((states, width))
    table = theta.reshape((states, width))
    total[:] = 0.0
    for x in range(states):
        row = moves[x]
        for c in range(width):
            total[c] += row[c]
    for x in range(states):
        row = moves[x]
        values = table[x]
        for c in range(width):
            row[c] -= values[c] * total[c]
    keep1 = beta1 * kept
    keep2 = beta2 * kept_root * kept_root
    fresh1 = 1.0 - beta1
    fresh2 = 1.0 - beta2
    for k in range(size):
        mean[k] = keep1 * mean[k] + fresh1 * slopes[k]
    for k in range(size):
        root[k] = np.sqrt(keep2 * root[k] * root[k] + fresh2 * slopes[k] * slopes[k])
    move_along(
        slopes, theta, log_theta, mean, root, states, -length, scale, epsilon, total,
        shift,
    )  # fmt: skip


@kernel
def move_along(
    steps, theta, log_theta, mean, root, states, length, scale, epsilon, total, shift
):
    """Move a CPT along its momentum; see `step_table`. `steps` is a buffer."""
    for k in range(theta.shape[0]):
        # Plain division tests for zero first, which prevents vectorisation.
        steps[k] = np.divide(length * mean[k], scale * root[k] + epsilon)
    width = theta.shape[0] // states
    bound = LARGEST_STEP * abs(length) / scale
    move_table(steps, theta, log_theta, states, width, bound, total, shift)


@kernel
def retract_tables(selection, everything, has_missing, epsilon, shape, tables, buffers):
    """Take back momentum that CPTs were given in advance and have not had yet.

    Only the CPTs that a batch reads are moved, unless `everything` is True. The tuples
    are those of `_descent_kernels.descend`.
    """
    n_states, offsets, first = shape[0], shape[1], shape[2]
    theta, log_theta, mean, root, _, _, ahead, moved, scale = tables
    total, shift, steps = buffers[11], buffers[12], buffers[13]
    for j in range(first.shape[0] - 1):
        for t in range(first[j], first[j + 1]):
            # With missing values, every batch reads the first CPT of a feature.
            if everything or selection[t] != 0.0 or (has_missing and t == first[j]):
                excess = ahead[t] - moved[t]
                if excess != 0.0:
                    begin, end = offsets[t], offsets[t + 1]
                    width = (end - begin) // n_states[j]
                    move_along(
                        steps[: end - begin], theta[begin:end], log_theta[begin:end],
                        mean[begin:end], root[begin:end], n_states[j], excess,
                        scale[t], epsilon, total[:width], shift[:width],
                    )  # fmt: skip
                    ahead[t] = moved[t]
