"""A state for missing values: which features get it, and who sees it."""

import pickle

import numpy as np
import pytest
from hypothesis import given

from tanager import BayesNetClassifier
from tanager.encoding import (
    EncodingPlan,
    QuantileEncoder,
    TableEncoder,
    encode_frame,
    extend_schema,
    read_frame,
)
from tanager.encoding.feature_states import extend_variable
from tanager.errors import InputError
from tanager.model import Schema, Variable
from tests.encoding.test_table_encoder import tables
from tests.reference import encoding as reference


def rows_of(columns):
    return [list(row) for row in zip(*columns.values(), strict=True)]


@given(tables(), tables())
def test_codes_equal_the_reference(columns, others):
    encoder = TableEncoder(
        numeric=QuantileEncoder(n_bins=4),
        categorical_features=["count"],
        missing="state",
    )
    codes = encoder.fit_encode(columns)
    variables = encoder.schema_.variables
    assert codes.tolist() == reference.encode(rows_of(columns), variables)
    assert encoder.encode(columns).tolist() == codes.tolist()
    for variable, values in zip(variables, columns.values(), strict=True):
        missing = sum(value is None for value in values)
        assert variable.missing_state == (0 < missing < len(values))
    # Other rows: missing cells have the state, unknown categories do not.
    rows = rows_of(others)
    expected = reference.encode(rows, variables)
    frame = read_frame(others)
    kinds = [frame.column(j).is_numeric for j in range(5)]
    if kinds == [read_frame(columns).column(j).is_numeric for j in range(5)]:
        assert EncodingPlan(frame, variables).encode().tolist() == expected
        for i, row in enumerate(expected):
            assert encode_frame(frame.take([i]), variables).tolist() == [row]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_rows", [2, 30, 3000])
def test_matrices_by_kernels_and_without(dtype, n_rows):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (n_rows, 4)).astype(dtype)
    X[:, 3] = rng.normal(size=n_rows)
    X[rng.random(X.shape) < 0.3] = np.nan
    X[0], X[1] = np.nan, 1.0
    X[:, 1] = np.nan_to_num(X[:, 1])
    encoder = TableEncoder(
        numeric="quantile", categorical_features=[0, 1], missing="state"
    )
    codes = encoder.fit_encode(X)
    assert [v.missing_state for v in encoder.schema_] == [True, False, True, True]
    X[:2, 0] = 77  # unknown
    assert codes.tolist() != encoder.encode(X).tolist()
    expected = reference.encode(X.tolist(), encoder.schema_.variables)
    assert encoder.encode(X).tolist() == expected
    assert encoder.encode(X)[0, 0] == encoder.schema_[0].n_states


def test_only_features_with_both_kinds_get_the_state():
    X = {"a": [1.0, 2.0], "b": [None, "x"], "c": [np.nan, np.nan], "d": [None, 5.0]}
    encoder = TableEncoder(numeric="quantile", missing="state")
    encoder.fit(X, sample_weight=[1, 1])
    assert [v.missing_state for v in encoder.schema_] == [False, True, False, True]
    encoder.fit(X, sample_weight=[0, 1])  # a sample of weight 0 is no missing value
    assert not any(v.missing_state for v in encoder.schema_)
    codes = encoder.fit_encode(X, sample_weight=[0, 1])
    assert codes[0].tolist() == [0, 1, 1, 1]


def test_the_label_differs_from_the_categories():
    X = {"a": ["missing", "missing_", None]}
    encoder = TableEncoder(missing="state").fit(X)
    assert encoder.schema_[0].states == ("missing", "missing_", "missing__")
    assert encoder.categories_ == [("missing", "missing_")]
    assert encoder.encode(X).ravel().tolist() == [0, 1, 2]
    assert encoder.transform(X).ravel().tolist() == [0, 1, 2]


def test_bad_argument():
    with pytest.raises(InputError, match="missing must be"):
        TableEncoder(missing="impute").fit([["a"]])


def test_variable():
    age = Variable.binned("age", [1.0, 2.0]).with_missing_state()
    assert (age.n_states, age.n_values) == (4, 3)
    assert age.with_missing_state() is age
    assert pickle.loads(pickle.dumps(age)) == age
    assert age != Variable.binned("age", [1.0, 2.0])
    with pytest.raises(InputError, match="3 bins and 1 cuts; expected 2"):
        Variable("age", age.states, True, (1.0,), True)
    with pytest.raises(InputError, match="no state but that of a missing value"):
        Variable("age", ("missing",), missing_state=True)


