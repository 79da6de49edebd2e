"""Columns as users have them: identifiers, dates, constants, labels, weights."""

from __future__ import annotations

import datetime
import decimal
import enum
import warnings

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import tanager
from tanager import BayesNetClassifier, DataWarning, InputError, describe
from tanager.encoding import ColumnFacts, feature_kind
from tanager.encoding.labels import encode_labels
from tanager.model.schema import LEFT_OUT

N_ROWS = 200


def rows():
    random = np.random.default_rng(0)
    y = np.arange(N_ROWS) % 2
    start = np.datetime64("2024-01-01")
    X = {
        "signal": random.normal(size=N_ROWS) + 2 * y,
        "name": [f"n{i}" for i in range(N_ROWS)],
        "when": start + random.integers(0, 90, N_ROWS) + 60 * y,
        "same": ["a"] * N_ROWS,
    }
    return X, y


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (ColumnFacts("x", "category", 20, 20, 16), "identifier"),
        (ColumnFacts("x", "category", 20, 20, 15), "categorical"),
        (ColumnFacts("x", "category", 19, 19, 19), "categorical"),
        (ColumnFacts("x", "category", 99, 99, 99, ordered=True), "categorical"),
        (ColumnFacts("id", "number", 99, 99, 99, whole=True), "identifier"),
        (ColumnFacts("id", "number", 99, 99, 98, whole=True), "numeric"),
        (ColumnFacts("width", "number", 99, 99, 99, whole=True), "numeric"),
        (ColumnFacts("id", "number", 99, 99, 99), "numeric"),
        (ColumnFacts("x", "number", 99, 99, 3, whole=True, exact=False), "categorical"),
        (ColumnFacts("x", "datetime", 99, 99, 99), "numeric"),
        (ColumnFacts("x", "number", 99, 99, 1), "constant"),
        (ColumnFacts("x", "category", 99, 0, 0), "empty"),
    ],
)
def test_the_rule_for_columns(facts, kind):
    assert feature_kind(facts) == kind


@pytest.mark.parametrize("method", ["TAN-CMI-ML", "NB+FE", "auto"])
def test_identifiers_and_constants_take_no_part(method, tmp_path):
    X, y = rows()
    model = BayesNetClassifier()
    if method != "auto":
        model = BayesNetClassifier.from_name(method)
    with pytest.warns(DataWarning, match="Column 'name' is left out"):
        model.fit(X, y)
    assert model.network_.schema[1].states == (LEFT_OUT,)
    assert not {"name", "same"} & {name for arc in model.network_.edges for name in arc}
    assert model.n_features_in_ == 4
    assert model.score(X, y) > 0.8
    expected = model.predict_proba(X)
    for other in ([None] * N_ROWS, ["new"] * N_ROWS, np.arange(N_ROWS)):
        assert (model.predict_proba({**X, "name": other}) == expected).all()
    model.save(tmp_path / "m.json")
    again = tanager.load(tmp_path / "m.json")
    assert again.network_.schema == model.network_.schema
    assert (again.predict_proba(X) == expected).all()


def test_trees_stay_small():
    random = np.random.default_rng(0)
    n = 800
    X = {f"name{j}": [f"{j}-{k}" for k in random.permutation(n)] for j in range(3)}
    X["x"] = random.choice(["a", "b"], n)
    model = BayesNetClassifier.from_name("TAN-CMI-ML")
    with pytest.warns(DataWarning, match="'name0', 'name1', 'name2' are left out"):
        model.fit(X, random.integers(0, 2, n))
    assert model.network_.parameters.layout.n_cells < 20


def test_identifiers_can_be_kept():
    X, y = rows()
    kept = BayesNetClassifier(structure="nb", parameters="fe")
    kept.set_params(encoder__identifiers="keep").fit(X, y)
    assert kept.network_.schema[1].n_states == N_ROWS
    named = BayesNetClassifier(structure="nb", parameters="fe")
    named.set_params(encoder__categorical_features=["name"]).fit(X, y)
    assert named.network_.schema[1].n_states == N_ROWS
    with pytest.raises(InputError, match="identifiers must be 'drop' or 'keep'"):
        kept.set_params(encoder__identifiers="yes").fit(X, y)


