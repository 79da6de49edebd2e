"""Bootstrap weights against the Poisson distribution, and in parts."""

import numpy as np
import pytest
from scipy.stats import chisquare, poisson

from tanager.loglinear import bootstrap_weights as module
from tanager.loglinear.bootstrap_weights import (
    bootstrap_counts,
    bootstrap_weights,
    draw_key,
)

N_SAMPLES = 1000


@pytest.fixture
def key():
    return draw_key(np.random.default_rng(0))


@pytest.mark.parametrize("first", [0, 1, 2, 3, 4, 5, 511, 999, 1000])
def test_counts_depend_on_the_position_alone(key, first):
    whole = bootstrap_counts(key, 0, N_SAMPLES)
    later = bootstrap_counts(key, first, N_SAMPLES - first)
    np.testing.assert_array_equal(later, whole[first:])


def test_counts_are_poisson_numbers(key):
    n_samples = 100_000
    found = np.bincount(bootstrap_counts(key, 0, n_samples), minlength=8)
    observed = np.append(found[:6], found[6:].sum())
    expected = n_samples * poisson.pmf(np.arange(6), 1.0)
    expected = np.append(expected, n_samples - expected.sum())
    assert chisquare(observed, expected).pvalue > 1e-3


def test_counts_far_from_the_first_sample(key):
    counts = bootstrap_counts(key, 10**12 + 3, 50_000)
    assert abs(counts.mean() - 1.0) < 0.02
    assert abs(counts.var() - 1.0) < 0.04


def test_bags_are_independent():
    random = np.random.default_rng(0)
    keys = [draw_key(random) for _ in range(2)]
    one, other = (bootstrap_counts(key, 0, 50_000) for key in keys)
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.02


def test_weights_are_multiplied_in_blocks(key, monkeypatch):
    weights = np.random.default_rng(1).gamma(2.0, size=N_SAMPLES).astype(np.float32)
    expected = weights * bootstrap_counts(key, 7, N_SAMPLES)
    monkeypatch.setattr(module, "BLOCK_SAMPLES", 64)
    found = bootstrap_weights(weights, key, 7)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert len(bootstrap_weights(weights[:0], key, 7)) == 0
