from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.exceptions import ConvergenceWarning

from tanager import DFE, ConditionalLikelihood, Structure
from tanager.inference.engine import Engine
from tanager.model import FamilyLayout, Parameters
from tanager.parameters import ParameterLearner
from tanager.scores import ClassificationRate, ConditionalLogLikelihood
from tanager.scores.refit_scorer import widen
from tanager.structure import GreedyKTree, OrderBased
from tests.reference.search import greedy
from tests.scores.makers import growing_moves, grown, made
from tests.strategies import generators, random_codes, random_data, random_network
from tests.tolerance import EXACT, assert_close


def class_rooted(parents):
    return Structure.class_rooted([*parents, ()], len(parents))


def layout_of(data, parents):
    return FamilyLayout.of_structure(data.schema, class_rooted(parents))


@given(random=generators())
def test_tables_under_more_arcs_say_the_same(random):
    network = random_network(random, 5, max_parents=2)
    order, parents = [], list(network.structure.feature_parents[:-1])
    while len(order) < 5:
        order += [j for j in range(5) if j not in order and set(parents[j]) <= {*order}]
    more = list(parents)
    for place, child in enumerate(order):
        new = [p for p in order[:place] if random.random() < 0.5]
        more[child] = tuple(random.permutation([*{*new, *parents[child]}]).tolist())
    structure = class_rooted(more)
    layout = FamilyLayout.of_structure(network.schema, structure)
    wide = widen(network.parameters, layout)
    codes = random_codes(random, network.schema, 30)
    expected = Engine(network.parameters).log_joint(codes)
    assert_close(Engine(wide).log_joint(codes), expected, EXACT)


def test_a_parent_that_is_lost_is_averaged_over():
    more = FamilyLayout.of_families((2, 3), ((0,), (0, 1)), None)
    few = FamilyLayout.of_families((2, 3), ((0,), (1,)), None)
    log_theta = np.log([0.5, 0.5, 0.2, 0.3, 0.5, 0.6, 0.1, 0.3])
    small = widen(Parameters(more, log_theta), few)
    assert_close(np.exp(few.table(small.log_theta, 1)), [0.4, 0.2, 0.4], EXACT)


def test_tables_under_the_same_arcs_are_the_same():
    layout = FamilyLayout.of_families((2,), ((0,),), None)
    tables = Parameters(layout, np.log([0.3, 0.7]))
    assert widen(tables, layout) is tables


def test_impossible_states_stay_impossible():
    few = FamilyLayout.of_families((2, 2), ((0,), (1,)), None)
    more = FamilyLayout.of_families((2, 2), ((0,), (0, 1)), None)
    wide = widen(Parameters(few, np.array([0.0, -np.inf, -np.inf, 0.0])), more)
    assert np.array_equal(wide.log_theta, [0.0, -np.inf, -np.inf, 0.0, -np.inf, 0.0])


class ByHand:
    """Rows right under tables that a learner makes of the whole structure."""

    def __init__(self, data, learner):
        self.data, self.learner = data, learner

    def value(self, parents):
        structure = class_rooted([tuple(sorted(of)) for of in parents])
        parameters = self.learner.learn(structure, self.data)
        predicted = Engine(parameters).log_joint(self.data.codes).argmax(axis=1)
        return float((predicted == self.data.labels).sum())


@settings(max_examples=8)
@given(random=generators())
def test_searching_with_dfe_equals_learning_every_candidate(random):
    data = random_data(random, 60, 4, missing=0.1, n_classes=3)
    learner = GreedyKTree(2, score=ClassificationRate(parameters="dfe"))
    result = learner.learn(data)
    parents, steps = greedy(ByHand(data, DFE()), 4, 2)
    assert [step["score"] for step in result.trace if step["arcs"]] == [
        score for _, score in steps
    ]
    found = result.structure.feature_parents[:-1]
    assert [sorted(of) for of in found] == [sorted(of) for of in parents]


class FromNothing(ParameterLearner):
    """Conditional likelihood without a look at where the search stands."""

    def learn(self, structure, data, *, start=None, random_state=None):
        return ConditionalLikelihood(C=1.0, tol=1e-7).learn(
            structure, data, random_state=random_state
        )


@settings(max_examples=5)
@given(random=generators())
def test_beginning_from_the_present_tables_changes_no_score(random):
    data = random_data(random, 80, 4, n_classes=3, max_states=3)
    order, parents = grown(random, 4, 1)
    warm, cold = (
        ConditionalLogLikelihood(parameters=learner).scorer(data, parents)
        for learner in (ConditionalLikelihood(C=1.0, tol=1e-7), FromNothing())
    )
    assert_close(warm.value, cold.value, 1e-5)
    moves = growing_moves(random, order, parents, 1, n_moves=3)
    for t in range(len(moves)):
        alone = type(moves)(moves.children[[t]], moves.parents[[t]])
        scores = [s.best(alone, above=-np.inf).score for s in (warm, cold)]
        assert_close(*scores, 1e-5)
    if len(moves):
        for scorer in (warm, cold):
            scorer.apply(*moves[0], None)
        assert warm.parents == made(parents, [moves[0]])
        assert_close(warm.value, cold.value, 1e-5)


def test_candidates_that_are_not_quite_learned_are_no_news():
    class Slow(FromNothing):
        def learn(self, structure, data, *, start=None, random_state=None):
            warnings.warn("not there yet", ConvergenceWarning, stacklevel=1)
            return super().learn(structure, data)

    data = random_data(np.random.default_rng(1), 30, 3)
    score = ClassificationRate(parameters=Slow())
    assert OrderBased(score=score).learn(data).structure.is_tree


@pytest.mark.parametrize("folds", [None, 3])
def test_rows_and_weights_go_with_their_folds(folds):
    random = np.random.default_rng(6)
    data = random_data(random, 50, 3, weighted=True, unlabelled=0.2, n_classes=2)
    score = ClassificationRate(parameters=DFE(alpha=0.5), folds=folds)
    scorer = score.scorer(data, [(), (0,), ()])
    known = data.take(np.flatnonzero(data.labels < 2))
    structure = class_rooted([(), (0,), ()])
    every = np.arange(known.n_samples)
    parts = [(known, every)]
    if folds:
        slices = scorer.rows.slices
        parts = [
            (known.take(every[slices != f]), every[slices == f]) for f in range(folds)
        ]
    total = 0.0
    for train, test in parts:
        parameters = DFE(alpha=0.5).learn(structure, train)
        held_out = known.take(test)
        log_joint = Engine(parameters).log_joint(held_out.codes)
        total += ClassificationRate().value(
            log_joint, held_out.labels, held_out.weights
        )
    assert_close(scorer.value, total, 1e-7)  # scores are rounded
