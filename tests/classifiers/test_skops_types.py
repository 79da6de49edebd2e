"""Files of skops hold only types that are listed."""

import pickle
from datetime import time
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

from tanager import BayesNetClassifier, NaiveBayesClassifier, TANClassifier, datasets
from tanager.classifiers.skops_types import SKOPS_TYPES

MODELS = {
    "default": BayesNetClassifier(),
    "naive Bayes": NaiveBayesClassifier(),
    "smooth naive Bayes": BayesNetClassifier(structure="nb"),
    "TAN": TANClassifier(),
    "residual tree": BayesNetClassifier(structure="tan-res"),
    "KDB": BayesNetClassifier(structure="kdb2", parameters="fe"),
    "equal width": BayesNetClassifier(encoder="width", structure="nb"),
}


skops_io = pytest.importorskip("skops.io", reason="skops is not installed")


def write_and_read(model):
    content = skops_io.dumps(model)
    assert set(skops_io.get_untrusted_types(data=content)) <= set(SKOPS_TYPES)
    return skops_io.loads(content, trusted=list(SKOPS_TYPES))


def make_table(n_rows=300):
    """Features of every type, most of them with missing values."""
    rng = np.random.default_rng(0)
    days = pd.to_timedelta(rng.integers(0, 1000, n_rows), unit="D")
    seconds = pd.to_timedelta(rng.integers(0, 1000, n_rows), unit="s")
    levels = ["low", "mid", "high"]
    X = pd.DataFrame(
        {
            "bool": rng.choice([True, False], n_rows),
            "bool or missing": pd.array(
                rng.choice([True, False, None], n_rows), dtype="boolean"
            ),
            "number": rng.normal(size=n_rows),
            "integer": rng.integers(0, 5, n_rows),
            "ordinal": pd.Categorical(rng.choice(levels, n_rows), levels, ordered=True),
            "integer category": pd.Categorical(rng.integers(0, 3, n_rows)),
            "text": rng.choice(["u", "v", None], n_rows),
            "mixed": rng.choice(np.array([7, "a", True], dtype=object), n_rows),
            "date": pd.Timestamp("2020-01-01") + days,
            "duration": seconds,
            "time": [time(int(hour)) for hour in rng.integers(0, 24, n_rows)],
        }
    )
    score = X["bool"] + X["number"] + (X["text"] == "u") + (X["mixed"] == "a")
    score = score + X["bool or missing"].fillna(False).astype(int)
    X.loc[::7, "number"] = np.nan
    X.loc[::9, "date"] = pd.NaT
    return X, score.to_numpy()


@pytest.mark.parametrize("name", MODELS)
def test_types_of_files(name):
    iris = datasets.load("iris")
    model = MODELS[name].fit(iris.X, iris.y)
    again = write_and_read(model)
    assert np.array_equal(again.predict_proba(iris.X), model.predict_proba(iris.X))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("classes", ["bool", "text"])
def test_features_of_every_type(name, classes):
    X, score = make_table()
    y = score > 1 if classes == "bool" else np.array(["l", "m", "h"])[
        np.digitize(score, [0.5, 1.5])
    ]  # fmt: skip
    model = MODELS[name].fit(X, y)
    expected = model.predict_proba(X)  # fills what is looked up
    again = write_and_read(model)
    assert again.network_.schema == model.network_.schema
    assert np.array_equal(again.encode(X), model.encode(X))
    assert np.array_equal(again.predict_proba(X), expected)
    assert again.predict(X).tolist() == model.predict(X).tolist()
    row = X.iloc[[1]]
    assert np.array_equal(again.predict_proba(row), model.predict_proba(row))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"structure": "nb"},
        {"structure": "tan", "parameters": "fe"},
        {"structure": "kdb2", "parameters": "fe"},
        {"structure": "2-tree-res"},
    ],
    ids=["default", "nb", "tan-fe", "kdb2-fe", "2-tree-res"],
)
def test_models_that_have_been_used(settings, tmp_path):
    """What was asked of a model before changes neither its pickle nor its file."""
    X, score = make_table()
    model = BayesNetClassifier(**settings).fit(X, score > 1)
    pickled = pickle.dumps(model)
    before = skops_io.dumps(model)
    model.predict_proba(X)
    model.predict_proba(X.iloc[:1])
    model.explain(X.iloc[:2])
    model.importance()
    assert model.network_.edges
    if model.network_.has_cpts:
        assert model.network_.information.features.any()
    else:
        assert model.network_.edge_strengths
    model.report(tmp_path / "report.html", X, score > 1)
    assert pickle.dumps(model) == pickled
    after = skops_io.dumps(model)
    kinds = [set(skops_io.get_untrusted_types(data=c)) for c in (before, after)]
    assert kinds[0] == kinds[1]
    again = write_and_read(model)
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


def test_pipelines():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    iris = datasets.load("iris")
    model = make_pipeline(StandardScaler(), BayesNetClassifier(structure="nb"))
    model.fit(iris.X, iris.y)
    again = write_and_read(model)
    assert np.array_equal(again.predict_proba(iris.X), model.predict_proba(iris.X))


def test_types_exist():
    for name in SKOPS_TYPES:
        module, _, kind = name.rpartition(".")
        assert isinstance(getattr(import_module(module), kind), type)
