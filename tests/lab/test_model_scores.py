"""Candidates for the default and their rivals: the measurement and its view."""

from __future__ import annotations

import sys
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

from lab.measurements.default_candidates import model_scores, scores
from lab.measurements.named_models import MODELS
from lab.runner.catalogue import experiments
from lab.runner.results import Results
from lab.views import view_of
from tanager import BayesNetClassifier, CapabilityError, ResidualTree, datasets

# The package has a function of the same name.
module = import_module("lab.measurements.default_candidates")

OURS, THEIRS = "TAN-RES, smooth tables", "HistGradientBoosting"
FAST = ["NB-ML", "CategoricalNB", "LogisticRegression", OURS, THEIRS]


@pytest.mark.parametrize("model", FAST)
def test_scores_of_a_fold(model):
    numbers = model_scores(data="sklearn/iris", model=model, fold=2)
    assert numbers["accuracy"] > 0.85
    assert 0 < numbers["log_loss"] < 0.8
    assert 0 < numbers["brier"] < 0.3
    assert 0 <= numbers["calibration_error"] < 0.25
    assert min(numbers["fit_seconds"], numbers["predict_seconds"]) >= 0


def test_the_default_is_among_the_models():
    iris = datasets.load("iris")
    found = MODELS["Factors"]().fit(iris.X, iris.y).predict_proba(iris.X)
    default = BayesNetClassifier().fit(iris.X, iris.y).predict_proba(iris.X)
    assert (found == default).all()
    same = BayesNetClassifier(structure="tan-res").fit(iris.X, iris.y)
    found = MODELS[OURS]().fit(iris.X, iris.y).predict_proba(iris.X)
    assert (found == same.predict_proba(iris.X)).all()
    two = MODELS["2-tree-RES, smooth tables"]().fit(iris.X, iris.y).structure_
    assert isinstance(two, ResidualTree)
    assert (two.k, two.smooth) == (2, True)


def test_tuned_boosting_takes_what_is_likeliest_in_inner_folds():
    random = np.random.default_rng(0)
    X = pd.DataFrame({"x": random.normal(size=60), "noise": random.normal(size=60)})
    y = np.where(X["x"] > 0, "b", "a")
    y[0] = "z"  # in one of the inner folds alone
    model = MODELS["HistGradientBoosting, tuned"]()
    with pytest.warns(UserWarning, match="least populated class"):
        model.fit(X, y)
    scores = model.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    assert len(scores) == 3
    assert model.best_score_ == max(scores)


def test_a_package_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "interpret", None)
    monkeypatch.setitem(sys.modules, "interpret.glassbox", None)
    with pytest.raises(CapabilityError, match=r"tanager\[bench\]"):
        MODELS["ExplainableBoosting"]()


def test_some_rows_of_a_large_set(monkeypatch):
    seen = []

    class Watched:
        classes_ = np.array(["setosa", "versicolor", "virginica"])

        def fit(self, X, y):
            seen.extend(y)

        def predict_proba(self, X):
            return np.full((len(X), 3), 1 / 3)

    monkeypatch.setitem(MODELS, "watched", Watched)
    monkeypatch.setattr(module, "FEWEST", 19)
    numbers = model_scores(data="sklearn/iris", model="watched", fold=1, n_rows=60)
    kept = [seen.count(name) for name in Watched.classes_]
    assert kept.count(0) == 1  # of one class fewer than 19 rows were drawn
    assert 38 * 0.8 - 1 <= sum(kept) <= 48
    assert numbers["log_loss"] == pytest.approx(np.log(3))


def test_columns_of_no_use_are_left_out(monkeypatch):
    names = [f"row {k}" for k in range(40)]
    X = pd.DataFrame(
        {"x": np.arange(40.0), "name": names, "none": np.nan, "word": ["a", "b"] * 20}
    )
    monkeypatch.setattr(module, "rows_of", lambda data: (X, np.array(["u", "v"] * 20)))
    seen = []

    class Watched:
        classes_ = np.array(["u", "v"])

        def fit(self, X, y):
            seen.extend(X)

        def predict_proba(self, X):
            return np.full((len(X), 2), 0.5)

    monkeypatch.setitem(MODELS, "watched", Watched)
    model_scores(data="any", model="watched", fold=1)
    assert seen == ["x", "word"]


