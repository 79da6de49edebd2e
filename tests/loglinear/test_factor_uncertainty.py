"""Standard errors and effective numbers of parameters, against dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager import InputError
from tanager.loglinear import factor_uncertainty
from tanager.loglinear.factor import Axis, Factor
from tanager.loglinear.factor_uncertainty import (
    effective_parameters,
    free_fraction,
    round_errors,
    table_variances,
)
from tanager.loglinear.fitted_factors import FactorTable, FactorTables
from tests.loglinear.factor_makers import (
    make_codes,
    make_factor,
    make_fit,
    make_labels,
    make_variables,
    vector_of,
)
from tests.reference import factors as reference
from tests.strategies import generators
from tests.tolerance import assert_close

KEYS = ((0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2))


def make_problem(random, n_classes, keys=KEYS, n_samples=150):
    variables = make_variables(random, 3, max_values=4)
    codes = make_codes(random, variables, n_samples)
    labels = make_labels(random, codes, n_classes)
    weights = random.gamma(2.0, size=n_samples)
    factors = [make_factor(variables, key) for key in keys]
    return make_fit(codes, labels, weights, n_classes, factors, 0.8)


def make_curvature(random, factor, n_columns):
    """Curvatures of which some are zero, as in cells without samples."""
    curvature = random.gamma(1.0, 3.0, size=(factor.n_cells, n_columns))
    curvature[random.random(factor.n_cells) < 0.3] = 0.0
    return curvature


@settings(max_examples=40)
@given(
    random=generators(),
    order=st.sampled_from([1, 2]),
    strength=st.sampled_from([0.03, 1.0, 300.0]),
)
def test_one_and_two_features_equal_dense_inverses(random, order, strength):
    variables = make_variables(random, order, max_values=6)
    factor = make_factor(variables, tuple(range(order)))
    curvature = make_curvature(random, factor, 3)
    found = table_variances(factor, curvature, strength)
    assert_close(found, reference.table_variances(factor, curvature, strength), 1e-9)
    expected = reference.effective_parameters(factor, curvature, strength)
    assert_close(effective_parameters(curvature, found, 2), expected, 1e-7)
    assert_close(effective_parameters(curvature, found, 3), expected * 2 / 3, 1e-7)


@pytest.mark.parametrize("strength", [0.1, 1.0, 10.0])
def test_three_features_are_estimated(strength):
    random = np.random.default_rng(0)
    axes = ((6, 5), (5, 0), (7, 6))  # one of them without order
    factor = Factor(
        tuple(Axis(j, np.arange(n), ordered) for j, (n, ordered) in enumerate(axes))
    )
    curvature = make_curvature(random, factor, 2)
    found = table_variances(factor, curvature, strength)
    expected = reference.table_variances(factor, curvature, strength)
    ratio = np.sqrt(found / expected)
    assert np.sqrt(np.square(ratio - 1.0).mean()) < 0.1
    assert effective_parameters(curvature, found, 2) == pytest.approx(
        reference.effective_parameters(factor, curvature, strength), rel=0.05
    )


def test_estimates_are_right_on_average(monkeypatch):
    monkeypatch.setattr(factor_uncertainty, "N_RANDOM", 3000)
    random = np.random.default_rng(1)
    factor = make_factor(make_variables(random, 3), (0, 1, 2))
    curvature = make_curvature(random, factor, 2)
    found = table_variances(factor, curvature, 5.0)
    expected = reference.table_variances(factor, curvature, 5.0)
    np.testing.assert_allclose(found, expected, rtol=0.15)


def test_empty_cells_add_nothing_and_keep_the_variance_of_the_prior():
    factor = Factor((Axis(0, np.arange(4), 0),))
    curvature = np.array([[5.0], [0.0], [2.0], [0.0]])
    variances = table_variances(factor, curvature, 2.0)
    ridge = 2.0 * factor.diagonal
    assert_close(variances[:, 0], 1.0 / (curvature[:, 0] + ridge))
    some = curvature[[0, 2], 0] / (curvature[[0, 2], 0] + ridge[[0, 2]])
    assert_close(effective_parameters(curvature, variances, 2), some.sum())


@pytest.mark.parametrize("n_classes", [2, 3])
def test_curvatures_are_those_of_the_formula_and_change_nothing(n_classes):
    fit = make_problem(np.random.default_rng(2), n_classes)
    fit.sweep(3)
    tables, posterior = vector_of(fit), fit.posterior.copy()
    found = [sums[:, fit.samples.n_columns :] for sums in fit.moments()]
    p = np.exp(
        reference.log_posterior(
            fit.samples.codes,
            fit.log_prior,
            [term.factor for term in fit.terms],
            [term.table for term in fit.terms],
        )
    )
    p = p[:, 1:] if n_classes == 2 else p
    columns = p.shape[1]
    for term, curvature in zip(fit.terms, found, strict=True):
        sums = reference.sums_of(
            fit.samples.codes, fit.samples.labels, fit.samples.weights, term.factor, p
        )
        assert_close(curvature, sums[:, columns:], 1e-4)
    np.testing.assert_array_equal(vector_of(fit), tables)
    np.testing.assert_array_equal(fit.posterior, posterior)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_tables_of_a_fit(n_classes):
    fit = make_problem(np.random.default_rng(3), n_classes)
    fit.sweep(5)
    found = FactorTables.of_fit(fit)
    assert found.has_errors
    for term, table, sums in zip(fit.terms, found.tables, fit.moments(), strict=True):
        curvature = sums[:, fit.samples.n_columns :]
        variances = table_variances(term.factor, curvature, term.strength)
        errors = np.sqrt(variances * free_fraction(n_classes))
        if n_classes == 2:
            # Both classes together have the error of the log odds.
            assert_close(table.errors.sum(axis=1), errors[:, 0], 1e-3)
        else:
            assert_close(table.errors, errors, 1e-3)
        assert table.errors.shape == table.weights.shape
        free = (table.support > 0).sum() * (n_classes - 1)
        assert 0.0 < table.effective <= free


def test_effective_number_is_near_that_of_the_whole_hessian():
    # The columns of three classes are treated as independent.
    fit = make_problem(np.random.default_rng(4), 3, keys=((0,),), n_samples=400)
    fit.sweep(30)
    slow = reference.Problem(
        fit.samples.codes, fit.samples.labels, fit.samples.weights, fit.log_prior,
        [fit.terms[0].factor], [fit.terms[0].strength],
    )  # fmt: skip
    hessian = slow.hessian(vector_of(fit))
    expected = np.trace(np.linalg.solve(hessian, hessian - slow.penalty))
    (table,) = FactorTables.of_fit(fit).tables
    assert table.effective == pytest.approx(expected, rel=0.05)


def test_errors_fall_with_the_weights():
    fit = make_problem(np.random.default_rng(5), 2)
    fit.sweep(5)
    samples = fit.samples
    heavy = fit.refit_to(
        type(samples).of(
            samples.codes, samples.labels, 4.0 * samples.weights.astype(float), 2
        )
    )
    for one, other in zip(
        FactorTables.of_fit(fit).tables, FactorTables.of_fit(heavy).tables, strict=True
    ):
        observed = one.support > 0
        assert (other.errors[observed] < one.errors[observed]).all()
        assert one.effective < other.effective


def test_threads_give_the_same_bits():
    found = []
    for n_jobs in (1, 3):
        fit = make_problem(np.random.default_rng(6), 3)
        fit.sweep(3)
        object.__setattr__(fit.samples, "n_jobs", n_jobs)
        found.append(FactorTables.of_fit(fit))
    for one, other in zip(found[0].tables, found[1].tables, strict=True):
        np.testing.assert_array_equal(one.errors, other.errors)
        assert one.effective == other.effective


@given(st.lists(st.floats(1e-12, 1e12), min_size=1))
def test_rounded_errors_are_the_nearest_short_decimals(values):
    found = round_errors(np.array(values))
    assert found.tolist() == [pytest.approx(v, rel=5.1e-4) for v in values]
    assert found.tolist() == [float(f"{v:.4g}") for v in found]


def test_rounding_keeps_zero():
    np.testing.assert_array_equal(round_errors(np.array([0.0, 0.25])), [0.0, 0.25])


def test_all_tables_have_errors_or_none():
    factor = Factor((Axis(0, np.arange(2), 0),))
    weights, support = np.zeros((2, 2)), np.ones(2)
    with_errors = FactorTable(factor, weights, support, 1.0, 1.5, np.ones((2, 2)))
    without = FactorTable(factor, weights, support, 1.0)
    half = FactorTable(factor, weights, support, 1.0, 1.5)
    for tables in ((with_errors, without), (half,)):
        with pytest.raises(InputError, match="both, or neither"):
            FactorTables(np.zeros(2), tables)


def test_pairs_whose_matrices_are_too_large_are_estimated(monkeypatch):
    axes = ((20, 20), (15, 15))
    factor = Factor(
        tuple(Axis(j, np.arange(n), ordered) for j, (n, ordered) in enumerate(axes))
    )
    curvature = np.random.default_rng(0).gamma(1.0, 3.0, size=(factor.n_cells, 2))
    exact = table_variances(factor, curvature, 1.0)
    monkeypatch.setattr(factor_uncertainty, "MAX_EXACT_CELLS", 20 * 2 * 15**2 - 1)
    monkeypatch.setattr(factor_uncertainty, "_pair_variances", None)
    estimated = table_variances(factor, curvature, 1.0)
    assert_close(np.sqrt(estimated / exact), 1.0, 0.3)
    assert_close(np.sqrt(estimated / exact).mean(), 1.0, 0.02)
