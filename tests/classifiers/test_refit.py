"""Fitting again while another thread predicts: the old model or the new one."""

import sys
import threading

import numpy as np
import pytest

from tanager import BayesNetClassifier, BoostedClassifier, load
from tanager.classifiers import base

FIRST = ({"a": ["u", "v", "w"] * 8, "b": [1.0, 2.0, 3.0] * 8}, ["x", "y", "z"] * 8)
SECOND = ({"b": [5.0, 1.0] * 9, "c": ["q", "r"] * 9, "a": list("st") * 9}, [0, 1] * 9)
MAKERS = [
    lambda: BayesNetClassifier(structure="nb", parameters="fe"),
    lambda: BayesNetClassifier(random_state=0),
    lambda: BoostedClassifier(n_estimators=2),
]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba"])
def test_a_fit_in_the_middle_of_a_prediction_changes_nothing(monkeypatch, make, method):
    model = make().fit(*FIRST)
    expected = getattr(model, method)(FIRST[0])
    encode = base.encode_frame

    def encode_and_fit(*arguments):
        codes = encode(*arguments)
        monkeypatch.setattr(base, "encode_frame", encode)
        model.fit(*SECOND)
        return codes

    monkeypatch.setattr(base, "encode_frame", encode_and_fit)
    found = getattr(model, method)(FIRST[0])
    assert found.tolist() == expected.tolist()
    assert model.classes_.tolist() == [0, 1]
    assert model.feature_names_in_.tolist() == ["b", "c", "a"]


def test_a_file_is_that_of_one_fit(monkeypatch, tmp_path):
    from tanager.classifiers import persistence

    model = BoostedClassifier(n_estimators=2).fit(*FIRST)
    describe = persistence.describe_classifier

    def describe_and_fit(fitted):
        found = describe(fitted)
        model.fit(*SECOND)
        return found

    monkeypatch.setattr(persistence, "describe_classifier", describe_and_fit)
    model.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json").classes_.tolist() == ["x", "y", "z"]


def test_what_the_new_fit_lacks_is_gone():
    model = BayesNetClassifier(structure="nb", parameters="fe").fit(*FIRST)
    model.fit(np.arange(8.0)[:, None], [0, 1] * 4)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 1


def test_threads_see_whole_models():
    model = BayesNetClassifier(structure="nb", parameters="fe").fit(*FIRST)
    rows = {"a": ["u", "t"], "b": [1.0, 5.0], "c": ["q", "r"]}
    expected = []
    for X, y in (FIRST, SECOND):
        model.fit(X, y)
        own = {name: rows[name] for name in X}
        expected.append(model.predict_proba(own).tolist())
    failures, stop = [], threading.Event()

    def predict():
        while not stop.is_set():
            try:
                found = model.predict_proba(rows_of(model))
            except ValueError:  # the features are those of the other fit
                continue
            if found.tolist() not in expected:
                failures.append(found)

    def rows_of(fitted):
        return {name: rows[name] for name in fitted.feature_names_in_}

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=predict) for _ in range(2)]
    try:
        for thread in threads:
            thread.start()
        for turn in range(20):
            model.fit(*(FIRST, SECOND)[turn % 2])
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(before)
    assert failures == []
