from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tanager import (
    ChowLiu,
    Constraints,
    Fixed,
    InputError,
    NaiveBayes,
    RandomTree,
    ResidualTree,
    Schema,
    Variable,
)
from tanager.data import ArrayData, conditional_information, explaining_away
from tanager.structure.gumbel.candidate_options import CandidateOptions
from tanager.structure.gumbel.parent_candidates import find_candidates
from tests.reference.forests import has_cycle
from tests.reference.trees import best_forest, forest_weight
from tests.strategies import random_data
from tests.tolerance import assert_close

LEARNERS = [
    NaiveBayes(),
    ChowLiu(),
    RandomTree(),
    ResidualTree(),
    Fixed(edges=[("f0", "f1")]),
]


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
    assert_close(forest_weight(parent, weights), best, 1e-9)
    assert parent[0] == -1
    assert_close(sum(step["weight"] for step in result.trace), best, 1e-9)


def test_explaining_away_takes_the_heaviest_forest():
    for seed in range(5):
        data = random_data(np.random.default_rng(seed), 60, 5, max_states=3)
        weights = explaining_away(data)
        result = ChowLiu(criterion="ear").learn(data)
        parent = [next(iter(p), -1) for p in result.structure.feature_parents[:5]]
        # Every set of positive pairs is allowed, so that no number of roots is given.
        best = max(
            forest_weight(parents, weights)
            for parents in product(range(-1, 5), repeat=5)
            if not has_cycle(parents)
        )
        assert_close(forest_weight(parent, weights), best, 1e-9)
        assert all(step["weight"] > 0 for step in result.trace)


def test_explaining_away_keeps_required_arcs():
    random = np.random.default_rng(0)
    x = random.integers(0, 2, (400, 3))
    schema = Schema(tuple(Variable(n, (0, 1)) for n in ("a", "b", "c", "class")), 3)
    codes = np.asfortranarray(x.astype(np.uint8))
    data = ArrayData(schema, codes, (x[:, 0] ^ x[:, 1]).astype(np.uint8))
    required = Constraints(required=[("c", "a")])
    found = ChowLiu(criterion="ear", constraints=required).learn(data).structure
    assert found.feature_parents[0] == (2,)
    with pytest.raises(InputError, match="Unknown criterion 'mi'"):
        ChowLiu(criterion="mi").learn(data)


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


def drawn_parents(n_features, n_trees, **arguments):
    """Parents of random trees, -1 for none, shape (n_trees, n_features)."""
    data = random_data(np.random.default_rng(0), 20, n_features, max_states=2)
    random = np.random.default_rng(5)
    trees = [
        RandomTree(**arguments).learn(data, random_state=random).structure
        for _ in range(n_trees)
    ]
    return np.array(
        [[next(iter(of), -1) for of in tree.feature_parents[:-1]] for tree in trees]
    )


def test_random_trees_are_a_random_order_and_a_random_earlier_parent():
    parents = drawn_parents(4, 3000)
    assert ((parents == -1).sum(axis=1) == 1).all()
    # The first of an order is any feature; the third of four has one of two parents
    # and the last one of three, so one in three trees is a star.
    assert_close(np.bincount((parents == -1).argmax(axis=1)) / 3000, 0.25, 0.03)
    degrees = [
        (row[:, None] == np.arange(4)).sum(axis=0) + (row >= 0) for row in parents
    ]
    assert_close(np.mean(np.max(degrees, axis=1) == 3), 1 / 3, 0.03)


def test_random_trees_are_shallow():
    # The mean depth of the n-th feature of an order is 1 + 1/2 + ... + 1/(n - 1).
    parents = drawn_parents(64, 60)
    depths = np.zeros((60, 64))
    above = parents.copy()
    while (above >= 0).any():
        depths += above >= 0
        above = np.where(above >= 0, np.take_along_axis(parents, above, axis=1), -1)
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, 64))])
    assert_close(depths.mean(), harmonic.mean(), 0.15)


def test_the_root_of_a_random_tree_comes_first():
    assert (drawn_parents(5, 20, root="f2")[:, 2] == -1).all()
    data = random_data(np.random.default_rng(0), 20, 5)
    with pytest.raises(InputError, match="root must be"):
        RandomTree(root="class").learn(data)


def test_random_trees_have_the_order_and_a_candidate_of_a_gumbel_tree():
    data = random_data(np.random.default_rng(0), 20, 6, max_states=2)
    for seed in range(5):
        tree = RandomTree().learn(data, random_state=np.random.default_rng(seed))
        one = find_candidates(
            data, CandidateOptions(n_candidates=1), np.random.default_rng(seed)
        )
        for child, parents in enumerate(tree.structure.feature_parents[:-1]):
            assert one.sets[child][-1] == parents


def test_random_trees_keep_to_constraints():
    data = random_data(np.random.default_rng(2), 100, 4)
    constraints = Constraints(
        required=[("f3", "f0")],
        forbidden=[("f0", "f1"), ("f1", "f0")],
        tiers=[["f3"], ["f0", "f1", "f2"]],
    )
    for seed in range(10):
        learner = RandomTree(constraints=constraints, root="f0")
        found = learner.learn(data, random_state=np.random.default_rng(seed))
        arcs = set(found.structure.arcs)
        assert (3, 0) in arcs
        assert not {(0, 1), (1, 0), (0, 3), (1, 3), (2, 3)} & arcs


def test_a_feature_without_any_value_is_no_parent():
    random = np.random.default_rng(0)
    data = random_data(random, 100, 3, n_classes=2)
    data.codes[:, 0] = data.schema[0].n_states
    drawn = RandomTree().learn(data, random_state=random).structure
    assert all(0 not in parents for parents in drawn.parents)
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
