from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit

from tanager.loglinear import block_newton
from tanager.loglinear.block_newton import FactorFit
from tanager.loglinear.factor import Axis, Factor
from tanager.loglinear.factor_samples import FactorSamples
from tanager.model import Variable
from tests.loglinear.factor_makers import (
    make_codes,
    make_factor,
    make_fit,
    make_labels,
    make_log_prior,
    make_variable,
    make_variables,
    vector_of,
)
from tests.reference import factors as reference
from tests.reference.gradient import numerical_gradient
from tests.strategies import generators
from tests.tolerance import assert_close

pytestmark = pytest.mark.usefixtures("numpy_or_kernels")

SINGLE = 1e-5
"""Posteriors in single precision."""

CLASSES = st.sampled_from([2, 3, 4])


def random_problem(random, n_classes, n_samples=120, keys=((0,), (1,), (2,), (0, 1))):
    """Codes, labels, weights and factors; some samples weigh nothing."""
    variables = make_variables(random, 3, max_values=4)
    codes = make_codes(random, variables, n_samples)
    labels = make_labels(random, codes, n_classes)
    weights = random.gamma(2.0, size=n_samples)
    weights[random.random(n_samples) < 0.1] = 0.0
    return codes, labels, weights, [make_factor(variables, key) for key in keys]


def reference_of(fit):
    """The same problem for the reference, with the weights of the fit."""
    return reference.Problem(
        fit.samples.codes,
        fit.samples.labels,
        fit.samples.weights,
        fit.log_prior,
        [term.factor for term in fit.terms],
        [term.strength for term in fit.terms],
    )


def objective_of(fit):
    """The penalised objective at the tables of a fit."""
    return reference.objective(
        fit.samples.codes,
        fit.samples.labels,
        fit.samples.weights,
        fit.log_prior,
        [(term.factor, term.table, term.strength) for term in fit.terms],
    )


def probabilities(fit):
    """P(c | x), shape (n_samples, n_classes)."""
    if fit.samples.n_classes != 2:
        return fit.posterior
    odds = fit.posterior.astype(np.float64)
    return np.hstack([1 / (1 + odds), odds / (1 + odds)])


def fill(fit, random, scale=1.0):
    """Put random tables into a fit; the posteriors follow."""
    for term in fit.terms:
        term.table[...] = scale * random.normal(size=term.table.shape)
    return fit.refit_to(fit.samples)


@settings(max_examples=30)
@given(random=generators(), n_classes=CLASSES)
def test_objective_and_posterior_equal_the_formulas(random, n_classes):
    keys = ((0,), (1,), (2,), (0, 1), (0, 1, 2))
    problem = random_problem(random, n_classes, keys=keys)
    fit = fill(make_fit(*problem[:3], n_classes, problem[3], 0.3), random)
    slow = reference_of(fit)
    vector = vector_of(fit)
    assert_close(objective_of(fit), slow.value(vector))
    expected = np.exp(slow.log_posterior(vector))
    assert_close(probabilities(fit), expected, SINGLE)


