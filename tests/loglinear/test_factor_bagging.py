"""Bags of tables against fits of their own, one after the other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tanager.loglinear.factor_bagging import BAG_SWEEPS, FactorBags
from tests.loglinear.factor_makers import (
    make_codes,
    make_factor,
    make_fit,
    make_labels,
    make_variables,
    take_samples,
    vector_of,
)
from tests.tolerance import assert_close


@pytest.fixture(params=[2, 3])
def fit(request):
    random = np.random.default_rng(request.param)
    variables = make_variables(random, 3, max_values=4)
    codes = make_codes(random, variables, 200)
    labels = make_labels(random, codes, request.param)
    weights = random.gamma(2.0, size=200)
    factors = [make_factor(variables, key) for key in ((0,), (1,), (2,), (0, 1))]
    found = make_fit(codes, labels, weights, request.param, factors, 0.8)
    found.sweep(20)
    return found


def test_bags_of_all_samples_are_the_plain_fit(fit):
    bags = FactorBags(fit)
    for _ in range(3):
        bags.add(fit.refit_to(fit.samples))
    plain = fit.refit_to(fit.samples)
    plain.sweep(BAG_SWEEPS)
    assert_close(vector_of(bags.mean()), vector_of(plain), 1e-12)
    for deviation in bags.deviations():
        np.testing.assert_array_equal(deviation, 0.0)


def test_mean_and_deviation_of_bags(fit):
    random = np.random.default_rng(0)
    before = vector_of(fit)
    bags, tables = FactorBags(fit), []
    for _ in range(4):
        counts = random.poisson(1.0, 200)
        weights = (fit.samples.weights * counts).astype(np.float32)
        bags.add(fit.refit_to(replace(fit.samples, weights=weights)))
        # The same by repeating samples.
        rows = np.repeat(np.arange(200), counts)
        one = fit.refit_to(take_samples(fit.samples, rows))
        one.sweep(BAG_SWEEPS)
        tables.append(vector_of(one))
    mean = bags.mean()
    np.testing.assert_allclose(vector_of(mean), np.mean(tables, axis=0), atol=1e-4)
    found = np.concatenate([deviation.ravel() for deviation in bags.deviations()])
    expected = np.std(tables, axis=0, ddof=1)
    np.testing.assert_allclose(found, expected, atol=1e-4)
    assert_close(mean.posterior, mean.refit_to(mean.samples).posterior, 1e-6)
    np.testing.assert_array_equal(vector_of(fit), before)
    assert mean.samples is fit.samples


def test_drawn_bags_have_bootstrap_weights(fit, monkeypatch):
    found = []
    monkeypatch.setattr(FactorBags, "add", lambda bags, bag: found.append(bag))
    bags, random = FactorBags(fit), np.random.default_rng(0)
    for _ in range(3):
        bags.draw(random)
    counts = [bag.samples.weights / fit.samples.weights for bag in found]
    assert all(np.allclose(own, np.rint(own), atol=1e-6) for own in counts)
    assert all((counts[0] != other).any() for other in counts[1:])
    for bag in found:
        np.testing.assert_array_equal(vector_of(bag), vector_of(fit))
