"""Few rows of a data frame have the codes that reading its columns gives."""

import warnings

import numpy as np
import pytest

from tanager import BayesNetClassifier
from tanager.encoding import EncodingPlan, TableEncoder, read_frame
from tanager.encoding.pandas_rows import encode_rows
from tanager.errors import InputError

pandas = pytest.importorskip("pandas")

N = 60


def make_frame(dtypes):
    """Columns of many types, in which some values are missing."""
    random = np.random.default_rng(3)
    size = np.round(random.normal(size=N), 1)
    size[:7] = np.nan
    sky = random.choice(["blue", "grey", "red"], N).astype(object)
    sky[5:9] = None
    frame = pandas.DataFrame(
        {
            "age": random.integers(18, 80, N),
            "size": size,
            "sky": sky,
            "rain": random.random(N) < 0.5,
            "floor": random.integers(0, 3, N),
        }
    )
    return frame.astype(dtypes)


KINDS = {
    "plain": {},
    "categories": {"sky": "category", "floor": "category", "rain": "category"},
    "nullable": {"age": "Int64", "size": "Float64", "sky": "string", "rain": "boolean"},
    "small": {"age": "int8", "size": "float32", "floor": "uint16"},
    "objects": {"floor": object, "rain": object},
    "numbers": {"sky": "category", "rain": "int64"},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("missing", ["state", "marginalize"])
def test_codes_of_few_rows(kind, missing):
    X = make_frame(KINDS[kind])
    encoder = TableEncoder(numeric="quantile", missing=missing)
    encoder.set_params(categorical_features=["sky", "rain", "floor"])
    encoder.fit(X[:40])
    names = list(X.columns)
    expected = EncodingPlan(read_frame(X), encoder.schema_).encode()
    for size in (1, 2):
        for start in range(0, N, size):
            rows = X[start : start + size]
            codes = encode_rows(rows, encoder.schema_, names)
            assert codes is not None
            assert codes.flags.f_contiguous
            assert codes.dtype == expected.dtype
            assert codes.tolist() == expected[start : start + size].tolist()
    assert encode_rows(X[:3], encoder.schema_, names) is None
    assert encode_rows(X[:0], encoder.schema_, names) is None
    assert encode_rows(X[:1], encoder.schema_, names[::-1]) is None
    assert encode_rows(X[:1].to_numpy(), encoder.schema_, names) is None


@pytest.mark.parametrize("kind", ["plain", "nullable", "small"])
def test_frames_of_numbers(kind):
    names = ["age", "size", "floor"]
    dtypes = {j: dtype for j, dtype in KINDS[kind].items() if j in names}
    X = make_frame(dtypes)[names]
    encoder = TableEncoder(numeric="quantile").fit(X)
    expected = encoder.encode(X)
    for i in range(N):
        codes = encode_rows(X[i : i + 1], encoder.schema_, names)
        assert codes is not None
        assert codes.tolist() == expected[i : i + 1].tolist()
    # As a float this age is another number, which would be in the bin below.
    large = 2**53 + 1
    later = X.assign(age=large)
    encoder.fit(X.assign(age=np.where(np.arange(N) % 2, large - 1, large + 3)))
    assert encode_rows(later[:1], encoder.schema_, names) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"sky": "green"},
        {"age": np.inf},
        {"age": pandas.Categorical([30])},
        {"age": True},
        {"age": "30"},
        {"sky": 4},
        {"sky": [pandas.Timestamp("2020-01-01")]},
        {"floor": "1"},
    ],
)
def test_what_needs_a_closer_look(changes):
    X = make_frame({"floor": "category"})
    encoder = TableEncoder(numeric="quantile").fit(X)
    names = list(X.columns)
    assert encode_rows(X[-1:], encoder.schema_, names) is not None
    assert encode_rows(X[-1:].assign(**changes), encoder.schema_, names) is None


def test_predictions_of_single_samples():
    X = make_frame({"floor": "category"})
    y = np.where(X["age"] > 50, "old", "young")
    model = BayesNetClassifier().fit(X, y)
    whole = model.predict_proba(X)
    for i in range(0, N, 7):
        one = X[i : i + 1]
        np.testing.assert_array_equal(model.predict_proba(one), whole[i : i + 1])
        assert model.predict(one) == model.classes_[whole[i].argmax()]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(X[:1].assign(sky="green"))
    with pytest.warns(UserWarning, match="'Blue'.*nearly matches.*'blue'"):
        model.predict(X[:1].assign(sky="Blue"))
    with pytest.raises(InputError, match="contains infinity"):
        model.predict(X[:1].assign(size=np.inf))
    with pytest.raises(InputError, match="'age' was numeric at fit"):
        model.predict(X[:1].assign(age="30"))
    swapped = X[:1][list(X.columns)[::-1]]
    assert (model.predict(swapped) == model.predict(X[:1])).all()
    model.set_params(missing="error", unknown="error")
    with pytest.raises(InputError, match="'size' has 1 missing"):
        model.predict(X[:1])
    with pytest.raises(InputError, match="has the value 'green' in row 0"):
        model.predict(X[-1:].assign(sky="green"))
    np.testing.assert_array_equal(model.predict_proba(X[-1:]), whole[-1:])
