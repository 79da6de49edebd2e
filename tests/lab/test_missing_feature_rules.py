"""Other rules for features that are missing at prediction only."""

import numpy as np
import pytest

from lab.measurements.missing_feature_rules import (
    FactorsByRule,
    leave_out,
    log_mean_of_class,
    mean_of_class,
    mean_of_samples,
)
from tanager import BayesNetClassifier
from tanager.datasets import load


@pytest.fixture(scope="module")
def iris():
    data = load("iris")
    return data.X, np.asarray(data.y)


@pytest.fixture(scope="module")
def weights(iris):
    """Weights of the class, in cells without the feature, of every rule and factor."""
    rules = (leave_out, mean_of_samples, log_mean_of_class, mean_of_class)
    models = {rule: FactorsByRule(rule).fit(*iris).model_ for rule in rules}
    return {
        rule: [table.weights for table in model.network_.factors.tables]
        for rule, model in models.items()
    }


def test_factors_that_are_left_out_add_nothing(weights):
    assert all((table[-1] == 0.0).all() for table in weights[leave_out])


def test_observed_cells_are_those_of_the_library(iris, weights):
    tables = BayesNetClassifier(structure="factors").fit(*iris).network_.factors.tables
    for own in weights.values():
        for table, found in zip(tables, own, strict=True):
            seen = table.support > 0
            np.testing.assert_array_equal(found[seen], table.weights[seen])


def test_means_by_hand(iris, weights):
    X, y = iris
    model = BayesNetClassifier(structure="factors").fit(X, y)
    labels = np.searchsorted(model.classes_, y)
    codes = model.encoder_.encode(X).T
    single = [t for t in model.network_.factors.tables if len(t.factor.axes) == 1]
    for place, table in enumerate(single):
        own = table.weights[table.factor.cells(codes)]
        in_class = np.array([own[labels == c, c].mean() for c in range(3)])
        exact = np.array([np.exp(own[labels == c, c]).mean() for c in range(3)])
        for rule, mean in [
            (mean_of_samples, own.mean(axis=0)),
            (mean_of_class, in_class),
            (log_mean_of_class, np.log(exact)),
        ]:
            # One more sample, of all classes, makes the difference.
            expected = mean - mean.mean()
            np.testing.assert_allclose(weights[rule][place][-1], expected, atol=0.1)


def test_predictions_of_complete_samples_do_not_change(iris):
    X, y = iris
    model = BayesNetClassifier(structure="factors").fit(X, y)
    found = FactorsByRule(leave_out).fit(X, y)
    np.testing.assert_array_equal(found.predict_proba(X), model.predict_proba(X))
    assert (found.classes_ == model.classes_).all()
