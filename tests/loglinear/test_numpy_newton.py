"""Newton steps with LAPACK against dense solutions."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager.loglinear import numpy_newton
from tanager.loglinear.factor import Axis, Factor
from tests.reference import factors as reference
from tests.strategies import generators
from tests.tolerance import assert_close

AXES = st.tuples(st.integers(0, 4), st.integers(0, 2))
STRENGTHS = st.sampled_from([1e-4, 0.3, 1.0, 50.0])


def make_grid(sizes):
    """A factor with so many ordered bins and others along every axis."""
    return Factor(
        tuple(
            Axis(j, np.arange(ordered + max(apart, 2 - ordered)), ordered)
            for j, (ordered, apart) in enumerate(sizes)
        )
    )


def make_sums(random, n_cells, n_columns):
    """Gradients and curvatures; some cells have no samples."""
    gradient = random.normal(size=(n_cells, n_columns)) * 5
    curvature = random.gamma(1.0, size=(n_cells, n_columns)) * 10
    sums = np.hstack([gradient, curvature])
    sums[random.random(n_cells) < 0.3] = 0.0
    return sums


@settings(max_examples=60)
@given(
    random=generators(),
    sizes=st.lists(AXES, min_size=1, max_size=3),
    n_columns=st.integers(1, 3),
)
def test_penalty_equals_the_dense_one(random, sizes, n_columns):
    factor = make_grid(sizes)
    x = random.normal(size=(n_columns, factor.n_cells))
    penalty = reference.penalty_matrix(factor)
    assert_close(numpy_newton.multiply_penalty(factor, x), x @ penalty)
    assert_close(factor.penalty_diagonal, np.diag(penalty))


@settings(max_examples=60)
@given(
    random=generators(),
    size=st.tuples(st.integers(0, 7), st.integers(0, 3)),
    n_columns=st.integers(1, 3),
    strength=STRENGTHS,
)
def test_chain_step_equals_the_dense_solution(random, size, n_columns, strength):
    factor = make_grid([size])
    sums = make_sums(random, factor.n_cells, n_columns)
    table = random.normal(size=(factor.n_cells, n_columns))
    step, trace = numpy_newton.chain_step(factor, sums, table, strength, True)
    expected = reference.newton_step(factor, sums, table, strength)
    assert_close(step, expected[0], 1e-8)
    assert_close(trace, expected[1], 1e-8)
    again, nothing = numpy_newton.chain_step(factor, sums, table, strength, False)
    np.testing.assert_array_equal(again, step)
    assert nothing == 0.0
    curvature = np.ascontiguousarray(sums[:, n_columns:])
    assert_close(
        numpy_newton.chain_variances(factor, curvature, strength),
        reference.table_variances(factor, curvature, strength),
        1e-8,
    )


@settings(max_examples=60)
@given(
    random=generators(),
    sizes=st.lists(AXES, min_size=2, max_size=3),
    n_columns=st.integers(1, 3),
    strength=STRENGTHS,
)
def test_grid_step_equals_the_dense_solution(random, sizes, n_columns, strength):
    factor = make_grid(sizes)
    sums = make_sums(random, factor.n_cells, n_columns)
    table = random.normal(size=(factor.n_cells, n_columns))
    expected = reference.newton_step(factor, sums, table, strength)
    step, nothing = numpy_newton.grid_step(factor, sums, table, strength)
    assert_close(step, expected[0], 1e-7)
    assert nothing == 0.0
    # Every unit vector as a probe gives one entry of the diagonal: the exact trace.
    traces = [
        numpy_newton.grid_step(factor, sums, table, strength, probe)[1]
        for probe in np.eye(factor.n_cells)
    ]
    assert_close(sum(traces), expected[1], 1e-7)


@settings(max_examples=60)
@given(
    random=generators(),
    sizes=st.lists(AXES, min_size=2, max_size=3),
    n_columns=st.integers(1, 3),
)
def test_conjugate_gradient_solves_every_column(random, sizes, n_columns):
    factor = make_grid(sizes)
    sums = make_sums(random, factor.n_cells, n_columns).T.copy()
    right, curvature = sums[:n_columns], sums[n_columns:]
    right[0] = 0.0  # a column that needs no step
    found = numpy_newton.solve_grid(
        factor, right, curvature, 0.7, np.array([500.0, 1e-14])
    )
    penalty = 0.7 * reference.penalty_matrix(factor)
    for x, b, h in zip(found, right, curvature, strict=True):
        assert_close(x, np.linalg.solve(np.diag(h) + penalty, b), 1e-7)
    assert not found[0].any()


def test_few_steps_of_conjugate_gradient_reduce_the_error():
    random = np.random.default_rng(3)
    factor = make_grid([(9, 1), (8, 2)])
    right, curvature = np.ascontiguousarray(make_sums(random, factor.n_cells, 1).T)
    matrix = np.diag(curvature) + 20.0 * reference.penalty_matrix(factor)
    exact = np.linalg.solve(matrix, right)
    errors = []
    for n_steps in (0.0, 1.0, 3.0, 9.0, 27.0):
        x = numpy_newton.solve_grid(
            factor, right[None], curvature[None], 20.0, np.array([n_steps, 0.0])
        )[0]
        errors.append((x - exact) @ matrix @ (x - exact))
    assert_close(errors[0], exact @ matrix @ exact)
    assert (np.diff(errors) < 0).all()
