"""SHAP's explainers on a fitted classifier, as in docs/explanations.md."""

import numpy as np
import pytest

from tanager import BayesNetClassifier

shap = pytest.importorskip("shap", reason="SHAP is not installed: pip install shap")


@pytest.fixture(scope="module")
def samples():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 4))
    return X, (X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * random.normal(size=300) > 0).astype(
        int
    )


@pytest.mark.parametrize("algorithm", ["exact", "permutation"])
@pytest.mark.parametrize("structure", ["nb", "tan", "factors"])
def test_values_sum_to_the_probabilities(samples, structure, algorithm):
    X, y = samples
    model = BayesNetClassifier(structure=structure, random_state=0).fit(X, y)
    background = shap.maskers.Independent(X[:50], max_samples=50)
    explainer = shap.Explainer(model.predict_proba, background, algorithm=algorithm)
    found = explainer(X[50:54])
    total = found.base_values + found.values.sum(axis=1)
    np.testing.assert_allclose(total, model.predict_proba(X[50:54]), atol=1e-8)


def test_naive_bayes_has_the_contributions_as_shap_values_of_the_log_odds(samples):
    X, y = samples
    model = BayesNetClassifier(structure="nb", parameters="fe").fit(X, y)
    background = shap.maskers.Independent(X[:50], max_samples=50)
    explainer = shap.Explainer(
        lambda X: model.explain(X).log_odds[:, 0], background, algorithm="exact"
    )
    found = explainer(X[50:54])
    own, mean = model.explain(X[50:54]), model.explain(X[:50]).values.mean(axis=0)
    np.testing.assert_allclose(found.values, (own.values - mean)[..., 0], atol=1e-8)
