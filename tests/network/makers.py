"""Random networks of any structure, and evidence for them."""

from __future__ import annotations

import numpy as np

from tanager import Network


def general_network(
    random, n_variables, *, max_parents=3, max_states=3, zeros=0.0, target=None
):
    """A network in which any variable, the target too, may have parents.

    A fraction `zeros` of the entries of its tables is zero.
    """
    names = [f"v{k}" for k in range(n_variables)]
    states = {name: int(random.integers(1, max_states + 1)) for name in names}
    order = random.permutation(names).tolist()
    tables = {}
    for place, name in enumerate(order):
        n_parents = int(random.integers(0, min(place, max_parents) + 1))
        chosen = random.choice(order[:place], n_parents, replace=False).tolist()
        shape = [states[other] for other in (*chosen, name)]
        table = random.gamma(1.0, size=shape) + 1e-6
        table[random.random(shape) < zeros] = 0.0
        table[table.sum(axis=-1) == 0.0] = 1.0
        tables[name] = (chosen, table / table.sum(axis=-1, keepdims=True))
    variables = {name: [f"s{k}" for k in range(states[name])] for name in names}
    return Network.build(variables, tables, target=target)


def random_evidence(random, network, fraction, without=()):
    """States of a fraction of the variables, and the same as codes."""
    evidence, codes = {}, network.schema.n_states.tolist()
    for v, variable in enumerate(network.schema):
        if variable.name not in without and random.random() < fraction:
            codes[v] = int(random.integers(variable.n_states))
            evidence[variable.name] = variable.states[codes[v]]
    return evidence, codes


def column_table(rows, names):
    """A list of evidences as columns, None where nothing is known."""
    return {name: [row.get(name) for row in rows] for name in names}


def complete_rows(network):
    """All states of all variables as rows."""
    shape = network.schema.n_states.tolist()
    return [
        {v.name: v.states[c] for v, c in zip(network.schema, cell, strict=True)}
        for cell in np.ndindex(*shape)
    ]
