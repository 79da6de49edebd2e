"""Summaries of batches: they add, and an encoder learns from them as from all rows."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager.encoding import (
    EqualWidthEncoder,
    MDLEncoder,
    NumericEncoder,
    QuantileEncoder,
    TableEncoder,
    sum_summaries,
)
from tanager.errors import InputError
from tests.encoding.test_table_encoder import tables

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

ENCODERS = [
    TableEncoder(),
    TableEncoder(numeric="width", missing="state"),
    TableEncoder(numeric=QuantileEncoder(n_bins=4), missing="state"),
    TableEncoder(numeric="quantile", ordinal_features={"text": ["", "a", "b", "ä"]}),
    TableEncoder(categorical_features="all"),
    TableEncoder(categorical_features=["count"], ordinal_features=["number"]),
]


def _typed(columns):
    """A data frame whose columns have one type, however the rows are split."""
    kinds = {"number": "float64", "text": "str", "flag": "boolean", "count": "Int64"}
    return pandas.DataFrame({name: columns[name] for name in kinds}).astype(kinds)


@pytest.mark.parametrize("encoder", ENCODERS, ids=str)
@settings(max_examples=30)
@given(tables(), st.data())
def test_batches_teach_the_same_as_all_rows(encoder, columns, data):
    X = _typed(columns)
    n_rows = len(X)
    y = data.draw(
        st.lists(
            st.sampled_from(["u", "v", "w", None]), min_size=n_rows, max_size=n_rows
        )
    )
    y[0] = "u"
    weights = None
    if data.draw(st.booleans()):
        weights = np.array(
            data.draw(st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows))
        )
        weights[0] = 4
    expected = encoder.fit(X, y, weights).schema_
    inner = data.draw(st.lists(st.integers(0, n_rows), max_size=4))
    bounds = [0, *sorted(inner), n_rows]
    summaries = [
        encoder.summarize(
            X.iloc[start:stop],
            y[start:stop],
            None if weights is None else weights[start:stop],
        )
        for start, stop in itertools.pairwise(bounds)
        if stop > start
    ]
    order = data.draw(st.permutations(summaries))
    total = sum_summaries(order)
    assert encoder.fit_summary(total).schema_ == expected
    assert encoder.feature_names_in_.tolist() == list(X.columns)
    kept = np.ones(n_rows, dtype=bool) if weights is None else weights > 0
    found = {label for label, keep in zip(y, kept, strict=True) if keep} - {None}
    assert total.classes.tolist() == sorted(found)
    assert total.n_rows == kept.sum()
    # Another grouping of the additions, and copies on another machine.
    if len(order) > 1:
        copies = sum_summaries(map(pickle.loads, map(pickle.dumps, order[1:])))
        assert encoder.fit_summary(order[0] + copies).schema_ == expected


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow", "numpy"])
@pytest.mark.parametrize("numeric", ["mdl", "width", "quantile"])
def test_every_library_in_batches(library, numeric):
    random = np.random.default_rng(0)
    n_rows = 3000
    frame = pandas.DataFrame(
        {
            "x": random.normal(size=n_rows).round(2),
            "k": random.integers(-5, 2000, n_rows),
            "z": np.where(random.random(n_rows) < 0.1, np.nan, random.random(n_rows)),
        }
    )
    y = (frame["x"] + random.normal(size=n_rows) > 0).to_numpy()
    if library == "polars":
        X = polars.from_pandas(frame)
    elif library == "arrow":
        X = pytest.importorskip("pyarrow").table(frame)
    elif library == "numpy":
        X = frame.to_numpy()
    else:
        X = frame
    encoder = TableEncoder(numeric=numeric, missing="state")
    expected = encoder.fit(X, y).schema_
    pieces = [slice(a, a + 700) for a in range(0, n_rows, 700)]
    if library == "pandas":
        pick = lambda piece: X.iloc[piece]  # noqa: E731
    elif library == "arrow":
        pick = lambda piece: X.slice(piece.start, 700)  # noqa: E731
    else:
        pick = lambda piece: X[piece]  # noqa: E731
    total = sum_summaries(encoder.summarize(pick(p), y[p]) for p in reversed(pieces))
    assert total.is_exact
    assert encoder.fit_summary(total, n_jobs=2).schema_ == expected
    assert hasattr(encoder, "feature_names_in_") == (library != "numpy")


def test_relative_weights_are_scaled_by_their_total():
    X = np.arange(8.0)[:, None]
    y = [0, 0, 0, 0, 1, 1, 1, 1]
    weights = np.full(8, 0.125)
    encoder = TableEncoder()
    expected = encoder.fit(X, y, weights).schema_
    assert expected[0].cuts == (3.5,)
    halves = [
        encoder.summarize(X[part], y[part], weights[part])
        for part in (slice(0, 4), slice(4, 8))
    ]
    assert encoder.fit_summary(sum_summaries(halves)).schema_ == expected


class LeftEdges(NumericEncoder):
    """An encoder of another package: a cut at every fifth distinct value."""

    def find_cuts(self, values, labels=None, weights=None):
        return np.unique(values)[5::5].astype(float)


def test_an_encoder_of_another_package():
    X = np.random.default_rng(1).normal(size=(90, 2))
    encoder = TableEncoder(numeric=LeftEdges())
    expected = encoder.fit(X).schema_
    total = encoder.summarize(X[:50]) + encoder.summarize(X[50:])
    assert encoder.fit_summary(total).schema_ == expected


def test_numbers_as_categories_have_one_type():
    encoder = TableEncoder(categorical_features="all")
    whole = encoder.summarize({"x": [2.0, 3.0, None]})
    broken = encoder.summarize({"x": [1.5]})
    assert encoder.fit_summary(whole + whole).categories_ == [(2, 3)]
    states = encoder.fit_summary(whole + broken).categories_[0]
    assert states == (1.5, 2.0, 3.0)
    assert {type(state) for state in states} == {float}
    big = 2**60 + 1
    large = encoder.summarize({"x": np.array([big])})
    assert encoder.fit_summary(large + large).categories_ == [(big,)]


def test_batches_without_values_take_the_type_of_the_others():
    encoder = TableEncoder(numeric="quantile", missing="state")
    nothing = encoder.summarize({"a": [None], "b": [np.nan]})
    values = encoder.summarize({"a": [1.0, 2.0], "b": ["x", "y"]})
    for total in (nothing + values, values + nothing, nothing + values + nothing):
        schema = encoder.fit_summary(total).schema_
        assert schema[0].cuts == (1.5,)
        assert schema[1].states == ("x", "y", "missing")
        assert schema[0].missing_state


def test_declared_categories():
    encoder = TableEncoder()
    kind = pandas.CategoricalDtype(["b", "c", "a"])
    frames = [pandas.DataFrame({"z": pandas.Series([v], dtype=kind)}) for v in "ab"]
    same = encoder.summarize(frames[0]) + encoder.summarize(frames[1])
    assert encoder.fit_summary(same).categories_ == [("b", "c", "a")]
    other = pandas.DataFrame({"z": pandas.Categorical(["d"], ["d", "e"])})
    joined = same + encoder.summarize(other)  # as pandas.concat: plain strings
    assert encoder.fit_summary(joined).categories_ == [("a", "b", "d")]
    ordered = [
        pandas.DataFrame({"z": pandas.Categorical(["a"], names, ordered=True)})
        for names in (["a", "b"], ["b", "a"])
    ]
    with pytest.raises(InputError, match="'z' has the ordered categories"):
        encoder.summarize(ordered[0]) + encoder.summarize(ordered[1])


def test_errors_name_the_column(monkeypatch):
    encoder = TableEncoder(numeric="quantile")
    numbers = encoder.summarize({"a": [1.0]})
    with pytest.raises(InputError, match="'a' is numeric in one batch and holds cat"):
        numbers + encoder.summarize({"a": ["x"]})
    with pytest.raises(InputError, match=r"different columns: \['a'\] and \['b'\]"):
        numbers + encoder.summarize({"b": [1.0]})
    with pytest.raises(InputError, match="infinity or a value too large in column 'a'"):
        encoder.summarize({"a": [np.inf]})
    with pytest.raises(InputError, match="labels of different types"):
        encoder.summarize({"a": [1.0]}, [1]) + encoder.summarize({"a": [1.0]}, ["u"])
    with pytest.raises(InputError, match="Some batches have labels"):
        numbers + encoder.summarize({"a": [1.0]}, [1])
    with pytest.raises(InputError, match="Some batches have sample weights"):
        numbers + encoder.summarize({"a": [1.0]}, None, [1])
    with pytest.raises(InputError, match="no samples"):
        sum_summaries([])
    with pytest.raises(InputError, match="requires y"):
        TableEncoder().summarize({"a": [1.0]})
    both = TableEncoder(categorical_features="all")
    with pytest.raises(InputError, match="'a' is numeric in one batch"):
        both.summarize({"a": [1.0]}) + both.summarize({"a": ["x"]})
    monkeypatch.setattr("tanager.encoding.category_summary.MAX_CATEGORIES", 3)
    few = encoder.summarize({"a": ["x", "y"]})
    with pytest.raises(InputError, match="'a' has more than 3 categories, such as 'x'"):
        few + encoder.summarize({"a": ["v", "w"]})


def test_unlabelled_batches_count_but_make_no_cuts():
    encoder = TableEncoder()
    X = np.arange(8.0)[:, None]
    known = encoder.summarize(X, [0, 0, 0, 0, 1, 1, 1, 1])
    unknown = encoder.summarize(X + 3, [None] * 8)
    total = unknown + known
    assert total.n_unlabelled == 8
    assert total.classes.tolist() == [0, 1]
    assert encoder.fit_summary(total).cuts_[0].tolist() == [3.5]
    assert MDLEncoder.uses_labels
    assert not EqualWidthEncoder.cuts_between_values
