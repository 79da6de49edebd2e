from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from tanager import ELR, Constraints, InputError, OrderBased
from tanager.data.information import conditional_information
from tanager.inference import engine_for
from tanager.model import Structure
from tanager.structure.orders.feature_orders import feature_order
from tanager.structure.search.ordered_parents import _cliques
from tests.reference import search as reference
from tests.strategies import generators, random_data


@pytest.fixture(scope="module")
def rows():
    return random_data(np.random.default_rng(197), 120, 6, n_classes=3, max_states=3)


def sorted_parents(result):
    return [sorted(of) for of in result.structure.feature_parents[:-1]]


@pytest.mark.parametrize("as_names", [True, False])
@pytest.mark.parametrize("k", [1, 2])
def test_parents_come_before_their_children_in_a_given_order(rows, k, as_names):
    order = [4, 1, 5, 0, 3, 2]
    given = [rows.schema[j].name for j in order] if as_names else order
    result = OrderBased(given, k=k).learn(rows)
    for child, parents in enumerate(sorted_parents(result)):
        assert all(order.index(p) < order.index(child) for p in parents)
    expected, _ = reference.order_based(reference.PlainScore(rows), order, k)
    assert sorted_parents(result) == [sorted(of) for of in expected]


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("most", [1, 2, 3])
def test_few_candidates_are_those_with_most_information(rows, k, most):
    information = np.round(conditional_information(rows), 12)
    order = feature_order(rows, "omi").tolist()
    result = OrderBased(k=k, max_candidates=most, score="ll").learn(rows)
    for place, child in enumerate(order):
        earlier = sorted(order[:place], key=lambda p: (-information[p, child], p))
        assert {*sorted_parents(result)[child]} <= {*earlier[:most]}
    for step, place in zip(result.trace, range(1, 6), strict=True):
        n_earlier = min(place, most)
        sets = {1: n_earlier, 2: n_earlier * (n_earlier - 1) // 2 or 1}[k]
        assert step["candidates"] == sets


def test_many_candidates_are_all(rows):
    few = OrderBased(k=2, max_candidates=5).learn(rows)
    assert few.structure == OrderBased(k=2).learn(rows).structure


def test_the_best_of_several_orders_is_kept(rows):
    learner = OrderBased("ro", n_orders=6)
    every = learner.learn_all(rows, random_state=np.random.default_rng(2))
    best = learner.learn(rows, random_state=np.random.default_rng(2))
    scores = [result.trace[-1]["score"] for result in every]
    assert len(every) == 6
    assert len({*scores}) > 1
    assert best.structure == every[int(np.argmax(scores))].structure
    assert best.trace[-1]["score"] == max(scores)


def test_the_best_of_several_orders_by_a_score_below_zero(rows):
    learner = OrderBased("ro", n_orders=4, score="cl")
    every = learner.learn_all(rows, random_state=np.random.default_rng(2))
    best = learner.learn(rows, random_state=np.random.default_rng(2))
    assert best.trace[-1]["score"] == max(r.trace[-1]["score"] for r in every) < 0


def test_time_is_for_all_orders_together(rows, monkeypatch):
    now = iter(range(10**6))
    monkeypatch.setattr("tanager.utils.progress.perf_counter", lambda: float(next(now)))
    learner = OrderBased("ro", n_orders=1000, max_seconds=100, score="cl")
    with pytest.warns(ConvergenceWarning, match="max_seconds=100") as caught:
        every = learner.learn_all(rows, random_state=np.random.default_rng(2))
    assert len(caught) == 1
    assert 1 < len(every) < 100
    assert len(every[-1].trace) < 5
    with pytest.warns(ConvergenceWarning):
        best = learner.learn(rows, random_state=np.random.default_rng(2))
    assert len(best.trace) == 5


def test_an_interrupt_ends_all_orders(rows):
    calls = []

    def rate(log_joint, labels, weights):
        calls.append(None)
        if len(calls) == 40:
            raise KeyboardInterrupt
        return float((log_joint.argmax(axis=1) == labels).sum())

    learner = OrderBased("ro", n_orders=50, score=rate)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        every = learner.learn_all(rows, random_state=np.random.default_rng(2))
    assert 1 < len(every) < 10
    assert len(calls) == 40


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"order": "omx"}, r"Unknown order 'omx'. Did you mean 'omi'"),
        ({"order": ["f0"]}, "order lists 1 of 6 features"),
        ({"order": ["f0", "f0", *(f"f{j}" for j in range(1, 6))]}, "more than once"),
        ({"order": [*(f"f{j}" for j in range(5)), "zz"]}, "Unknown feature 'zz'"),
        ({"order": 3}, "order must be one of 'omi'.* or a list of all features, got 3"),
        ({"order": None}, "order must be one of"),
        (
            {
                "order": [f"f{j}" for j in range(6)],
                "constraints": Constraints(required=[("f3", "f1")]),
            },
            "'f3' must come before 'f1'",
        ),
        ({"n_orders": 0}, "n_orders must be a whole number of at least 1"),
        ({"max_candidates": 0}, "max_candidates must be None or a whole number"),
        ({"treewidth": "yes"}, "treewidth must be True or False"),
    ],
    ids=str,
)
def test_arguments_that_cannot_be_are_refused_before_any_work(rows, arguments, words):
    learner = OrderBased(**arguments)
    with pytest.raises(InputError, match=words):
        learner.check(rows.schema)
    with pytest.raises(InputError, match=words):
        learner.learn(rows)


