"""Distribution over forests: against the list of all of them, and far from one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tanager.errors import InputError
from tanager.structure.gumbel import forest_distribution
from tanager.structure.gumbel.forest_distribution import (
    forest_entropy,
    forest_marginals,
)
from tests.reference.forests import forests
from tests.tolerance import EXACT, TABLES, assert_close


@pytest.fixture(params=["as chosen", "by elimination"])
def way(request, monkeypatch):
    """Both ways to the marginals on the same problems."""
    if request.param == "by elimination":
        monkeypatch.setattr(forest_distribution, "LONGEST_WALK", 0.0)


def random_problem(n_nodes, n_candidates, seed, scale=2.0, root=0.0):
    """Unsorted candidates, some twice, some forbidden, roots for some nodes."""
    random = np.random.default_rng(seed)
    child = np.concatenate(
        [np.arange(n_nodes), random.integers(n_nodes, size=n_candidates)]
    )
    parent = random.integers(-1, n_nodes, size=len(child))
    parent[: (n_nodes + 1) // 2] = -1
    weights = scale * random.normal(size=len(child)) + np.where(parent < 0, root, 0.0)
    weights[random.random(len(child)) < 0.1] = -np.inf
    mixed = random.permutation(len(child))
    return weights[mixed], child[mixed], parent[mixed], n_nodes


def by_enumeration(weights, child, parent, n_nodes):
    """Log partition, marginals, entropy of all forests; None where there are none."""
    every = forests(weights, child, parent, n_nodes)
    if not every:
        return None
    log_factors = np.array([weights[list(choice)].sum() for choice in every])
    log_partition = np.logaddexp.reduce(log_factors)
    shares = np.exp(log_factors - log_partition)
    marginals = np.zeros(len(weights))
    for choice, share in zip(every, shares, strict=True):
        marginals[list(choice)] += share
    entropy = -sum(p * np.log(p) for p in shares if p > 0.0)
    return log_partition, marginals, entropy


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("root", [0.0, -40.0, -2000.0])
@pytest.mark.parametrize("seed", range(12))
def test_equals_the_list_of_all_forests(seed, root):
    problem = random_problem(1 + seed % 5, 8, seed, root=root)
    expected = by_enumeration(*problem)
    if expected is None:
        with pytest.raises(InputError, match="has a cycle"):
            forest_marginals(*problem)
        return
    log_partition, marginals = forest_marginals(*problem)
    assert_close(log_partition, expected[0])
    assert_close(marginals, expected[1])
    entropy = forest_entropy(problem[0], log_partition, marginals)
    assert_close(entropy, expected[2])


@given(st.integers(0, 2**32 - 1), st.floats(0.0, 300.0))
def test_equals_the_list_of_all_forests_at_any_scale(seed, scale):
    problem = random_problem(4, 8, seed, scale=scale)
    expected = by_enumeration(*problem)
    if expected is not None:
        log_partition, marginals = forest_marginals(*problem)
        assert_close(log_partition, expected[0])
        assert_close(marginals, expected[1])


def test_small_marginals_are_accurate_where_roots_are_unlikely():
    # Two nodes that pull each other, and a way out that is 1e-300 as likely: the
    # factors are b + d for node 0, c + e for node 1, and b c is left out.
    b, c, d, e = 0.0, 0.5, -690.0, -700.0
    child, parent = np.array([0, 0, 1, 1]), np.array([1, -1, 0, -1])
    log_partition, marginals = forest_marginals(
        np.array([b, d, c, e]), child, parent, 2
    )
    total = np.logaddexp(np.logaddexp(b + e, d + c), d + e)
    assert_close(log_partition, total, EXACT)
    logs = [b + e, np.logaddexp(d + c, d + e), d + c, np.logaddexp(b + e, d + e)]
    np.testing.assert_allclose(np.log(marginals), np.array(logs) - total, atol=1e-11)


@pytest.mark.parametrize("n_nodes", [20, 61])
def test_both_ways_agree_on_larger_graphs(n_nodes, monkeypatch):
    problem = random_problem(n_nodes, 6 * n_nodes, 1)
    quick = forest_marginals(*problem)
    monkeypatch.setattr(forest_distribution, "LONGEST_WALK", 0.0)
    careful = forest_marginals(*problem)
    assert_close(quick[0], careful[0])
    assert_close(quick[1], careful[1])


@pytest.mark.usefixtures("way")
def test_marginals_are_the_gradient_of_the_log_partition():
    weights, child, parent, n_nodes = random_problem(8, 30, 5)
    weights[np.isneginf(weights)] = -3.0
    _, marginals = forest_marginals(weights, child, parent, n_nodes)
    step = 1e-5
    for a in range(len(weights)):
        ends = []
        for sign in (1.0, -1.0):
            moved = weights.copy()
            moved[a] += sign * step
            ends.append(forest_marginals(moved, child, parent, n_nodes)[0])
        assert_close(marginals[a], (ends[0] - ends[1]) / (2 * step), 1e-8)


@pytest.mark.usefixtures("way")
def test_every_node_has_one_candidate_in_a_forest():
    problem = random_problem(30, 150, 2, root=-5.0)
    _, marginals = forest_marginals(*problem)
    assert_close(np.bincount(problem[1], marginals), np.ones(30))
    assert np.all(marginals[np.isneginf(problem[0])] == 0.0)


@pytest.mark.usefixtures("way")
def test_number_of_labelled_forests_is_cayleys():
    # Rooted forests on n labelled nodes: (n + 1)^(n - 1).
    n_nodes = 9
    child, parent = np.nonzero(~np.eye(n_nodes, n_nodes + 1, dtype=bool))
    parent = np.where(parent == n_nodes, -1, parent)
    log_partition, _ = forest_marginals(np.zeros(len(child)), child, parent, n_nodes)
    assert_close(np.exp(log_partition), 10.0**8)


def test_one_forest_has_no_entropy():
    weights, child, parent = np.array([3.0, -2.0]), np.array([0, 1]), np.array([-1, 0])
    log_partition, marginals = forest_marginals(weights, child, parent, 2)
    assert_close(log_partition, 1.0)
    assert_close(marginals, np.ones(2))
    assert forest_entropy(weights, log_partition, marginals) <= TABLES


def test_no_nodes_have_one_forest():
    none = np.empty(0, dtype=np.int64)
    log_partition, marginals = forest_marginals(np.empty(0), none, none, 0)
    assert log_partition == 0.0
    assert marginals.shape == (0,)


@pytest.mark.parametrize(
    ("weights", "child", "parent", "message"),
    [
        ([0.0, 0.0], [0, 1], [1, 0], "has a cycle"),
        ([0.0, 0.0], [0, 0], [1, -1], "no candidate"),
        ([0.0, -np.inf], [0, 1], [-1, -1], "no candidate"),
    ],
)
def test_bad_candidates_are_refused(weights, child, parent, message):
    with pytest.raises(InputError, match=message):
        forest_marginals(np.array(weights), np.array(child), np.array(parent), 2)
