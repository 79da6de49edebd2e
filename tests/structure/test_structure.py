from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager import (
    ChowLiu,
    Fixed,
    InputError,
    NaiveBayes,
    RandomTree,
    ResidualTree,
    Schema,
    Variable,
)
from tanager.data import conditional_information
from tanager.structure import Constraints
from tanager.structure.constraints import ArcMasks
from tanager.structure.trees.spanning_tree import (
    constrained_forest,
    spanning_arborescence,
    spanning_tree,
)
from tests.reference.trees import best_forest
from tests.strategies import generators, random_data
from tests.tolerance import EXACT, assert_close

LEARNERS = [
    NaiveBayes(),
    ChowLiu(),
    RandomTree(),
    ResidualTree(),
    Fixed(edges=[("f0", "f1")]),
]


def weight_of(parent, weights):
    return sum(weights[p, j] for j, p in enumerate(parent) if p >= 0)


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
        assert_close(weight_of(found, matrix), best, EXACT)


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
    assert_close(weight_of(found, weights), best, EXACT)


def test_arborescence_resolves_nested_cycles():
    weights = np.full((5, 5), 1.0)
    weights[1, 2] = weights[2, 1] = 10
    weights[3, 4] = weights[4, 3] = 10
    weights[2, 3] = weights[4, 1] = 9
    parent = spanning_arborescence(weights, 0)
    assert parent[0] == -1
    assert weight_of(parent, weights) == 30


def test_ties_go_to_the_lowest_index():
    assert spanning_tree(np.ones((4, 4)), 0).tolist() == [-1, 0, 0, 0]
    assert spanning_tree(np.ones((4, 4)), 2).tolist() == [2, 2, -1, 2]


@pytest.mark.parametrize(
    "learner", LEARNERS, ids=lambda learner: type(learner).__name__
)
@pytest.mark.parametrize("missing", [0.0, 0.5, 1.0])
def test_structures_are_class_rooted_and_acyclic(learner, missing):
    random = np.random.default_rng(0)
    data = random_data(random, 40, 5, missing=missing)
    structure = learner.learn(data, random_state=random).structure
    assert structure.is_class_rooted
    assert structure.is_tree
    assert len(structure.topological_order) == 6


def test_chow_liu_takes_the_heaviest_tree():
    data = random_data(np.random.default_rng(1), 200, 5, max_states=3)
    weights = conditional_information(data)
    result = ChowLiu().learn(data)
    free = ~np.eye(5, dtype=bool)
    _, best = best_forest(weights, free, np.zeros((5, 5), dtype=bool))
    parent = [next(iter(p), -1) for p in result.structure.feature_parents[:5]]
    assert_close(weight_of(parent, weights), best, 1e-9)
    assert parent[0] == -1
    assert_close(sum(step["weight"] for step in result.trace), best, 1e-9)


def test_root_by_name_or_position():
    data = random_data(np.random.default_rng(1), 50, 4)
    for root in ("f2", 2):
        structure = ChowLiu(root=root).learn(data).structure
        assert structure.feature_parents[2] == ()
    for wrong in ("class", 4, -1, True):
        with pytest.raises(InputError, match="root must be"):
            ChowLiu(root=wrong).learn(data)


def test_column_permutation_permutes_the_tree():
    random = np.random.default_rng(7)
    data = random_data(random, 300, 5, max_states=3, n_classes=2)
    order = random.permutation(5)
    permuted = type(data)(
        Schema((*(data.schema[j] for j in order), data.schema[5]), 5),
        np.asfortranarray(data.codes[:, order]),
        data.labels,
    )

    def skeleton(result, schema):
        return {
            frozenset((schema.names[p], schema.names[c]))
            for p, c in result.structure.arcs
        }

    assert skeleton(ChowLiu().learn(data), data.schema) == skeleton(
        ChowLiu().learn(permuted), permuted.schema
    )


def test_random_trees_follow_the_seed():
    data = random_data(np.random.default_rng(0), 20, 6)

    def draw(seed):
        random = np.random.default_rng(seed)
        return RandomTree().learn(data, random_state=random).structure

    assert draw(3) == draw(3)
    assert len({draw(seed) for seed in range(10)}) > 5


SCHEMA = Schema(tuple(Variable(n, (0, 1)) for n in ("a", "b", "c", "class")), target=3)


def test_a_feature_without_any_value_is_no_parent():
    random = np.random.default_rng(0)
    data = random_data(random, 100, 3, n_classes=2)
    data.codes[:, 0] = data.schema[0].n_states
    structure = ChowLiu().learn(data).structure
    assert all(0 not in parents for parents in structure.parents)
    assert 1 in structure.parents[2] or 2 in structure.parents[1]
    kept = ChowLiu(
        constraints=Constraints(required=[(data.schema[0].name, data.schema[2].name)])
    )
    assert 0 in kept.learn(data).structure.parents[2]


def test_chow_liu_keeps_to_constraints():
    data = random_data(np.random.default_rng(2), 100, 4)
    learner = ChowLiu(
        constraints=Constraints(
            required=[("f3", "f0")],
            forbidden=[("f0", "f1"), ("f1", "f0")],
            tiers=[["f3"], ["f0", "f1", "f2"]],
        ),
    )
    arcs = learner.learn(data).structure.arcs
    assert (3, 0) in arcs
    assert not {(0, 1), (1, 0)} & set(arcs)
    assert not {(0, 3), (1, 3), (2, 3)} & set(arcs)
    assert sum(parent != 4 for parent, _ in arcs) == 3


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([("f0", "f1"), ("f1", "f0")], "cycle: "),
        ([("f0", "class")], "into the class"),
        ([("f0", "f1"), ("f0", "f1")], "twice"),
        (["f0"], "pairs of names"),
        ([("f0", "f7")], "Unknown variable 'f7'"),
    ],
)
def test_impossible_edges_are_refused(edges, message):
    data = random_data(np.random.default_rng(0), 20, 3)
    with pytest.raises(InputError, match=message):
        Fixed(edges=edges).learn(data)


def test_only_the_given_edges_are_there_without_a_root_class():
    data = random_data(np.random.default_rng(0), 20, 3)
    edges = [("f1", "class"), ("f0", "class"), ("class", "f2")]
    learner = Fixed(edges=edges, class_rooted=False)
    structure = learner.learn(data).structure
    assert structure.parents == ((), (), (3,), (1, 0))
    assert structure.target == 3
    assert learner.statistics(data.schema) == (structure.families, False)


@pytest.mark.parametrize(
    ("edges", "class_rooted", "message"),
    [
        ([("f0", "class"), ("class", "f0")], False, "cycle: "),
        ([("class", "f0"), ("class", "f0")], False, "twice"),
        ([], "no", "True or False"),
    ],
)
def test_impossible_edges_of_any_structure_are_refused(edges, class_rooted, message):
    data = random_data(np.random.default_rng(0), 20, 3)
    with pytest.raises(InputError, match=message):
        Fixed(edges=edges, class_rooted=class_rooted).learn(data)
