"""Residual score statistics and chordal graphs, by their definitions."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
from scipy.special import softmax


def posterior(layout, weights, data):
    """P(c | x) of every row: a table with a missing member adds nothing."""
    out = np.empty((data.n_samples, data.schema.n_classes))
    for m, row in enumerate(data.codes):
        joint = np.zeros(data.schema.n_classes)
        for t, axes in enumerate(layout.axes):
            features = [v for v in axes if v != layout.target]
            if all(row[v] < layout.n_states[v] for v in features):
                joint += layout.table(weights, t)[tuple(row[v] for v in features)]
        out[m] = softmax(joint)
    return out


def statistic(data, posterior, i, j, ridge):
    """S of one pair, cell by cell."""
    total = 0.0
    n_classes = data.schema.n_classes
    weights = np.ones(data.n_samples) if data.weights is None else data.weights
    for a in range(data.schema[i].n_states):
        for b in range(data.schema[j].n_states):
            for c in range(n_classes):
                residual = variance = 0.0
                for m in range(data.n_samples):
                    inside = data.codes[m, i] == a and data.codes[m, j] == b
                    if inside and data.labels[m] < n_classes:
                        p = posterior[m, c]
                        residual += weights[m] * ((data.labels[m] == c) - p)
                        variance += weights[m] * p * (1 - p)
                total += residual**2 / (variance + ridge)
    return total


def can_be_directed(adjacent, allowed, k):
    """Whether some order gives every node at most k parents, joined and allowed."""
    for order in permutations(range(len(adjacent))):
        for place, v in enumerate(order):
            parents = [u for u in order[:place] if adjacent[u, v]]
            if (
                len(parents) > k
                or not all(adjacent[p, q] for p, q in combinations(parents, 2))
                or not all(allowed[p, v] for p in parents)
            ):
                break
        else:
            return True
    return False


def best_edges(weights, allowed, k, wanted):
    """Always the heaviest edge with which the graph can still be directed."""
    n = len(weights)
    adjacent = np.zeros((n, n), dtype=bool)
    pairs = sorted(combinations(range(n), 2), key=lambda e: -weights[e])
    added = []
    while len(added) < wanted:
        for i, j in pairs:
            if adjacent[i, j]:
                continue
            adjacent[i, j] = adjacent[j, i] = True
            if can_be_directed(adjacent, allowed, k):
                added.append((i, j))
                break
            adjacent[i, j] = adjacent[j, i] = False
        else:
            break
    return added
