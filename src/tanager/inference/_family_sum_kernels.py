"""Kernels that visit the configurations of a family that is a sum of tables.

Table t starts at ``offsets[t]``; its strides along the outer members of the family are
``strides[t]``, along the owner ``own[t]`` and along the innermost member, the class
where there is one, ``inner[t]``, which is 1; 0 along members that it does not have.
`sizes` are the states of the outer members, the last one fastest.
"""

from __future__ import annotations

from math import exp, inf, log

import numpy as np

from tanager.utils.jit import kernel


@kernel
def log_sums(values, offsets, strides, own, inner, sizes, n_states, out):
    """Write the log of the sum over the owner's states to `out`, (n_rows, n_inner)."""
    n_rows, n_inner = out.shape
    first = offsets.copy()
    place = np.zeros(sizes.shape[0], dtype=np.int64)
    total = np.empty((n_states, n_inner))
    mass = np.empty(n_inner)
    for row in range(n_rows):
        add_up(values, first, own, inner, total)
        log_sum(total, mass, out[row])
        advance(first, strides, sizes, place)


@kernel
def add_shares(values, above, offsets, strides, own, inner, sizes, n_states, out):
    """Add the joint probability of every configuration to the cells it touches.

    `values` are log probabilities, ``above`` of shape (n_rows, n_inner) the joint
    probability of the members without the owner.
    """
    n_rows, n_inner = above.shape
    first = offsets.copy()
    place = np.zeros(sizes.shape[0], dtype=np.int64)
    total = np.empty((n_states, n_inner))
    for row in range(n_rows):
        add_up(values, first, own, inner, total)
        for s in range(n_states):
            for c in range(n_inner):
                total[s, c] = above[row, c] * exp(total[s, c])
        for t in range(offsets.shape[0]):
            for s in range(n_states):
                cell = first[t] + s * own[t]
                for c in range(n_inner):
                    out[cell + c * inner[t]] += total[s, c]
        advance(first, strides, sizes, place)


@kernel
def add_up(values, first, own, inner, total):
    """Write the sums of the tables, each from its cell `first` on, to `total`."""
    total[:] = 0.0
    add_to(values, first, own, inner, 0, first.shape[0], total)


@kernel
def add_to(values, first, own, inner, begin, end, total):
    """Add tables number begin .. end - 1 to `total`, (n_states, n_inner)."""
    for t in range(begin, end):
        for s in range(total.shape[0]):
            cell = first[t] + s * own[t]
            if inner[t]:
                for c in range(total.shape[1]):
                    total[s, c] += values[cell + c]
            else:
                for c in range(total.shape[1]):
                    total[s, c] += values[cell]


@kernel
def log_sum(total, mass, out):
    """Write the log of the sum of ``exp(total)`` over its rows to `out`, (n_inner,).

    It may be minus infinity. `mass` is of the same shape, to work in.
    """
    n_states, n_inner = total.shape
    # By rows, in which neighbours lie side by side.
    out[:] = total[0]
    for s in range(1, n_states):
        for c in range(n_inner):
            out[c] = max(out[c], total[s, c])
    for c in range(n_inner):
        mass[c] = 0.0
        if not -inf < out[c] < inf:
            out[c] = 0.0
    for s in range(n_states):
        for c in range(n_inner):
            mass[c] += exp(total[s, c] - out[c])
    for c in range(n_inner):
        out[c] = out[c] + log(mass[c]) if mass[c] > 0.0 else -inf


@kernel
def advance(first, strides, sizes, place):
    """Move to the next configuration of the outer members."""
    for axis in range(sizes.shape[0] - 1, -1, -1):
        place[axis] += 1
        if place[axis] < sizes[axis]:
            for t in range(first.shape[0]):
                first[t] += strides[t, axis]
            return
        for t in range(first.shape[0]):
            first[t] -= (sizes[axis] - 1) * strides[t, axis]
        place[axis] = 0
