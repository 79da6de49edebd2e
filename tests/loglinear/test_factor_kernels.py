from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager.loglinear import _factor_kernels as kernels
from tanager.loglinear.block_newton import MAX_CHANGE, _subtract_from
from tanager.loglinear.factor import Axis, Factor
from tests.loglinear.factor_makers import make_codes, make_factor, make_variables
from tests.reference import factors as reference
from tests.strategies import generators
from tests.tolerance import TABLES, assert_close

SINGLE = 1e-5
"""Sums of single-precision posteriors."""

NONE = np.empty(0, dtype=np.int64), np.empty((0, 0), dtype=np.int64)
TIGHT = np.array([500.0, 1e-14])
DTYPES = st.sampled_from([np.uint8, np.uint16])


def random_axis(random, feature, n_ordered, n_apart):
    """Bins of which some are ordered, in any number."""
    return Axis(feature, np.arange(n_ordered + n_apart), n_ordered)


def random_sums(random, n_cells, n_columns):
    """Gradients and curvatures; some cells have no samples."""
    sums = np.hstack(
        [
            random.normal(size=(n_cells, n_columns)) * 5,
            random.gamma(1.0, size=(n_cells, n_columns)) * 10,
        ]
    )
    sums[random.random(n_cells) < 0.3] = 0.0
    return sums


def run_pass(state, labels, weights, codes, old, scale, new, rows=None, two=False):
    """Run a pass; returns its sums."""
    n_columns = state.shape[1]
    sums = np.zeros((1 if new is None else new.n_cells, 2 * n_columns))
    rows = (0, len(labels)) if rows is None else rows
    old_place = NONE if old is None else (old.features, old.lookup)
    new_place = NONE if new is None else (new.features, new.lookup)
    if scale is None:
        scale = np.empty((0, n_columns), dtype=np.float32)
    if two:
        kernels.two_class_pass(
            state, labels, weights, codes, rows, old_place, scale, new_place, sums
        )
        return sums
    kernels.multi_class_pass(
        state, weights, codes, rows, old_place, scale, new_place, sums
    )
    if new is not None:
        counts = np.zeros((new.n_cells, n_columns))
        kernels.count_classes(labels, weights, codes, rows, new_place, counts)
        _subtract_from(counts, sums)
    return sums


def random_problem(random, n_classes, n_samples, dtype=np.uint8):
    variables = make_variables(random, 3)
    codes = make_codes(random, variables, n_samples, dtype)
    labels = random.integers(0, n_classes, n_samples)
    weights = random.gamma(1.0, size=n_samples).astype(np.float32)
    weights[random.random(n_samples) < 0.3] = 0.0
    return variables, codes, labels, weights


@settings(max_examples=30)
@given(
    random=generators(),
    dtype=DTYPES,
    order=st.integers(1, 3),
    n_samples=st.sampled_from([1, 7, 511, 512, 513, 1100]),
)
def test_cells_equal_those_of_the_bins(random, dtype, order, n_samples):
    variables, codes, _, _ = random_problem(random, 2, n_samples, dtype)
    features = sorted(random.permutation(3)[:order].tolist())
    factor = make_factor(variables, features, max_bins=3)
    cells = np.empty(n_samples, dtype=np.int64)
    kernels.find_cells(codes, factor.features, factor.lookup, 0, n_samples, cells)
    expected = reference.cells_of(factor, codes)
    np.testing.assert_array_equal(cells, expected)
    np.testing.assert_array_equal(factor.cells(codes), expected)
    assert expected.max() < factor.n_cells


