"""Kernels that pass sums between the tables of a structure without fill-in.

Every table has axes (feature parents..., owner, class); `tables` lists those of the
features with children before parents, `ups` the tables that take their normalisers up,
and cell k of `up` belongs to row ``rows[start + k]`` of the table: a configuration of
its parents, and a class. Table `prior` is that of the class.
"""

from __future__ import annotations

from math import exp, log

import numpy as np

from tanager.utils.jit import kernel


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


@kernel
def means_up(values, tables, ups, states, starts, rows, ends, n_classes):
    """Take the mean over the owner's states out of every row, means going up."""
    for place in range(tables.shape[0]):
        t = tables[place]
        n_states = states[place]
        means = np.zeros((ends[t + 1] - ends[t]) // n_states)
        for row in range(means.shape[0]):
            block, c = divmod(row, n_classes)
            first = ends[t] + block * n_states * n_classes + c
            last = first + n_states * n_classes
            for k in range(first, last, n_classes):
                means[row] += values[k] / n_states
            for k in range(first, last, n_classes):
                values[k] -= means[row]
        up = ups[place]
        for k in range(ends[up + 1] - ends[up]):
            values[ends[up] + k] += means[rows[starts[place] + k]]
