from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tanager import datasets
from tanager.datasets import Dataset, generators, remove_values
from tanager.datasets._dataset import count_missing
from tanager.errors import InputError

OTHERS = ("remove_values", "satisfiability")
"""Functions that change data, or make the same ones always."""

MAKERS = [name for name in generators.__all__ if name not in OTHERS]


def table(data: Dataset) -> np.ndarray[Any, Any]:
    """Return all cells as text."""
    return np.column_stack([np.asarray(data.frame[c]).astype(str) for c in data.frame])


def bits(data: Dataset, *names: str) -> list[np.ndarray[Any, Any]]:
    return [np.asarray(data.frame[name]).astype(int) for name in names]


@pytest.mark.parametrize("name", MAKERS)
def test_seeds(name: str) -> None:
    make = getattr(generators, name)
    first = table(make(random_state=1))
    np.testing.assert_array_equal(first, table(make(random_state=1)))
    rng = np.random.default_rng(1)
    np.testing.assert_array_equal(first, table(make(random_state=rng)))
    assert (first != table(make(random_state=2))).any()
    # The generator has moved on, so the next rows are new.
    assert (first != table(make(random_state=rng))).any()


@pytest.mark.parametrize("name", MAKERS)
def test_without_pandas_gives_the_same(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pandas")
    make = getattr(generators, name)
    with_pandas = make()
    monkeypatch.setitem(sys.modules, "pandas", None)
    without = make()
    assert isinstance(without.frame, dict)
    np.testing.assert_array_equal(table(with_pandas), table(without))
    if without.n_train is not None:
        X_train, X_test, y_train, y_test = without.split()
        assert len(y_train) == len(X_train[without.feature_names[0]]) == without.n_train
        assert len(y_test) == len(X_test[without.feature_names[0]])


@pytest.mark.parametrize("name", MAKERS)
def test_all_arguments_are_keywords(name: str) -> None:
    parameters = inspect.signature(getattr(generators, name)).parameters.values()
    assert all(p.kind is p.KEYWORD_ONLY for p in parameters)


def check_corral(data: Dataset) -> None:
    a0, a1, b0, b1, irrelevant, correlated, label = bits(data, *data.frame)
    np.testing.assert_array_equal(label, (a0 & a1) | (b0 & b1))
    setting = a0 * 16 + a1 * 8 + b0 * 4 + b1 * 2 + irrelevant
    assert np.bincount(setting).tolist() == [4] * 32
    assert np.bincount(setting, correlated == label).tolist() == [3] * 32


def test_corral() -> None:
    check_corral(generators.corral(random_state=5))


def test_corral_is_like_the_file(data_folder: Path) -> None:
    check_corral(datasets.load("uci25/corral", folder=data_folder))
    assert (
        generators.corral().feature_names
        == datasets.load("uci25/corral", folder=data_folder).feature_names
    )


def check_mofn(data: Dataset) -> None:
    *columns, label = bits(data, *data.frame)
    np.testing.assert_array_equal(label, np.sum(columns[2:9], axis=0) >= 3)
    number = np.sum([column << j for j, column in enumerate(columns)], axis=0)
    assert data.n_train == 300
    assert len(np.unique(number[:300])) == 300
    assert np.bincount(number[300:]).tolist() == [1] * 1024


def test_mofn() -> None:
    check_mofn(generators.mofn(random_state=5))


def test_mofn_is_like_the_file(data_folder: Path) -> None:
    file = datasets.load("uci25/mofn-3-7-10", folder=data_folder)
    check_mofn(file)
    assert file.feature_names == generators.mofn().feature_names


def test_mofn_of_another_shape() -> None:
    data = generators.mofn(m=2, relevant=[0, 3], n_bits=4, n_train=5)
    b0, b3, label = bits(data, "Bit-0", "Bit-3", "class")
    np.testing.assert_array_equal(label, b0 & b3)
    assert data.name == "mofn-2-2-4"


def moments(data: Dataset) -> tuple[Any, Any]:
    x = np.column_stack([np.asarray(data.frame[c]) for c in data.feature_names])
    y = np.asarray(data.y).astype(int)
    return (
        np.array([x[y == c].mean(axis=0) for c in range(3)]),
        np.array([x[y == c].std(axis=0) for c in range(3)]),
    )


def waveform_moments() -> tuple[Any, Any]:
    """Means and deviations by the definition; u has mean 1/2 and variance 1/12."""
    i = np.arange(21)
    h = [np.maximum(6 - abs(i - centre), 0) for centre in (6, 14, 10)]
    pairs = [(h[0], h[1]), (h[0], h[2]), (h[1], h[2])]
    means = np.array([(f + s) / 2 for f, s in pairs])
    deviations = np.array([np.sqrt((f - s) ** 2 / 12 + 1) for f, s in pairs])
    return means, deviations


@pytest.mark.numerical
@pytest.mark.parametrize("where", ["generator", "local"])
def test_waveform(where: str, request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue("data_folder") if where == "local" else None
    data = datasets.load("waveform-21", source=where, folder=folder)
    # About 1667 rows per class and a deviation of at most 2: 5 standard errors.
    for found, expected in zip(moments(data), waveform_moments(), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=5 * 2 / 1600**0.5)
    assert data.n_train == 300
    assert data.feature_names == tuple(f"X{j:02d}" for j in range(21))
    counts = np.bincount(np.asarray(data.y).astype(int))
    assert (abs(counts - 5000 / 3) < 5 * (5000 * 2 / 9) ** 0.5).all()


def test_waveform_with_noise() -> None:
    data = generators.waveform(n_samples=2000, n_noise=19, n_train=None)
    assert (len(data.feature_names), data.n_train) == (40, None)
    noise = np.column_stack([np.asarray(data.frame[f"X{j}"]) for j in range(21, 40)])
    assert abs(noise.mean()) < 0.03
    assert abs(noise.std() - 1) < 0.03


@pytest.mark.numerical
def test_three_binary_has_the_papers_probabilities() -> None:
    n = 200_000
    x1, x2, x3, label = bits(
        generators.three_binary(n_samples=n), *["X1", "X2", "X3"], "class"
    )
    near = {"rel": 0, "abs": 5 * 0.5 / (n / 2) ** 0.5}
    assert label.mean() == pytest.approx(1.5, **near)
    assert x1.mean() == pytest.approx(0.5, **near)
    assert (x2 == x1).mean() == pytest.approx(0.75, **near)
    one = label == 1
    # P(X3 = X1): 0.3 by itself, 0.5 times P(X2 = X1), half of the 0.2 that is fixed.
    assert (x3 == x1)[one].mean() == pytest.approx(0.3 + 0.375 + 0.1, **near)
    assert (x3 == x1)[~one].mean() == pytest.approx(0.375 + 0.1, **near)
    assert (x3 == x2)[one].mean() == pytest.approx(0.5 + 0.3 * 0.75 + 0.1, **near)
    assert (x3 == x2)[~one].mean() == pytest.approx(0.5 + 0.3 * 0.25 + 0.1, **near)


@pytest.mark.numerical
@pytest.mark.parametrize("m", [0, 1, 2, 5])
def test_correct_structure(m: int) -> None:
    n = 50_000
    data = generators.correct_structure(m=m, n_samples=n)
    e = np.column_stack([np.asarray(data.frame[c]) == "+e" for c in data.feature_names])
    c = np.asarray(data.y) == "+c"
    assert c.mean() == pytest.approx(0.9, abs=0.01)
    np.testing.assert_allclose(e[c].mean(axis=0), 0.2, atol=0.015)
    np.testing.assert_allclose(e[~c].mean(axis=0), 0.8, atol=0.03)
    equal = [bool((e[:, 0] == e[:, j]).all()) for j in range(1, 5)]
    assert equal == [j < m for j in range(1, 5)]


def test_correct_structure_with_missing_values() -> None:
    data = generators.correct_structure(n_samples=4000, missing=0.5)
    assert count_missing(data.X) / (4000 * 5) == pytest.approx(0.5, abs=0.02)
    assert count_missing(data.frame) == count_missing(data.X)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("mofn", {"n_bits": 21}, "n_bits must be a finite number at most 20"),
        ("mofn", {"n_train": 2000}, "n_train must be .* at most 1024"),
        ("mofn", {"relevant": [3, 10]}, "must name bits 0 to 9"),
        ("mofn", {"m": 8}, "m must be a finite number at most 7"),
        ("waveform", {"n_samples": 10}, "n_train must be .* at most 10"),
        ("three_binary", {"n_samples": 0}, "at least 1, got 0"),
        ("three_binary", {"n_samples": 2.5}, "whole number of at least 1, got 2.5"),
        ("correct_structure", {"m": 6}, "m must be a finite number at most 5"),
        ("correct_structure", {"missing": 1.5}, "probability must be .* at most 1"),
    ],
)
def test_bad_options(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        getattr(generators, name)(**options)


def test_single_rows_and_features() -> None:
    assert generators.three_binary(n_samples=1).n_rows == 1
    assert generators.waveform(n_samples=1, n_train=None).n_rows == 1
    assert generators.correct_structure(n_features=1, m=1, n_samples=1).n_rows == 1


# --- remove_values


def test_remove_values_from_a_frame_of_all_types() -> None:
    pandas = pytest.importorskip("pandas")
    n = 4000
    frame = pandas.DataFrame(
        {
            "whole": np.arange(n),
            "number": np.linspace(0, 1, n),
            "text": ["a", "b"] * (n // 2),
            "nominal": pandas.Categorical(["x", "y"] * (n // 2), ["x", "y", "z"]),
            "truth": [True, False] * (n // 2),
            "class": ["a", "b"] * (n // 2),
        }
    )
    before = frame.copy()
    removed = remove_values(frame, 0.25, random_state=3)
    pandas.testing.assert_frame_equal(frame, before)
    assert removed["class"].equals(frame["class"])
    assert removed["whole"].dtype == "float64"
    assert list(removed["nominal"].cat.categories) == ["x", "y", "z"]
    fraction = removed.drop(columns="class").isna().mean()
    assert (abs(fraction - 0.25) < 5 * (0.25 * 0.75 / n) ** 0.5).all()
    kept = removed["text"].notna()
    assert removed["text"][kept].equals(frame["text"][kept])
    assert count_missing(remove_values(frame, 1.0, target="text")) == 5 * n


def test_remove_values_from_arrays() -> None:
    arrays = {
        "x": np.arange(1000),
        "t": np.array(["a", "b"] * 500),
        "class": np.array(["u", "v"] * 500),
    }
    removed = remove_values(arrays, 0.3)
    assert removed["class"] is arrays["class"]
    assert removed["x"].dtype == np.float64
    assert 200 < np.isnan(removed["x"]).sum() < 400
    assert 200 < sum(value is None for value in removed["t"]) < 400
    assert set(removed["t"]) == {"a", "b", None}


def test_remove_values_is_the_same_with_and_without_pandas(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("pandas")
    some = remove_values(generators.corral(), 0.4, random_state=2)
    assert isinstance(some, Dataset)
    monkeypatch.setitem(sys.modules, "pandas", None)
    other = remove_values(generators.corral(), 0.4, random_state=2)
    for name in some.frame:
        gone = some.frame[name].isna().to_numpy()
        assert gone.tolist() == [value is None for value in other.frame[name]]


def test_remove_values_refuses_other_things() -> None:
    with pytest.raises(InputError, match=r"pandas data frame or a dict .* got list"):
        remove_values([1, 2])
    with pytest.raises(InputError, match="probability must be a finite number"):
        remove_values({}, -0.1)
    data = generators.corral()
    assert remove_values(data, 0).frame is data.frame
