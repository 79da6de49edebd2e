from __future__ import annotations

import numpy as np
import pytest

from tanager import InputError, MDLEncoder, TableEncoder
from tanager.encoding.labels import encode_labels


def pandas_series(values, dtype):
    pandas = pytest.importorskip("pandas")
    return pandas.Series(values, dtype=dtype)


def pandas_categorical(values):
    return pytest.importorskip("pandas").Categorical(values)


def polars_series(values, dtype=None):
    polars = pytest.importorskip("polars")
    return polars.Series(values, dtype=None if dtype is None else polars.Categorical)


def arrow_array(values):
    return pytest.importorskip("pyarrow").array(values)


def arrow_chunks(values):
    return pytest.importorskip("pyarrow").chunked_array([values[:2], values[2:]])


NAN = float("nan")
NUMBERS = [7, None, 5, None]
TEXTS = ["b", None, "a", None]


@pytest.mark.parametrize(
    "make",
    [
        lambda: NUMBERS,
        lambda: tuple(NUMBERS),
        lambda: [7, NAN, 5, np.datetime64("NaT")],
        lambda: np.array(NUMBERS, dtype=object),
        lambda: np.array([7, NAN, 5, NAN]),
        lambda: np.array([7, NAN, 5, NAN], dtype=np.float32),
        lambda: pandas_series(NUMBERS, "float64"),
        lambda: pandas_series(NUMBERS, "Int64"),
        lambda: pandas_series(NUMBERS, "category"),
        lambda: pandas_categorical(NUMBERS),
        lambda: polars_series(NUMBERS),
        lambda: polars_series([7.0, NAN, 5.0, None]),
        lambda: arrow_array(NUMBERS),
        lambda: arrow_chunks(NUMBERS),
        lambda: TEXTS,
        lambda: ["b", NAN, "a", None],
        lambda: np.array(TEXTS, dtype=object),
        lambda: np.array(["b", NAN, "a", None], dtype=object),
        lambda: pandas_series(TEXTS, "object"),
        lambda: pandas_series(TEXTS, "string"),
        lambda: pandas_series(TEXTS, "category"),
        lambda: pandas_categorical(TEXTS),
        lambda: polars_series(TEXTS),
        lambda: polars_series(TEXTS, "categorical"),
        lambda: arrow_array(TEXTS),
        lambda: arrow_chunks(TEXTS),
        lambda: [True, None, False, None],
        lambda: pandas_series([True, None, False, None], "boolean"),
    ],
)
def test_missing_labels_of_every_kind(make):
    y = make()
    classes, labels = encode_labels(y, 4, "who", allow_missing=True)
    assert classes.tolist() in ([5, 7], ["a", "b"], [False, True])
    assert labels.tolist() == [1, 2, 0, 2]
    assert labels.dtype == np.uint8
    with pytest.raises(
        InputError, match=r"labels in 2 of 4 samples, the first in row 1"
    ):
        encode_labels(y, 4, "who")


def test_pandas_na_among_anything():
    pandas = pytest.importorskip("pandas")
    for gap in (pandas.NA, pandas.NaT):
        _, labels = encode_labels([gap, "b", "a"], 3, "who", allow_missing=True)
        assert labels.tolist() == [2, 1, 0]


def test_whole_numbers_stay_whole():
    """A null makes floats of integers in NumPy, but not here."""
    for y in (NUMBERS, arrow_array(NUMBERS), pandas_series(NUMBERS, "Int64")):
        classes, _ = encode_labels(y, 4, "who", allow_missing=True)
        assert classes.dtype.kind == "i"


@pytest.mark.parametrize("y", [[None, None], [NAN, NAN], np.array([NAN, NAN])])
def test_some_label_must_be_there(y):
    with pytest.raises(InputError, match="only missing labels, in all 2 samples"):
        encode_labels(y, 2, "who", allow_missing=True)


def test_some_text_must_be_there():
    y = pandas_series([None, None], "string")
    with pytest.raises(InputError, match="only missing labels"):
        encode_labels(y, 2, "who", allow_missing=True)


def test_the_code_of_a_missing_label_fits_its_type():
    y = [*range(256), None]
    _, labels = encode_labels(y, 257, "who", allow_missing=True)
    assert labels.dtype == np.uint16
    assert labels[-1] == 256


def test_cuts_come_from_labelled_rows_and_states_from_all():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 80)
    numbers = y + random.normal(scale=0.4, size=80)
    texts = np.array(["a", "b"])[y].astype(object)
    texts[-1] = "rare"
    known = np.arange(80) % 3 > 0
    partly = np.where(known, y, np.nan)
    encoder = TableEncoder().fit({"number": numbers, "text": texts}, partly)
    alone = MDLEncoder().fit(numbers[known][:, None], y[known])
    np.testing.assert_array_equal(encoder.cuts_[0], alone.cuts_[0])
    assert len(alone.cuts_[0])
    assert encoder.categories_[1] == ("a", "b", "rare")
    semi = MDLEncoder().fit(numbers[:, None], partly)
    np.testing.assert_array_equal(semi.cuts_[0], alone.cuts_[0])
