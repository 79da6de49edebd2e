from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from tanager.loglinear.weak_factors import WeakFactors, measure_effects
from tests.loglinear.factor_makers import (
    make_codes,
    make_factor,
    make_fit,
    make_labels,
    make_variables,
)
from tests.reference import factors as reference
from tests.strategies import generators
from tests.tolerance import assert_close

pytestmark = pytest.mark.usefixtures("numpy_or_kernels")

KEYS = ((0,), (1,), (2,), (0, 1), (0, 1, 2))


def random_fit(random, n_classes, scales):
    """A fit with random tables; the scale of some is tiny."""
    variables = make_variables(random, 3, max_values=4)
    codes = make_codes(random, variables, 80)
    labels = make_labels(random, codes, n_classes)
    weights = random.gamma(2.0, size=80)
    factors = [make_factor(variables, key) for key in KEYS]
    fit = make_fit(
        codes, labels, weights, n_classes, factors, held_out=np.arange(0, 80, 4)
    )
    for term, scale in zip(fit.terms, scales, strict=True):
        term.table[...] = scale * random.normal(size=term.table.shape)
        term.table += random.normal(size=(1, term.table.shape[1]))
    return fit.refit_to(fit.samples)


def counts_of(fit, term):
    return fit.samples.class_counts(term.factor).sum(axis=1)


def keys_of(fit):
    return [term.factor.key for term in fit.terms]


def log_posterior(fit):
    return reference.log_posterior(
        fit.samples.codes,
        fit.log_prior,
        [term.factor for term in fit.terms],
        [term.table for term in fit.terms],
    )


@settings(max_examples=20)
@given(random=generators())
@pytest.mark.parametrize("n_classes", [2, 3])
def test_effect_is_the_standard_deviation_over_samples(n_classes, random):
    fit = random_fit(random, n_classes, [1.0] * 5)
    weights, expected = fit.samples.weights.astype(float), []
    for term in fit.terms:
        own = term.table[reference.cells_of(term.factor, fit.samples.codes)]
        if n_classes == 2:  # log weights of both classes that sum to zero
            own = np.hstack([-own / 2, own / 2])
        mean = np.average(own, axis=0, weights=weights)
        variance = np.average((own - mean) ** 2, axis=0, weights=weights).mean()
        expected.append(np.sqrt(variance))
    counts = [fit.samples.class_counts(term.factor) for term in fit.terms]
    assert_close(measure_effects(fit.terms, counts)[0], expected, 1e-6)


@settings(max_examples=20)
@given(random=generators())
@pytest.mark.parametrize("n_classes", [2, 3])
def test_dropped_factors_leave_their_means(n_classes, random):
    fit = random_fit(random, n_classes, [1e-3, 1.0, 1e-3, 1e-3, 1.0])
    means = [
        counts_of(fit, term) @ term.table / fit.samples.weights.sum(dtype=float)
        for term in fit.terms
    ]
    weak = WeakFactors(fit, (1, 2, 3))
    weak.select(0.01)
    loss, total = weak.held_out_loss()
    flat = fit.copy()
    counts = [fit.samples.class_counts(term.factor) for term in fit.terms]
    effects, found = measure_effects(fit.terms, counts)
    assert_close(found, means, 1e-6)
    for term, mean, effect in zip(flat.terms, means, effects, strict=True):
        if effect < 0.01:
            term.table[...] = mean
    expected = log_posterior(flat)
    weak.drop()
    if len(fit.terms) > 1:  # otherwise the one that stays may be a weak one
        assert_close(log_posterior(fit), expected, 1e-6)
    held = fit.samples.held_out
    own = log_posterior(fit)[held, fit.samples.labels[held]]
    assert_close(loss, -fit.samples.held_out_weights @ own, 1e-5)
    assert_close(total, fit.samples.held_out_weights.sum())
    assert_close(fit.held_out_loss(), (loss, total), 1e-5)


def test_what_stays():
    random = np.random.default_rng(3)
    some = random_fit(random, 3, [1e-3, 1.0, 1e-3, 1e-3, 1e-3])

    def kept(n_axes, threshold, n_kept=0, **options):
        fit = some.copy()
        weak = WeakFactors(fit, n_axes, **options)
        weak.select(0.0)  # another choice before leaves nothing behind
        weak.select(threshold, n_kept)
        weak.drop()
        assert len(weak.dropped) == len(KEYS) - len(fit.terms)
        return keys_of(fit)

    assert kept((1, 2, 3), 0.0) == list(KEYS)
    assert kept((1,), 0.1) == [(1,), (0, 1), (0, 1, 2)]
    assert kept((2, 3), 0.1) == [(0,), (1,), (2,)]
    assert kept((2, 3), 0.1, required={(0, 1)}) == [(0,), (1,), (2,), (0, 1)]
    assert kept((1, 2, 3), np.inf) == [(1,)]
    assert len(kept((1, 2, 3), np.inf, n_kept=3)) == 3
    assert len(kept((2, 3), np.inf, n_kept=1)) == 4
    assert len(some.terms) == len(KEYS)
