"""Parts of dates: values, names, and the whole path from data to prediction."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest

import tanager
from tanager import BayesNetClassifier, InputError, TableEncoder
from tanager.encoding import describe, read_frame
from tanager.encoding.date_parts import (
    DATE_PARTS,
    PART_STATES,
    add_date_parts,
    date_part,
    restore_date_parts,
)

MOMENTS = [
    datetime.datetime(1969, 12, 31, 23, 59, 59),
    datetime.datetime(1970, 1, 1),
    datetime.datetime(1600, 2, 29, 5),
    datetime.datetime(2024, 2, 29, 23, 30),
    datetime.datetime(2023, 12, 31, 0, 0, 1),
    datetime.datetime(2100, 3, 1, 12),
]


def expected(moment, part):
    """The part by Python's own calendar."""
    if part == "weekday":
        return PART_STATES[part][moment.weekday()]
    if part == "month":
        return moment.strftime("%b")
    return getattr(moment, part)


def values_of(column):
    if column.is_numeric:
        return [None if v != v else v for v in column.values]
    return [None if c < 0 else column.categories[c] for c in column.codes]


@pytest.mark.parametrize("part", DATE_PARTS)
def test_parts_are_those_of_the_calendar(part):
    column = read_frame({"when": [*MOMENTS, None]}).column(0)
    found = date_part(column, part)
    assert found.name == f"when ({part})"
    assert values_of(found) == [*(expected(m, part) for m in MOMENTS), None]


def test_hours_of_times_of_day():
    frame = read_frame({"t": [datetime.time(23, 59), None, datetime.time(0)]})
    assert values_of(add_date_parts(frame, ["hour", "weekday"]).column(1)) == [
        23, None, 0,
    ]  # fmt: skip
    assert add_date_parts(frame, ["hour", "weekday"]).names == ("t", "t (hour)")


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (["weekdy"], "Unknown part of dates 'weekdy'"),
        ("weekday", "write \\['weekday'\\]"),
        (3, "must be None, a list of parts, or a mapping"),
        ({"z": ["hour"]}, "'z' has no part 'hour': it holds numbers"),
        ({"when": ["hour"], "q": ["hour"]}, "Unknown column in date_parts 'q'"),
        ({"text": ["hour"]}, "holds categories. Convert texts with pandas.to_datetime"),
    ],
)
def test_what_cannot_be_done_is_said(chosen, message):
    frame = read_frame({"when": MOMENTS, "z": range(6), "text": list("abcabc")})
    with pytest.raises(InputError, match=message):
        add_date_parts(frame, chosen)


def test_dates_and_names_are_needed():
    with pytest.raises(InputError, match="needs a column of dates, and X has none"):
        add_date_parts(read_frame({"z": [1, 2]}), ["hour"])
    with pytest.raises(InputError, match="needs columns with names"):
        add_date_parts(read_frame([[MOMENTS[0]]]), ["hour"])
    frame = read_frame({"d": MOMENTS, "d (hour)": range(6)})
    with pytest.raises(InputError, match="X has one of this name"):
        add_date_parts(frame, ["hour"])


def test_parts_are_restored_only_where_they_lack():
    frame = read_frame({"d": MOMENTS, "e": range(6), "d (hour)": [9.0] * 6})
    names = ("d", "e", "d (hour)", "d (weekday)", "e (hour)", "f (hour)")
    found = restore_date_parts(frame, names)
    assert found.names == ("d", "e", "d (hour)", "d (weekday)")
    assert values_of(found.column(2)) == [9.0] * 6
    assert restore_date_parts(frame, frame.names) is frame


def weekends(n=400):
    """Moments in random order, with a missing one, and whether they are weekends."""
    random = np.random.default_rng(0)
    hours = pd.to_timedelta(random.integers(0, 700 * 24, n), unit="h")
    when = pd.Series(pd.Timestamp("2023-01-02") + hours)
    y = np.where(when.dt.day_of_week >= 5, "free", "work")
    when[3] = pd.NaT
    return pd.DataFrame({"when": when, "z": random.normal(size=n)}), y


@pytest.mark.parametrize("name", ["Factors", "TAN-CMI-ML", "NB+FE"])
def test_from_fit_to_the_loaded_model(name, tmp_path):
    X, y = weekends()
    model = BayesNetClassifier.from_name(
        name, random_state=0, encoder__date_parts=["weekday", "hour"]
    )
    model.fit(X[:300], y[:300])
    assert model.feature_names_in_.tolist() == [
        "when", "z", "when (weekday)", "when (hour)",
    ]  # fmt: skip
    assert model.network_.schema[2].value_states == PART_STATES["weekday"]
    assert model.score(X[300:], y[300:]) > 0.97
    model.save(tmp_path / "m.json")
    loaded = tanager.load(tmp_path / "m.json")
    p = model.predict_proba(X)
    assert np.array_equal(loaded.predict_proba(X[["z", "when"]]), p)
    assert np.array_equal(
        np.vstack([loaded.predict_proba(X[i : i + 1]) for i in range(5)]), p[:5]
    )
    with pytest.warns(tanager.DataWarning, match="lacks the columns 'when'"):
        loaded.predict(X[["z"]])


def test_parts_in_batches_and_increments_are_those_of_one_fit():
    X, y = weekends()
    table = X.assign(y=y)

    def make():
        return BayesNetClassifier.from_name("NB+FE", encoder__date_parts=["weekday"])

    # Cut points by quantiles would differ between a batch and the whole.
    whole = make().set_params(encoder__numeric="width").fit(X, y)
    batches = make().set_params(encoder__numeric="width")
    batches.fit([table[:150], table[150:]], "y")
    assert np.array_equal(batches.predict_proba(X), whole.predict_proba(X))
    model = make().fit(X, y)
    model.partial_fit(X[:100], y[:100])
    again = (
        make()
        .fit(X, y)
        .partial_fit(
            X[:100].assign(**{"when (weekday)": X.when[:100].dt.strftime("%a")}),
            y[:100],
        )
    )
    assert np.allclose(model.predict_proba(X), again.predict_proba(X))


def test_the_encoder_alone():
    X, y = weekends()
    encoder = TableEncoder(date_parts={"when": ["month"]}, numeric="width").fit(X, y)
    names = ["when", "z", "when (month)"]
    assert encoder.get_feature_names_out().tolist() == names
    assert encoder.encode(X).shape == (400, 3)
    by_class = TableEncoder(
        date_parts=["day"], categorical_features=["when (day)"]
    ).fit(X, y)
    assert by_class.categories_[2] == tuple(range(1, 32))


def test_descriptions_have_the_parts():
    X, y = weekends()
    found = describe(X, y, date_parts=["weekday"])
    assert found["when (weekday)"].role == "categorical"
    assert found["when (weekday)"].n_distinct == 7
