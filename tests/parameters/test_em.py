from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from tanager import (
    APN,
    EM,
    BayesNetClassifier,
    Frequency,
    InputError,
    Network,
    Schema,
    Structure,
    Variable,
)
from tanager.data import ArrayData
from tanager.parameters.apn import negative_mean
from tanager.parameters.incomplete_likelihood import ObservedLikelihood
from tanager.parameters.softmax_objective import SoftmaxLayout
from tests.reference import em as reference
from tests.strategies import (
    generators,
    kinds,
    random_dag,
    random_data,
    random_parameters,
    random_structure,
)
from tests.tolerance import assert_close


def learned(learner, structure, data, **options):
    """The tables, however many steps were taken."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return learner.learn(structure, data, **options)


@settings(max_examples=20)
@given(
    random=generators(),
    missing=st.sampled_from([0.0, 0.3, 0.7]),
    unlabelled=st.sampled_from([0.0, 0.5]),
    weighted=st.booleans(),
    alpha=st.sampled_from([0.0, 0.5, 1.0]),
    drawn=kinds,
)
def test_every_step_is_that_of_the_reference(
    random, missing, unlabelled, weighted, alpha, drawn
):
    data = random_data(
        random, 8, 3, missing, weighted, unlabelled, max_states=3, n_classes=2
    )
    structure = drawn(random, data.schema)
    start = random_parameters(random, data.schema, structure)
    learner = EM(alpha=alpha, tol=1e-300, max_iter=4)
    found = learned(learner, structure, data, start=start)
    visited = reference.em(
        structure, data, found.layout, start.log_theta, alpha, learner.n_iter_
    )
    values = [step["log_likelihood"] for step in learner.trace_]
    assert_close(values, [value for _, value in visited])
    assert_close(np.exp(found.log_theta), np.exp(visited[-1][0]))


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@settings(max_examples=30)
@given(
    random=generators(),
    missing=st.sampled_from([0.1, 0.4, 0.8]),
    unlabelled=st.sampled_from([0.0, 0.3, 0.9]),
    hidden=st.sampled_from([[], [0], [1, 3]]),
    drawn=kinds,
)
def test_the_objective_never_falls(alpha, random, missing, unlabelled, hidden, drawn):
    data = random_data(random, 60, 5, missing, True, unlabelled)
    data.codes[:, hidden] = data.schema.n_states[hidden]
    structure = drawn(random, data.schema)
    learner = EM(alpha=alpha, tol=1e-12, max_iter=60)
    learned(learner, structure, data)
    trace = learner.trace_
    assert [step["iteration"] for step in trace] == list(range(learner.n_iter_ + 1))
    objective = np.array([step["objective"] for step in trace])
    assert np.isfinite(objective).all()
    assert (np.diff(objective) >= -1e-12 * np.abs(objective[1:])).all()
    if alpha == 0:
        assert [step["log_likelihood"] for step in trace] == objective.tolist()


@given(random=generators(), alpha=st.sampled_from([0.0, 1.0]), weighted=st.booleans())
def test_complete_rows_give_frequencies(random, alpha, weighted):
    data = random_data(random, 60, 4, weighted=weighted)
    structure = random_dag(random, data.schema)
    learner = EM(alpha=alpha)
    found = learner.learn(structure, data)
    assert learner.n_iter_ == 1
    expected = Frequency(alpha=alpha).learn(structure, data).log_theta
    assert np.array_equal(found.log_theta, expected)


def test_naive_bayes_with_labels_hides_nothing():
    data = random_data(np.random.default_rng(0), 200, 5, 0.4)
    structure = Structure.class_rooted([()] * 6, 5)
    learner = EM()
    found = learner.learn(structure, data)
    assert learner.n_iter_ == 1
    expected = Frequency().learn(structure, data).log_theta
    assert np.array_equal(found.log_theta, expected)


def test_barren_features_change_the_way_but_not_the_end():
    random = np.random.default_rng(1)
    data = random_data(random, 25, 3, 0.3, unlabelled=0.2, max_states=3, n_classes=2)
    structure = random_structure(random, data.schema)
    found = EM(tol=1e-13, max_iter=5000).learn(structure, data)
    start = Frequency().learn(structure, data).log_theta
    visited = reference.em(structure, data, found.layout, start, 1.0, 150, barren=True)
    assert_close(visited[-1][0], found.log_theta, 1e-4)


def test_weights_are_repetitions():
    random = np.random.default_rng(2)
    data = random_data(random, 80, 4, 0.3, unlabelled=0.3)
    structure = random_structure(random, data.schema)
    weighted = EM().learn(structure, replace(data, weights=np.full(80, 2.0)))
    doubled = EM().learn(structure, data.take(np.repeat(np.arange(80), 2)))
    assert_close(weighted.log_theta, doubled.log_theta)


def test_a_warm_start_at_the_end_stays_there():
    random = np.random.default_rng(3)
    data = random_data(random, 100, 4, 0.3, unlabelled=0.3)
    structure = random_structure(random, data.schema)
    found = EM(tol=1e-12, max_iter=5000).learn(structure, data)
    learner = EM()
    again = learner.learn(structure, data, start=found)
    assert learner.n_iter_ == 1
    assert_close(again.log_theta, found.log_theta, 1e-4)


@pytest.mark.parametrize(
    "learner", [EM(), EM(alpha=0.0, max_iter=2000), APN(), APN(solver="lbfgs")]
)
def test_a_feature_that_is_never_observed(learner):
    random = np.random.default_rng(4)
    data = random_data(random, 60, 4, 0.2, n_classes=2)
    data.codes[:, 1] = data.schema.n_states[1]
    structure = Structure.class_rooted([(), (0,), (1,), (1,), ()], 4)
    found = learner.learn(structure, data, random_state=np.random.default_rng(0))
    for t in range(found.layout.n_tables):
        table = np.exp(found.layout.table(found.log_theta, t))
        assert_close(table.sum(axis=found.layout.owner_axis(t)), 1.0)


def test_the_end_is_stationary_and_that_of_the_gradient():
    random = np.random.default_rng(5)
    data = random_data(random, 120, 4, 0.3, unlabelled=0.2, n_classes=2)
    structure = random_structure(random, data.schema)
    rows = ObservedLikelihood.of(structure, data)
    found = EM(tol=1e-14, max_iter=5000).learn(structure, data)
    value, gradient = negative_mean(
        rows, SoftmaxLayout(rows.layout), 1.0, found.log_theta
    )
    assert np.abs(gradient).max() < 1e-6
    for solver in ("cg", "lbfgs"):
        learner = APN(solver=solver, tol=1e-8, max_iter=2000)
        by_gradient = learner.learn(structure, data)
        assert learner.trace_[-1]["objective"] == pytest.approx(-value, abs=1e-9)
        assert_close(by_gradient.log_theta, found.log_theta, 1e-3)


def test_too_few_steps_warn_with_the_argument_to_change():
    random = np.random.default_rng(6)
    data = random_data(random, 100, 4, 0.4, unlabelled=0.4)
    structure = random_structure(random, data.schema)
    learner = EM(tol=1e-15, max_iter=2)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        learner.learn(structure, data)
    assert learner.n_iter_ == 2


@pytest.mark.parametrize("kind", [EM, APN])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("alpha", -1.0),
        ("alpha", np.nan),
        ("alpha", None),
        ("tol", 0.0),
        ("tol", "small"),
        ("max_iter", 0),
        ("max_iter", 2.5),
        ("max_iter", True),
    ],
)
def test_arguments_are_checked(kind, name, value):
    model = BayesNetClassifier(structure="nb", parameters=kind(**{name: value}))
    with pytest.raises(InputError, match=name):
        model.fit([["a"], ["b"]], [0, 1])


def test_rows_without_labels_help():
    # Two classes that differ a little in each of many features; 5 % have a label.
    random = np.random.default_rng(7)
    n_rows, n_features = 1500, 40
    y = random.integers(0, 2, n_rows)
    codes = random.random((n_rows, n_features)) < np.where(y, 0.65, 0.35)[:, None]
    codes = np.asfortranarray(codes.astype(np.uint8))
    features = [Variable(f"f{j}", ("no", "yes")) for j in range(n_features)]
    schema = Schema((*features, Variable("class", (0, 1))), target=n_features)
    train, test = np.arange(400), np.arange(400, n_rows)
    labels = np.where(np.arange(400) < 20, y[train], 2).astype(np.uint8)
    data = ArrayData(schema, codes[train], labels)
    structure = Structure.class_rooted([()] * (n_features + 1), n_features)

    def accuracy(learner):
        network = Network(schema, structure, learner.learn(structure, data))
        joint = network.engine.log_joint(np.asfortranarray(codes[test]))
        return (joint.argmax(axis=1) == y[test]).mean()

    few = accuracy(Frequency())
    assert accuracy(EM()) > few + 0.02
    assert accuracy(APN(solver="lbfgs")) > few + 0.02


@pytest.mark.parametrize("learner", [EM(), APN(solver="lbfgs")])
def test_rows_without_labels_reach_the_learner_from_the_classifier(learner):
    random = np.random.default_rng(8)
    y = random.integers(0, 2, 600)
    share = np.where(y, 0.65, 0.35)[:, None]
    X = np.where(random.random((600, 40)) < share, "yes", "no").astype(object)
    X[random.random(X.shape) < 0.1] = None
    known = np.arange(600) < 20
    some = np.where(known, y, np.nan)
    all_rows = BayesNetClassifier("categorical", "nb", learner).fit(X[:400], some[:400])
    few_rows = BayesNetClassifier("categorical", "nb", learner).fit(X[known], y[known])
    assert all_rows.classes_.tolist() == [0, 1]
    assert all_rows.score(X[400:], y[400:]) > few_rows.score(X[400:], y[400:]) + 0.02
    with pytest.raises(InputError, match="only missing labels"):
        BayesNetClassifier("categorical", "nb", learner).fit(X, np.full(600, np.nan))