def test_too_many_sets_are_refused(rows, monkeypatch):
    monkeypatch.setattr("tanager.structure.search.ordered_parents.MAX_SETS", 9)
    words = r"the last one has 10 sets of 2 features before it, .*max_candidates"
    with pytest.raises(InputError, match=words):
        OrderBased(k=2).check(rows.schema)
    order = [f"f{j}" for j in range(6)]
    learner = OrderBased(order, k=2, constraints=Constraints(forbidden=[("f0", "f1")]))
    learner.check(rows.schema)
    with pytest.raises(InputError, match=r"'f5' has 10 sets of 2 features before"):
        learner.learn(rows)
    assert OrderBased(k=2, max_candidates=4).learn(rows).trace
    assert OrderBased(k=2, treewidth=True).learn(rows).trace


def test_verbose_reports_orders(rows, capsys):
    OrderBased("ro", n_orders=2, verbose=True).learn(rows)
    lines = capsys.readouterr().err.splitlines()
    orders = [line for line in lines if not line.startswith("step ")]
    assert [line.split(" (")[0] for line in orders] == ["[1/2] order", "[2/2] order"]
    assert len(lines) == 12


@given(random=generators(), most=st.integers(1, 4), fraction=st.floats(0, 1))
def test_cliques_are_all_those_that_cannot_grow(random, most, fraction):
    joined = np.triu(random.random((7, 7)) < fraction, 1)
    adjacent = joined | joined.T
    features = np.flatnonzero(random.random(7) < 0.8).tolist()

    def is_clique(some):
        return all(adjacent[i, j] for i, j in combinations(some, 2))

    cliques = [
        [some for some in combinations(features, size) if is_clique(some)]
        for size in range(1, most + 1)
    ]
    for size, small in enumerate(cliques[:-1]):
        cliques[size] = [
            some
            for some in small
            if not any(is_clique({*some, j}) for j in features if j not in some)
        ]
    assert _cliques(adjacent, features, most) == cliques


def test_crcl_learns_cl_from_the_frequencies_for_every_candidate():
    """OMI-CRCL by the letter: no candidate starts from the tables of another."""
    data = random_data(np.random.default_rng(8), 40, 3, max_states=3, n_classes=2)

    class Plain:
        def value(self, parents):
            structure = Structure.class_rooted([*map(tuple, parents), ()], 3)
            tables = ELR(zero=1e-5).learn(structure, data)
            joint = engine_for(tables).log_joint(data.codes)
            return float((joint.argmax(axis=1) == data.labels).sum())

    order = feature_order(data, "omi").tolist()
    expected, steps = reference.order_based(Plain(), order, 1)
    found = OrderBased("omi", score="crcl").learn(data)
    assert [list(of) for of in found.structure.feature_parents[:-1]] == expected
    scores = [step["score"] for step in found.trace if step["arcs"]]
    assert scores == [score for _, score in steps]
