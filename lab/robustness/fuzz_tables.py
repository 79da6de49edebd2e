"""Inputs for fuzzing: random tables, and random settings of classifiers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from tanager import (
    DFE,
    ELR,
    EM,
    KDB,
    BayesNetClassifier,
    BoostedClassifier,
    ChowLiu,
    ConditionalLikelihood,
    EqualWidthEncoder,
    FactorSearch,
    Frequency,
    GreedyKTree,
    HillClimbing,
    LossMinimizer,
    MDLEncoder,
    NaiveBayes,
    QuantileEncoder,
    RandomTree,
    ResidualTree,
    TableEncoder,
)

METHODS = (
    ("nb", "fe"), ("tan", "fe"), ("nb", "dfe"), ("kdb2", "fe"), ("auto", "auto"),
    ("nb", "rcl"), ("nb", "em"),
)  # fmt: skip
"""Fast methods, for tables."""

ODD_FLOATS = (
    0.0, -0.0, 1.0, np.nan, 1e300, -1e300, 5e-324, 1.7e308, 2.0**53, 0.1, np.float64(3),
)  # fmt: skip
ODD_CELLS = (
    None, "", "a", "b", "\x00", "nan", "?", "ü", 1, 2.5, True, False, -1, 10**6,
    np.float32(0.5), np.int8(3), np.nan, b"a", (1, 2), "a" * 200,
)  # fmt: skip
ODD_ARGUMENTS: tuple[Any, ...] = (
    None, 0, 1, 2, 3, -1, 0.0, 0.5, 1.0, -0.5, 1e-9, 1e9, np.nan, np.inf, True, False,
    "", "auto", "nb", "mdl", "x", (), [], {}, {"a": 1}, [0, 1], ("a", "b"), object,
    np.arange(3), np.float64(2), np.int64(3), 10**30,
)  # fmt: skip
PARTS: tuple[Callable[[], Any], ...] = (
    NaiveBayes, ChowLiu, KDB, RandomTree, FactorSearch, ResidualTree, HillClimbing,
    GreedyKTree, Frequency, DFE, ELR, EM, ConditionalLikelihood, LossMinimizer,
    MDLEncoder, EqualWidthEncoder, QuantileEncoder, TableEncoder,
)  # fmt: skip
LONG_RUNS = frozenset(
    {
        "max_iter",
        "epochs",
        "n_estimators",
        "restarts",
        "n_restarts",
        "passes",
        "n_bags",
        "tabu",
        "patience",
    }
)
"""Arguments of which a large number is a wish for a long run."""


def use_random_table(random: Random) -> None:
    """Fit a classifier to a table with odd columns, and predict."""
    n_rows = random.choice((0, 1, 2, 3, 10, 40, 120))
    columns = {
        f"c{j}": random_column(random, n_rows) for j in range(random.randint(0, 5))
    }
    y = random_labels(random, n_rows)
    structure, parameters = random.choice(METHODS)
    model: Any = BayesNetClassifier(
        random.choice(("auto", "mdl", "width", "quantile", "categorical")),
        structure,
        parameters,
        random_state=0,
    )
    if random.random() < 0.1:
        model = BoostedClassifier(BayesNetClassifier(), n_estimators=2, random_state=0)
    weights = random_weights(random, n_rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X = random_form(random, columns)
        model.fit(X, y, weights)
        check_probabilities(model.predict_proba(X))
        model.predict(random_form(random, columns))


def random_column(random: Random, n_rows: int) -> Any:
    """A column of numbers, texts, or anything."""
    generator = np.random.default_rng(random.randrange(2**32))
    kind = random.randrange(7)
    if kind == 0:
        return generator.normal(size=n_rows)
    if kind == 1:
        return np.array(random.choices(ODD_FLOATS, k=n_rows), dtype=float)
    if kind == 2:
        return generator.integers(-3, 4, n_rows)
    if kind == 3:
        return np.array(random.choices(("a", "b", "c", "d e"), k=n_rows), dtype=object)
    if kind == 4:
        return np.full(n_rows, random.choice(("same", 1.0, 7)))
    if kind == 5:
        return generator.random(n_rows) < 0.5
    cells = np.empty(n_rows, dtype=object)
    cells[:] = [random.choice(ODD_CELLS) for _ in range(n_rows)]
    return cells


def random_labels(random: Random, n_rows: int) -> Any:
    """Labels: integers, texts, Booleans, one class, or as many classes as samples."""
    generator = np.random.default_rng(random.randrange(2**32))
    kind = random.randrange(6)
    if kind == 0:
        return np.arange(n_rows)
    if kind == 1:
        return np.zeros(n_rows, dtype=int)
    if kind == 2:
        return generator.random(n_rows) < 0.5
    if kind == 3:
        return random.choices(("no", "yes", "maybe"), k=n_rows)
    return generator.integers(0, random.choice((2, 3, 9)), n_rows)


def random_weights(random: Random, n_rows: int) -> Any:
    """Weights, mostly none; some are refused."""
    kind = random.randrange(8)
    if kind == 0:
        return np.array(random.choices((0.0, 1.0, 2.0, 0.25), k=n_rows))
    if kind == 1:
        return np.array(random.choices((0.0, -1.0, np.nan, np.inf, 1.0), k=n_rows))
    if kind == 2:
        return [1.0] * random.choice((0, n_rows, n_rows + 1))
    return None


def random_form(random: Random, columns: dict[str, Any]) -> Any:
    """Columns as a mapping, rows, an array or a data frame."""
    form = random.randrange(5)
    if form == 0:
        return [list(row) for row in zip(*columns.values(), strict=True)]
    if form == 1:
        kinds = {column.dtype.kind for column in columns.values()}
        if kinds <= set("iufb") and columns:
            return np.column_stack(list(columns.values()))
    if form == 2:
        import pandas as pd

        return pd.DataFrame({name: list(column) for name, column in columns.items()})
    return columns


def check_probabilities(probabilities: Any) -> None:
    """Raise AssertionError unless all rows are distributions."""
    if not (probabilities >= 0).all():
        raise AssertionError("a probability is negative or NaN")
    if not np.allclose(probabilities.sum(axis=1), 1.0, atol=1e-9):
        raise AssertionError("probabilities do not sum to one")


def use_random_settings(random: Random) -> None:
    """Give a classifier and its parts odd arguments, print, clone, fit, predict."""
    from sklearn.base import clone

    parts = {
        "encoder": random.choice(PARTS[-4:])(),
        "structure": random.choice(PARTS[:8])(),
        "parameters": random.choice(PARTS[8:-4])(),
    }
    model = BayesNetClassifier(random_state=0)
    for name, part in parts.items():
        if random.random() < 0.6:
            model.set_params(**{name: part})
    names = sorted(n for n in model.get_params() if not n.endswith("checkpoint"))
    for name in random.sample(names, random.choice((1, 1, 2, 3))):
        value = random.choice(ODD_ARGUMENTS)
        last = name.rpartition("__")[2]
        if last in LONG_RUNS and isinstance(value, (int, float)) and value > 1e6:
            continue
        if name in model.get_params():
            model.set_params(**{name: value})
    generator = np.random.default_rng(0)
    y = generator.integers(0, 2, 40)
    X = {"a": y + generator.normal(size=40), "b": np.where(y, "u", "v"), "c": y % 3}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        repr(model)
        clone(model).fit(X, y)
        check_probabilities(model.fit(X, y).predict_proba(X))


TABLE_KINDS: dict[str, Callable[[Random], None]] = {
    "tables": use_random_table,
    "settings": use_random_settings,
}
