"""Wide, rare and unusual data: the default model works and is sensible."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import hstack
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.preprocessing import OneHotEncoder

from tanager import BayesNetClassifier, DataWarning, TableEncoder
from tanager.structure import FactorSearch


def own_probabilities(model, X, y):
    """Probability of the own class of every sample."""
    found = model.predict_proba(X)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    return found[np.arange(len(y)), np.searchsorted(model.classes_, y)]


def test_many_more_features_than_samples():
    random = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = random.standard_normal((120, 400))
    X[:, :5] += 1.5 * y[:, np.newaxis]
    model = BayesNetClassifier().fit(X[:80], y[:80])
    assert model.score(X[80:], y[80:]) > 0.8


def test_many_classes_with_few_samples_each():
    random = np.random.default_rng(1)
    y = np.arange(600) % 60
    X = (4.0 * random.standard_normal((60, 5)))[y] + random.standard_normal((600, 5))
    order = random.permutation(600)
    train, test = order[:450], order[450:]
    model = BayesNetClassifier().fit(X[train], y[train])
    assert model.score(X[test], y[test]) > 0.6


@pytest.mark.parametrize("order", [1, 3])
def test_a_class_of_two_samples_among_thousands(order):
    random = np.random.default_rng(2)
    X = random.standard_normal((7000, 4))
    y = np.zeros(7000, dtype=int)
    y[[1000, 5000]] = 1
    X[y == 1, 0] = 9.0
    model = BayesNetClassifier(structure=FactorSearch(order=order)).fit(X, y)
    found = own_probabilities(model, X, y)
    assert -np.log(found).mean() < 0.01
    rare = model.predict_proba(X)[:, 1]
    # No feature separates the rare class from values that nobody has seen.
    assert rare[y == 1].min() >= np.quantile(rare[y == 0], 0.99)


def test_sparse_indicators():
    random = np.random.default_rng(3)
    X = (random.random((1500, 80)) < 0.04).astype(np.uint8)
    scores = X[:, :16] @ np.repeat([3.0, -3.0], 8)
    y = (scores + random.logistic(size=1500) > 0).astype(int)
    model = BayesNetClassifier().fit(X[:1000], y[:1000])
    constant = np.bincount(y[1000:]) / 500
    loss = -np.log(own_probabilities(model, X[1000:], y[1000:])).mean()
    assert loss < 0.95 * -(constant @ np.log(constant))


@pytest.mark.parametrize("spread", [0.4, 1.0])
def test_many_categories_are_shrunk_as_their_variance_says(spread):
    # Eight samples for every postcode, in addition to a numeric feature.
    random = np.random.default_rng(5)
    effects = random.normal(0.0, spread, 1000)
    codes = random.integers(1000, size=16_000)
    x = random.standard_normal(16_000)
    y = (effects[codes] + x + random.logistic(size=16_000) > 0).astype(int)
    X = pd.DataFrame({"place": [f"p{code}" for code in codes], "x": x})
    model = BayesNetClassifier().fit(X[:8000], y[:8000])
    loss = -np.log(own_probabilities(model, X[8000:], y[8000:])).mean()
    # Random effects of known variance: a ridge of strength 1 / spread^2.
    hot = OneHotEncoder(handle_unknown="ignore").fit_transform(X[["place"]])
    design = hstack([hot, x[:, np.newaxis] * 100.0]).tocsr()  # x is not penalised
    ridge = LogisticRegression(C=spread**2, max_iter=5000)
    ridge.fit(design[:8000], y[:8000])
    best = log_loss(y[8000:], ridge.predict_proba(design[8000:]))
    without = LogisticRegression(C=1e6).fit(X[["x"]][:8000], y[:8000])
    numeric = log_loss(y[8000:], without.predict_proba(X[["x"]][8000:]))
    assert numeric - loss > 0.8 * (numeric - best)
    # A postcode that nobody has seen tells nothing: the numeric feature alone decides.
    other = X[8000:].assign(place="unseen")
    with pytest.warns(DataWarning, match="No value of column 'place'"):
        found = model.predict_proba(other)[:, 1]
    assert np.abs(found - without.predict_proba(other[["x"]])[:, 1]).max() < 0.15


def test_a_column_of_more_states_than_two_bytes_number():
    random = np.random.default_rng(4)
    n_samples = 70_000
    codes = random.permutation(n_samples)
    states = [f"id{i}" for i in range(n_samples)]
    x = random.standard_normal(n_samples)
    y = (x + random.logistic(size=n_samples) > 0).astype(int)
    X = pd.DataFrame({"x": x, "id": pd.Categorical.from_codes(codes, states)})
    model = BayesNetClassifier(
        encoder=TableEncoder(numeric="quantile", identifiers="keep"),
        structure=FactorSearch(order=2),
    ).fit(X, y)
    assert model.network_.interactions == ()
    fresh = pd.DataFrame({"x": [-3.0, 3.0], "id": ["new", "newer"]})
    below, above = model.predict_proba(fresh)[:, 1]
    assert below < 0.25
    assert above > 0.75
