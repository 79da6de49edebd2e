"""Score tests against the formula."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager.loglinear import score_test
from tanager.loglinear.block_newton import FactorFit
from tanager.loglinear.factor import Axis, Factor
from tanager.loglinear.factor_samples import FactorSamples
from tanager.loglinear.score_test import JoinedAxes, ScoreTest
from tests.loglinear.factor_makers import (
    make_codes,
    make_labels,
    make_log_prior,
    make_variables,
)
from tests.reference import factors as reference
from tests.strategies import generators
from tests.tolerance import assert_close

pytestmark = pytest.mark.usefixtures("numpy_or_kernels")


def make_model(random, n_classes, n_jobs=None, n_samples=300):
    """A model of single features after a sweep; some samples have weight 0."""
    variables = make_variables(random, 4)
    codes = make_codes(random, variables, n_samples)
    labels = make_labels(random, codes, n_classes)
    weights = random.gamma(2.0, size=n_samples)
    weights[::7] = 0.0
    samples = FactorSamples.of(codes, labels, weights, n_classes, n_jobs=n_jobs)
    axes = [Axis.of(j, v, np.ones(v.n_states), 3) for j, v in enumerate(variables)]
    fit = FactorFit(samples, make_log_prior(labels, weights, n_classes))
    fit.add([Factor((axis,)) for axis in axes], 1.0)
    fit.sweep()
    return fit, axes


@settings(max_examples=15)
@given(
    random=generators(),
    n_classes=st.sampled_from([2, 3, 5]),
    n_axes=st.integers(1, 3),
)
def test_score_equals_the_formula(random, n_classes, n_axes):
    fit, axes = make_model(random, n_classes)
    rows = np.flatnonzero(random.random(300) < 0.6)
    keys = np.array([np.sort(random.permutation(4)[:n_axes]) for _ in range(5)])
    found = ScoreTest(fit, rows).scores(JoinedAxes.of(axes), keys, 0.8)
    samples, p = fit.samples, fit.posterior[rows]
    if n_classes == 2:
        p = p / (1 + p)
    expected = [
        reference.score_statistic(
            samples.codes[:, rows],
            samples.labels[rows],
            samples.weights[rows],
            Factor(tuple(axes[j] for j in key)),
            p,
            0.8,
        )
        for key in keys
    ]
    assert_close(found, expected, 1e-3)


def test_no_candidates():
    fit, axes = make_model(np.random.default_rng(0), 3)
    none = np.empty((0, 2), dtype=np.int64)
    assert ScoreTest(fit, np.arange(9)).scores(JoinedAxes.of(axes), none, 1).size == 0


@pytest.mark.parametrize("n_classes", [2, 3])
def test_threads_give_the_same_bits(n_classes, monkeypatch):
    monkeypatch.setattr(score_test, "CANDIDATES_AT_A_TIME", 2)
    keys = np.array([[0, 1], [0, 2], [1, 3], [2, 3], [0, 3]])
    one, three = (
        ScoreTest(fit, np.arange(0, 300, 3)).scores(JoinedAxes.of(axes), keys, 1.0)
        for fit, axes in (
            make_model(np.random.default_rng(1), n_classes, n_jobs=n) for n in (1, 3)
        )
    )
    np.testing.assert_array_equal(one, three)


def test_score_of_noise_is_zero_on_average():
    random = np.random.default_rng(12)
    codes = random.integers(0, 5, (200, 2000)).astype(np.uint8)
    labels = (random.random(2000) < 0.3).astype(np.int64)
    samples = FactorSamples.of(codes, labels, np.ones(2000), 2)
    fit = FactorFit(samples, make_log_prior(labels, np.ones(2000), 2))
    axes = JoinedAxes.of([Axis(j, np.arange(6), 0) for j in range(200)])
    scores = ScoreTest(fit, np.arange(2000)).scores(
        axes, np.arange(200)[:, np.newaxis], 1e-6
    )
    # Chi squared with 4 degrees of freedom (the prior is fitted), minus 5.
    assert abs(scores.mean() + 1.0) < 5 * np.sqrt(8 / 200)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_features_of_two_bins(n_classes, monkeypatch):
    random = np.random.default_rng(n_classes)
    codes = (random.random((6, 400)) < 0.2).astype(np.uint8)
    codes[3] += codes[1]  # three states
    codes[4, ::5] = 2  # not observed
    n_states = [2, 2, 2, 3, 2, 2]
    axes = [Axis(j, np.arange(n + 1), 0) for j, n in enumerate(n_states)]
    weights = random.gamma(2.0, size=400)
    labels = make_labels(random, codes, n_classes)
    samples = FactorSamples.of(codes, labels, weights, n_classes)
    fit = FactorFit(samples, make_log_prior(labels, weights, n_classes))
    fit.add([Factor((axis,)) for axis in axes], 1.0)
    fit.sweep()
    keys = np.argwhere(np.triu(np.ones((6, 6)), 1))
    test = ScoreTest(fit, np.arange(0, 400, 2))
    joined = JoinedAxes.of(axes)
    expected = test.scores(joined, keys, 0.7)
    in_two = test._has_two_bins(joined, keys)
    assert in_two.tolist() == [True, True, True, False, False, True]
    monkeypatch.setattr(score_test, "MANY_PAIRS", 6)
    assert_close(test.scores(joined, keys, 0.7), expected, 1e-9)
    monkeypatch.setattr(score_test, "MANY_PAIRS", 7)
    np.testing.assert_array_equal(test.scores(joined, keys, 0.7), expected)
