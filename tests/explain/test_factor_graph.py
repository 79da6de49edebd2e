"""Labels, blankets and graphs of log-linear networks with factors made by hand."""

from itertools import combinations

import numpy as np
import pytest

from tanager import Variable
from tanager.errors import NetworkOnlyError
from tanager.explain import measure_edges
from tanager.loglinear.factors_to_cpts import chordless_cycle
from tanager.network import loglinear_network
from tests.explain.makers import factor_network


def test_a_factor_without_support_is_not_in_the_blanket():
    support = {(0,): np.zeros(3), (1,): np.ones(3)}
    assert factor_network([(0,), (1,)], support=support).markov_blanket() == ("x1",)


def test_categories_in_parentheses_are_no_intervals():
    states = ("(Mr, Dr)", "(Ms, Dr)", "none")
    network = factor_network([(0,)], [Variable("title", states)], bins=(0, 0, 1, 2))
    assert network.log_table("title").states[0] == (
        "(Mr, Dr), (Ms, Dr)",
        "none",
        "not observed",
    )
    numbers = [Variable.binned("size", [1.0, 2.0])]
    network = factor_network([(0,)], numbers, bins=(0, 0, 1, 2))
    labels = network.log_table("size").states[0]
    assert labels == ("(-inf, 2]", "(2, inf)", "not observed")


def test_strengths_of_edges_and_of_the_graph_are_the_same():
    keys = [(0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2)]
    network = factor_network(keys)
    importance = {
        table.factor.key: table.importance for table in network.factors.tables
    }
    names = network.schema.names
    expected = {}
    for i, j in network.edge_strengths:
        ends = {i, j} - {len(names) - 1}
        sizes = [importance[key] for key in keys if ends <= set(key)]
        expected[frozenset((names[i], names[j]))] = np.sqrt(np.sum(np.square(sizes)))
    assert len(expected) == 6
    found = measure_edges(network)
    assert set(found.edges) == set(network.edges)
    graph = network.graph
    drawn = [(names[i], names[j]) for i, j in graph.arcs]
    for edges, values in ((found.edges, found.values), (drawn, graph.strengths)):
        for edge, value in zip(edges, values, strict=True):
            np.testing.assert_allclose(value, expected[frozenset(edge)])
    assert {above for above, below in drawn if "y" in (above, below)} == {"y"}


@pytest.mark.parametrize("n_edges", range(3, 15, 2))
def test_what_to_do_names_a_cycle_only_if_there_is_one(n_edges):
    pairs = list(combinations(range(6), 2))
    for seed in range(20):
        random = np.random.default_rng(seed)
        chosen = random.choice(len(pairs), n_edges, replace=False)
        keys = [(j,) for j in range(6)] + [pairs[k] for k in chosen]
        network = factor_network(keys)
        cycle = chordless_cycle(network.factors)
        words = "to_network.* cannot convert" if cycle else "Convert it with to_network"
        with pytest.raises(NetworkOnlyError, match=words):
            network.sample  # noqa: B018


def test_asking_for_a_query_does_not_search_for_a_cycle(monkeypatch):
    def search(factors):
        raise AssertionError

    monkeypatch.setattr(loglinear_network, "chordless_cycle", search)
    star = factor_network([(0, j) for j in range(1, 300)])
    assert not hasattr(star, "sample")
