"""Joint distribution of additive weights, by enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.special import softmax


def joint_of_weights(layout, weights):
    """P over all variables, proportional to exp of the sum of the touched cells."""
    total = np.zeros(layout.n_states)
    for cell in product(*map(range, layout.n_states)):
        for t, axes in enumerate(layout.axes):
            total[cell] += layout.table(weights, t)[tuple(cell[v] for v in axes)]
    return softmax(total)


def joint_of_families(layout, log_theta):
    """P over all variables: exp of the sum of the touched cells, nothing else."""
    total = np.zeros(layout.n_states)
    for cell in product(*map(range, layout.n_states)):
        for t, axes in enumerate(layout.axes):
            total[cell] += layout.table(log_theta, t)[tuple(cell[v] for v in axes)]
    return np.exp(total)
