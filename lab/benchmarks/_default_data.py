"""Data for the benchmarks of the default model: large, wide and rare cases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from lab.benchmarks._data import data_folder
from tanager.datasets import load

Samples = tuple[Any, npt.NDArray[Any]]
"""Features, as a data frame or an array, and classes."""


@dataclass(frozen=True)
class Case:
    """One dataset of the benchmark.

    Parameters
    ----------
    name : str
        How the table of results calls it.
    make : callable
        Takes a number of samples and returns features and classes.
    n_samples : int
        How many of them a full run takes.
    n_quick : int
        How many of them a quick run takes.
    most_ratio : float or None, default=None
        Largest allowed time to fit, relative to LightGBM.
    most_seconds : float or None, default=None
        Largest allowed time to fit, in seconds.
    public : bool, default=False
        Whether it is a public dataset, whose times are also added up.
    """

    name: str
    make: Callable[[int], Samples]
    n_samples: int
    n_quick: int = 2_000
    most_ratio: float | None = 3.0
    most_seconds: float | None = None
    public: bool = False


def stored(name: str, n_samples: int) -> Samples:
    """A dataset of the folder; text becomes the categories of pandas."""
    data_folder()
    dataset = load(name)
    order = np.random.default_rng(0).permutation(len(dataset.y))[:n_samples]
    return categorised(dataset.X.iloc[order]), np.asarray(dataset.y)[order]


def covtype(n_samples: int) -> Samples:
    """Ten numeric and two nominal features of ``large/covtype``."""
    with np.load(data_folder() / "large" / "covtype.npz") as arrays:
        order = np.random.default_rng(0).permutation(len(arrays["y"]))[:n_samples]
        X = pd.DataFrame(arrays["numeric"][order]).add_prefix("x")
        for name in ("wilderness_area", "soil_type"):
            X[name] = pd.Categorical(arrays[name][order])
        return X, arrays["y"][order]


def mixed(n_features: int, n_samples: int, n_classes: int = 2) -> Samples:
    """Half numeric and half nominal features; curves, pairs and noise."""
    random = np.random.default_rng(0)
    n_numeric = n_features // 2
    numeric = random.standard_normal((n_samples, n_numeric))
    numeric[:, ::3] = np.round(numeric[:, ::3] * 4.0)
    numeric[:, 1::4] = np.exp(numeric[:, 1::4])
    n_states = random.integers(2, 30, size=n_features - n_numeric)
    codes = (random.random((n_samples, len(n_states))) ** 2 * n_states).astype(int)
    scores = np.zeros((n_samples, n_classes))
    for c in range(n_classes):
        for j in range(0, n_numeric, 2):
            scores[:, c] += random.normal() * 0.4 * np.sin(numeric[:, j] + c)
        for j in range(0, len(n_states), 2):
            scores[:, c] += (random.standard_normal(n_states[j]) * 0.3)[codes[:, j]]
        for j in range(min(3, n_numeric - 1)):
            scores[:, c] += 0.5 * np.sign(numeric[:, j] * numeric[:, j + 1] + c - 0.5)
    y = (scores + random.gumbel(size=scores.shape)).argmax(axis=1)
    X = pd.DataFrame(numeric).add_prefix("x")
    for j, column in enumerate(codes.T):
        X[f"c{j}"] = pd.Categorical.from_codes(
            column, [f"v{i}" for i in range(n_states[j])]
        )
    return X, y


def wide(n_features: int, n_classes: int, n_samples: int) -> Samples:
    """Numeric features, few of which depend on the class."""
    random = np.random.default_rng(0)
    y = np.minimum(random.geometric(0.45, size=n_samples) - 1, n_classes - 1)
    y[: 2 * n_classes] = np.repeat(np.arange(n_classes), 2)
    X = random.standard_normal((n_samples, n_features))
    n_useful = max(n_features // 20, 5)
    X[:, :n_useful] += 0.7 * random.standard_normal((n_classes, n_useful))[y]
    X[:, ::4] = np.round(X[:, ::4] * 10.0)
    return X, y


def many_classes(n_classes: int, n_samples: int) -> Samples:
    """Ten samples of each of many classes, around ten numbers."""
    random = np.random.default_rng(0)
    y = np.arange(n_samples) % n_classes
    centres = 3.0 * random.standard_normal((n_classes, 10))
    return centres[y] + random.standard_normal((n_samples, 10)), y


def imbalanced(n_samples: int) -> Samples:
    """One class has two samples, and a value of its own in one feature."""
    random = np.random.default_rng(0)
    X = random.standard_normal((n_samples, 10))
    y = np.zeros(n_samples, dtype=int)
    y[[n_samples // 3, n_samples // 2]] = 1
    X[y == 1, 0] = 8.0
    return X, y


def sparse_columns(n_samples: int) -> Samples:
    """300 columns of zeros and few ones."""
    random = np.random.default_rng(0)
    rates = random.uniform(0.002, 0.05, size=300)
    X = (random.random((n_samples, 300)) < rates).astype(np.uint8)
    scores = X @ (random.standard_normal(300) * (random.random(300) < 0.3) * 2.0)
    y = scores + random.logistic(size=n_samples) > 0.0
    return X, y.astype(int)


def many_states(n_samples: int) -> Samples:
    """A column of 70,000 states next to four others."""
    X, y = mixed(4, n_samples)
    random = np.random.default_rng(1)
    codes = random.permutation(np.arange(n_samples) % 70_000)
    effects = random.standard_normal(70_000)
    y = np.where(random.random(n_samples) < 0.5, effects[codes] > 0.0, y)
    states = [f"id{i}" for i in range(int(codes.max()) + 1)]
    X["identifier"] = pd.Categorical.from_codes(codes, states)
    return X, y.astype(int)


def floats(n_samples: int) -> Samples:
    """Four normal features, every value different; a product counts."""
    random = np.random.default_rng(0)
    X = random.standard_normal((n_samples, 4))
    y = X[:, 0] + X[:, 1] * X[:, 2] + random.logistic(size=n_samples) > 0.0
    return X, y.astype(int)


def categorised(X: pd.DataFrame) -> pd.DataFrame:
    """Make the text columns of a data frame categories, which LightGBM needs."""
    text = X.columns[[not pd.api.types.is_numeric_dtype(kind) for kind in X.dtypes]]
    return X.astype(dict.fromkeys(text, "category")).reset_index(drop=True)


CASES = (
    Case("adult", partial(stored, "large/adult"), 48_842, public=True),
    Case("connect-4", partial(stored, "large/connect-4"), 67_557, public=True),
    Case("satimage", partial(stored, "uci25/satimage"), 6_435, public=True),
    Case("letter", partial(stored, "uci25/letter"), 20_000, public=True),
    Case("covtype", covtype, 60_000, public=True),
    Case("covtype", covtype, 465_000, most_ratio=1.0, public=True),
    Case("mixed columns", partial(mixed, 20), 1_000_000, most_ratio=2.0),
    Case("mixed columns", partial(mixed, 40), 25_000),
    Case("mixed columns", partial(mixed, 40), 50_000),
    Case("nine classes", partial(wide, 279, 9), 438, 438, most_seconds=2.0),
    Case("two classes", partial(wide, 2_000, 2), 500, 500),
    Case("500 classes", partial(many_classes, 500), 5_000),
    Case("1 : 100,000", imbalanced, 200_000),
    Case("columns of zeros and ones", sparse_columns, 20_000),
    Case("a column of 70,000 states", many_states, 140_000),
    Case("normal floats", floats, 20_000),
)