@settings(max_examples=15)
@given(random=generators(), n_classes=st.sampled_from([2, 3]))
def test_sums_are_gradient_and_curvature_of_the_objective(random, n_classes):
    problem = random_problem(random, n_classes, 60)
    fit = fill(make_fit(*problem[:3], n_classes, problem[3], 0.3), random, 0.5)
    slow, vector = reference_of(fit), vector_of(fit)
    columns = fit.samples.n_columns
    no_penalty = reference.Problem(
        fit.samples.codes, fit.samples.labels, fit.samples.weights, fit.log_prior,
        slow.factors, [0.0] * len(slow.factors),
    )  # fmt: skip
    gradient = numerical_gradient(no_penalty.value, vector)
    assert_close(slow.gradient(vector), gradient + slow.penalty @ vector, 1e-5)
    first = 0
    for term in fit.terms:
        sums = fit._pass(None, None, term.factor)
        stop = first + term.table.size
        assert_close(sums[:, :columns].ravel(), -gradient[first:stop], 1e-4)
        for i in range(first, stop):
            # Curvature by one weight: the difference of two gradients.
            ahead, behind = vector.copy(), vector.copy()
            ahead[i] += 1e-4
            behind[i] -= 1e-4
            change = no_penalty.gradient(ahead)[i] - no_penalty.gradient(behind)[i]
            found = sums[:, columns:].ravel()[i - first]
            assert_close(found, change / 2e-4, 1e-4)
        first = stop


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("strength", [0.1, 3.0])
def test_sweeps_converge_to_the_dense_optimum(n_classes, strength):
    random = np.random.default_rng(n_classes)
    keys = ((0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2))
    problem = random_problem(random, n_classes, 150, keys)
    fit = make_fit(*problem[:3], n_classes, problem[3], strength)
    slow = reference_of(fit)
    optimum = slow.value(slow.optimum())
    values, gaps = [objective_of(fit)], [fit.gap()]
    for times in (1, 1, 1, 1, 1, 5, 20, 100, 300):
        fit.sweep(times)
        values.append(objective_of(fit))
        gaps.append(fit.gap())
        # The bound holds at every point, not only near the optimum.
        assert values[-1] >= optimum - 1e-6
        assert values[-1] - optimum <= gaps[-1] + 1e-6
    assert (np.diff(values) < 1e-6).all()
    assert values[-1] - optimum < 1e-4 * (values[0] - optimum)
    assert gaps[-1] < 1e-3 * gaps[0]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_feature_is_fitted_to_the_certificate(n_classes):
    random = np.random.default_rng(0)
    problem = random_problem(random, n_classes, 200, keys=((0,),))
    fit = make_fit(*problem[:3], n_classes, problem[3], 1.0)
    fit.sweep(20)
    slow = reference_of(fit)
    optimum = slow.optimum()
    assert fit.gap() < 1e-5
    assert_close(objective_of(fit), slow.value(optimum), 1e-8)
    assert_close(vector_of(fit), optimum, 1e-4)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_optimum_equals_that_of_lbfgs(n_classes):
    random = np.random.default_rng(7)
    problem = random_problem(random, n_classes, 150)
    fit = make_fit(*problem[:3], n_classes, problem[3], 0.5)
    slow = reference_of(fit)
    found = minimize(
        slow.value,
        np.zeros_like(vector_of(fit)),
        jac=slow.gradient,
        method="L-BFGS-B",
        options={"maxiter": 5000, "maxfun": 20000, "ftol": 1e-15, "gtol": 1e-8},
    )
    fit.sweep(400)
    assert_close(objective_of(fit), found.fun, 1e-5)
    p = np.exp(slow.log_posterior(found.x))
    np.testing.assert_allclose(probabilities(fit), p, atol=5e-3)


def test_many_classes_of_which_two_are_confused_converge():
    # The curvature along the difference of the two is twice that of single columns:
    # steps go too far, but not so far that they raise the objective by much.
    random = np.random.default_rng(3)
    variables = [make_variable("v", 20, ordered=True)]
    codes = random.integers(0, 20, (1, 2000)).astype(np.uint8)
    labels = codes[0].astype(np.int64) * 2 + (random.random(2000) < 0.3)
    factor = make_factor(variables, (0,))
    fit = make_fit(codes, labels, np.ones(2000), 40, [factor], 0.01)
    values = [objective_of(fit)]
    for _ in range(30):
        fit.sweep()
        values.append(objective_of(fit))
    assert (np.diff(values) < 1e-3 * values[-1]).all()
    assert values[10] - values[30] < 0.01 * values[30]


def test_constants_are_where_their_penalty_is_least():
    random = np.random.default_rng(20)
    for n_classes in (2, 3):
        codes, labels, weights, factors = random_problem(random, n_classes)
        fit = make_fit(codes, labels, weights, n_classes, factors)
        for term, strength in zip(fit.terms, (0.1, 1.0, 3.0, 0.5), strict=True):
            term.strength = strength
        fit = fill(fit, random)
        before, posterior = objective_of(fit), fit.posterior
        fit._balance(fit.terms)
        value = objective_of(fit)
        assert value < before
        assert_close(fit.refit_to(fit.samples).posterior, posterior, SINGLE)
        for _ in range(20):
            shifts = random.normal(size=len(factors))
            shifts -= shifts.mean()
            other = fit.copy()
            for term, shift in zip(other.terms, shifts, strict=True):
                term.table[:, 0] += shift
            assert objective_of(other) > value


