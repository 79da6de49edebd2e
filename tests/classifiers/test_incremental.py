"""Batches, forgetting, merged classifiers and the drift report."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from sklearn.metrics import log_loss

from tanager import BayesNetClassifier
from tanager.errors import CapabilityError, InputError
from tanager.loglinear import kept_samples

LEARNERS = [("auto", "auto"), ("tan", "fe"), ("nb", "dfe")]


def make_stream(n_samples, seed=0, turned=False):
    """Three features, two of them interacting; `turned` swaps the classes."""
    random = np.random.default_rng(seed)
    size, colour = random.normal(size=n_samples), random.choice(list("abc"), n_samples)
    noise = random.normal(size=n_samples)
    score = 1.5 * size * np.where(colour == "a", -1, 1) + 0.3 * noise
    score += 0.7 * random.normal(size=n_samples)
    y = np.where((score > 0) ^ turned, "yes", "no")
    return {"size": size, "colour": colour, "noise": noise}, y


def rows(X, part):
    return {name: values[part] for name, values in X.items()}


def batches(X, y, size):
    for start in range(0, len(y), size):
        part = slice(start, start + size)
        yield rows(X, part), y[part]


def loss_of(model, X, y):
    return log_loss(y, model.predict_proba(X), labels=model.classes_)


def test_factors_of_batches_are_those_of_all_samples_at_first():
    X, y = make_stream(1200)
    model = BayesNetClassifier()
    for batch in batches(X, y, 300):
        model.partial_fit(*batch)
    whole = BayesNetClassifier(encoder=copy.deepcopy(model.encoder_)).fit(X, y)
    assert set(model.network_.interactions) == set(whole.network_.interactions)
    # Selected again at 600 and 1200 samples: the bins are those of the first batch.
    new, labels = make_stream(2000, seed=5)
    assert abs(loss_of(model, new, labels) - loss_of(whole, new, labels)) < 0.02


def test_later_batches_update_the_tables(monkeypatch):
    monkeypatch.setattr(kept_samples, "KEPT_SAMPLES", 800)
    X, y = make_stream(4000)
    first = BayesNetClassifier().partial_fit(rows(X, slice(600)), y[:600])
    model = copy.deepcopy(first)
    for batch in batches(rows(X, slice(600, None)), y[600:], 400):
        model.partial_fit(*batch)
    assert model.network_.interactions == first.network_.interactions
    assert len(model._counts.kept.weights) <= 800
    assert np.isclose(model._counts.kept.weights.sum(), 4000)
    assert model._counts.n_samples == 4000
    assert sum(t.support.sum() for t in model.network_.factors.tables[:1]) == 4000
    new, labels = make_stream(3000, seed=9)
    whole = BayesNetClassifier().fit(X, y)
    before, after = loss_of(first, new, labels), loss_of(model, new, labels)
    assert after < before - 0.5 * (before - loss_of(whole, new, labels))
    again = pickle.loads(pickle.dumps(model)).partial_fit(*make_stream(50, seed=3))
    assert again._counts.n_samples == 4050


def test_fit_then_partial_fit_goes_on_with_factors():
    X, y = make_stream(500)
    model = BayesNetClassifier().fit(X, y).partial_fit(rows(X, slice(100)), y[:100])
    assert model._counts.n_samples == 600
    assert model.credible_interval(rows(X, slice(3))).low.shape == (3, 2)


def test_new_categories_and_classes_of_factors():
    X, y = make_stream(900)
    model = BayesNetClassifier().partial_fit(X, y)
    more = {"size": np.zeros(40), "colour": ["d"] * 40, "noise": np.zeros(40)}
    model.partial_fit(more, ["yes"] * 40)
    one = {"size": [0.0], "colour": ["d"], "noise": [0.0]}
    assert model.predict_proba(one)[0, 1] > 0.9
    assert model.drift_report().batches[-1]["new_categories"] == 1
    more["colour"] = ["e"] * 40
    model.partial_fit(more, ["maybe"] * 40)
    assert model.classes_.tolist() == ["maybe", "no", "yes"]
    assert model.predict({**one, "colour": ["e"]}).tolist() == ["maybe"]
    assert model.drift_report().batches[-1]["new_classes"] == 1
    assert np.isnan(model.drift_report().batches[-1]["log_loss"])


def test_declared_classes_may_be_absent_from_a_batch():
    X, y = make_stream(300)
    one = y == "yes"
    model = BayesNetClassifier().partial_fit(rows(X, one), y[one], ["no", "yes"])
    model.partial_fit(rows(X, ~one), y[~one])
    assert model.score(X, y) > 0.8


def test_a_single_class_first():
    X, y = make_stream(300)
    one = y == "yes"
    model = BayesNetClassifier().partial_fit(rows(X, one), y[one])
    model.partial_fit(rows(X, ~one), y[~one])
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize(("structure", "parameters"), LEARNERS)
def test_forgetting_follows_a_change(structure, parameters):
    model = BayesNetClassifier(structure=structure, parameters=parameters)
    model.fit(*make_stream(2000))
    keeps, forgets = copy.deepcopy(model), copy.deepcopy(model)
    for k in range(4):
        batch = make_stream(200, seed=20 + k, turned=True)
        keeps.partial_fit(*batch)
        forgets.partial_fit(*batch, half_life=100)
    X, y = make_stream(1000, seed=50, turned=True)
    assert loss_of(forgets, X, y) < loss_of(keeps, X, y) - 0.02
    if structure != "nb":
        assert forgets.score(X, y) > 0.75 > keeps.score(X, y)


def test_counts_lose_half_their_weight():
    X, y = make_stream(400)
    model = BayesNetClassifier("width", "tan", "fe").fit(X, y)
    before = model._counts
    model.partial_fit(rows(X, slice(100)), y[:100], half_life=100)
    counted = BayesNetClassifier("width", "tan", "fe")
    counted.partial_fit(X, y, sample_weight=np.full(400, 0.5))
    counted.partial_fit(rows(X, slice(100)), y[:100])
    after = model._counts
    assert np.allclose(after.families.values, counted._counts.families.values)
    assert np.allclose(after.pairs.values, counted._counts.pairs.values)
    assert (before.n_samples, after.n_samples) == (400, 300)


@pytest.mark.parametrize("half_life", [-1, "long", np.nan, True])
def test_impossible_half_lives(half_life):
    X, y = make_stream(100)
    with pytest.raises(InputError, match="half_life"):
        BayesNetClassifier().partial_fit(X, y, half_life=half_life)


def test_merged_factors():
    X, y = make_stream(1200)
    one = BayesNetClassifier().fit(rows(X, slice(700)), y[:700])
    rest = rows(X, slice(700, None)), y[700:]
    other = copy.deepcopy(one).partial_fit(*rest, half_life=0)
    merged, whole = one.merge(other), copy.deepcopy(one).partial_fit(*rest)
    assert merged._counts.n_samples == 1200
    new, labels = make_stream(1000, seed=4)
    p, q = merged.predict_proba(new), whole.predict_proba(new)
    assert np.abs(p - q).max() < 0.1
    assert abs(loss_of(merged, new, labels) - loss_of(whole, new, labels)) < 0.01
    assert one.merge(other).partial_fit(*rest)._counts.n_samples == 1700


def test_models_that_cannot_be_merged():
    X, y = make_stream(600)
    one = BayesNetClassifier().fit(X, y)
    with pytest.raises(CapabilityError, match="same structure learner"):
        one.merge(BayesNetClassifier(structure="nb", parameters="fe").fit(X, y))
    encoder = copy.deepcopy(one.encoder_)
    fewer = BayesNetClassifier(encoder, structure="factors", parameters="auto")
    fewer.set_params(structure=type(one.structure_)(order=1)).fit(X, y)
    with pytest.raises(CapabilityError, match=r"factor over .*half_life=0"):
        one.merge(fewer)


def test_other_learners_cannot_continue_from_factors():
    X, y = make_stream(200)
    model = BayesNetClassifier().fit(X, y)
    model.set_params(structure="nb", parameters="fe")
    with pytest.raises((CapabilityError, AttributeError), match="FactorSearch"):
        model.partial_fit(X, y)


def test_drift_report():
    model = BayesNetClassifier().fit(*make_stream(1500))
    with pytest.raises(InputError, match="partial_fit again"):
        model.drift_report()
    model.partial_fit(*make_stream(500, seed=1))
    X, y = make_stream(500, seed=2, turned=True)
    proba = model.predict_proba(X)
    report = model.partial_fit(X, y).drift_report()
    assert type(report).__name__ == "DriftReport"
    calm, drifted = report.batches
    assert (calm["batch"], drifted["batch"]) == (2, 3)
    assert abs(calm["z"]) < 4 < drifted["z"]
    assert np.isclose(drifted["log_loss"], log_loss(y, proba))
    right = proba.argmax(axis=1) == np.searchsorted(model.classes_, y)
    assert drifted["accuracy"] == right.mean()
    entropy = -(proba * np.log(proba)).sum(axis=1)
    assert np.isclose(drifted["expected_log_loss"], entropy.mean())
    spread = (proba * np.log(proba) ** 2).sum(axis=1) - entropy**2
    error = np.sqrt(spread.sum()) / len(y)
    assert np.isclose(drifted["z"], (log_loss(y, proba) - entropy.mean()) / error)
    assert report.to_frame()["samples"].tolist() == [500, 500]
    assert "expected log loss" in report.to_svg()
    assert str(report).splitlines()[0].split() == [
        "batch", "samples", "log", "loss", "expected", "z", "accuracy",
    ]  # fmt: skip


def test_large_batches_are_predicted_in_part(monkeypatch):
    from tanager.classifiers import drift

    X, y = make_stream(400)
    model = BayesNetClassifier(structure="nb", parameters="fe").fit(X, y)
    weights = np.random.default_rng(0).random(400)
    proba = model.predict_proba(X)[np.arange(400), np.searchsorted(model.classes_, y)]
    monkeypatch.setattr(drift, "MAX_SAMPLES", 100)
    model.partial_fit(X, y, sample_weight=weights)
    (batch,) = model.drift_report().batches
    expected = -np.average(np.log(proba[::4]), weights=weights[::4])
    assert np.isclose(batch["log_loss"], expected)
