"""The best tree by trying all of them."""

from __future__ import annotations

from itertools import product

from tests.reference.forests import has_cycle


def forest_weight(parents, weights):
    """The weight of the arcs of a map from nodes to parents (-1: none)."""
    return sum(weights[p, j] for j, p in enumerate(parents) if p >= 0)


def best_forest(weights, allowed, required):
    """(fewest roots, greatest weight) over all parent maps without cycles."""
    n = len(weights)
    best = None
    for parents in product(range(-1, n), repeat=n):
        if any(p == j for j, p in enumerate(parents)):
            continue
        if any(p >= 0 and not allowed[p, j] for j, p in enumerate(parents)):
            continue
        if any(required[i, j] and parents[j] != i for i in range(n) for j in range(n)):
            continue
        if has_cycle(parents):
            continue
        roots = sum(p < 0 for p in parents)
        weight = forest_weight(parents, weights)
        if best is None or (roots, -weight) < (best[0], -best[1] - 1e-12):
            best = (roots, weight)
    return best