@pytest.mark.parametrize("n_classes", [1, 2, 3, 9])
def test_sweeps_in_one_call_equal_steps_on_lanes_of_samples(monkeypatch, n_classes):
    random = np.random.default_rng(22)
    codes, labels, weights, factors = random_problem(random, n_classes)
    monkeypatch.setattr(block_newton, "MANY_FACTORS", 1)
    at_once = make_fit(codes, labels, weights, n_classes, factors)
    in_lanes = at_once.copy()
    for fit, lane in ((at_once, len(labels)), (in_lanes, 40)):
        monkeypatch.setattr(block_newton, "LANE_SAMPLES", lane)
        fit.sweep(2, fit.terms[1:])
        fit.sweep(3)
    assert_close(vector_of(at_once), vector_of(in_lanes), SINGLE)
    assert_close(at_once.posterior, in_lanes.posterior, SINGLE)
    # Other strengths and copies have the same factors, but tables of their own.
    stronger = at_once.copy()
    for term in stronger.terms:
        term.strength *= 10.0
    stronger.sweep()
    assert (n_classes == 1) == np.array_equal(vector_of(stronger), vector_of(at_once))
    assert_close(vector_of(at_once), vector_of(in_lanes), SINGLE)


def test_rows_of_tables_sum_to_zero():
    random = np.random.default_rng(21)
    codes, labels, weights, factors = random_problem(random, 4)
    fit = make_fit(codes, labels, weights, 4, factors)
    fit.sweep(3)
    for term in fit.terms:
        assert_close(term.table.sum(axis=1), 0.0)


@settings(max_examples=15)
@given(random=generators(), n_classes=st.sampled_from([2, 3]), order=st.integers(1, 3))
def test_strengths_follow_the_dense_update(random, n_classes, order):
    key = tuple(range(order))
    codes, labels, weights, factors = random_problem(random, n_classes, keys=(key,))
    fit = fill(make_fit(codes, labels, weights, n_classes, factors, 2.0), random, 0.5)
    term = fit.terms[0]
    table, factor = term.table.copy(), term.factor
    columns = fit.samples.n_columns
    p = probabilities(fit)[:, -columns:]
    sums = reference.sums_of(codes, labels, fit.samples.weights, factor, p)
    _, trace, _ = reference.newton_step(factor, sums, table, 2.0)
    fit.sweep(bounds={order: (1e-9, 1e9)})
    wanted = reference.fellner_schall(factor, sums, table, term.table, 2.0)
    if order == 1:
        assert_close(term.effective, table.size - 2.0 * trace, 1e-4)
        assert_close(term.strength, np.clip(wanted, 2 / 3, 6.0), 1e-4)
    else:
        # The trace is estimated from one probe: only its sign and size are sure.
        assert 0.0 <= term.effective <= 2.0 * table.size
        assert 2 / 3 <= term.strength <= 6.0


@pytest.mark.parametrize("spread", [0.3, 0.6, 1.2])
@pytest.mark.parametrize("start", [0.1, 30.0])
def test_the_strength_of_categories_settles_near_their_variance(spread, start):
    random = np.random.default_rng(0)
    names = tuple(range(200))
    codes = random.integers(200, size=(1, 8000)).astype(np.uint16)
    effects = random.normal(0.0, spread, 200)
    labels = (random.random(8000) < expit(effects[codes[0]])).astype(np.uint8)
    factor = Factor((Axis.of(0, Variable("place", names), np.ones(200), None),))
    fit = make_fit(codes, labels, None, 2, [factor], start)
    seen = []
    for _ in range(25):
        fit.sweep(bounds={1: (1e-3, 1e3)})
        seen.append(fit.terms[0].strength)
    assert_close(seen[-1] / seen[-2], 1.0, 1e-2)
    assert 1 / 1.4 < seen[-1] * effects.var() < 1.4


