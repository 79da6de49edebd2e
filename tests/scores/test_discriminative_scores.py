from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.base import clone

from tanager import CapabilityError, Frequency, InputError
from tanager.data import ArrayData
from tanager.scores import (
    CappedMargin,
    ClassificationRate,
    ConditionalLogLikelihood,
    CustomScore,
    DiscriminativeScore,
)
from tanager.structure import GreedyKTree, OrderBased, SuperParent
from tests.scores.makers import balanced
from tests.strategies import random_data
from tests.tolerance import assert_close


@pytest.fixture(scope="module")
def data():
    return random_data(np.random.default_rng(1), 60, 4, n_classes=3, max_states=3)


@pytest.fixture(scope="module")
def log_joint():
    return np.random.default_rng(2).normal(size=(30, 4)) * 3


def test_values_equal_their_definitions(log_joint):
    random = np.random.default_rng(3)
    labels, weights = random.integers(0, 4, 30), random.random(30)
    posterior = log_softmax(log_joint, axis=1)[np.arange(30), labels]
    margins = [
        row[label] - max(value for c, value in enumerate(row) if c != label)
        for row, label in zip(log_joint.tolist(), labels.tolist(), strict=True)
    ]
    value = ConditionalLogLikelihood().value(log_joint, labels, weights)
    assert_close(value, weights @ posterior)
    value = CappedMargin(cap=0.5).value(log_joint, labels, weights)
    assert_close(value, weights @ np.minimum(margins, 0.5))
    value = ClassificationRate().value(log_joint, labels, weights)
    assert_close(value, weights @ (np.array(margins) > 0))


class Negative(DiscriminativeScore):
    """The worse a structure is, the better."""

    def value(self, log_joint, labels, weights):
        return -weights[log_joint.argmax(axis=1) == labels].sum()


class Half(ClassificationRate):
    def value(self, log_joint, labels, weights):
        return 0.5 * super().value(log_joint, labels, weights)


class HalfLikelihood(ConditionalLogLikelihood):
    def value(self, log_joint, labels, weights):
        return 0.5 * super().value(log_joint, labels, weights)


class HalfMargin(CappedMargin):
    def value(self, log_joint, labels, weights):
        return 0.5 * super().value(log_joint, labels, weights)


@pytest.mark.parametrize("learner", [GreedyKTree, SuperParent, OrderBased])
def test_a_score_of_ones_own_is_what_is_raised(data, learner):
    trace = learner(score=Negative()).learn(data).trace
    scores = [step["score"] for step in trace[1:]]
    assert all(score < 0 for score in scores)
    assert scores == sorted(scores)


@pytest.mark.parametrize("parameters", ["ml", "dfe"])
@pytest.mark.parametrize("half", [Half, HalfLikelihood, HalfMargin])
def test_a_subclass_may_change_a_score(data, half, parameters):
    steps = [
        [
            (step["arcs"], step["score"])
            for step in GreedyKTree(score=s).learn(data).trace
        ]
        for s in (half(parameters=parameters), half.__base__(parameters=parameters))
    ]
    assert [arcs for arcs, _ in steps[0]] == [arcs for arcs, _ in steps[1]]
    assert_close([2 * score for _, score in steps[0]], [s for _, s in steps[1]], 1e-6)


def test_a_function_is_as_good_as_a_score(data):
    ours = GreedyKTree(score=CustomScore(balanced)).learn(data)
    assert GreedyKTree(score=balanced).learn(data).structure == ours.structure


@pytest.mark.parametrize("parameters", ["ml", "dfe"])
@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        (np.nan, InputError, "returned nan; only finite scores"),
        (-np.inf, InputError, "returned -inf"),
        (None, CapabilityError, "must return a number, greater for better .* None"),
        ("many", CapabilityError, "it returned 'many'"),
        (np.ones(3), CapabilityError, "it returned array"),
        (np.ones((1, 1)), CapabilityError, "it returned array"),
    ],
    ids=str,
)
def test_a_score_that_is_no_number_is_refused(data, value, error, words, parameters):
    def broken(log_joint, labels, weights):
        return value

    class Broken(DiscriminativeScore):
        def value(self, log_joint, labels, weights):
            return value

    with pytest.raises(error, match=f"score broken .*{words}"):
        GreedyKTree(score=CustomScore(broken, parameters=parameters)).learn(data)
    with pytest.raises(error, match=f"score Broken .*{words}"):
        SuperParent(score=Broken(parameters=parameters)).learn(data)


def test_what_a_function_raises_is_raised(data):
    def broken(log_joint, labels, weights):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        OrderBased(score=broken).learn(data)


@pytest.mark.parametrize(
    ("score", "error", "words"),
    [
        (ClassificationRate(parameters="mll"), InputError, "Unknown parameter learner"),
        (ClassificationRate(parameters=3), CapabilityError, "not a ParameterLearner"),
        (ClassificationRate(parameters=Frequency), CapabilityError, "give one such as"),
        (ClassificationRate(parameters=None), CapabilityError, "parameters=None"),
        (ClassificationRate(parameters=Frequency(alpha=-1)), InputError, "alpha must"),
        (ClassificationRate(parameters=Frequency(zero=2)), InputError, "zero must be"),
        (ClassificationRate(folds=1), InputError, "folds must be None or a whole"),
        (ClassificationRate(folds=2.0), InputError, "got 2.0"),
        (CappedMargin(cap=0), InputError, "cap must be a finite number above 0"),
        (CappedMargin(cap=None), InputError, "cap must"),
        (CustomScore(), CapabilityError, "needs a function of log joint"),
        (CustomScore("cr"), CapabilityError, "function='cr'"),
    ],
    ids=str,
)
def test_arguments_that_cannot_be_are_refused(data, score, error, words):
    with pytest.raises(error, match=words):
        GreedyKTree(score=score).learn(data)


def test_scores_are_estimators():
    score = CappedMargin(cap=2.0, parameters=Frequency(alpha=0.5), folds=4)
    again = clone(score)
    assert again is not score
    assert repr(again) == repr(score)
    assert again.set_params(parameters__alpha=2.0).parameters.alpha == 2.0


def test_folds_and_some_learners_depend_on_the_order_of_the_rows():
    assert not GreedyKTree().order_matters
    assert not OrderBased(score="bic").order_matters
    assert GreedyKTree(score=ClassificationRate(folds=5)).order_matters
    assert SuperParent(score=CappedMargin(parameters="dfe")).order_matters


def test_a_score_cannot_write_into_the_search(data):
    def in_place(log_joint, labels, weights):
        log_joint -= log_joint.max(axis=1, keepdims=True)
        return 0.0

    with pytest.raises(ValueError, match="read-only"):
        GreedyKTree(score=in_place).learn(data)


@pytest.mark.parametrize("parameters", ["ml", "dfe"])
def test_a_score_sees_only_rows_that_are_held_out(parameters):
    data = random_data(np.random.default_rng(2), 60, 3, n_classes=3)
    labels = data.labels.copy()
    labels[:] = np.arange(60) % 2
    labels[:2] = 2  # fewer rows than folds
    data = ArrayData(data.schema, data.codes, labels)
    seen = []

    def spy(log_joint, labels, weights):
        seen.append(len(labels))
        return 0.0

    GreedyKTree(score=CustomScore(spy, parameters=parameters, folds=5)).learn(data)
    assert set(seen) == {58}
