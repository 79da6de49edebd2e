"""Scores of terms equal those of the model; what is no sum is refused."""

import numpy as np
import pytest
from scipy.special import softmax

from tanager import BayesNetClassifier, CapabilityError, Network
from tanager.export.score_terms import ScoreTerms
from tests.export.conftest import every_model


@every_model
def test_scores_give_the_probabilities(models, samples, kind, n_classes):
    model = models[kind, n_classes]
    terms = ScoreTerms.of_network(model.network_)
    names = model.network_.schema.names
    codes = model.encode(samples)[:, [names.index(v.name) for v in terms.features]]
    scores = terms.scores(codes)
    known = ~np.isnan(scores).any(axis=1)
    assert known.all() == (not terms.needed)
    assert known.sum() > 200
    expected = model.predict_proba(samples)[known]
    np.testing.assert_allclose(softmax(scores[known], axis=1), expected, atol=1e-12)


def test_a_class_with_parents_is_refused():
    network = Network.build(
        {"a": [0, 1], "c": [0, 1]},
        {"a": [0.5, 0.5], "c": (["a"], [[0.9, 0.1], [0.2, 0.8]])},
        target="c",
    )
    with pytest.raises(CapabilityError, match=r"parents \['a'\].*tan-res"):
        ScoreTerms.of_network(network)


def test_zeros_are_refused():
    network = Network.build(
        {"a": [0, 1], "c": [0, 1]},
        {"c": [0.5, 0.5], "a": (["c"], [[1.0, 0.0], [0.2, 0.8]])},
        target="c",
    )
    model = BayesNetClassifier.from_network(network)
    with pytest.raises(CapabilityError, match="zero"):
        model.to_sql()


@pytest.mark.parametrize("method", ["to_sql", "to_c", "to_js", "to_rating_table"])
def test_dates_are_refused(method):
    """Compared with seconds, a column of dates would silently be in wrong bins."""
    days = np.datetime64("2024-01-01") + np.arange(60)
    model = BayesNetClassifier(structure="nb", parameters="fe")
    model.fit({"day": days}, (np.arange(60) > 30).astype(int))
    with pytest.raises(CapabilityError, match="'day' holds values of type datetime"):
        getattr(model, method)()
