"""Features that are missing at prediction, but never were in training."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_softmax, softmax

from tanager import BayesNetClassifier, QuantileEncoder, TableEncoder
from tanager.loglinear.fitted_factors import FactorTables
from tanager.loglinear.missing_features import (
    HIDDEN_RATE,
    SCALES,
    average_errors,
    average_weights,
    balance_averages,
    hide_values,
    missing_variances,
    never_missing,
    select_scale,
    shrink_scores,
)
from tests.loglinear.factor_makers import (
    make_codes,
    make_factor,
    make_fit,
    make_labels,
    make_variables,
)
from tests.reference import factors as reference

KEYS = [(0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2)]


def make_samples(seed, n_classes, n_samples=60):
    """Three features, of which some are missing in training, and labels."""
    random = np.random.default_rng(seed)
    variables = make_variables(random, 3, max_values=4)
    codes = make_codes(random, variables, n_samples)
    for j, variable in enumerate(variables):
        if random.random() < 0.7:  # never missing
            codes[j] = np.minimum(codes[j], variable.n_states - 1)
    labels = random.integers(0, n_classes, n_samples)
    return random, variables, codes, labels


def count(factor, codes, labels, weights, n_classes):
    counts = np.zeros((factor.n_cells, n_classes))
    np.add.at(counts, (factor.cells(codes), labels), weights)
    return counts


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 10_000),
    st.sampled_from(KEYS),
    st.integers(2, 4),
    st.sampled_from([None, 2]),
)
def test_means_and_variances_are_those_of_the_reference(seed, key, n_classes, max_bins):
    random, variables, codes, labels = make_samples(seed, n_classes)
    factor = make_factor(variables, key, max_bins)
    counts = count(factor, codes, labels, random.random(len(labels)), n_classes)
    weights = random.normal(size=(factor.n_cells, n_classes))
    weights -= weights.mean(axis=1, keepdims=True)
    found = average_weights(factor, weights, counts)
    expected = reference.average_weights(factor, weights, counts)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    support = counts.sum(axis=1)
    variances = missing_variances(factor, weights, support)
    expected = reference.missing_variances(factor, weights, support)
    np.testing.assert_allclose(variances, expected, atol=1e-12)
    changed = (found != weights).any(axis=1)
    assert not changed[support > 0].any()
    np.testing.assert_allclose(found.sum(axis=1), 0.0, atol=1e-12)


def test_tables_without_samples_stay_as_they_are():
    _, variables, _, _ = make_samples(0, 2)
    factor = make_factor(variables, (0, 1))
    weights = np.random.default_rng(0).normal(size=(factor.n_cells, 2))
    nothing = np.zeros_like(weights)
    assert not any(never_missing(factor, nothing[:, 0]))
    np.testing.assert_array_equal(average_weights(factor, weights, nothing), weights)
    assert not missing_variances(factor, weights, nothing[:, 0]).any()
    assert balance_averages([], [], []) == []


def fitted(seed=3, n_classes=2, missing=False, n_samples=300):
    """Factors of a fit; feature 0 is missing in training where asked for."""
    random = np.random.default_rng(seed)
    variables = make_variables(random, 4)
    codes = make_codes(random, variables, n_samples)
    for j, variable in enumerate(variables):
        if j or not missing:
            codes[j] = np.minimum(codes[j], variable.n_states - 1)
    labels = make_labels(random, codes, n_classes)
    factors = [make_factor(variables, key) for key in [(0,), (1,), (2,), (3,), (0, 1)]]
    fit = make_fit(codes, labels, np.ones(n_samples), n_classes, factors, 0.1)
    fit.sweep(10)
    return variables, codes, labels, fit


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("missing", [False, True])
def test_training_samples_get_the_sums_of_the_fit(n_classes, missing):
    _, codes, _, fit = fitted(n_classes=n_classes, missing=missing)
    model = replace(FactorTables.of_fit(fit), variance_scale=1.0)
    found = log_softmax(model.log_joint_block(np.asfortranarray(codes.T)), axis=1)
    expected = reference.log_posterior(
        codes,
        fit.log_prior,
        [term.factor for term in fit.terms],
        [term.table for term in fit.terms],
    )
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_samples_without_any_feature_get_the_prior(n_classes):
    variables, codes, _, fit = fitted(n_classes=n_classes)
    model = FactorTables.of_fit(fit)
    nothing = np.array([[v.n_states for v in variables]], dtype=codes.dtype)
    for scale in (0.0, 0.4):
        scores = replace(model, variance_scale=scale).log_joint_block(nothing)
        np.testing.assert_allclose(
            softmax(scores[0]), softmax(model.log_prior), atol=1e-12
        )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_incomplete_samples_by_the_formula(n_classes):
    variables, codes, _, fit = fitted(n_classes=n_classes, missing=True)
    model = replace(FactorTables.of_fit(fit), variance_scale=0.7)
    states = np.array([[v.n_states] for v in variables])
    hidden = np.random.default_rng(1).random(codes.shape) < 0.4
    codes = np.where(hidden, states, codes).astype(codes.dtype)
    found = model.log_joint_block(np.asfortranarray(codes.T))
    for m in range(50):
        score, variance = model.log_prior.copy(), np.zeros(n_classes)
        for table in model.tables:
            cell = table.factor.cells(codes[:, m : m + 1])[0]
            score += table.weights[cell]
            columns = table.weights
            if n_classes == 2:
                columns = columns[:, 1:] - columns[:, :1]
            own = reference.missing_variances(table.factor, columns, table.support)
            variance += own[cell]
        prior = model.log_prior - model.log_prior.mean()
        score = prior + (score - score.mean() - prior) / np.sqrt(1 + 0.7 * variance)
        np.testing.assert_allclose(softmax(found[m]), softmax(score), atol=1e-12)


def test_single_incomplete_samples_give_the_bits_of_many():
    variables, codes, _, fit = fitted(n_classes=3)
    model = replace(FactorTables.of_fit(fit), variance_scale=0.4)
    codes = hide_values(codes, *model._averaged_features)
    assert (codes == [[v.n_states] for v in variables]).any()
    rows = np.asfortranarray(codes.T)
    whole = model.log_joint_block(rows)
    single = [model.log_joint_block(rows[i : i + 1]) for i in range(len(rows))]
    np.testing.assert_array_equal(np.concatenate(single), whole)


def test_a_learned_weight_of_not_observed_is_kept():
    _, _, _, fit = fitted(missing=True)
    model = FactorTables.of_fit(fit)
    own = fit.terms[0].table[-1, 0]
    assert own != 0.0
    np.testing.assert_allclose(model.tables[0].weights[-1], [-own / 2, own / 2])
    assert 0 not in model._averaged_features[0]


def test_hidden_values_do_not_depend_on_the_order_of_features():
    random = np.random.default_rng(0)
    codes = random.integers(0, 4, (3, 5000)).astype(np.uint8)
    features, missing = np.arange(3), np.full(3, 4)
    hidden = hide_values(codes, features, missing)
    np.testing.assert_allclose((hidden == 4).mean(axis=1), HIDDEN_RATE, atol=0.03)
    kept = hidden < 4
    np.testing.assert_array_equal(hidden[kept], codes[kept])
    order = [2, 0, 1]
    again = hide_values(codes[order].astype(np.uint16), features, missing)
    np.testing.assert_array_equal(again, hidden[order])
    some = hide_values(codes, features[:1], missing[:1])
    np.testing.assert_array_equal(some[1:], codes[1:])


@pytest.mark.parametrize("n_columns", [1, 3])
def test_the_scale_has_the_least_loss(n_columns):
    random = np.random.default_rng(0)
    scores = 3.0 * random.normal(size=(500, n_columns))
    prior, variances = np.zeros((1, n_columns)), random.random(scores.shape)
    labels = random.integers(0, max(n_columns, 2), 500)
    weights = random.random(500)

    def loss(scale):
        shrunk = shrink_scores(scores, prior, variances, scale)
        if n_columns == 1:
            shrunk = np.hstack([np.zeros_like(shrunk), shrunk])
        return -weights @ log_softmax(shrunk, axis=1)[np.arange(500), labels]

    found = select_scale(scores, prior, variances, labels, weights)
    assert found == max(SCALES)  # labels are random: the more, the better
    assert loss(found) == min(map(loss, SCALES))
    nothing = np.zeros_like(variances)
    assert select_scale(scores, prior, nothing, labels, weights) == 0.0


def test_predictions_from_one_of_two_features():
    """The class is the sign of a sum: without a summand nothing is certain."""
    random = np.random.default_rng(0)
    X = random.normal(size=(3000, 2))
    y = (X.sum(axis=1) > 0).astype(int)
    model = BayesNetClassifier().fit(X[:2000], y[:2000])
    X[:, 1] = np.nan
    truth = y[2000:]

    def loss(network):
        other = BayesNetClassifier.from_network(network)
        found = other.predict_proba({"x0": X[2000:, 0]})
        return -np.log(found[np.arange(len(truth)), truth]).mean()

    network = model.network_
    assert network.factors.variance_scale > 0.0
    bare = replace(network.factors, variance_scale=0.0)
    # With the probability of a Gaussian summand the loss is 0.5.
    assert loss(network) == pytest.approx(0.5, abs=0.05)
    assert loss(replace(network, factors=bare)) > 0.8


def test_missing_values_in_training_are_learned_by_either_encoder():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 600)
    X = random.normal(size=(600, 2)) + y[:, np.newaxis]
    X[random.random(600) < 0.1 + 0.5 * y, 0] = np.nan
    encoder = TableEncoder(numeric=QuantileEncoder(n_bins=254), missing="marginalize")
    models = [BayesNetClassifier().fit(X, y), BayesNetClassifier(encoder).fit(X, y)]
    found, other = (model.predict_proba(X) for model in models)
    np.testing.assert_allclose(found, other, atol=0.02)


def test_errors_of_means_fall_with_the_bins_and_others_stay():
    variables = make_variables(np.random.default_rng(3), 2, max_values=4)
    factor = make_factor(variables, (0, 1))
    support = np.ones(tuple(factor.shape))
    support[-1] = support[:, -1] = 0.0  # neither feature was missing in training
    errors = np.full((factor.n_cells, 2), 0.5)
    found = average_errors(factor, errors, support.ravel()).reshape(*factor.shape, 2)
    n_first, n_second = factor.shape - 1
    np.testing.assert_allclose(found[:-1, :-1], 0.5)
    np.testing.assert_allclose(found[-1, :-1], 0.5 / np.sqrt(n_first))
    np.testing.assert_allclose(found[:-1, -1], 0.5 / np.sqrt(n_second))
    np.testing.assert_allclose(found[-1, -1], 0.5 / np.sqrt(n_first * n_second))
