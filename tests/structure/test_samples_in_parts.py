"""Structure learners find the same on samples in parts as on all in one place."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from tanager.errors import CapabilityError
from tanager.scores import ClassificationRate
from tanager.structure import (
    KDB,
    ChowLiu,
    ConstraintBased,
    FactorSearch,
    GreedyKTree,
    GumbelTree,
    HillClimbing,
    NaiveBayes,
    OrderBased,
    RandomTree,
    ResidualTree,
    SuperParent,
)
from tests.partitions import ForgetfulPartitions, cut, make_data

PARTS = (1, 2, 7)

LEARNERS = [
    NaiveBayes(),
    ChowLiu(),
    ChowLiu(criterion="ear"),
    RandomTree(),
    KDB(k=2),
    KDB(k=2, select=True),
    OrderBased(),
    OrderBased(k=2),
    OrderBased("omisp", score="margin"),
    GreedyKTree(),
    GreedyKTree(k=2, treewidth=True),
    GreedyKTree(score="cl"),
    GreedyKTree(score="bic"),
    GreedyKTree(score=ClassificationRate(folds=5)),
    SuperParent(),
    SuperParent(k=2, score="cl"),
    HillClimbing(),
    HillClimbing(score="bic"),
    ConstraintBased(),
    ResidualTree(C=1.0),
    ResidualTree(k=2, C=1.0, pair_bins=2),
]


def learn(learner, data):
    return learner.learn(data, random_state=np.random.default_rng(0))


@pytest.mark.parametrize("awkward", [False, True], ids=["complete", "awkward"])
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_structures_are_the_same(learner, awkward):
    options = {"missing": 0.1, "unlabelled": 0.1, "weighted": True} if awkward else {}
    data = make_data(1500, ordered=True, **options)
    expected = learn(learner, data)
    for n_parts in PARTS:
        found = learn(learner, cut(data, n_parts))
        assert found.structure == expected.structure
        if hasattr(learner, "score"):
            scores = [step.get("score") for step in found.trace]
            assert scores == [step.get("score") for step in expected.trace]


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_values_that_are_lost_are_made_again(learner):
    data = cut(make_data(300, ordered=True, missing=0.1), 2)
    found = learn(learner, ForgetfulPartitions(data.parts))
    assert found.structure == learn(learner, data).structure


def test_residual_trees_choose_the_penalty_by_folds_in_parts():
    data = make_data(600)
    expected = learn(ResidualTree(), data)
    assert learn(ResidualTree(), cut(data, 2)).structure == expected.structure


@pytest.mark.parametrize("n_classes", [2, 3])
def test_few_samples_of_factors_are_gathered(n_classes):
    data = make_data(2000, n_classes=n_classes, unlabelled=0.05)
    expected = learn(FactorSearch(order=2), data).factors
    for n_parts in PARTS:
        found = learn(FactorSearch(order=2), cut(data, n_parts)).factors
        for one, other in zip(found.tables, expected.tables, strict=True):
            assert (one.weights == other.weights).all()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_factors_of_many_samples_are_the_same(monkeypatch, n_classes, weighted):
    """A search on a subsample, then a fit of up to 32 factors to all samples."""
    shrink(monkeypatch)
    data = make_data(9000, n_classes=n_classes, weighted=weighted, unlabelled=0.05)
    expected = learn(FactorSearch(order=2), data).factors
    assert len(expected.tables) > 4
    for n_parts in PARTS:
        found = learn(FactorSearch(order=2), cut(data, n_parts)).factors
        assert found.variance_scale == expected.variance_scale
        for one, other in zip(found.tables, expected.tables, strict=True):
            assert one.factor.key == other.factor.key
            assert np.abs(one.weights - other.weights).max() < 1e-9
            assert np.abs(one.errors - other.errors).max() < 1e-9
            assert (one.support == other.support).all()


def test_many_factors_are_fitted_in_few_rounds(monkeypatch):
    from tanager.data.partition_values import LocalPlaced
    from tanager.loglinear import partitioned_fit

    shrink(monkeypatch)
    monkeypatch.setattr(partitioned_fit, "GROUPS", 3)
    data = make_data(9000, n_features=8)
    rounds = []
    total = LocalPlaced.sum

    def count(placed, function, *arguments, each=None):
        rounds.append(function)
        return total(placed, function, *arguments, each=each)

    monkeypatch.setattr(LocalPlaced, "sum", count)
    found = [learn(FactorSearch(order=2), cut(data, n)).factors for n in PARTS]
    n_terms = len(found[0].tables)
    assert n_terms > 8
    # Three groups in each of four sweeps, then curvatures; totals, class counts.
    assert len(rounds) == 3 * (3 * 4 + 3)
    expected = learn(FactorSearch(order=2), data).factors
    for one in found:
        for table, other in zip(one.tables, found[0].tables, strict=True):
            assert np.abs(table.weights - other.weights).max() < 1e-9
        # Steps of several factors at once come about as far as steps of one.
        assert abs(loss(one, data) - loss(expected, data)) < 0.002


def shrink(monkeypatch):
    """Make the limits of large data small."""
    from tanager.loglinear import factor_samples, partitioned_selection
    from tanager.structure import factor_search

    monkeypatch.setattr(factor_samples, "SEARCH_SAMPLES", 3000)
    monkeypatch.setattr(factor_samples, "HELD_OUT", (5, 1000))
    monkeypatch.setattr(factor_search, "FEW_SAMPLES", 4000)
    monkeypatch.setattr(partitioned_selection, "FEW_SAMPLES", 4000)


def loss(factors, data):
    joint = factors.log_joint_block(data.codes)
    log_p = joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)
    return -log_p[np.arange(data.n_samples), data.labels].mean()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_bags_of_factors_are_the_same(monkeypatch, n_classes, weighted):
    """The same bootstrap samples, so the same tables and standard errors."""
    shrink(monkeypatch)
    data = make_data(9000, n_classes=n_classes, weighted=weighted, unlabelled=0.05)
    learner = FactorSearch(order=2, n_bags=4)
    expected = learn(learner, data).factors
    plain = learn(FactorSearch(order=2), data).factors
    for n_parts in PARTS:
        found = learn(learner, cut(data, n_parts)).factors
        for one, other, without in zip(
            found.tables, expected.tables, plain.tables, strict=True
        ):
            assert one.factor.key == other.factor.key
            assert np.abs(one.weights - other.weights).max() < 1e-9
            assert np.abs(one.errors - other.errors).max() < 1e-9
            assert (one.support == other.support).all()
            if np.ptp(one.weights):  # not of the constant feature
                assert (one.weights != without.weights).any()
                assert (one.errors != without.errors).any()


def test_bags_of_many_factors_are_the_same(monkeypatch):
    """Several factors in one round, and values that are lost."""
    from tanager.loglinear import partitioned_fit

    shrink(monkeypatch)
    monkeypatch.setattr(partitioned_fit, "GROUPS", 3)
    data = make_data(9000, n_features=8)
    learner = FactorSearch(order=2, n_bags=3)
    parts = [cut(data, n) for n in PARTS]
    first, *others = [learn(learner, one).factors for one in parts]
    others.append(learn(learner, ForgetfulPartitions(parts[1].parts)).factors)
    for factors in others:
        for one, other in zip(factors.tables, first.tables, strict=True):
            assert np.abs(one.weights - other.weights).max() < 1e-9
            assert np.abs(one.errors - other.errors).max() < 1e-9
    # Errors of steps in groups are about those of steps one by one, in memory.
    whole = learn(learner, data).factors
    ratios = [
        a.errors[b.errors > 0] / b.errors[b.errors > 0]
        for a, b in zip(first.tables, whole.tables, strict=True)
    ]
    assert 0.8 < np.median(np.concatenate(ratios)) < 1.25


@pytest.mark.parametrize("n_classes", [2, 3])
def test_factors_in_parts_reach_the_optimum(monkeypatch, n_classes):
    """The optimum is unique, so that fits to parts and in memory end at the same."""
    shrink(monkeypatch)
    data = make_data(9000, n_classes=n_classes, weighted=True, unlabelled=0.05)
    tol = 1e-9
    whole, *others = [
        (learner, learn(learner, one).factors)
        for one in (data, *(cut(data, n) for n in PARTS))
        for learner in [FactorSearch(order=2, tol=tol)]
    ]
    certificate = whole[0].certificate_
    for learner, factors in others:
        own = learner.certificate_
        assert own["gap"] <= tol * own["objective"]
        difference = abs(own["objective"] - certificate["objective"])
        assert difference <= 2 * tol * own["objective"]
        for one, other in zip(factors.tables, whole[1].tables, strict=True):
            assert one.factor.key == other.factor.key
            assert np.abs(one.weights - other.weights).max() < 1e-4
            assert np.abs(one.errors - other.errors).max() < 1e-4


def test_a_certificate_that_is_not_reached_warns(monkeypatch):
    shrink(monkeypatch)
    from tanager.loglinear import partitioned_fit

    monkeypatch.setattr(partitioned_fit, "MAX_PASSES", 2)
    with pytest.warns(ConvergenceWarning, match="largest number of passes"):
        learn(FactorSearch(order=1, tol=1e-12), cut(make_data(9000), 2))


def test_learners_that_need_all_rows_say_so():
    with pytest.raises(CapabilityError, match="one place"):
        learn(GumbelTree(epochs=1), cut(make_data(100), 2))
    with pytest.raises(CapabilityError, match="parameters='ml'"):
        learn(GreedyKTree(score="crrcl"), cut(make_data(100), 2))
    with pytest.raises(CapabilityError, match="one place"):
        learn(GreedyKTree(score=lambda joint, y, w: 0.0), cut(make_data(100), 2))