@pytest.mark.filterwarnings("ignore::tanager.DataWarning")
@pytest.mark.parametrize("suffix", ["json", "bif", "xmlbif"])
def test_dates_are_ordered_and_shown_as_dates(tmp_path, suffix):
    X, y = rows()
    model = BayesNetClassifier.from_name("TAN-CMI-ML").fit(X, y)
    variable = model.network_.schema[2]
    assert variable.unit == "datetime"
    assert variable.ordered
    assert all(text.count("-") >= 2 for text in variable.states)
    assert all(cut % 86_400 == 0 for cut in variable.cuts)
    moments = {**X, "when": X["when"].astype("M8[ns]")}
    assert (model.predict_proba(moments) == model.predict_proba(X)).all()
    late = variable.code_of(datetime.date(2030, 1, 1))
    assert late == variable.n_states - 1
    for wrong in (np.arange(N_ROWS), ["2024-01-01"] * N_ROWS):
        with pytest.raises(InputError, match="'when' held dates at fit"):
            model.predict({**X, "when": wrong})
    tanager.save(model.network_, tmp_path / f"n.{suffix}")
    assert tanager.load(tmp_path / f"n.{suffix}").schema == model.network_.schema


def test_units_raise_the_version_of_model_files_only_where_needed(tmp_path):
    X, y = rows()
    del X["name"]
    for names, version in ((["signal", "when"], 10), (["signal"], 1)):
        part = {name: X[name] for name in names}
        model = BayesNetClassifier(structure="nb", parameters="fe").fit(part, y)
        model.save(tmp_path / "m.json")
        text = (tmp_path / "m.json").read_text()
        assert f'"schema_version": {version},' in text


def test_whole_numbers_with_few_values_are_learned_by_the_default():
    codes = np.random.default_rng(0).integers(1, 7, 300)
    model = BayesNetClassifier().fit(codes[:, np.newaxis], codes % 2)
    assert model.score(codes[:, np.newaxis], codes % 2) == 1.0


def test_integers_that_floats_do_not_separate():
    values = (2**60 + np.arange(300) % 3).astype(np.int64)[:, np.newaxis]
    y = np.arange(300) % 3
    with pytest.warns(DataWarning, match="'x0' are beyond 2\\^53"):
        model = BayesNetClassifier(structure="nb", parameters="fe").fit(values, y)
    assert model.score(values, y) == 1.0
    assert model.score(values.astype(np.uint64), y) == 1.0


@pytest.mark.parametrize("value", [10**400, decimal.Decimal(10) ** 400])
def test_numbers_beyond_floats_are_refused_by_name(value):
    with pytest.raises(InputError, match=r"'big'.*too large|too large.*'big'"):
        BayesNetClassifier().fit({"big": [value, 1] * 9}, [0, 1] * 9)


def test_numbers_as_text_are_reported():
    texts = [f"{k / 7:.2f}".replace(".", ",") for k in range(15)] * 10
    with pytest.warns(DataWarning, match="'price' holds numbers with decimal commas"):
        BayesNetClassifier(structure="nb", parameters="fe").fit(
            {"price": texts}, [0, 1] * 75
        )
    marked = ["?" if k % 3 else str(k) for k in range(60)]
    with pytest.warns(DataWarning, match="'age' holds numbers as text besides .*'\\?'"):
        BayesNetClassifier(structure="nb", parameters="fe").fit(
            {"age": marked}, [0, 1] * 30
        )


def test_bools_match_their_texts():
    y = [0, 1] * 20
    bools, texts = [True, False] * 20, ["true", "false"] * 20
    for seen, given in ((bools, texts), (texts, bools)):
        model = BayesNetClassifier(structure="nb", parameters="fe").fit({"b": seen}, y)
        assert model.score({"b": given}, y) == 1.0


def test_a_column_without_a_known_value_is_warned_of():
    model = BayesNetClassifier(structure="nb", parameters="fe")
    model.fit({"b": ["x", "y"] * 9}, [0, 1] * 9)
    with pytest.warns(DataWarning, match="No value of column 'b' is a known category"):
        model.predict({"b": ["z"] * 10})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict({"b": ["z"] * 9})


def test_rows_as_mappings_in_any_order():
    X = [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}] * 9
    model = BayesNetClassifier(parameters="fe").fit(X, [0, 1] * 9)
    swapped = [{"b": row["b"], "a": row["a"]} for row in X]
    assert (model.predict_proba(swapped) == model.predict_proba(X)).all()


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@pytest.mark.parametrize(
    "labels",
    [
        [datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)],
        np.array(["2020", "2021"], dtype="M8[D]"),
        np.array([1, 2], dtype="m8[s]"),
        [(1, 2), (3, 4)],
        [Colour.RED, Colour.BLUE],
        [decimal.Decimal(1), decimal.Decimal(2)],
    ],
)
def test_labels_that_are_no_classes(labels):
    with pytest.raises(InputError, match=r"y holds labels of type .*Convert them"):
        encode_labels(labels, 2, "who")


