"""Directed forests over candidate arcs, all of them, one by one."""

from __future__ import annotations

from itertools import product

import numpy as np


def has_cycle(parents):
    """Return whether a map from nodes to parents (-1: none) has a cycle."""
    for start in range(len(parents)):
        node, steps = start, 0
        while node >= 0 and steps <= len(parents):
            node = parents[node]
            steps += 1
        if node >= 0:
            return True
    return False


def forests(weights, child, parent, n_nodes):
    """Every choice of one candidate per node without a cycle, as positions.

    Candidates of weight -inf are never chosen.
    """
    options = [
        [a for a in range(len(child)) if child[a] == v and weights[a] > -np.inf]
        for v in range(n_nodes)
    ]
    return [
        choice
        for choice in product(*options)
        if not has_cycle([int(parent[a]) for a in choice])
    ]
