"""`FeatureContrasts` against plain loops, for every type of data frame."""

import re

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from tanager import BayesNetClassifier, FeatureContrasts, InputError
from tests.reference import contrasts as reference


def correlated(seed, n_samples=30, n_features=5):
    """Features that share two causes, with either sign."""
    rng = np.random.default_rng(seed)
    causes = rng.normal(size=(n_samples, 2))
    mixed = causes @ rng.normal(size=(2, n_features))
    noise = rng.choice([0.05, 0.5, 2.0], n_features)
    return 3.0 + mixed * 10.0 + noise * rng.normal(size=(n_samples, n_features))


def table(n_samples=40):
    X = correlated(1, n_samples, 3)
    return {
        "a": X[:, 0],
        "b": X[:, 0] + 0.01 * X[:, 1],
        "c": -X[:, 0] + 0.02 * X[:, 2],
        "sky": np.array(["blue", "grey"] * (n_samples // 2), dtype=object),
        "few": np.arange(n_samples) % 8,
        "constant": np.ones(n_samples),
    }


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.3, 0.8, 0.95, 1.0]),
    st.integers(0, 20),
    st.booleans(),
)
def test_new_columns_equal_the_reference(seed, least, most, incomplete):
    X = correlated(seed)
    if incomplete:
        X[np.random.default_rng(seed).random(X.shape) < 0.2] = np.nan
    means, differences = reference.contrasts(X.T.tolist(), least, most)
    model = FeatureContrasts(correlation=least, max_contrasts=most)
    found = model.fit_transform(X)
    assert np.array_equal(found[:, :5], X, equal_nan=True)
    expected = np.array([*means, *differences]).reshape(-1, len(X)).T
    assert np.allclose(found[:, 5:], expected, equal_nan=True)
    assert len(model.groups_) == len(means)
    assert len(model.contrasts_) == len(differences)
    # New samples do not change what was learned.
    assert np.allclose(model.transform(X[:7])[:, 5:], expected[:7], equal_nan=True)


def test_names_and_signs():
    model = FeatureContrasts(correlation=0.9).fit(table())
    assert model.groups_ == {"mean(a, b, c)": ("a", "b", "-c")}
    assert model.contrasts_ == ()
    alone = FeatureContrasts(correlation=1.0).fit(table())
    assert alone.groups_ == {}
    assert set(alone.contrasts_) == {"a - b", "a + c", "b + c"}
    names = alone.get_feature_names_out().tolist()
    assert names == [*table(), *alone.contrasts_]


def test_long_groups_have_short_names():
    base = correlated(3, 50, 1)
    X = base + 1e-3 * correlated(4, 50, 5)
    assert FeatureContrasts().fit(X).groups_ == {
        "mean(x0 and 4 more)": ("x0", "x1", "x2", "x3", "x4")
    }


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_every_library_has_the_same_columns(make):
    columns = table()
    X = make({**columns, "sky": columns["sky"].tolist()})
    found = FeatureContrasts().fit_transform(X)
    assert isinstance(found, type(X))
    expected = FeatureContrasts().fit_transform(columns)
    names = list(found) if make is dict else nw.from_native(found).columns
    assert list(names) == list(expected)
    for name, values in expected.items():
        assert np.array_equal(np.asarray(found[name]), values), name


def test_the_index_of_pandas_stays():
    X = pd.DataFrame(table()).set_index(np.arange(40)[::-1] + 7)
    found = FeatureContrasts().fit_transform(X)
    assert found.index.equals(X.index)
    assert not found.isna().any(axis=None)


def test_rows():
    columns = table()
    expected = FeatureContrasts().fit_transform(columns)
    records = pd.DataFrame(columns).to_dict("records")
    found = FeatureContrasts().fit_transform(records)
    assert [row["mean(a, b, c)"] for row in found] == list(expected["mean(a, b, c)"])
    lists = [list(row.values()) for row in records]
    found = FeatureContrasts().fit_transform(lists)
    assert found.dtype == object
    assert found[:, -1].tolist() == list(expected["mean(a, b, c)"])


def test_nothing_to_combine():
    X = pd.DataFrame({"sky": ["blue", "grey"], "few": [1, 2]})
    model = FeatureContrasts()
    assert model.fit_transform(X) is X
    assert (model.groups_, model.contrasts_) == ({}, ())
    one = np.arange(20.0)[:, np.newaxis]
    assert FeatureContrasts().fit_transform(one).shape == (20, 1)


def test_a_difference_that_factors_need_many_cells_for():
    rng = np.random.default_rng(0)
    cause = rng.normal(size=(1200, 1))
    X = cause + 0.1 * rng.normal(size=(1200, 4))
    y = X[:, :2].sum(axis=1) > X[:, 2:].sum(axis=1)
    plain = cross_val_score(BayesNetClassifier(), X, y, cv=3).mean()
    contrasts = FeatureContrasts(correlation=1.0)
    more = make_pipeline(contrasts, BayesNetClassifier())
    assert cross_val_score(more, X, y, cv=3).mean() > plain + 0.05


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"correlation": 1.5}, "correlation must be at most 1, got 1.5"),
        ({"correlation": 0}, "correlation must be"),
        ({"max_contrasts": -1}, "max_contrasts must be"),
    ],
)
def test_wrong_settings(settings, message):
    with pytest.raises(InputError, match=message):
        FeatureContrasts(**settings).fit(correlated(0))


def test_wrong_data():
    model = FeatureContrasts().fit(table())
    with pytest.raises(InputError, match="'a' was numeric at fit and now holds"):
        model.transform({**table(), "a": ["u"] * 40})
    infinite = table()
    infinite["b"][3] = np.inf
    with pytest.raises(InputError, match=r"infinity .* in column 'b'"):
        model.transform(infinite)
    with pytest.raises(InputError, match=r"infinity .* in column 'b'"):
        FeatureContrasts().fit(infinite)


def test_names_that_would_occur_twice():
    taken = {**table(), "mean(a, b, c)": np.zeros(40)}
    with pytest.raises(InputError, match=re.escape("the name 'mean(a, b, c)'")):
        FeatureContrasts().fit(taken)
    rng = np.random.default_rng(0)
    columns = (rng.normal(size=(40, 1)) + 0.1 * rng.normal(size=(40, 4))).T
    X = dict(zip(["a", "b - c", "a - b", "c"], columns, strict=True))
    with pytest.raises(InputError, match="the name 'a - b - c'"):
        FeatureContrasts(correlation=1.0).fit(X)


def test_large_numbers():
    X = correlated(0)
    model = FeatureContrasts()
    assert np.allclose(
        model.fit_transform(1e200 * X)[:, 5:], model.fit_transform(X)[:, 5:]
    )