@settings(max_examples=30)
@given(
    random=generators(),
    n_classes=st.sampled_from([2, 3, 5]),
    dtype=DTYPES,
    n_samples=st.sampled_from([1, 40, 600]),
)
def test_pass_updates_posteriors_and_sums_residuals(
    random, n_classes, dtype, n_samples
):
    variables, codes, labels, weights = random_problem(
        random, n_classes, n_samples, dtype
    )
    old, new = make_factor(variables, (0, 2)), make_factor(variables, (1,))
    n_columns = 1 if n_classes == 2 else n_classes
    log_prior = random.normal(size=n_columns)
    start = np.exp(reference.log_posterior(codes, log_prior, [], []))
    change = random.normal(size=(old.n_cells, n_columns))
    p = np.exp(reference.log_posterior(codes, log_prior, [old], [change]))
    if n_classes == 2:
        state, own = start[:, 1:] / start[:, :1], p[:, 1:]
        updated = p[:, 1:] / p[:, :1]
    else:
        state, own, updated = start, p, p
    state = state.astype(np.float32)
    scale = np.exp(change).astype(np.float32)
    sums = run_pass(state, labels, weights, codes, old, scale, new, two=n_classes == 2)
    assert_close(state, updated, SINGLE)
    expected = reference.sums_of(codes, labels, weights, new, own)
    scale_of_sums = 1.0 + weights.sum()
    assert_close(sums / scale_of_sums, expected / scale_of_sums, 1e-6)


@pytest.mark.parametrize("two", [True, False])
def test_pass_without_a_change_keeps_the_posteriors(two):
    random = np.random.default_rng(0)
    variables, codes, labels, weights = random_problem(random, 2, 50)
    state = random.random((50, 1 if two else 2)).astype(np.float32)
    before = state.copy()
    new = make_factor(variables, (0,))
    run_pass(state, labels, weights, codes, None, None, new, two=two)
    np.testing.assert_array_equal(state, before)


@pytest.mark.parametrize("two", [True, False])
def test_pass_without_a_next_factor_sums_nothing(two):
    random = np.random.default_rng(0)
    variables, codes, labels, weights = random_problem(random, 2, 50)
    n_columns = 1 if two else 2
    state = np.full((50, n_columns), 0.5, dtype=np.float32)
    old = make_factor(variables, (0,))
    scale = np.exp(random.normal(size=(old.n_cells, n_columns))).astype(np.float32)
    sums = run_pass(state, labels, weights, codes, old, scale, None, two=two)
    assert not sums.any()
    assert (state != 0.5).any()


@pytest.mark.parametrize("two", [True, False])
def test_pass_works_on_its_range_only(two):
    random = np.random.default_rng(1)
    variables, codes, labels, weights = random_problem(random, 2, 900)
    n_columns = 1 if two else 2
    old, new = make_factor(variables, (0,)), make_factor(variables, (1, 2))
    state = (random.random((900, n_columns)) + 0.1).astype(np.float32)
    scale = np.exp(random.normal(size=(old.n_cells, n_columns))).astype(np.float32)
    whole, parts = state.copy(), state.copy()
    expected = run_pass(whole, labels, weights, codes, old, scale, new, two=two)
    found = np.zeros_like(expected)
    for rows in ((0, 600), (600, 900)):
        before = parts.copy()
        found += run_pass(parts, labels, weights, codes, old, scale, new, rows, two)
        others = np.setdiff1d(np.arange(900), np.arange(*rows))
        np.testing.assert_array_equal(parts[others], before[others])
    np.testing.assert_array_equal(parts, whole)
    assert_close(found, expected)


def test_two_columns_and_one_column_agree():
    random = np.random.default_rng(2)
    variables, codes, labels, weights = random_problem(random, 2, 300)
    old, new = make_factor(variables, (0,)), make_factor(variables, (1,))
    change = random.normal(size=(old.n_cells, 1))
    odds = np.full((300, 1), 0.7, dtype=np.float32)
    both = np.tile(np.array([1.0, 0.7], dtype=np.float32) / np.float32(1.7), (300, 1))
    one = run_pass(
        odds, labels, weights, codes, old, np.exp(change).astype(np.float32), new,
        two=True,
    )  # fmt: skip
    scale = np.exp(np.hstack([np.zeros_like(change), change])).astype(np.float32)
    two = run_pass(both, labels, weights, codes, old, scale, new)
    assert_close(odds[:, 0], both[:, 1] / both[:, 0], SINGLE)
    assert_close(one, two[:, [1, 3]], 1e-4)
    assert_close(two[:, 0], -two[:, 1], 1e-4)