def test_estimated_traces_are_right_on_average(monkeypatch):
    random = np.random.default_rng(1)
    codes, labels, weights, factors = random_problem(random, 3, keys=((0, 1, 2),))
    fit = fill(make_fit(codes, labels, weights, 3, factors, 2.0), random, 0.5)
    sums = fit._pass(None, None, factors[0])
    term = fit.terms[0]
    _, expected, _ = reference.newton_step(factors[0], sums, term.table, 2.0)
    monkeypatch.setattr(block_newton, "STEP_LIMITS", np.array([500.0, 1e-10]))
    probes = random.choice([-1.0, 1.0], (300, factors[0].n_cells))
    traces = []
    for probe in probes:
        monkeypatch.setattr(block_newton, "_probe", lambda n, probe=probe: probe)
        traces.append(fit._newton_step(term, sums, True)[1])
    error = np.std(traces) / np.sqrt(len(traces))
    assert abs(np.mean(traces) - expected) < 4 * error + 1e-6


def test_strengths_stay_within_their_bounds():
    random = np.random.default_rng(2)
    codes, labels, weights, factors = random_problem(random, 2)
    for bounds in ({1: (0.9, 1.1), 2: (0.5, 0.6)}, {1: (5.0, 9.0), 2: (1e-3, 2e-3)}):
        fit = make_fit(codes, labels, weights, 2, factors, 1.0)
        fit.sweep(10, bounds=bounds)
        for term in fit.terms:
            low, high = bounds[len(term.factor.axes)]
            assert low <= term.strength <= high
            assert np.isfinite(term.effective)


