"""Passes with NumPy against the formulas and against the kernels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager import BayesNetClassifier, datasets
from tanager.loglinear import _factor_kernels as kernels
from tanager.loglinear import factor_samples
from tanager.loglinear import numpy_passes as passes
from tests.loglinear.factor_makers import make_codes, make_factor, make_variables
from tests.reference import factors as reference
from tests.strategies import generators
from tests.tolerance import assert_close

NONE = np.empty(0, dtype=np.int64), np.empty((0, 0), dtype=np.int64)


def make_problem(random, n_classes, n_samples):
    """Codes, labels, weights, two factors and a change of the first of them."""
    variables = make_variables(random, 3)
    codes = make_codes(random, variables, n_samples)
    labels = random.integers(0, n_classes, n_samples).astype(np.uint8)
    weights = random.gamma(1.0, size=n_samples).astype(np.float32)
    weights[random.random(n_samples) < 0.3] = 0.0
    old, new = make_factor(variables, (0, 2)), make_factor(variables, (1,))
    n_columns = 1 if n_classes == 2 else n_classes
    change = random.normal(size=(old.n_cells, n_columns))
    return codes, labels, weights, old, new, change


@settings(max_examples=30)
@given(random=generators(), n_samples=st.sampled_from([1, 40, 600]))
def test_pass_of_two_classes(random, n_samples):
    codes, labels, weights, old, new, change = make_problem(random, 2, n_samples)
    log_prior = random.normal(size=1)
    odds = np.exp(np.tile(log_prior, (n_samples, 1))).astype(np.float32)
    compiled = odds.copy()
    scale = np.exp(change).astype(np.float32)
    passes.multiply_odds(odds, old.cells(codes), scale)
    cells = new.cells(codes)
    sums = passes.sum_two_classes(odds, labels, weights, cells, new.n_cells)
    p = np.exp(reference.log_posterior(codes, log_prior, [old], [change]))[:, 1:]
    expected = reference.sums_of(codes, labels, weights, new, p)
    size = 1.0 + weights.sum()
    assert_close(sums / size, expected / size, 1e-6)
    same = np.zeros_like(sums)
    kernels.two_class_pass(
        compiled, labels, weights, codes, (0, n_samples), (old.features, old.lookup),
        scale, (new.features, new.lookup), same,
    )  # fmt: skip
    np.testing.assert_array_equal(odds, compiled)
    assert_close(sums / size, same / size, 1e-7)


@settings(max_examples=30)
@given(
    random=generators(),
    n_classes=st.sampled_from([3, 5]),
    n_samples=st.sampled_from([1, 40, 600]),
)
def test_pass_of_several_classes(random, n_classes, n_samples):
    codes, labels, weights, old, new, change = make_problem(
        random, n_classes, n_samples
    )
    log_prior = random.normal(size=n_classes)
    start = np.exp(reference.log_posterior(codes, log_prior, [], []))
    posterior = start.astype(np.float32)
    compiled = posterior.copy()
    scale = np.exp(change).astype(np.float32)
    passes.multiply_posterior(posterior, old.cells(codes), scale)
    p = np.exp(reference.log_posterior(codes, log_prior, [old], [change]))
    assert_close(posterior, p, 1e-5)
    cells = new.cells(codes)
    sums = passes.sum_classes(posterior, weights, cells, new.n_cells)
    counts = passes.count_classes(labels, weights, cells, new.n_cells, n_classes)
    size = 1.0 + weights.sum()
    residuals = counts - sums[:, :n_classes]
    expected = reference.sums_of(codes, labels, weights, new, p)
    assert_close(residuals / size, expected[:, :n_classes] / size, 1e-6)
    same = np.zeros_like(sums)
    kernels.multi_class_pass(
        compiled, weights, codes, (0, n_samples), (old.features, old.lookup), scale,
        (new.features, new.lookup), same,
    )  # fmt: skip
    assert_close(posterior, compiled, 1e-6)
    assert_close(sums / size, same / size, 1e-6)
    same_counts = np.zeros_like(counts)
    kernels.count_classes(
        labels, weights, codes, (0, n_samples), (new.features, new.lookup), same_counts
    )
    np.testing.assert_array_equal(counts, same_counts)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_extreme_changes_leave_finite_odds_that_can_move_back(sign):
    odds = np.ones((5, 1), dtype=np.float32)
    cells = np.zeros(5, dtype=np.int64)
    for direction in (sign, -sign):
        scale = np.full((1, 1), np.exp(2.0 * direction), dtype=np.float32)
        for _ in range(100):
            passes.multiply_odds(odds, cells, scale)
            assert np.isfinite(odds).all()
            assert (odds > 0).all()
    assert ((odds < 0.01) if sign > 0 else (odds > 100)).all()


def test_fits_with_numpy_and_with_kernels_agree():
    wine = datasets.load("wine")
    probabilities = []
    for limit in ((10**9, 10**9), (-1, -1)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(factor_samples, "SMALL_FIT", limit)
            model = BayesNetClassifier().fit(wine.X, wine.y)
        probabilities.append(model.predict_proba(wine.X))
    # Steps on interactions are exact in one of them, close to it in the other.
    assert_close(probabilities[0], probabilities[1], 1e-3)