@pytest.mark.parametrize("two", [True, False])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_extreme_changes_leave_finite_posteriors_that_can_move_back(two, sign):
    variables = make_variables(np.random.default_rng(0), 1)
    codes = np.zeros((1, 5), dtype=np.uint8)
    labels, weights = np.ones(5, dtype=np.int64), np.ones(5, dtype=np.float32)
    factor = make_factor(variables, (0,))
    state = np.full((5, 1 if two else 2), 0.5 if not two else 1.0, dtype=np.float32)
    for direction in (sign, -sign):
        change = np.zeros((factor.n_cells, state.shape[1]))
        change[:, -1] = 2.0 * direction
        scale = np.exp(change).astype(np.float32)
        for _ in range(100):
            sums = run_pass(
                state, labels, weights, codes, factor, scale, factor, two=two
            )
            assert np.isfinite(sums).all()
            assert (state > 0).all()
            assert np.isfinite(state).all()
    p = state[:, 0] / (1 + state[:, 0]) if two else state[:, 1]
    assert ((p < 0.01) if sign > 0 else (p > 0.99)).all()


@settings(max_examples=60)
@given(
    random=generators(),
    n_ordered=st.integers(0, 7),
    n_apart=st.integers(0, 3),
    n_columns=st.integers(1, 3),
    strength=st.sampled_from([1e-4, 0.3, 1.0, 50.0]),
)
def test_chain_step_equals_the_dense_solution(
    random, n_ordered, n_apart, n_columns, strength
):
    n_apart = max(n_apart, 1 - n_ordered)
    factor = Factor((random_axis(random, 0, n_ordered, n_apart),))
    sums = random_sums(random, factor.n_cells, n_columns)
    table = random.normal(size=(factor.n_cells, n_columns))
    step = np.empty_like(table)
    variances = np.empty_like(table)
    trace = kernels.chain_step(
        sums, table, factor.diagonal, factor.path, n_ordered, strength, step, variances
    )
    expected = reference.newton_step(factor, sums, table, strength)
    assert_close(step, expected[0], 1e-8)
    assert_close(trace, expected[1], 1e-8)
    assert_close(factor.quadratic_form(table), expected[2])


AXES = st.tuples(st.integers(0, 4), st.integers(0, 2))


@settings(max_examples=60)
@given(
    random=generators(),
    sizes=st.lists(AXES, min_size=1, max_size=3),
    strength=st.sampled_from([0.01, 1.0, 50.0]),
)
def test_penalty_and_solution_of_a_grid_equal_the_dense_ones(random, sizes, strength):
    axes = tuple(
        random_axis(random, j, ordered, max(apart, 1 - ordered))
        for j, (ordered, apart) in enumerate(sizes)
    )
    factor = Factor(axes)
    # A factor over one feature has a weight of its differences, which grids have not.
    diagonal = factor.diagonal / factor.path
    penalty = reference.penalty_matrix(factor) / factor.path
    x, image = random.normal(size=factor.n_cells), np.empty(factor.n_cells)
    kernels.multiply_penalty(x, diagonal, factor.shape, factor.n_ordered, image)
    assert_close(image, penalty @ x)
    sums = random_sums(random, factor.n_cells, 1)
    right, curvature = np.ascontiguousarray(sums.T)
    kernels.solve_grid(
        right, curvature, strength, diagonal, factor.shape, factor.n_ordered, TIGHT, x
    )
    expected = np.linalg.solve(np.diag(curvature) + strength * penalty, right)
    assert_close(x, expected, 1e-7)


