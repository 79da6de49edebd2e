"""Likelihood of what is observed, and EM, by enumeration of every completion."""

from __future__ import annotations

from itertools import product

import numpy as np

from tanager import Network
from tanager.model import Parameters


def completed(structure, schema, row, barren):
    """Variables that a row's completions spell out: all, or those that matter.

    The class, features that are observed, and what is above them.
    """
    if barren:
        return set(range(len(schema)))
    found = set()
    waiting = [v for v in schema.features if row[v] < schema[v].n_states]
    waiting.append(schema.target)
    while waiting:
        v = waiting.pop()
        if v not in found:
            found.add(v)
            waiting += structure.parents[v]
    return found


def expectation(structure, data, layout, log_theta, barren=False):
    """Log likelihood and expected counts, one row and completion after the other."""
    schema = data.schema
    network = Network(schema, structure, Parameters(layout, log_theta))
    tables = [network.table(name).values for name in schema.names]
    weights = np.ones(data.n_samples) if data.weights is None else data.weights
    value, counts = 0.0, np.zeros(layout.n_cells)
    for codes, label, weight in zip(data.codes, data.labels, weights, strict=True):
        row = [*codes.tolist(), int(label)]
        kept = completed(structure, schema, row, barren)
        ranges = [
            [row[v]]
            if row[v] < schema[v].n_states
            else range(schema[v].n_states)
            if v in kept
            else [None]
            for v in range(len(schema))
        ]
        joint = {
            codes: np.prod(
                [
                    tables[v][tuple(codes[u] for u in structure.families[v])]
                    for v in kept
                ]
            )
            for codes in product(*ranges)
        }
        total = sum(joint.values())
        value += weight * np.log(total)
        for codes, probability in joint.items():
            for v in kept:
                cell = tuple(codes[u] for u in layout.axes[v])
                layout.table(counts, v)[cell] += weight * probability / total
    return value, counts


def maximisation(layout, counts, alpha):
    """Log of relative frequencies with pseudo-counts; nothing at all is uniform."""
    out = np.empty(layout.n_cells)
    for t in range(layout.n_tables):
        axis = layout.owner_axis(t)
        table = layout.table(counts, t) + alpha
        total = np.broadcast_to(table.sum(axis=axis, keepdims=True), table.shape)
        for cell in np.ndindex(table.shape):
            theta = table[cell] / total[cell] if total[cell] else 1 / table.shape[axis]
            layout.table(out, t)[cell] = np.log(theta) if theta else -np.inf
    return out


def em(structure, data, layout, log_theta, alpha, steps, barren=False):
    """Log tables and log likelihood at the start and after every step."""
    visited = []
    for _ in range(steps + 1):
        value, counts = expectation(structure, data, layout, log_theta, barren)
        visited.append((log_theta, value))
        log_theta = maximisation(layout, counts, alpha)
    return visited
