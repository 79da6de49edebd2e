"""How values are hidden, and scores of classifiers of such tables."""

import numpy as np
import pytest

from lab.measurements import incomplete_samples
from lab.measurements.incomplete_samples import hidden, incomplete_sample_scores
from lab.measurements.named_models import MODELS
from lab.runner import paper

LABELS = np.repeat(["a", "b", "c"], 4000)


def rates(kind, rate, n_features=6):
    """Rates of missing values by class and feature."""
    mask = hidden(LABELS, n_features, kind, rate, np.random.default_rng(1))
    assert mask.shape == (len(LABELS), n_features)
    return np.array([mask[label == LABELS].mean(axis=0) for label in "abc"])


def test_at_random():
    np.testing.assert_allclose(rates("at random", 0.3), 0.3, atol=0.03)


@pytest.mark.parametrize(("rate", "most"), [(0.2, 0.35), (0.6, 0.95)])
def test_informative_values_depend_on_the_class(rate, most):
    found = rates("informative", rate)
    close = [np.abs(found - expected) < 0.03 for expected in (0.25 * rate, most)]
    assert (close[0] | close[1]).all()
    assert close[0].any()
    assert close[1].any()
    assert (np.ptp(found, axis=0) > 0.1).any()


@pytest.mark.parametrize(("rate", "n_rare"), [(0.05, 1), (0.5, 3)])
def test_some_features_are_almost_always_missing(rate, n_rare):
    found = rates("almost always", rate).mean(axis=0)
    assert np.isclose(found, 0.95, atol=0.02).sum() == n_rare
    assert (found == 0).sum() == 6 - n_rare


def test_an_unknown_kind():
    with pytest.raises(ValueError, match="unknown kind"):
        rates("never", 0.1)


@pytest.mark.parametrize("where", ["training", "prediction", "both"])
def test_scores(where, monkeypatch):
    made = []
    monkeypatch.setitem(
        incomplete_samples.MODELS,
        "counted",
        lambda: made.append(where) or MODELS["NB-ML"](),
    )
    numbers = incomplete_sample_scores(
        data="iris", model="counted", kind="at random", rate=0.3, where=where, fold=1
    )
    assert 0.7 < numbers["accuracy"] <= 1.0
    assert numbers["log_loss"] < 1.0
    incomplete_samples._fitted.cache_clear()
    assert made == [where]


def test_models_of_the_study_are_known():
    for experiment in paper("missing").experiments:
        assert {cell.parameters["model"] for cell in experiment.cells()} <= set(MODELS)
