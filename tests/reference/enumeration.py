"""Inference by enumeration of every completion."""

from __future__ import annotations

from itertools import product

import numpy as np


def joint_probability(network, codes):
    """P of a full assignment, the product of one entry of every table."""
    value = 1.0
    for index, family in enumerate(network.structure.families):
        table = network.table(network.schema.names[index]).values
        value *= table[tuple(codes[v] for v in family)]
    return value


def marginal(network, codes, keep):
    """P(evidence, keep) for one row of codes, shape (states of keep...)."""
    schema = network.schema
    ranges = [
        range(schema[v].n_states)
        if v in keep or codes[v] == schema[v].n_states
        else [int(codes[v])]
        for v in range(len(schema))
    ]
    out = np.zeros([schema[v].n_states for v in keep])
    for assignment in product(*ranges):
        out[tuple(assignment[v] for v in keep)] += joint_probability(
            network, assignment
        )
    return out


def expected_counts(network, layout, codes, class_weights):
    """Sum of class_weights[m, c] P(family | e_m, c), flat as in `layout`."""
    schema = network.schema
    out = np.zeros(layout.n_cells)
    for row, by_class in zip(codes, class_weights, strict=True):
        for c, weight in enumerate(by_class):
            whole = [*row.tolist(), c]
            total = marginal(network, whole, ())
            for index, axes in enumerate(layout.axes):
                table = layout.table(out, index)
                for cell in np.ndindex(table.shape):
                    fixed = list(whole)
                    agrees = True
                    for v, state in zip(axes, cell, strict=True):
                        agrees &= fixed[v] in (state, schema[v].n_states)
                        fixed[v] = state
                    if agrees:
                        table[cell] += weight * marginal(network, fixed, ()) / total
    return out
