from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager.structure.constraints import ArcMasks
from tanager.structure.trees.spanning_tree import (
    constrained_forest,
    spanning_arborescence,
    spanning_tree,
)
from tests.reference.trees import best_forest, forest_weight
from tests.strategies import generators
from tests.tolerance import EXACT, assert_close


@settings(max_examples=25)
@given(random=generators(), n=st.integers(1, 5))
def test_spanning_trees_are_the_best_of_all(random, n):
    weights = random.integers(0, 5, (n, n)).astype(float)
    symmetric = weights + weights.T
    free = ArcMasks(~np.eye(n, dtype=bool), np.zeros((n, n), dtype=bool))
    for matrix, found in (
        (symmetric, spanning_tree(symmetric, 0)),
        (weights, constrained_forest(weights, 0, free)),
    ):
        roots, best = best_forest(matrix, free.allowed, free.required)
        assert (found < 0).sum() == roots
        assert_close(forest_weight(found, matrix), best, EXACT)


@settings(max_examples=40)
@given(random=generators(), n=st.integers(2, 5))
def test_constrained_forests_are_the_best_of_all(random, n):
    weights = random.random((n, n))
    allowed = (random.random((n, n)) < 0.5) & ~np.eye(n, dtype=bool)
    required = np.zeros((n, n), dtype=bool)
    arcs = np.argwhere(allowed)
    if len(arcs) and random.random() < 0.5:
        required[tuple(arcs[random.integers(len(arcs))])] = True
    found = constrained_forest(weights, 0, ArcMasks(allowed, required))
    roots, best = best_forest(weights, allowed, required)
    assert all(found[j] == i for i, j in np.argwhere(required))
    assert all(p < 0 or allowed[p, j] for j, p in enumerate(found))
    assert (found < 0).sum() == roots
    assert_close(forest_weight(found, weights), best, EXACT)


def test_arborescence_resolves_nested_cycles():
    weights = np.full((5, 5), 1.0)
    weights[1, 2] = weights[2, 1] = 10
    weights[3, 4] = weights[4, 3] = 10
    weights[2, 3] = weights[4, 1] = 9
    parent = spanning_arborescence(weights, 0)
    assert parent[0] == -1
    assert forest_weight(parent, weights) == 30


def test_ties_go_to_the_lowest_index():
    assert spanning_tree(np.ones((4, 4)), 0).tolist() == [-1, 0, 0, 0]
    assert spanning_tree(np.ones((4, 4)), 2).tolist() == [2, 2, -1, 2]