def test_kinds_are_those_of_the_values():
    numbers = Variable("z", (1, 2, "missing"), missing_state=True)
    assert (numbers.has_numbers, numbers.has_text) == (True, False)
    mixed = Variable("z", (1, "two"))
    assert (mixed.has_numbers, mixed.has_text) == (True, True)
    assert encode_frame(read_frame([[2.0], [np.nan]]), [numbers]).tolist() == [[1], [2]]
    with pytest.raises(InputError, match="had numbers as categories"):
        encode_frame(read_frame([["two"]]), [numbers])


def test_extended_variables():
    known = Variable("z", ("a", "c")).with_missing_state()
    assert extend_variable(known, ("b",)).states == ("a", "b", "c", "missing")
    renamed = extend_variable(known, ("missing",))
    assert renamed.states == ("a", "c", "missing", "missing_")
    schema = Schema((Variable("z", ("a", "c")), Variable.binned("x", [1.0])))
    frame = read_frame({"z": ["b", None], "x": [None, 2.0]})
    assert extend_schema(schema, frame)[1] == schema[1]
    grown = extend_schema(schema, frame, missing_state=True)
    assert grown[0].states == ("a", "b", "c", "missing")
    assert grown[1] == schema[1].with_missing_state()


@pytest.mark.parametrize("structure", ["nb", "tan"])
def test_batches_and_merged_classifiers_equal_the_whole(structure):
    X = {
        "a": ["p", None, "q", "p", "missing", "q", None, "p"],
        "b": ["u", "v", "u", "v", None, None, "u", "v"],
    }
    y = [0, 1, 0, 1, 0, 1, 1, 0]

    def part(rows):
        return {name: values[rows] for name, values in X.items()}, y[rows]

    def fresh():
        encoder = TableEncoder(missing="state")
        return BayesNetClassifier(encoder, structure, "fe")

    whole = fresh().fit(X, y)
    batches = fresh()
    for rows in (slice(0, 4), slice(4, 8)):
        batches.partial_fit(*part(rows), classes=[0, 1])
    first, second = (fresh().fit(*part(rows)) for rows in (slice(0, 4), slice(4, 8)))
    for other in (batches, first.merge(second)):
        assert other.network_.schema == whole.network_.schema
        np.testing.assert_allclose(other.predict_proba(X), whole.predict_proba(X))
    states = whole.network_.schema[0].states
    assert states == ("missing", "p", "q", "missing_")


def test_prediction_uses_the_state_and_queries_marginalise():
    X = {"a": ["p", None, "p", None, "p", "q"], "b": [1, 2, 3, 4, 5, 6]}
    y = ["no", "yes", "no", "yes", "no", "no"]
    encoder = TableEncoder(missing="state")
    model = BayesNetClassifier(encoder, "nb", "fe").fit(X, y)
    network = model.network_
    by_label = network.posterior({"a": "missing"})
    found = model.predict_proba({"a": [None], "b": [None]})[0]
    assert found[1] == pytest.approx(by_label["yes"])
    assert found[1] > 0.7
    assert network.posterior({"a": None})["yes"] == pytest.approx(1 / 3, abs=0.06)
    assert network.posterior({"a": None}) == network.posterior({})
    rows = {"a": ["missing", None, "p"], "b": [None, None, 1]}
    many = network.posteriors(rows)
    assert many[0, 1] == pytest.approx(by_label["yes"])
    assert many[1, 1] == pytest.approx(network.posterior({})["yes"])
    # Without missing values in training the feature is marginalised.
    assert not network.schema[1].missing_state


def test_queries_of_discretised_features_by_label():
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    y = (x > 0).astype(int)
    x[rng.random(200) < np.where(y == 1, 0.5, 0.1)] = np.nan
    encoder = TableEncoder(missing="state")
    model = BayesNetClassifier(encoder, "nb", "fe").fit(x[:, None], y)
    network = model.network_
    name = network.schema.names[0]
    by_label = network.posterior({name: "missing"})[1]
    assert model.predict_proba([[np.nan]])[0, 1] == pytest.approx(by_label)
    labels = [*network.schema[0].states, None]
    many = network.posteriors({name: labels})[:, 1]
    single = [network.posterior({name: label})[1] for label in labels]
    np.testing.assert_allclose(many, single)
    assert single[-1] == pytest.approx(network.posterior({})[1])
    sampled = network.sample(50, random_state=0)
    assert "missing" in set(sampled[name])
    assert np.isfinite(network.log_likelihood(sampled)).all()


def test_missing_error_still_raises():
    X = {"a": ["p", None, "q"]}
    model = BayesNetClassifier(TableEncoder(missing="state"), "nb", missing="error")
    with pytest.raises(InputError, match="missing='error'"):
        model.fit(X, [0, 1, 0])
