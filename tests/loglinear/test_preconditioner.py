from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager import ConditionalLikelihood
from tanager.data.coded_data import RowBlock
from tanager.loglinear import solver
from tanager.loglinear.coordinates import Coordinates
from tanager.loglinear.model import LogLinearModel
from tanager.loglinear.objective import ConditionalLogLoss, PenalisedObjective
from tanager.loglinear.solver import (
    StoppingRule,
    make_preconditioner,
    minimise,
    minimise_newton,
)
from tanager.model.layout import FamilyLayout
from tests.strategies import generators, random_data, random_k_tree
from tests.tolerance import SEARCH, assert_close


@pytest.fixture(autouse=True)
def always_worth_it(monkeypatch):
    monkeypatch.setattr(solver, "CELLS_PER_TOUCH", np.inf)


def random_problem(random, n_classes, k, C, smooth=0.5, n_jobs=None):
    data = random_data(random, 60, 4, 0.1, True, unlabelled=0.1, n_classes=n_classes)
    structure = random_k_tree(random, data.schema, k)
    layout = FamilyLayout.of_structure(data.schema, structure)
    ordered = random.random(len(data.schema)) < smooth
    ordered[layout.target] = False
    coordinates = Coordinates(layout, tuple(ordered))
    rows = ConditionalLogLoss(layout, tuple(data.blocks()), n_jobs)
    return PenalisedObjective(rows, coordinates, C), data, structure


@settings(max_examples=25)
@given(random=generators(), k=st.integers(1, 3), n_classes=st.integers(2, 4))
def test_a_form_in_the_weights_is_one_in_the_coordinates(random, k, n_classes):
    problem, *_ = random_problem(random, n_classes, k, 1.0)
    coordinates = problem.coordinates
    size = coordinates.n_in // n_classes
    # What one class's coordinates do to its weights, column by column.
    one = np.zeros((size, n_classes))
    columns = []
    for place in range(size):
        one[...] = 0.0
        one[place, 0] = 1.0
        columns.append(coordinates.apply(one.ravel()).reshape(-1, n_classes)[:, 0])
    linear = np.array(columns).T
    form = random.normal(size=(len(linear), len(linear)))
    form += form.T
    assert_close(coordinates.quadratic_form(form), linear.T @ form @ linear)


@settings(max_examples=25)
@given(
    random=generators(),
    k=st.integers(1, 2),
    n_classes=st.integers(2, 4),
    C=st.sampled_from([0.01, 1.0, 10.0]),
)
def test_the_preconditioned_hessian_is_the_identity_at_zero(random, k, n_classes, C):
    problem, *_ = random_problem(random, n_classes, k, C)
    matrix = make_preconditioner(problem)
    assert np.array_equal(matrix, np.triu(matrix))
    direction = random.normal(size=(len(matrix), n_classes))
    direction -= direction.mean(axis=1, keepdims=True)
    direction /= np.linalg.norm(direction)
    u = (matrix @ direction).ravel()
    step = 1e-4 / np.abs(u).max()
    up = problem.value_and_gradient(step * u)[1]
    down = problem.value_and_gradient(-step * u)[1]
    found = matrix.T @ ((up - down) / (2 * step)).reshape(-1, n_classes)
    assert_close(found, direction, 1e-4)


@given(random=generators())
@settings(max_examples=10)
def test_with_two_classes_it_is_the_identity_anywhere(random):
    problem, *_ = random_problem(random, 2, 1, 1.0)
    at = random.normal(size=problem.coordinates.n_in)
    matrix = make_preconditioner(problem, at)
    direction = random.normal(size=len(matrix))
    direction = np.stack([direction, -direction], 1) / np.linalg.norm(direction)
    u = (matrix @ direction).ravel()
    step = 1e-4 / np.abs(u).max()
    up = problem.value_and_gradient(at + step * u)[1]
    down = problem.value_and_gradient(at - step * u)[1]
    found = matrix.T @ ((up - down) / (2 * step)).reshape(-1, 2)
    assert_close(found, direction, 1e-4)


@pytest.mark.parametrize("first", [2, 32])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("C", [0.1, 30.0])
def test_preconditioners_do_not_change_the_solution(first, n_classes, C, monkeypatch):
    random = np.random.default_rng(3)
    _, data, structure = random_problem(random, n_classes, 1, C)
    learner = ConditionalLikelihood(C=C, tol=1e-9, max_iter=2000)
    monkeypatch.setattr(solver, "FIRST_STEPS", first)
    preconditioned = learner.learn(structure, data).log_theta
    certificate = learner.certificate_
    monkeypatch.setattr(solver, "make_preconditioner", lambda *_: None)
    without = learner.learn(structure, data).log_theta
    assert_close(certificate["objective"], learner.certificate_["objective"])
    assert np.abs(preconditioned - without).max() < 1000 * SEARCH
    assert len(learner.trace_) == learner.n_iter_


