"""Counting by loops over rows."""

from __future__ import annotations

import numpy as np


def count_family(data, family):
    """Weighted counts with axes in the order of `family`, whole family observed."""
    codes, labels, weights = data.codes, data.labels, data.weights
    n_states, target = data.schema.n_states, data.schema.target
    table = np.zeros([n_states[v] for v in family])
    for m in range(len(labels)):
        cell = tuple(
            int(labels[m]) if v == target else int(codes[m, v]) for v in family
        )
        if all(code < n_states[v] for code, v in zip(cell, family, strict=True)):
            table[cell] += 1.0 if weights is None else weights[m]
    return table


def conditional_information(table):
    """I(X; Y | C) in nats of a table with axes (x, y, c), by the definition."""
    total = table.sum()
    value = 0.0
    for a, b, c in np.ndindex(table.shape):
        if table[a, b, c] > 0:
            p = table[a, b, c] / total
            p_ac = table[a, :, c].sum() / total
            p_bc = table[:, b, c].sum() / total
            p_c = table[:, :, c].sum() / total
            value += p * np.log(p * p_c / (p_ac * p_bc))
    return value


def frequencies(table, alpha=1.0, zero=None):
    """P(last axis | others) from counts, row by row."""
    theta = np.empty(table.shape)
    for row in np.ndindex(table.shape[:-1]):
        counts = table[row]
        if zero is None:
            values = [count + alpha for count in counts]
        else:
            total = sum(counts)
            values = [count / total if count > 0 else zero for count in counts]
        if sum(values) == 0:
            values = [1.0] * len(values)
        theta[row] = np.array(values) / sum(values)
    return theta