def test_masked_and_unsigned_labels():
    masked = np.ma.array([1, 2, 1], mask=[False, False, True])
    classes, labels = encode_labels(masked, 3, "who", allow_missing=True)
    assert (classes.tolist(), labels.tolist()) == ([1, 2], [0, 1, 2])
    large = np.array([2**63 + 1, 2**63 + 2], dtype=np.uint64)
    classes, labels = encode_labels(large, 2, "who")
    assert (classes == large).all()
    assert labels.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.full(8, 1.7e308), "sums to inf"),
        (np.full(8, 1e16), "at most 1e\\+15"),
        (["a"] * 8, "must hold numbers"),
        (np.full(8, 1j), "must hold numbers"),
    ],
)
def test_weights_that_are_refused(weights, message):
    with pytest.raises(InputError, match=message):
        BayesNetClassifier().fit(np.eye(8), [0, 1] * 4, sample_weight=weights)


@pytest.mark.parametrize("weight", [1 / 300, 0.1, 3.3])
def test_equal_weights_do_not_move_quantiles(weight):
    X = np.random.default_rng(0).normal(size=(300, 2))
    y = np.arange(300) % 2
    encoder = tanager.TableEncoder(numeric=tanager.QuantileEncoder(n_bins=50))
    plain = BayesNetClassifier(encoder, "nb", "fe").fit(X, y).encoder_.cuts_
    weighted = BayesNetClassifier(encoder, "nb", "fe")
    found = weighted.fit(X, y, sample_weight=np.full(300, weight)).encoder_.cuts_
    for one, other in zip(plain, found, strict=True):
        assert np.array_equal(one, other)


def test_arguments_of_parts_that_are_names():
    model = BayesNetClassifier(structure="nb").set_params(
        parameters__C=0.5, encoder__numeric__n_bins=7
    )
    assert model.parameters.C == 0.5
    assert model.encoder.numeric.n_bins == 7
    with pytest.raises(InputError, match=r"'auto' stands for KeepTables .*no argument"):
        BayesNetClassifier().set_params(parameters__C=1.0)


@pytest.mark.parametrize(
    ("arguments", "params", "expected"),
    [
        ({"encoder": "quantile"}, {"encoder__numeric__n_bins": 5}, "n_bins=5"),
        ({}, {"encoder__numeric__n_bins": 5}, "n_bins=5"),
        ({}, {"encoder": "width", "encoder__numeric__n_bins": 3}, "n_bins=3"),
        ({}, {"encoder__date_parts": ["hour"]}, "date_parts=['hour']"),
        ({}, {"structure": "hgc", "structure__max_parents": 1}, "max_parents=1"),
        ({}, {"structure__order": 2}, "order=2"),
        ({"parameters": "rcl"}, {"parameters__fallback__folds": 2}, "folds=2"),
    ],
)
def test_arguments_of_nested_parts(arguments, params, expected):
    model = BayesNetClassifier(**arguments).set_params(**params)
    assert expected in "".join(repr(model).split()).replace('"', "'")
    again = BayesNetClassifier(**arguments).set_params(**dict(reversed(params.items())))
    assert repr(again) == repr(model)


@pytest.mark.parametrize(
    ("arguments", "name", "message"),
    [
        ({}, "parameters__C", "'auto' stands for KeepTables here, which has no"),
        ({}, "encoder__n_bins", "Write encoder__numeric__n_bins"),
        ({}, "structure__score__folds", "which has no argument"),
        ({"structure": "hgc"}, "structure__score__folds", "no arguments of its own"),
    ],
)
def test_arguments_that_a_part_does_not_have(arguments, name, message):
    with pytest.raises(InputError, match=message):
        BayesNetClassifier(**arguments).set_params(**{name: 1})


def test_grid_search_over_parts_that_are_names():
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    X[:, 0] += y
    grid = [
        {"structure": ["nb", "tan"], "parameters": ["rcl"], "parameters__C": [0.1, 1]},
        {"structure": ["factors"], "structure__order": [1, 2]},
        {"encoder": ["quantile"], "encoder__numeric__n_bins": [2, 3]},
    ]
    search = GridSearchCV(
        make_pipeline(BayesNetClassifier()),
        [{f"bayesnetclassifier__{k}": v for k, v in part.items()} for part in grid],
        cv=2,
        error_score="raise",
    )
    assert len(search.fit(X, y).cv_results_["params"]) == 8


def test_descriptions():
    X, y = rows()
    found = describe(X, y)
    columns = found.columns()
    assert columns["role"] == ["numeric", "identifier", "numeric", "constant", "class"]
    assert columns["kind"][2] == "datetime"
    assert found["when"].values.startswith("2024-01-01 to 2024-")
    assert len(found["name"].problems) == 1
    assert describe({**X, "y": y}, "y")["y"].role == "class"
    with pytest.raises(InputError, match="no column 'z'"):
        describe(X, "z")
