from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning

from tanager import (
    ELR,
    BayesNetClassifier,
    CapabilityError,
    ConditionalLikelihood,
    Frequency,
    InputError,
    LossMinimizer,
    Structure,
    TableSizeError,
)
from tanager.data.folds import stratified_folds
from tanager.model import Parameters
from tanager.model.layout import FamilyLayout
from tanager.optim import conjugate_gradient
from tanager.parameters.simplex_layout import SimplexLayout
from tanager.parameters.softmax_objective import NetworkConditional
from tests.reference import elr as reference
from tests.reference.gradient import whole_families
from tests.strategies import (
    generators,
    kinds,
    random_dag,
    random_data,
    random_structure,
    too_wide,
)
from tests.tolerance import assert_close


def objective_of(structure, data, n_jobs=None):
    layout = FamilyLayout.of_structure(data.schema, structure)
    return layout, NetworkConditional(layout, data, n_jobs)


@settings(max_examples=30)
@given(
    random=generators(),
    missing=st.sampled_from([0.0, 0.3, 0.7]),
    weighted=st.booleans(),
    drawn=kinds,
)
def test_value_and_gradient_equal_the_formula(random, missing, weighted, drawn):
    data = random_data(random, 8, 3, missing=missing, weighted=weighted)
    structure = drawn(random, data.schema)
    layout, objective = objective_of(structure, data)
    beta = random.normal(size=layout.n_cells)
    value, gradient = objective.value_and_gradient(beta)
    assert_close(value, reference.mean_loss(structure, data, layout, beta))
    assert_close(gradient, reference.gradient(structure, data, layout, beta))
    direction = random.normal(size=layout.n_cells)
    up, down = (
        objective.value_and_gradient(beta + sign * 1e-6 * direction)[0]
        for sign in (1, -1)
    )
    assert (up - down) / 2e-6 == pytest.approx(gradient @ direction, rel=1e-4, abs=1e-8)
    network = reference.network_at(structure, data, layout, beta)
    weights = np.ones(8) if data.weights is None else data.weights
    wrong = network.engine.log_joint(data.codes).argmax(axis=1) != data.labels
    assert_close(objective.error(beta), np.average(wrong, weights=weights))


def test_complete_rows_of_any_class_rooted_structure():
    random = np.random.default_rng(5)
    data = random_data(random, 30, 4)
    structure = Structure.class_rooted([(), (), (0, 1), (0, 2), ()], 4)
    assert not structure.needs_no_fill_in
    layout, objective = objective_of(structure, data)
    beta = random.normal(size=layout.n_cells)
    value, gradient = objective.value_and_gradient(beta)
    assert_close(value, reference.mean_loss(structure, data, layout, beta))
    assert_close(gradient, reference.gradient(structure, data, layout, beta))
    model = ELR(solver="lbfgs", folds=3, max_iter=5)
    assert model.learn(structure, data).layout == layout


@given(random=generators(), weighted=st.booleans(), max_parents=st.integers(0, 3))
@settings(max_examples=20)
def test_complete_rows_of_any_structure(random, weighted, max_parents):
    data = random_data(random, 12, 4, weighted=weighted, max_states=3)
    structure = random_dag(random, data.schema, max_parents)
    layout, objective = objective_of(structure, data)
    beta = random.normal(size=layout.n_cells)
    value, gradient = objective.value_and_gradient(beta)
    assert_close(value, reference.mean_loss(structure, data, layout, beta))
    assert_close(gradient, reference.gradient(structure, data, layout, beta))
    for t in set(range(layout.n_tables)) - set(layout.class_tables):
        assert not layout.table(gradient, t).any()


def test_other_structures_with_too_large_sums_are_refused():
    structure, data = too_wide(np.random.default_rng(1), 20, 0.2, class_rooted=False)
    for learner in (ELR(solver="lbfgs"), LossMinimizer(epochs=1)):
        with pytest.raises(TableSizeError, match="'f0'"):
            learner.learn(structure, data)