def test_without_bounds_strengths_are_kept():
    random = np.random.default_rng(2)
    codes, labels, weights, factors = random_problem(random, 2)
    fit = make_fit(codes, labels, weights, 2, factors, 0.7)
    fit.sweep(3)
    assert {term.strength for term in fit.terms} == {0.7}
    assert all(np.isnan(term.effective) for term in fit.terms)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_equal_repeated_samples(n_classes):
    random = np.random.default_rng(4)
    codes, labels, _, factors = random_problem(random, n_classes)
    weights = random.integers(1, 4, len(labels))
    log_prior = make_log_prior(labels, weights, n_classes)
    tables = []
    for rows, own in (
        (np.arange(len(labels)), weights.astype(float)),
        (np.repeat(np.arange(len(labels)), weights), np.ones(weights.sum())),
    ):
        samples = FactorSamples.of(
            np.ascontiguousarray(codes[:, rows]), labels[rows], own, n_classes
        )
        fit = FactorFit(samples, log_prior)
        fit.add(factors, 0.4)
        fit.sweep(5)
        tables.append(vector_of(fit))
    assert_close(*tables, 1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_order_of_samples_does_not_matter(n_classes):
    random = np.random.default_rng(5)
    codes, labels, weights, factors = random_problem(random, n_classes, 700)
    order = random.permutation(700)
    first = make_fit(codes, labels, weights, n_classes, factors)
    shuffled = np.ascontiguousarray(codes[:, order])
    second = make_fit(shuffled, labels[order], weights[order], n_classes, factors)
    for fit in (first, second):
        fit.sweep(4)
    assert_close(vector_of(first), vector_of(second), 1e-7)
    assert_close(first.posterior[order], second.posterior, SINGLE)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_threads_give_the_same_bits(n_classes, monkeypatch):
    monkeypatch.setattr(block_newton, "LANE_SAMPLES", 100)
    random = np.random.default_rng(6)
    codes, labels, weights, factors = random_problem(random, n_classes, 730)
    fits = []
    for n_jobs in (1, 3):
        fit = make_fit(codes, labels, weights, n_classes, factors, n_jobs=n_jobs)
        fit.sweep(3, bounds={1: (0.1, 10.0), 2: (0.1, 10.0)})
        fits.append(fit)
    one, three = fits
    np.testing.assert_array_equal(vector_of(one), vector_of(three))
    np.testing.assert_array_equal(one.posterior, three.posterior)
    assert [t.strength for t in one.terms] == [t.strength for t in three.terms]
    assert one.gap() == three.gap()
    monkeypatch.setattr(block_newton, "LANE_SAMPLES", 65_536)
    whole = make_fit(codes, labels, weights, n_classes, factors)
    whole.sweep(3, bounds={1: (0.1, 10.0), 2: (0.1, 10.0)})
    assert_close(vector_of(one), vector_of(whole), 1e-7)


@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_refit_to_gives_the_posterior_of_the_tables(n_classes):
    random = np.random.default_rng(8)
    codes, labels, weights, factors = random_problem(random, n_classes)
    fit = make_fit(codes, labels, weights, n_classes, factors)
    fit.sweep(6)
    same = fit.refit_to(fit.samples)
    assert_close(same.posterior, fit.posterior, SINGLE)
    assert same.posterior.dtype == np.float32
    others = FactorSamples.of(
        codes[:, :7].copy(), labels[:7], weights[:7], n_classes, held_out=np.arange(3)
    )
    few = fit.refit_to(others)
    assert_close(few.posterior, fit.posterior[:7], SINGLE)
    few.sweep()
    assert (vector_of(few) != vector_of(fit)).any() or n_classes == 1
    assert_close(vector_of(same), vector_of(fit), 0.0)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_opposite_extreme_tables_cancel(n_classes):
    random = np.random.default_rng(9)
    variables = make_variables(random, 2)
    codes = make_codes(random, variables, 30)
    labels = random.integers(0, n_classes, 30)
    factors = [make_factor(variables, (j,)) for j in (0, 1)]
    fit = make_fit(codes, labels, np.ones(30), n_classes, factors)
    start = fit.posterior.copy()
    for sign, term in zip((1.0, -1.0), fit.terms, strict=True):
        term.table[:, 0] = sign * 200.0
    assert_close(fit.refit_to(fit.samples).posterior, start, SINGLE)
    fit.terms.pop()
    extreme = fit.refit_to(fit.samples)
    assert np.isfinite(extreme.posterior).all()
    assert (extreme.posterior > 0).all()
    assert np.isfinite(objective_of(extreme))
    assert np.isfinite(extreme.held_out_loss()).all()
    extreme.sweep(3)
    assert np.isfinite(vector_of(extreme)).all()


def test_a_copy_is_independent():
    random = np.random.default_rng(10)
    codes, labels, weights, factors = random_problem(random, 3)
    fit = make_fit(codes, labels, weights, 3, factors)
    fit.sweep()
    other = fit.copy()
    tables, posterior = vector_of(fit), fit.posterior.copy()
    other.sweep(2, bounds={1: (1e-3, 1e3), 2: (1e-3, 1e3)})
    other.add(factors[:1], 1.0)
    np.testing.assert_array_equal(vector_of(fit), tables)
    np.testing.assert_array_equal(fit.posterior, posterior)
    assert {term.strength for term in fit.terms} == {1.0}
    assert len(fit.terms) == len(factors)
    assert (vector_of(other)[: len(tables)] != tables).any()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_held_out_samples_do_not_change_the_fit(n_classes):
    random = np.random.default_rng(11)
    codes, labels, _, factors = random_problem(random, n_classes, 200)
    weights = random.gamma(2.0, size=200)
    held = np.sort(random.permutation(200)[:60])
    log_prior = np.zeros(1 if n_classes == 2 else n_classes)
    changed = labels.copy()
    changed[held] = (changed[held] + 1) % n_classes
    fits = []
    for own in (labels, changed):
        samples = FactorSamples.of(codes, own, weights, n_classes, held_out=held)
        fit = FactorFit(samples, log_prior)
        fit.add(factors, 0.5)
        fit.sweep(5, bounds={1: (0.1, 9.0), 2: (0.1, 9.0)})
        fits.append(fit)
    np.testing.assert_array_equal(*map(vector_of, fits))
    rest = np.setdiff1d(np.arange(200), held)
    alone = FactorSamples.of(
        np.ascontiguousarray(codes[:, rest]), labels[rest], weights[rest], n_classes
    )
    fit = FactorFit(alone, log_prior)
    fit.add(factors, 0.5)
    fit.sweep(5, bounds={1: (0.1, 9.0), 2: (0.1, 9.0)})
    assert_close(vector_of(fit), vector_of(fits[0]), 1e-7)
    # The loss is that of the held-out samples, by their own weights.
    loss, total = fits[0].held_out_loss()
    p = reference.log_posterior(
        codes, log_prior, factors, [term.table for term in fits[0].terms]
    )
    assert_close(loss, -(weights[held] @ p[held, labels[held]]), 1e-4)
    assert_close(total, weights[held].sum())
    assert fits[1].held_out_loss()[0] > loss


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("scale", [1e-30, 1e-6, 1e6, 1e25])
def test_extreme_weights_give_finite_tables(n_classes, scale):
    random = np.random.default_rng(13)
    codes, labels, weights, factors = random_problem(random, n_classes)
    fit = make_fit(codes, labels, weights * scale, n_classes, factors)
    fit.sweep(30, bounds={1: (1e-3, 1e3), 2: (1e-3, 1e3)})
    assert np.isfinite(vector_of(fit)).all()
    assert np.isfinite(fit.posterior).all()
    assert np.isfinite(objective_of(fit))
    if scale < 1:
        assert np.abs(vector_of(fit)).max() < 1e-2
    else:
        assert (fit.posterior > 0).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_without_weight_tables_go_to_zero(n_classes):
    random = np.random.default_rng(14)
    codes, labels, weights, factors = random_problem(random, n_classes)
    fit = make_fit(codes, labels, 0.0 * weights, n_classes, factors)
    start = fit.posterior.copy()
    fit.sweep(2, bounds={1: (1e-3, 1e3), 2: (1e-3, 1e3)})
    assert not vector_of(fit).any()
    assert_close(fit.posterior, start, SINGLE)
    assert fit.gap() == 0.0
    assert fit.held_out_loss() == (0.0, 0.0)


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_classes_without_samples_get_small_probabilities(n_classes):
    random = np.random.default_rng(15)
    codes, _, _, factors = random_problem(random, n_classes)
    labels = np.zeros(codes.shape[1], dtype=np.int64)
    fit = make_fit(codes, labels, np.ones(len(labels)), n_classes, factors, 0.1)
    fit.sweep(20)
    assert np.isfinite(vector_of(fit)).all()
    assert (probabilities(fit)[:, 0] > 0.99).all()


def test_cells_without_samples_stay_near_their_neighbours():
    axis = Axis(0, np.arange(12), 11)
    codes = np.repeat([0, 1, 2, 8, 9, 10], 200).astype(np.uint8)[np.newaxis]
    random = np.random.default_rng(16)
    labels = (random.random(1200) < np.where(codes[0] < 5, 0.2, 0.9)).astype(np.int64)
    fit = make_fit(codes, labels, np.ones(1200), 2, [Factor((axis,))], 1.0)
    fit.sweep(30)
    between = fit.terms[0].table[2:9, 0]
    # The line between the two sides, but for the small ridge.
    assert_close(between, np.linspace(between[0], between[-1], 7), 0.02)
    assert between[-1] - between[0] > 1.5


def test_one_class_has_probability_one():
    random = np.random.default_rng(17)
    codes, labels, weights, factors = random_problem(random, 1)
    fit = make_fit(codes, labels, weights, 1, factors)
    fit.sweep(3, bounds={1: (1e-3, 1e3), 2: (1e-3, 1e3)})
    assert not vector_of(fit).any()
    assert (fit.posterior == 1.0).all()


def test_a_fit_without_factors_is_the_prior():
    random = np.random.default_rng(18)
    codes, labels, weights, _ = random_problem(random, 3)
    fit = make_fit(codes, labels, weights, 3, [])
    fit.sweep(3)
    assert_close(fit.posterior[0], np.exp(fit.log_prior), SINGLE)
    assert fit.gap() == 0.0
    assert_close(objective_of(fit), reference_of(fit).value(np.empty(0)))


def test_a_sweep_over_some_terms_leaves_the_others():
    random = np.random.default_rng(19)
    codes, labels, weights, factors = random_problem(random, 2)
    fit = make_fit(codes, labels, weights, 2, factors)
    fit.sweep(2, fit.terms[1:2])
    moved = [bool(term.table.any()) for term in fit.terms]
    assert moved == [False, True, False, False]
