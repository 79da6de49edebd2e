"""Answers read off the joint distribution, written out as one array."""

from __future__ import annotations

import numpy as np


def joint_table(network):
    """P of all assignments at once, one axis per variable."""
    n = len(network.schema)
    total = np.ones(network.schema.n_states)
    for index, family in enumerate(network.structure.families):
        table = network.table(network.schema.names[index]).values
        order = np.argsort(family)
        shape = [1] * n
        for v in family:
            shape[v] = network.schema[v].n_states
        total = total * table.transpose(order).reshape(shape)
    return total


def restricted(network, joint, codes):
    """The joint with everything that contradicts the codes set to zero."""
    keep = np.ones((1,) * joint.ndim, dtype=bool)
    for v, variable in enumerate(network.schema):
        if codes[v] < variable.n_states:
            shape = [1] * joint.ndim
            shape[v] = variable.n_states
            keep = keep & (np.arange(variable.n_states) == codes[v]).reshape(shape)
    return np.where(keep, joint, 0.0)


def marginal_of(network, joint, codes, query):
    """P(evidence, query), shape (states of query,)."""
    others = tuple(v for v in range(joint.ndim) if v != query)
    return restricted(network, joint, codes).sum(axis=others)
