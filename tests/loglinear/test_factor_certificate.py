"""Fits of factors that end by their certificate."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from tanager.loglinear.certified_objective import FactorObjective
from tanager.utils import progress
from tanager.utils.progress import watch
from tests.loglinear.factor_makers import (
    make_codes,
    make_factor,
    make_fit,
    make_labels,
    make_variables,
    take_samples,
    vector_of,
)
from tests.reference import factors as reference
from tests.strategies import generators
from tests.tolerance import assert_close

KEYS = ((0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2))
CLASSES = st.sampled_from([2, 3, 4])


def make_problem(random, n_classes, *, keys=KEYS, strength=0.3, n_samples=150, **more):
    """A fit before its first step, with weights, and its reference."""
    variables = make_variables(random, 3)
    codes = make_codes(random, variables, n_samples)
    labels = make_labels(random, codes, n_classes)
    weights = random.gamma(2.0, size=n_samples)
    factors = [make_factor(variables, key) for key in keys]
    fit = make_fit(codes, labels, weights, n_classes, factors, strength, **more)
    for place, term in enumerate(fit.terms):
        term.strength *= 1 + place
    slow = reference.Problem(
        codes, labels, fit.samples.weights, fit.log_prior, factors,
        [term.strength for term in fit.terms],
    )  # fmt: skip
    return fit, slow


def objective_of(fit):
    return FactorObjective(fit._loss(), fit.terms)


@settings(max_examples=25)
@given(random=generators(), n_classes=CLASSES)
def test_value_gradient_and_products_equal_the_formulas(random, n_classes):
    fit, slow = make_problem(random, n_classes)
    fast = objective_of(fit)
    w, d = random.normal(size=(2, fast.n_cells, fit.samples.n_columns))
    value, gradient, multiply_hessian = fast.evaluate(w)
    assert_close(value, slow.value(w.ravel()))
    assert_close(gradient.ravel(), slow.gradient(w.ravel()))
    assert_close(multiply_hessian(d).ravel(), slow.hessian(w.ravel()) @ d.ravel())
    assert_close(fast.multiply_penalty(d).ravel(), slow.penalty @ d.ravel())
    solved = np.linalg.solve(slow.penalty, d.ravel())
    assert_close(fast.precondition(d).ravel(), solved, 1e-8)
    bound = slow.gradient(w.ravel()) @ np.linalg.solve(
        slow.penalty, slow.gradient(w.ravel())
    )
    assert_close(fast.gap(gradient), bound / 2, 1e-8)


@settings(max_examples=15)
@given(
    random=generators(), n_classes=CLASSES, strength=st.sampled_from([0.01, 0.3, 30.0])
)
def test_the_certificate_holds(random, n_classes, strength):
    fit, slow = make_problem(random, n_classes, strength=strength)
    optimum = slow.value(slow.optimum())
    for tol in (1e-2, 1e-5, 1e-9):
        found = fit.solve(tol)
        assert found.end == "converged"
        assert found.relative_gap <= tol
        assert_close(found.objective, slow.value(vector_of(fit)))
        assert_close(found.gap, fit.gap())
        assert found.objective - optimum <= found.gap + 1e-9 * optimum
    assert_close(vector_of(fit), slow.optimum(), 1e-3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_posteriors_are_those_of_the_tables(n_classes):
    fit, _ = make_problem(np.random.default_rng(1), n_classes)
    fit.sweep(2)
    fit.solve(1e-6)
    assert (fit.posterior == fit.refit_to(fit.samples).posterior).all()
    before = vector_of(fit)
    again = fit.solve(1e-6)
    assert again.passes == 1
    assert (vector_of(fit) == before).all()


def test_held_out_samples_have_no_effect():
    random = np.random.default_rng(2)
    fit, _ = make_problem(random, 3, held_out=np.arange(40))
    weights = fit.samples.weights
    rest = np.flatnonzero(weights)
    other = fit.refit_to(take_samples(fit.samples, rest))
    assert_close(fit.solve(1e-9).objective, other.solve(1e-9).objective)


def test_threads_do_not_change_a_bit(monkeypatch):
    monkeypatch.setattr("tanager.utils.threads.row_blocks.__defaults__", (16,))
    tables = []
    for n_jobs in (1, 3):
        fit, _ = make_problem(np.random.default_rng(3), 3, n_jobs=n_jobs)
        fit.solve(1e-6)
        tables.append(vector_of(fit))
    assert (tables[0] == tables[1]).all()


def test_passes_and_time_end_the_search(monkeypatch):
    fit, slow = make_problem(np.random.default_rng(4), 3)
    start = vector_of(fit)
    times = iter([0.0])
    monkeypatch.setattr(progress, "perf_counter", lambda: next(times, 2.0))

    def solve():
        with watch("FactorSearch", 1.0) as mine:
            mine.has_model = True
            return fit.solve(1e-9)

    with pytest.warns(ConvergenceWarning, match="1 passes, up to"):
        late = solve()
    monkeypatch.undo()
    assert (late.end, late.passes) == ("stopped", 1)
    assert (vector_of(fit) == start).all()
    few = fit.solve(1e-9, max_passes=4)
    assert few.end == "max_passes"
    assert few.objective < slow.value(start)
    assert_close(few.gap, fit.gap())


def test_ctrl_c_keeps_the_last_tables(monkeypatch):
    fit, slow = make_problem(np.random.default_rng(5), 2)
    evaluate, points = FactorObjective.evaluate, []

    def interrupt_third(objective, w):
        if len(points) == 2:
            raise KeyboardInterrupt
        points.append(w)
        return evaluate(objective, w)

    monkeypatch.setattr(FactorObjective, "evaluate", interrupt_third)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        found = fit.solve(1e-12)
    assert found.end == "stopped"
    assert (vector_of(fit) == points[1].ravel()).all()
    assert_close(found.objective, slow.value(points[1].ravel()))


def test_rounding_ends_a_search_that_is_too_exact():
    fit, slow = make_problem(np.random.default_rng(6), 2)
    found = fit.solve(1e-40)
    assert found.end in ("rounding", "max_passes")
    assert_close(found.objective, slow.value(slow.optimum()), 1e-12)


def test_nothing_to_fit():
    fit, _ = make_problem(np.random.default_rng(7), 3, keys=())
    assert fit.solve(1e-6).end == "converged"
    assert fit.gap() == 0.0
