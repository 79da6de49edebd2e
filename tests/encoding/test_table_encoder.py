"""`TableEncoder`: schema, codes, roles, and what happens at predict time."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline

from tanager.encoding import (
    EncodingPlan,
    QuantileEncoder,
    TableEncoder,
    encode_frame,
    extend_schema,
    read_frame,
)
from tanager.errors import InputError
from tanager.model import Schema, Variable
from tests.encoding.test_frame import mixed_sources
from tests.reference import encoding as reference

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

LABELS = ["no", "yes", "no", "yes"]


@st.composite
def tables(draw):
    """Rows of a numeric, a text, a mixed and a bool column with missing cells."""
    n_rows = draw(st.integers(1, 25))

    def column(cell):
        cells = st.one_of(st.none(), cell)
        return draw(st.lists(cells, min_size=n_rows, max_size=n_rows))

    return {
        "number": column(st.floats(-5, 5, width=16)),
        "text": column(st.sampled_from(["a", "b", "", "ä"])),
        "mixed": ["x", 3][:n_rows] + column(st.sampled_from(["x", 3, 1.5]))[2:],
        "flag": column(st.booleans()),
        "count": column(st.integers(-3, 400)),
    }


def _rows(columns):
    return [list(row) for row in zip(*columns.values(), strict=True)]


@given(tables(), tables())
def test_codes_equal_the_reference(columns, others):
    rows = _rows(columns)
    encoder = TableEncoder(
        numeric=QuantileEncoder(n_bins=4), categorical_features=["count"]
    )
    codes = encoder.fit_encode(columns)
    schema = encoder.schema_
    assert codes.flags.f_contiguous
    assert codes.tolist() == reference.encode(rows, schema.variables)
    assert encoder.encode(columns).tolist() == codes.tolist()
    for name in ("text", "mixed", "flag", "count"):
        states = reference.sorted_categories(columns[name]) or ["(missing)"]
        assert list(schema[schema.index(name)].states) == states
    for kind in (pandas.DataFrame, lambda c: pandas.DataFrame(c).astype(object)):
        np.testing.assert_array_equal(encoder.encode(kind(columns)), codes)
    # Other rows: unknown categories count as missing.
    for name, values in others.items():
        if not any(v is not None for v in columns[name]):
            others[name] = [None] * len(values)
    found = encoder.encode(others)
    assert found.tolist() == reference.encode(_rows(others), schema.variables)


@pytest.mark.parametrize("numeric", ["mdl", "width", "quantile"])
def test_all_sources_give_the_same_codes(numeric):
    encoder = TableEncoder(numeric=numeric)
    sources = mixed_sources()
    expected = encoder.fit_encode(sources["mapping"], LABELS)
    schema = encoder.schema_
    for name, source in sources.items():
        other = clone(encoder)
        np.testing.assert_array_equal(other.fit_encode(source, LABELS), expected, name)
        assert [v.states for v in other.schema_] == [v.states for v in schema]
        if read_frame(source).has_names:
            np.testing.assert_array_equal(encoder.encode(source), expected, name)


def test_states_and_order():
    frame = pandas.DataFrame(
        {
            "n": [1.0, 2.0, 3.0],
            "s": ["b", "a", None],
            "o": pandas.Categorical(
                ["lo", "hi", "lo"], ["lo", "hi", "top"], ordered=True
            ),
            "c": pandas.Categorical(["z", "y", "z"], ["z", "y", "w"]),
            "code": [10, 2, 2],
            "grade": ["good", "bad", "fair"],
        }
    )
    encoder = TableEncoder(
        numeric="width",
        categorical_features=["code"],
        ordinal_features={"grade": ["bad", "fair", "good", "best"]},
    ).fit(frame)
    ordered = {v.name: v.ordered for v in encoder.schema_}
    assert ordered == {
        "n": True,
        "s": False,
        "o": True,
        "c": False,
        "code": False,
        "grade": True,
    }
    states = dict(zip(encoder.schema_.names, encoder.categories_, strict=True))
    assert states == {
        "n": None,
        "s": ("a", "b"),
        "o": ("lo", "hi", "top"),
        "c": ("z", "y", "w"),
        "code": (2, 10),
        "grade": ("bad", "fair", "good", "best"),
    }
    assert len(encoder.cuts_[0]) == 9
    assert encoder.cuts_[1:] == [None] * 5
    assert encoder.schema_.target is None


@pytest.mark.parametrize(
    "chosen",
    [
        "all",
        ["a", "b"],
        [0, 1],
        [0, -1],
        [True, True],
        np.array([True, True]),
        ("b", 0),
    ],
)
def test_ways_to_choose_columns(chosen):
    X = {"a": [3, 1, 2], "b": [0.5, 1.5, float("nan")]}
    encoder = TableEncoder(categorical_features=chosen).fit(X)
    assert encoder.categories_ == [(1, 2, 3), (0.5, 1.5)]
    ordinal = TableEncoder(ordinal_features=chosen).fit(X)
    assert ordinal.categories_ == encoder.categories_
    assert all(v.ordered for v in ordinal.schema_)


def test_numbers_as_categories_match_across_types():
    encoder = TableEncoder(categorical_features="all").fit([[1, 7], [2, 9], [5, 7]])
    for other in ([[1.0, 9.0]], np.array([[1, 9]], dtype=np.uint8)):
        assert encoder.encode(other).tolist() == [[0, 1]]
    with pytest.raises(InputError, match=r"'x0'.*numbers.*text, such as '1'"):
        encoder.encode([["1", None]])
    assert encoder.encode([[1.5, None]]).tolist() == [[3, 2]]
    with_gaps = TableEncoder(categorical_features="all").fit([[1.0], [None], [2.0]])
    assert with_gaps.categories_ == [(1, 2)]
    assert all(type(state) is int for state in with_gaps.categories_[0])


def test_wide_and_fractional_numbers_as_categories():
    values = np.array([[2**40], [-(2**40)], [3]])
    encoder = TableEncoder(categorical_features="all").fit(values)
    assert encoder.encode(values).tolist() == [[2], [0], [1]]
    assert encoder.encode(np.array([[4]] * 3)).tolist() == [[3]] * 3
    fractions = np.array([[0.5], [0.25], [np.nan], [0.5]])
    encoder.fit(fractions)
    assert encoder.encode(fractions).tolist() == [[1], [0], [2], [1]]
    assert encoder.encode(np.array([[9.0], [-9.0], [0.3]])).tolist() == [[2]] * 3


def test_code_type_grows_with_the_states():
    for n_states, dtype in ((255, np.uint8), (256, np.uint16), (70_000, np.uint32)):
        X = np.arange(n_states)[:, None]
        encoder = TableEncoder(categorical_features="all")
        codes = encoder.fit_encode(X)
        assert codes.dtype == dtype
        np.testing.assert_array_equal(codes, X)
        assert encoder.encode(np.full((5, 1), -1)).tolist() == [[n_states]] * 5


def test_constant_missing_and_single():
    X = pandas.DataFrame(
        {
            "constant": [4.0, 4.0, 4.0],
            "same": ["a", "a", "a"],
            "no number": [np.nan] * 3,
            "nothing": [None] * 3,
            "declared": pandas.Categorical([None] * 3, ["u", "v"]),
            "undeclared": pandas.Categorical([None] * 3, []),
        }
    )
    encoder = TableEncoder().fit(X, [0, 1, 1])
    assert encoder.schema_.n_states.tolist() == [1, 1, 1, 1, 2, 1]
    assert encoder.encode(X)[0].tolist() == [0, 0, 1, 1, 2, 1]
    assert encoder.schema_[2].cuts == ()
    later = pandas.DataFrame(
        {
            "constant": [9.0],
            "same": ["b"],
            "no number": [1.0],
            "nothing": ["anything"],
            "declared": ["v"],
            "undeclared": [3],
        }
    )
    assert encoder.encode(later).tolist() == [[0, 1, 0, 1, 1, 1]]
    one = TableEncoder().fit_encode([[3.5, "a"]], ["y"])
    assert one.tolist() == [[0, 0]]


def test_kinds_must_not_change():
    encoder = TableEncoder().fit({"n": [1, 2], "s": ["a", "b"]}, [0, 1])
    with pytest.raises(InputError, match=r"'n' was numeric at fit.*'12'.*expected num"):
        encoder.encode({"n": ["12", "x"], "s": ["a", "b"]})
    with pytest.raises(
        InputError, match=r"'s' was categorical at fit.*'a'.*now numeric"
    ):
        encoder.encode({"n": [1, 2], "s": [1, 2]})
    assert encoder.schema_.n_states.tolist() == [2, 2]
    assert encoder.encode({"n": [None] * 3, "s": [None] * 3}).tolist() == [[2, 2]] * 3
    numbers = {"n": np.array([1.0]), "s": np.array([np.nan])}
    assert encoder.encode(numbers).tolist() == [[0, 2]]
    rows = read_frame({"n": ["12"], "s": ["a"]})
    variables = encoder.schema_.variables
    with pytest.raises(InputError, match="'n' was numeric"):
        encode_frame(rows, variables)
    with pytest.raises(InputError, match="'s' was categorical"):
        encode_frame(read_frame(np.array([[1.0, 2.0]])), variables)
    row = encode_frame(read_frame(np.array([[2.0, np.nan]])), variables)
    assert row.tolist() == [[1, 2]]


def test_names_at_predict_time():
    fitted = pandas.DataFrame({"a": [1, 2], "b": [3, 4], "c": [5, 6]})
    encoder = TableEncoder(numeric="width").fit(fitted)
    assert encoder.feature_names_in_.tolist() == ["a", "b", "c"]
    for make in (lambda f: f, polars.from_pandas, dict):
        with pytest.raises(InputError, match="must be in the same order"):
            encoder.encode(make(fitted[["b", "a", "c"]]))
        with pytest.raises(
            InputError, match=r"unseen at fit time:\n- z\n.*missing:\n- c"
        ):
            encoder.encode(make(fitted.rename(columns={"c": "z"})))
        with pytest.raises(InputError, match="yet now missing:\n- c"):
            encoder.encode(make(fitted[["a", "b"]]))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        encoder.encode(fitted.to_numpy())
    encoder.fit(fitted.to_numpy())
    assert not hasattr(encoder, "feature_names_in_")
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        encoder.encode(fitted)
    with pytest.raises(InputError, match=r"X has 2 features.*expecting 3"):
        encoder.encode([[1, 2]])


def test_infinite_numbers_name_their_column():
    X = pandas.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1.0, np.inf, 3.0]})
    message = r"contains infinity.*column 'b'"
    for encoder in (TableEncoder(), TableEncoder(categorical_features="all")):
        with pytest.raises(InputError, match=message):
            encoder.fit(X, [0, 1, 0])
        encoder.fit(X.assign(b=[1.0, 2.0, 3.0]), [0, 1, 0])
        with pytest.raises(InputError, match=message):
            encoder.encode(X)
        with pytest.raises(InputError, match=message):
            encode_frame(read_frame(X).take([1]), encoder.schema_.variables)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"numeric": "quantil"},
            "Unknown numeric encoder 'quantil'. Did you mean 'quan",
        ),
        ({"numeric": 3}, "numeric must be one of"),
        ({"categorical_features": "a"}, r"write \['a'\]"),
        (
            {"categorical_features": ["aa"]},
            "Unknown column in categorical_features 'aa'",
        ),
        ({"categorical_features": [5]}, "names column 5, but there are 2"),
        ({"categorical_features": [True]}, "mask of 1 entries for 2 columns"),
        ({"categorical_features": [None]}, "must hold names, indices or a mask"),
        ({"categorical_features": 1}, "must be None, 'all', or a list"),
        ({"ordinal_features": {"b": "xy"}}, "must list the categories in order"),
        ({"ordinal_features": {"b": ["x", "x"]}}, "must list different categories"),
        ({"ordinal_features": {"b": ["x"]}}, "'b' holds 'y', which is not among"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(InputError, match=message):
        TableEncoder(**arguments).fit({"a": [1, 2], "b": ["x", "y"]}, [0, 1])


def test_declared_value_outside_the_given_order():
    X = pandas.DataFrame({"g": pandas.Categorical(["x", "y"], ["x", "y", "z"])})
    with pytest.raises(InputError, match="'g' holds 'y'"):
        TableEncoder(ordinal_features={"g": ["x", "z"]}).fit(X)
    chosen = TableEncoder(ordinal_features={"g": ["y", "x"]}).fit(X)
    assert chosen.categories_ == [("y", "x")]


def test_target_is_needed_only_for_numbers_cut_by_class():
    assert TableEncoder().fit([["a"], ["b"]]).categories_ == [("a", "b")]
    with pytest.raises(ValueError, match="requires y"):
        TableEncoder().fit([[1.0], [2.0]])


def test_weights_are_frequencies():
    rng = np.random.default_rng(0)
    X = {
        "n": rng.normal(size=80),
        "s": np.array(["a", "b", "c", "d"])[np.arange(80) % 4],
    }
    y = (X["n"] > 0).astype(int)
    weights = rng.integers(0, 3, 80)
    weights[X["s"] == "d"] = 0
    rows = np.repeat(np.arange(80), weights)
    for numeric in ("mdl", "width", "quantile"):
        weighted = TableEncoder(numeric=numeric)
        codes = weighted.fit_encode(X, y, weights)
        repeated = TableEncoder(numeric=numeric).fit(
            {k: v[rows] for k, v in X.items()}, y[rows]
        )
        assert weighted.schema_ == repeated.schema_
        assert weighted.categories_[1] == ("a", "b", "c")
        np.testing.assert_array_equal(codes, weighted.encode(X))
        assert (codes[X["s"] == "d", 1] == 3).all()


def test_blocks_equal_whole_and_touch_nothing_else():
    X = np.arange(40.0).reshape(10, 4)
    X[7, 2] = np.inf
    variables = [Variable.binned(f"x{j}", [3.0, 17.5]) for j in range(4)]
    table = read_frame(X)
    whole = encode_frame(read_frame(np.where(np.isinf(X), 0, X)), variables)
    plan = EncodingPlan(table, variables)
    for start, stop in ((0, 7), (8, 10), (8, 99), (3, 4), (2, 2), (0, 2)):
        expected = whole[start:stop].tolist()
        part = table.take(slice(start, stop))
        assert encode_frame(part, variables).tolist() == expected
        assert plan.encode(start, stop).tolist() == expected
    with pytest.raises(InputError, match="expected"):
        encode_frame(table, variables[:2])


def test_extend_schema():
    X = {"n": [1.0, 2.0], "s": ["b", "a"], "k": [5, 3]}
    encoder = TableEncoder(numeric="width", categorical_features=["k"]).fit(X)
    more = read_frame({"n": [99.0, 0.0], "s": ["c", "B"], "k": [4.0, 5.0]})
    extended = extend_schema(encoder.schema_, more)
    assert extended[0] == encoder.schema_[0]
    assert extended[1].states == ("B", "a", "b", "c")  # sorted, as they were
    assert extended[2].states == (3, 4, 5)
    assert extend_schema(extended, more) == extended
    assert isinstance(extended, Schema)
    with pytest.raises(InputError, match="'s' was categorical"):
        extend_schema(encoder.schema_, read_frame({"n": [1], "s": [1], "k": [1]}))


def test_inside_scikit_learn():
    rng = np.random.default_rng(0)
    X = pandas.DataFrame({"n": rng.normal(size=90), "s": rng.choice(["u", "v"], 90)})
    y = np.where(X["n"] > 0.3, "yes", "no")
    search = GridSearchCV(
        make_pipeline(
            TableEncoder(numeric=QuantileEncoder()), CategoricalNB(min_categories=9)
        ),
        {"tableencoder__numeric__n_bins": [2, 8]},
        cv=3,
    ).fit(X, y)
    assert search.best_score_ > 0.8
    encoder = TableEncoder().set_output(transform="pandas").fit(X, y)
    out = encoder.transform(X)
    assert list(out.columns) == ["n", "s"]
    again = pickle.loads(pickle.dumps(encoder))
    np.testing.assert_array_equal(again.encode(X), encoder.encode(X))
    assert "TableEncoder" in encoder._repr_html_()
    unfitted = TableEncoder()
    assert not hasattr(unfitted, "cuts_")
    assert not hasattr(unfitted, "categories_")


def test_small_arrays_import_neither_numba_nor_frames():
    code = (
        "import sys, numpy as np\n"
        "from tanager.encoding import TableEncoder\n"
        "X = np.arange(40.0).reshape(20, 2)\n"
        "TableEncoder().fit(X, np.arange(20) > 9).encode(X)\n"
        "loaded = ('numba', 'tanager.encoding.dataframe_libraries')\n"
        "print(*(name in sys.modules for name in loaded))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "False"]
