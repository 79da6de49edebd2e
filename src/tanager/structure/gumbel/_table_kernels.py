"""Kernels that move candidate tables by Adam, with a gradient or by momentum alone.

Between two gradients of a table, Adam's mean and mean square fade by constant factors,
so that all of its steps go along one line. How far it has gone is a number per table.
"""

from __future__ import annotations

import numpy as np

from tanager.parameters._softmax_kernels import LARGEST_STEP, move_table
from tanager.utils.jit import kernel


@kernel
def step_table(
    slopes, theta, log_theta, mean, root, states, kept, kept_root, length, scale, beta1,
    beta2, epsilon, total, shift,
):  # fmt: skip
    """Move a table with a gradient along its new momentum.

    Parameters
    ----------
    slopes : float64 array, shape (n_cells,)
        Derivative by `log_theta`; cleared.
    theta, log_theta : float64 arrays, shape (n_cells,)
        The table, the owner's axis first.
    mean, root : float64 arrays, shape (n_cells,)
        Running mean of the gradient, and root of that of its square, as of the last
        gradient that was not zero.
    states : int
        Owner's states.
    kept, kept_root : float
        What is left of `mean` and `root` after the steps without a gradient since.
    length, scale : float
        The softmax parameters go by ``-length * mean / (scale * root + epsilon)``.
    beta1, beta2, epsilon : float
        As in `Adam`.
    total, shift : float64 arrays, shape (n_cells / states,)
        Room to work in.
    """
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
    """Move a table along its momentum; see `step_table`, `steps` is room."""
    for k in range(theta.shape[0]):
        # Plain division looks for a zero first, which keeps it from being wide.
        steps[k] = np.divide(length * mean[k], scale * root[k] + epsilon)
    width = theta.shape[0] // states
    bound = LARGEST_STEP * abs(length) / scale
    move_table(steps, theta, log_theta, states, width, bound, total, shift)


@kernel
def settle(
    t, states, theta, log_theta, mean, root, ahead, moved, scale, offsets, epsilon,
    steps, total, shift,
):  # fmt: skip
    """Take back the momentum that a table was given ahead of time and has not had.

    Parameters
    ----------
    t, states : int
        The table, and its owner's states.
    ahead, moved, scale : float64 arrays, shape (n_tables,)
        How far every table was moved ahead after its last gradient, how far it should
        have moved by now, and the scale of both as in `step_table`.
    steps, total, shift : float64 arrays
        Room to work in.
    """
    too_far = ahead[t] - moved[t]
    if too_far == 0.0:
        return
    begin, end = offsets[t], offsets[t + 1]
    width = (end - begin) // states
    move_along(
        steps[: end - begin], theta[begin:end], log_theta[begin:end], mean[begin:end],
        root[begin:end], states, too_far, scale[t], epsilon, total[:width],
        shift[:width],
    )  # fmt: skip
    ahead[t] = moved[t]


@kernel
def settle_tables(
    shares, everything, has_gaps, theta, log_theta, mean, root, ahead, moved, scale,
    n_states, offsets, first, epsilon, steps, total, shift,
):  # fmt: skip
    """Settle the tables that a batch reads, or all of them."""
    for j in range(first.shape[0] - 1):
        for t in range(first[j], first[j + 1]):
            # Rows with gaps read the first table of a feature, whichever is chosen.
            if everything or shares[t] != 0.0 or (has_gaps and t == first[j]):
                settle(
                    t, n_states[j], theta, log_theta, mean, root, ahead, moved, scale,
                    offsets, epsilon, steps, total, shift,
                )  # fmt: skip
