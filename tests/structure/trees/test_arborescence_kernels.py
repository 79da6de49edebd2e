"""Forest of greatest weight: against all forests, and against the dense routine."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tanager.structure.trees._arborescence_kernels import best_forest, forest_workspace
from tanager.structure.trees.spanning_tree import spanning_arborescence
from tanager.utils.jit import kernel
from tests.reference.forests import forests, has_cycle
from tests.tolerance import assert_close


def solve(weights, child, parent, n_nodes):
    chosen = np.full(n_nodes, -7, dtype=np.int64)
    workspace = forest_workspace(n_nodes, len(weights))
    for part in workspace:
        part.fill(-99)
    found = best_forest(weights, child, parent, n_nodes, workspace, chosen)
    return chosen if found else None


@st.composite
def candidates(draw, weights):
    n_nodes = draw(st.integers(1, 5))
    arcs = []
    for v in range(n_nodes):
        parents = draw(
            st.lists(
                st.integers(-1, n_nodes - 1), max_size=4, unique=draw(st.booleans())
            )
        )
        arcs += [(v, p) for p in parents]
    child, parent = np.array(arcs, dtype=np.int64).reshape(-1, 2).T
    values = draw(st.lists(weights, min_size=len(arcs), max_size=len(arcs)))
    return np.array(values, dtype=np.float64), child.copy(), parent.copy(), n_nodes


def check(weights, child, parent, n_nodes):
    every = forests(weights, child, parent, n_nodes)
    chosen = solve(weights, child, parent, n_nodes)
    if not every:
        assert chosen is None
        return
    assert chosen is not None
    assert tuple(chosen) in every
    most = max(weights[list(choice)].sum() for choice in every)
    assert_close(weights[chosen].sum(), most)


@given(candidates(st.floats(-50, 50) | st.just(-np.inf)))
def test_no_forest_is_better(problem):
    check(*problem)


@given(candidates(st.integers(-2, 2).map(float) | st.just(-np.inf)))
def test_no_forest_is_better_with_ties(problem):
    check(*problem)


def every_arc(weights):
    """Candidates of a dense matrix of arcs i -> j with "no parent" in the last row."""
    n_nodes = weights.shape[1]
    parent, child = np.nonzero(~np.eye(n_nodes + 1, n_nodes, dtype=bool))
    by_child = np.argsort(child, kind="stable")
    parent, child = parent[by_child], child[by_child]
    return weights[parent, child], child, np.where(parent == n_nodes, -1, parent)


@pytest.mark.parametrize("shift", [0.0, -3.0, -30.0])
@pytest.mark.parametrize("n_nodes", [2, 17, 40])
def test_equals_the_dense_routine(n_nodes, shift):
    random = np.random.default_rng(n_nodes)
    whole = np.full((n_nodes + 1, n_nodes + 1), -np.inf)
    whole[:, :n_nodes] = random.normal(size=(n_nodes + 1, n_nodes))
    # The scarcer roots are, the more cycles there are to merge, down to a single tree.
    whole[n_nodes, :n_nodes] += shift
    weights, child, parent = every_arc(whole[:, :n_nodes])
    chosen = solve(weights, child, parent, n_nodes)
    expected = spanning_arborescence(whole, n_nodes)[:n_nodes]
    expected[expected == n_nodes] = -1
    np.testing.assert_array_equal(parent[chosen], expected)
    np.testing.assert_array_equal(child[chosen], np.arange(n_nodes))


@pytest.mark.parametrize("shift", [0.0, -5.0])
def test_equals_the_dense_routine_on_few_candidates(shift):
    n_nodes = 60
    random = np.random.default_rng(3)
    whole = np.full((n_nodes + 1, n_nodes + 1), -np.inf)
    arcs = []
    for v in range(n_nodes):
        others = np.delete(np.arange(n_nodes), v)
        parents = [-1, *sorted(random.choice(others, 4, replace=False).tolist())]
        arcs += [(v, p) for p in parents]
    child, parent = np.array(arcs).T
    weights = random.normal(size=len(arcs)) + np.where(parent < 0, shift, 0.0)
    whole[np.where(parent < 0, n_nodes, parent), child] = weights
    expected = spanning_arborescence(whole, n_nodes)[:n_nodes]
    expected[expected == n_nodes] = -1
    chosen = solve(weights, child.copy(), parent.copy(), n_nodes)
    np.testing.assert_array_equal(parent[chosen], expected)


def test_nested_cycles_are_opened_where_they_are_entered():
    # 0 <-> 1 is the best pair, with 2 it is a cycle again, and so on up the chain; the
    # only way in is at the innermost node.
    n_nodes = 12
    whole = np.full((n_nodes + 1, n_nodes), -np.inf)
    for v in range(1, n_nodes):
        whole[v - 1, v] = 10.0
        whole[v, 0] = 9.0 - v / 10.0
    whole[n_nodes, 0] = -100.0
    weights, child, parent = every_arc(whole)
    chosen = solve(weights, child, parent, n_nodes)
    np.testing.assert_array_equal(parent[chosen], np.arange(n_nodes) - 1)


def test_first_of_equal_candidates_is_taken():
    child = np.array([0, 0, 1, 1, 2, 2, 2])
    parent = np.array([-1, 1, -1, 0, 1, 0, -1])
    np.testing.assert_array_equal(solve(np.zeros(7), child, parent, 3), [0, 2, 4])
    # The pair 0 <-> 1 is entered equally well at both ends.
    weights = np.array([0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    np.testing.assert_array_equal(solve(weights, child, parent, 3), [0, 3, 4])


@pytest.mark.parametrize(
    ("weights", "child", "parent", "n_nodes"),
    [
        ([1.0, 1.0], [0, 1], [1, 0], 2),
        ([0.0, 1.0, 1.0], [0, 1, 2], [-1, 2, 1], 3),
        ([0.0], [0], [-1], 2),
        ([0.0, -np.inf], [0, 1], [-1, -1], 2),
        ([1.0, -np.inf, 1.0, -np.inf], [0, 0, 1, 1], [1, -1, 0, -1], 2),
        ([1.0], [0], [0], 1),
        ([], [], [], 1),
    ],
    ids=[
        "a cycle",
        "a cycle and a root",
        "a node without candidates",
        "a node with forbidden candidates only",
        "a cycle with forbidden ways in",
        "its own parent",
        "nothing",
    ],
)
def test_reports_that_there_is_no_forest(weights, child, parent, n_nodes):
    child = np.array(child, dtype=np.int64)
    parent = np.array(parent, dtype=np.int64)
    assert solve(np.array(weights), child, parent, n_nodes) is None


def test_no_nodes_are_a_forest():
    none = np.empty(0, dtype=np.int64)
    assert solve(np.empty(0), none, none, 0) is not None


@kernel
def _repeat(weights, child, parent, n_nodes, workspace, chosen):
    """Chosen candidates of every row of weights, in one workspace."""
    found = True
    for m in range(weights.shape[0]):
        found &= best_forest(weights[m], child, parent, n_nodes, workspace, chosen[m])
    return found


def test_called_by_a_kernel_in_one_workspace():
    n_nodes = 9
    random = np.random.default_rng(0)
    _, child, parent = every_arc(np.zeros((n_nodes + 1, n_nodes)))
    child, parent = child.astype(np.int32), parent.astype(np.int32)
    weights = random.normal(size=(20, len(child)))
    weights.setflags(write=False)
    chosen = np.empty((20, n_nodes), dtype=np.int64)
    workspace = forest_workspace(n_nodes + 3, len(child) + 5)
    assert _repeat(weights, child, parent, n_nodes, workspace, chosen)
    for row, choice in zip(weights, chosen, strict=True):
        assert not has_cycle(parent[choice].tolist())
        np.testing.assert_array_equal(solve(row, child, parent, n_nodes), choice)