def test_classes_that_were_not_in_the_training_rows(monkeypatch):
    class TwoClasses:
        classes_ = np.array(["setosa", "virginica"])

        def fit(self, X, y):
            pass

        def predict_proba(self, X):
            return np.tile([1.0, 0.0], (len(X), 1))

    monkeypatch.setitem(MODELS, "two", TwoClasses)
    numbers = model_scores(data="sklearn/iris", model="two", fold=1)
    assert numbers["accuracy"] == pytest.approx(1 / 3)
    assert numbers["log_loss"] == pytest.approx(-np.log(module.LEAST_SHOWN) * 2 / 3)


def test_scores_by_hand():
    probabilities = np.array([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7]])
    found = scores(probabilities, np.array([0, 1, 1]))
    assert found["accuracy"] == pytest.approx(2 / 3)
    assert found["log_loss"] == pytest.approx(-np.log([0.9, 0.4, 0.7]).mean())
    assert found["brier"] == pytest.approx((0.02 + 0.72 + 0.18) / 3)
    # Sure of 0.9 and 0.7, right; sure of 0.6, wrong: each in a bin of its own.
    assert found["calibration_error"] == pytest.approx((0.1 + 0.3 + 0.6) / 3)


# The view


def known(models, accuracy, n_sets=4, without=()):
    experiment = experiments()["tanager2026/tuning"]
    sets = list(dict.fromkeys(cell.data[0] for cell in experiment.cells()))[:n_sets]
    numbers = {}
    for cell in experiment.cells():
        data, model = cell.data[0], cell.parameters["model"]
        if data not in sets or model not in models or (data, model) in without:
            continue
        share = accuracy[model] + 0.01 * sets.index(data)
        numbers[cell] = {
            "accuracy": share,
            "log_loss": 1 - share,
            "brier": 1 - share,
            "calibration_error": 0.05,
            "fit_seconds": float(cell.parameters["fold"]),
        }
    return experiment, Results.of(experiment.cells(), numbers), sets


def test_averages_tests_and_ranks():
    experiment, results, _ = known([OURS, THEIRS], {OURS: 0.9, THEIRS: 0.8})
    view = view_of(experiment, results)
    assert view.holds
    assert "averages over 4 datasets" in view.verdict
    first, second = view.tables[1].rows
    assert first[0] == OURS
    assert first[1:4] == pytest.approx((91.5, 0.085, 0.085))
    assert first[5:] == pytest.approx((2.0, 2.0))
    assert second[1] == pytest.approx(81.5)
    (against,) = view.tables[2].rows
    assert against[:2] == (OURS, "4/0")
    assert view.draw is not None


def test_a_claim_that_fails():
    experiment, results, _ = known([OURS, THEIRS], {OURS: 0.7, THEIRS: 0.8})
    assert view_of(experiment, results).holds is False


def test_models_that_are_not_known_on_all_sets_are_left_out():
    accuracy = {OURS: 0.9, THEIRS: 0.8, "NB-ML": 0.7}
    _, _, sets = known(list(accuracy), accuracy)
    experiment, results, _ = known(
        list(accuracy), accuracy, without={(sets[0], "NB-ML")}
    )
    view = view_of(experiment, results)
    assert [row[0] for row in view.tables[1].rows] == [OURS, THEIRS]
    assert "left out: NB-ML" in view.verdict


def test_nothing_or_little_is_known():
    experiment, results, _ = known([], {})
    assert view_of(experiment, results).holds is None
    experiment, results, _ = known([OURS, THEIRS], {OURS: 0.9, THEIRS: 0.8}, n_sets=1)
    view = view_of(experiment, results)
    assert view.holds
    assert view.draw is None
    experiment, results, _ = known([OURS], {OURS: 0.9})
    assert view_of(experiment, results).holds is None
    accuracy = {OURS: 0.9, THEIRS: 0.8}
    _, _, sets = known(list(accuracy), accuracy, n_sets=2)
    without = {(sets[0], OURS), (sets[1], THEIRS)}
    experiment, results, _ = known(list(accuracy), accuracy, 2, without)
    assert view_of(experiment, results).holds is None