@pytest.mark.parametrize("solver", ["cg", "lbfgs", "cg-theta"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_cross_tuning_on_any_structure(solver, missing):
    random = np.random.default_rng(2)
    data = random_data(random, 200, 4, missing=missing, n_classes=3)
    # The class has a parent and a child; feature 3 is on its own.
    structure = Structure(((), (0, 4), (0,), (), (0,)), 4)
    learner = ELR(solver=solver, folds=4, max_iter=8)
    found = learner.learn(structure, data)
    assert {step.get("fold") for step in learner.trace_} >= {0, 1, 2, 3}
    # What the conditional likelihood does not speak of stays where it was.
    start = Frequency().learn(structure, data).log_theta
    for t in (3,) if missing else (0, 2, 3):
        assert_close(found.log_table(t), found.layout.table(start, t))
    with pytest.raises(CapabilityError, match="class is a root"):
        ConditionalLikelihood().learn(structure, data)


def test_a_row_is_complete_if_all_that_is_next_to_the_class_is_observed():
    random = np.random.default_rng(4)
    data = random_data(random, 40, 4, missing=0.4, n_classes=2)
    # Feature 0 is the parent of feature 1, which is the parent of the class.
    structure = Structure(((), (0,), (4,), (), (1,)), 4)
    layout, objective = objective_of(structure, data)
    near = (data.codes[:, [1, 2]] < data.schema.n_states[[1, 2]]).all(axis=1)
    assert 0 < near.sum() < 40
    found = objective._parts.collect(
        lambda part: sum(len(block.labels) for block in part.complete.blocks)
    )
    assert sum(found) == near.sum()
    beta = random.normal(size=layout.n_cells)
    value, gradient = objective.value_and_gradient(beta)
    assert_close(value, reference.mean_loss(structure, data, layout, beta))
    assert_close(gradient, reference.gradient(structure, data, layout, beta))


@settings(max_examples=30)
@given(
    random=generators(),
    missing=st.sampled_from([0.0, 0.4]),
    weighted=st.booleans(),
    drawn=kinds,
)
def test_the_gradient_by_probabilities_equals_the_formula(
    random, missing, weighted, drawn
):
    data = random_data(random, 8, 3, missing=missing, weighted=weighted)
    structure = drawn(random, data.schema)
    layout = FamilyLayout.of_structure(data.schema, structure)
    simplex = SimplexLayout(layout)
    objective = NetworkConditional(layout, data, coordinates=simplex)
    beta = random.normal(size=layout.n_cells)
    theta = simplex.start(reference.tables_of(layout, beta))
    value, gradient = objective.value_and_gradient(theta)
    assert_close(value, reference.mean_loss(structure, data, layout, beta))
    expected = reference.theta_gradient(structure, data, layout, beta)
    assert_close(gradient, expected)
    # A small step within the simplex, which no probability leaves.
    way = gradient / max(1.0, np.abs(gradient).max()) * theta.min() * 1e-3
    up, down = (objective.value_and_gradient(theta + s * way)[0] for s in (1, -1))
    assert (up - down) / 2 == pytest.approx(gradient @ way, rel=1e-3, abs=1e-12)


def test_probabilities_and_softmax_parameters_have_the_same_optimum():
    random = np.random.default_rng(6)
    data = random_data(random, 300, 3, n_classes=2, max_states=3)
    structure = Structure.class_rooted([(), (), (), ()], 3)
    ends = []
    for solver in ("cg", "cg-theta"):
        learner = ELR(solver=solver, folds=None, tol=1e-6, max_iter=400)
        found = learner.learn(structure, data)
        losses = [step["objective"] for step in learner.trace_]
        assert all(after <= before for before, after in pairwise(losses))
        assert_close(np.exp(found.log_table(3)).sum(), 1.0)
        ends.append(losses[-1])
    assert ends[1] == pytest.approx(ends[0], abs=1e-5)


def test_small_random_starts():
    random = np.random.default_rng(7)
    data = random_data(random, 100, 3, n_classes=2)
    structure = random_structure(random, data.schema)
    layout = FamilyLayout.of_structure(data.schema, structure)
    one, same, other = (
        ELR(start="random", folds=None, max_iter=1)._first(structure, None, seed, data)
        for seed in (1, 1, 2)
    )
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)
    for t in range(layout.n_tables):
        theta = np.exp(layout.table(one, t))
        axis = layout.owner_axis(t)
        assert_close(theta.sum(axis=axis), 1.0)
        # exp(0.2) is the largest ratio of two probabilities.
        assert (theta.max(axis=axis) <= np.exp(0.2) * theta.min(axis=axis)).all()
    beta = np.random.default_rng(1).uniform(-0.1, 0.1, layout.n_cells)
    assert_close(one, reference.tables_of(layout, beta))
    with pytest.raises(InputError, match="Unknown start 'zero'"):
        ELR(start="zero").learn(structure, data)


@pytest.mark.parametrize("solver", ["cg", "lbfgs"])
def test_a_class_on_its_own_has_its_frequencies(solver):
    random = np.random.default_rng(3)
    data = random_data(random, 80, 3, n_classes=3)
    structure = Structure(((), (0,), (), ()), 3)
    learner = ELR(solver=solver, folds=None, alpha=5.0, tol=1e-9, max_iter=500)
    found = learner.learn(structure, data)
    fractions = np.bincount(data.labels, minlength=3) / 80
    assert_close(np.exp(found.log_table(3)), fractions, 1e-6)


def test_incomplete_families_are_left_out_where_sums_are_too_large():
    random = np.random.default_rng(0)
    structure, data = too_wide(random, 30, missing=0.1)
    with pytest.warns(UserWarning, match="left out of incomplete samples"):
        layout, objective = objective_of(structure, data)
    beta = random.normal(size=layout.n_cells)
    value, gradient = objective.value_and_gradient(beta)
    log_theta = objective.coordinates.cpts(beta)[1]
    log_joint = whole_families(layout, log_theta, data.codes)
    own = log_joint[np.arange(30), data.labels]
    assert_close(value, np.mean(logsumexp(log_joint, axis=1) - own))
    wrong = log_joint.argmax(axis=1) != data.labels
    assert_close(objective.error(beta), np.mean(wrong))
    direction = random.normal(size=layout.n_cells)
    up, down = (
        objective.value_and_gradient(beta + sign * 1e-6 * direction)[0]
        for sign in (1, -1)
    )
    assert (up - down) / 2e-6 == pytest.approx(gradient @ direction, rel=1e-4)
    learner = ELR(solver="cg", folds=None, max_iter=5, tol=1e-12)
    with pytest.warns(ConvergenceWarning), pytest.warns(UserWarning, match="left out"):
        learner.learn(structure, data)
    losses = [step["objective"] for step in learner.trace_]
    assert all(after < before for before, after in pairwise(losses))


def test_unknown_solvers_are_refused():
    data = random_data(np.random.default_rng(0), 5, 1)
    structure = random_structure(np.random.default_rng(0), data.schema)
    with pytest.raises(InputError, match="Unknown solver 'newton'"):
        ELR(solver="newton").learn(structure, data)
    for solver in ("convex", "auto"):
        with pytest.raises(InputError, match=r"is ConditionalLikelihood\(\)\."):
            ELR(solver=solver).learn(structure, data)


def test_the_fallback_learns_where_the_problem_is_not_convex():
    data = random_data(np.random.default_rng(1), 60, 3, n_classes=2)
    tree = Structure.class_rooted([(), (0,), (1,), ()], 3)
    fallback = ELR(solver="lbfgs")
    learner = ConditionalLikelihood(fallback=fallback)
    found = learner.learn(tree, data)
    expected = ConditionalLikelihood().learn(tree, data)
    assert np.array_equal(found.log_theta, expected.log_theta)
    assert learner.fallback_ is None
    collider = Structure.class_rooted([(), (), (0, 1), ()], 3)
    expected = ELR(solver="lbfgs").learn(collider, data)
    for options in ({}, {"smooth": True}, {"C": 0.1}, {"C": "cv"}):
        learner = ConditionalLikelihood(fallback=fallback, **options)
        found = learner.learn(collider, data)
        assert np.array_equal(found.log_theta, expected.log_theta)
        assert learner.trace_ == learner.fallback_.trace_
        assert learner.fallback_ is not fallback
    assert ConditionalLikelihood(fallback=fallback).order_matters
    assert not ConditionalLikelihood(fallback=ELR(folds=None)).order_matters


def test_conjugate_gradient_takes_the_steps_of_the_reference():
    random = np.random.default_rng(6)
    data = random_data(random, 15, 2, n_classes=2, max_states=3, missing=0.2)
    structure = random_structure(random, data.schema)
    layout, objective = objective_of(structure, data)
    start = Frequency().learn(structure, data).log_theta
    visited = reference.conjugate_gradient(
        lambda beta: reference.mean_loss(structure, data, layout, beta),
        lambda beta: reference.gradient(structure, data, layout, beta),
        start,
        3,
    )
    ours = [np.array(start)]
    conjugate_gradient(
        objective.value_and_gradient,
        start,
        max_iter=3,
        tol=0.0,
        callback=lambda beta, value, norm: ours.append(beta),
    )
    # Line searches end at slightly different places; the values agree.
    for mine, theirs in zip(ours, visited, strict=True):
        assert objective.value_and_gradient(mine)[0] == pytest.approx(
            objective.value_and_gradient(theirs)[0], rel=2e-3
        )


@pytest.mark.parametrize("solver", ["cg", "lbfgs"])
@pytest.mark.parametrize("missing", [0.0, 0.25])
def test_the_likelihood_rises_above_its_start_at_every_step(solver, missing):
    random = np.random.default_rng(7)
    data = random_data(random, 200, 4, missing=missing)
    structure = random_structure(random, data.schema)
    _, objective = objective_of(structure, data)
    start = Frequency().learn(structure, data)
    learner = ELR(solver=solver, folds=None, max_iter=20, tol=1e-12)
    with pytest.warns(ConvergenceWarning, match="max_iter=20"):
        learner.learn(structure, data)
    values = [step["objective"] for step in learner.trace_]
    assert len(values) == learner.n_iter_ == 20
    assert values[0] < objective.value_and_gradient(np.array(start.log_theta))[0]
    assert all(after <= before for before, after in pairwise(values))


def test_all_solvers_agree_where_the_problem_is_convex():
    # Without a penalty and with an optimum inside: every class has every state.
    random = np.random.default_rng(8)
    X, y = random.integers(0, 3, (500, 3)), random.integers(0, 3, 500)
    found = [
        BayesNetClassifier("categorical", "tan", learner).fit(X, y).predict_proba(X)
        for learner in (
            ConditionalLikelihood(C=1e6, tol=1e-8, max_iter=3000),
            ELR(solver="cg", folds=None, tol=1e-7, max_iter=3000),
            ELR(solver="lbfgs", folds=None, tol=1e-8, max_iter=3000),
        )
    ]
    assert np.abs(found[0] - found[1]).max() < 1e-4
    assert np.abs(found[0] - found[2]).max() < 1e-4


def test_cross_tuning_takes_the_median_of_the_best_iterations():
    random = np.random.default_rng(9)
    data = random_data(random, 150, 4, n_classes=2)
    structure = random_structure(random, data.schema)
    learner = ELR(solver="cg", folds=5, max_iter=12)
    learner.learn(structure, data)
    best = []
    for fold in range(5):
        steps = [step for step in learner.trace_ if step.get("fold") == fold]
        assert [step["iteration"] for step in steps] == list(range(len(steps)))
        errors = [step["held_out_error"] for step in steps]
        best.append(errors.index(min(errors)))
    last = [step for step in learner.trace_ if "fold" not in step]
    assert len(last) == learner.n_iter_ == np.median(best)


def test_no_steps_means_the_start():
    random = np.random.default_rng(10)
    data = random_data(random, 60, 3, n_classes=2)
    structure = random_structure(random, data.schema)
    start = Frequency().learn(structure, data)
    layout, objective = objective_of(structure, data)
    learner = ELR(solver="cg", folds=None, tol=1e9)
    found = learner.learn(structure, data)
    assert learner.n_iter_ == 0
    assert_close(found.log_theta, start.log_theta)
    warm = Parameters(
        layout, objective.coordinates.cpts(random.normal(size=layout.n_cells))[1]
    )
    found = learner.learn(structure, data, start=warm)
    assert_close(found.log_theta, warm.log_theta)


@pytest.mark.parametrize("solver", ["cg", "lbfgs"])
def test_separable_rows_neither_overflow_nor_loop(solver):
    X, y = [["a", "u"], ["b", "v"]] * 20, [0, 1] * 20
    learner = ELR(solver=solver, folds=None, max_iter=1000)
    model = BayesNetClassifier(structure="nb", parameters=learner).fit(X, y)
    assert np.isfinite(model.predict_log_proba(X)).all()
    assert model.score(X, y) == 1.0


def test_threads_do_not_change_the_bits():
    random = np.random.default_rng(11)
    data = random_data(random, 20_000, 3, missing=0.2)
    structure = random_structure(random, data.schema)
    layout, one = objective_of(structure, data)
    _, three = objective_of(structure, data, n_jobs=3)
    beta = random.normal(size=layout.n_cells)
    assert one.value_and_gradient(beta)[0] == three.value_and_gradient(beta)[0]
    assert np.array_equal(
        one.value_and_gradient(beta)[1], three.value_and_gradient(beta)[1]
    )


def test_the_start_may_have_a_small_probability_for_zero():
    """`-CL` starts from the tables of `-ML`, in every fold from those of its rest."""
    data = random_data(np.random.default_rng(5), 60, 3, max_states=4, n_classes=2)
    structure = Structure.class_rooted([(), (0,), (1,), ()], 3)
    labels = data.labels.astype(int)
    learner = ELR(zero=1e-5)
    learner.learn(structure, data)
    starts = [step for step in learner.trace_ if step.get("iteration") == 0]
    folds = stratified_folds(labels, 2, 5)
    assert len(starts) == len(folds) == 5
    for step, (rest, _) in zip(starts, data.split(folds), strict=True):
        first = Frequency(zero=1e-5).learn(structure, rest)
        layout = FamilyLayout.of_structure(data.schema, structure)
        loss = reference.mean_loss(structure, rest, layout, first.log_theta)
        assert_close(step["objective"], loss, 1e-9)
    with pytest.raises(InputError, match="zero must be"):
        ELR(zero=1.5).learn(structure, data)