@settings(max_examples=15)
@given(
    random=generators(),
    k=st.integers(1, 2),
    n_classes=st.integers(2, 4),
    C=st.sampled_from([0.1, 10.0]),
)
def test_newton_and_lbfgs_find_the_same_minimum(random, k, n_classes, C):
    problem, *_ = random_problem(random, n_classes, k, C)
    start = np.zeros(problem.coordinates.n_in)
    ends = []
    for search in (minimise, minimise_newton):
        u, _ = search(problem, start, 2000, StoppingRule(1e-8, 1e-10))
        value, gradient, multiply = problem.evaluate(u)
        ends.append(value)
        assert np.abs(gradient).max() <= 1e-7
        # Products with the Hessian against differences of the gradient.
        d = random.normal(size=len(u))
        up, down = (problem.value_and_gradient(u + s * d)[1] for s in (1e-4, -1e-4))
        assert_close(multiply(d), (up - down) / 2e-4, 1e-5)
    assert_close(*ends)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_threads_do_not_change_a_bit_of_newton_steps(n_classes, monkeypatch):
    monkeypatch.setattr("tanager.utils.threads.row_blocks.__defaults__", (16,))
    monkeypatch.setattr(solver, "make_preconditioner", lambda *_: None)
    found = []
    for n_jobs in (1, 3):
        problem, *_ = random_problem(
            np.random.default_rng(5), n_classes, 1, 1.0, smooth=1.0, n_jobs=n_jobs
        )
        assert len(problem.loss.blocks) > 2
        start = np.zeros(problem.coordinates.n_in)
        found.append(solver.solve(problem, start, 1e-6, 100))
    assert found[0].converged
    assert (found[0].coordinates == found[1].coordinates).all()


@pytest.mark.parametrize("search", [minimise, minimise_newton])
@pytest.mark.parametrize("max_iter", [1, 3, 5])
def test_no_more_steps_than_asked_for(max_iter, search, monkeypatch):
    random = np.random.default_rng(3)
    problem, *_ = random_problem(random, 3, 1, 1.0)
    monkeypatch.setattr(solver, "FIRST_STEPS", 2)
    start = np.zeros(problem.coordinates.n_in)
    seen = []
    _, taken = search(
        problem,
        start,
        max_iter,
        StoppingRule(0.0),
        lambda value, *_: seen.append(value),
    )
    assert taken == max_iter == len(seen)
    assert np.all(np.diff(seen) < 0)


def test_large_matrices_are_not_made(monkeypatch):
    random = np.random.default_rng(0)
    problem, *_ = random_problem(random, 3, 1, 1.0)
    limits = "PAIRS_PER_CLASS", "SIZE_PER_CLASS", "CELLS_PER_TOUCH", "MAX_MATRIX_CELLS"
    for name in limits:
        with monkeypatch.context() as patch:
            patch.setattr(solver, name, 0.001)
            assert make_preconditioner(problem) is None


def test_the_matrix_of_all_cells_is_bounded_before_it_is_made(monkeypatch):
    # 57 coordinates per class, but 2,501 cells: the matrix over them has 48 MB.
    monkeypatch.setattr(solver, "CELLS_PER_TOUCH", 2.0)
    model = LogLinearModel.of_factors(
        (50, 50, 2), [(0, 1)], smooth=(True, True, False), groups=(7, 8, 2)
    )
    random = np.random.default_rng(0)
    codes = random.integers(50, size=(2000, 2)).astype(np.uint8)
    labels = random.integers(2, size=2000).astype(np.uint8)
    loss = model.loss([RowBlock(codes, labels, None)])
    problem = PenalisedObjective(loss, model.read_coordinates, 1.0)
    assert problem.coordinates.n_in // 2 == 57
    assert problem.coordinates.n_out // 2 == 2501

    def refuse(*_):
        raise AssertionError("the matrix must not be made")

    monkeypatch.setattr(ConditionalLogLoss, "curvature", refuse)
    assert make_preconditioner(problem) is None


def test_a_preconditioner_exists_for_almost_no_penalty():
    random = np.random.default_rng(0)
    problem, *_ = random_problem(random, 2, 1, 1e8)
    matrix = make_preconditioner(problem)
    assert np.all(np.isfinite(matrix))