@settings(max_examples=30)
@given(
    random=generators(),
    sizes=st.lists(AXES, min_size=2, max_size=3),
    n_columns=st.integers(1, 3),
)
def test_grid_step_equals_the_dense_solution(random, sizes, n_columns):
    factor = Factor(
        tuple(
            random_axis(random, j, ordered, max(apart, 1 - ordered))
            for j, (ordered, apart) in enumerate(sizes)
        )
    )
    sums = random_sums(random, factor.n_cells, n_columns)
    table = random.normal(size=(factor.n_cells, n_columns))
    step, found = np.empty_like(table), 0.0
    # Every unit vector as a probe gives one entry of the diagonal: the exact trace.
    for probe in np.eye(factor.n_cells):
        trace = kernels.grid_step(
            sums, table, factor.diagonal, factor.shape, factor.n_ordered, 0.7, TIGHT,
            probe, step,
        )  # fmt: skip
        found += trace
    expected = reference.newton_step(factor, sums, table, 0.7)
    assert_close(step, expected[0], 1e-7)
    assert_close(found, expected[1], 1e-7)
    assert_close(factor.quadratic_form(table), expected[2])
    nothing = kernels.grid_step(
        sums, table, factor.diagonal, factor.shape, factor.n_ordered, 0.7, TIGHT,
        np.empty(0), step,
    )  # fmt: skip
    assert nothing == 0.0


def test_few_steps_of_conjugate_gradient_reduce_the_error():
    random = np.random.default_rng(3)
    factor = Factor((random_axis(random, 0, 9, 1), random_axis(random, 1, 8, 2)))
    penalty = reference.penalty_matrix(factor)
    sums = random_sums(random, factor.n_cells, 1)
    right, curvature = np.ascontiguousarray(sums.T)
    matrix = np.diag(curvature) + 20.0 * penalty
    exact = np.linalg.solve(matrix, right)
    errors = []
    for n_steps in (0.0, 1.0, 3.0, 9.0, 27.0):
        x = np.empty(factor.n_cells)
        limits = np.array([n_steps, 0.0])
        kernels.solve_grid(
            right, curvature, 20.0, factor.diagonal, factor.shape, factor.n_ordered,
            limits, x,
        )  # fmt: skip
        errors.append((x - exact) @ matrix @ (x - exact))
    assert_close(errors[0], exact @ matrix @ exact)
    assert (np.diff(errors) < 0).all()


def test_a_gradient_of_zero_needs_no_step():
    random = np.random.default_rng(4)
    factor = Factor((random_axis(random, 0, 3, 1), random_axis(random, 1, 0, 2)))
    zeros, x = np.zeros(factor.n_cells), np.ones(factor.n_cells)
    kernels.solve_grid(
        zeros, zeros, 1.0, factor.diagonal, factor.shape, factor.n_ordered, TIGHT, x
    )
    assert not x.any()


@settings(max_examples=20)
@given(random=generators(), dtype=DTYPES, n_samples=st.sampled_from([1, 30, 700]))
def test_added_factors_equal_those_of_the_cells(random, dtype, n_samples):
    variables, codes, _, _ = random_problem(random, 3, n_samples, dtype)
    factor = make_factor(variables, (0, 1, 2), max_bins=2)
    table = random.normal(size=(factor.n_cells, 3))
    out = random.normal(size=(n_samples, 3))
    expected = out + table[reference.cells_of(factor, codes)]
    kernels.add_factor(codes, factor.features, factor.lookup, table, out)
    assert_close(out, expected, TABLES)


def test_read_only_input_is_accepted():
    random = np.random.default_rng(5)
    variables, codes, labels, weights = random_problem(random, 3, 20)
    factor = make_factor(variables, (0,))
    for array in (codes, labels, weights):
        array.flags.writeable = False
    state = np.full((20, 3), 1 / 3, dtype=np.float32)
    sums = run_pass(state, labels, weights, codes, None, None, factor)
    expected = reference.sums_of(codes, labels, weights, factor, state)
    assert_close(sums, expected, 1e-4)


def test_exponentials_of_changes():
    x = np.concatenate([np.linspace(-4.0, 4.0, 1001), [0.0]])
    out = np.empty(len(x))
    kernels.exponentiate(x, out)
    np.testing.assert_allclose(out, np.exp(x), rtol=1e-8)
    assert out[-1] == 1.0
    # A change is at most so large, and so is the mean that is subtracted from it.
    assert 2 * MAX_CHANGE <= 4.0
