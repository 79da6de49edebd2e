"""Checks generated for every structure and every parameter learner of the registry.

`tests.registry` fits every combination of the two once.
"""

from __future__ import annotations

import pickle
from functools import cache

import numpy as np
import pytest
from sklearn.base import clone

import tanager
from tanager import BayesNetClassifier
from tanager.registry import parse
from tests.tolerance import EXACT, SEARCH, assert_close

EVERY_LEARNER = ("NB-", "NB+", "TAN-CMI-", "TAN+", "GBN+")
"""How the names begin that are checked with every parameter learner."""


def needs_checks(name):
    """Whether a name combines a structure and parameters as no other name does.

    Parameters are learned after the structure, so that two parts that are checked in
    other names behave alike together. Every parameter learner is checked with naive
    Bayes, a tree and a general network; every structure with frequencies, with its own
    tables, and with parameters from which it takes the smoothing.
    """
    recipe = parse(name)
    structure, parameters = recipe.structure, recipe.parameters
    return (
        name.startswith(EVERY_LEARNER)
        or name.endswith(("-ML", "+FE"))
        or parameters.takes_tables
        or (structure.takes_smoothing and parameters.suits_many_bins)
    )


NAMES = [name for name in tanager.names() if needs_checks(name)]

pytestmark = [pytest.mark.contract, pytest.mark.parametrize("name", NAMES)]


def make(name, **arguments):
    return BayesNetClassifier.from_name(name, random_state=0, **arguments)


def make_rows():
    """Mixed columns: numbers, three and more states, a constant, missing cells."""
    random = np.random.default_rng(11)
    n_rows = 90
    y = random.integers(0, 3, n_rows)
    columns = {
        "size": np.round(y + random.normal(size=n_rows), 1),
        "kind": np.array(["a", "b", "c", "d"])[(y + random.integers(0, 2, n_rows)) % 4],
        "same": np.full(n_rows, "one"),
        "sign": np.where(random.random(n_rows) < 0.5, "+", "-"),
    }
    columns["kind"] = columns["kind"].astype(object)
    columns["kind"][random.random(n_rows) < 0.1] = None
    columns["size"][random.random(n_rows) < 0.1] = np.nan
    return columns, y


@pytest.fixture(scope="module")
def rows():
    return make_rows()


@cache
def fitted(name):
    """The method fitted to `make_rows`, once for all checks that only read it."""
    model = make(name)
    before = repr(model)
    X, y = make_rows()
    model.fit(X, y)
    return model, before, X


def take(columns, index):
    return {name: values[index] for name, values in columns.items()}


def test_clone_and_refit_give_the_same_bits(name, rows):
    X, y = rows
    model, *_ = fitted(name)
    again = clone(model).fit(X, y)
    assert np.array_equal(model.predict_proba(X), again.predict_proba(X))
    for one, two in zip(model.networks_, again.networks_, strict=True):
        assert one.edges == two.edges


def test_fitting_leaves_the_arguments_alone(name, rows):
    X, _ = rows
    model, before, given = fitted(name)
    assert repr(model) == before
    for column in X:
        assert given[column].tolist() == pytest.approx(X[column].tolist(), nan_ok=True)


def test_pickle_and_file_give_the_same_bits(name, rows, tmp_path):
    X, _ = rows
    model, *_ = fitted(name)
    expected = model.predict_proba(X)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), expected)
    model.save(tmp_path / "model.json")
    assert np.array_equal(
        tanager.load(tmp_path / "model.json").predict_proba(X), expected
    )


def skip_if_order_matters(name):
    recipe = parse(name)
    if recipe.parameters.order_matters or recipe.structure.order_matters:
        pytest.skip("this method depends on the order of the rows")


def tolerance_of(name):
    """A line search ends where rounding lets it; sums and steps in them do not."""
    searches = "solver" in parse(name).parameters.get_params()
    return SEARCH if searches else EXACT


def test_weights_are_repetitions(name, rows):
    skip_if_order_matters(name)
    X, y = rows
    times = np.random.default_rng(0).integers(0, 4, len(y))
    repeated = np.repeat(np.arange(len(y)), times)
    weighted = make(name).fit(X, y, times.astype(float))
    rewritten = make(name).fit(take(X, repeated), y[repeated])
    assert weighted.encoder_.schema_ == rewritten.encoder_.schema_
    assert_close(
        weighted.predict_proba(X), rewritten.predict_proba(X), tolerance_of(name)
    )


def test_row_order_does_not_matter(name, rows):
    skip_if_order_matters(name)
    X, y = rows
    order = np.random.default_rng(1).permutation(len(y))
    model, *_ = fitted(name)
    shuffled = make(name).fit(take(X, order), y[order])
    assert_close(shuffled.predict_proba(X), model.predict_proba(X), tolerance_of(name))


def test_probabilities_are_probabilities(name, rows):
    X, _ = rows
    model, *_ = fitted(name)
    probabilities = model.predict_proba(X)
    assert (probabilities >= 0).all()
    assert_close(probabilities.sum(axis=1), 1.0, EXACT)
    for network in model.networks_:
        if not network.has_cpts:
            continue
        for name_of_it in network.schema.names:
            assert_close(network.table(name_of_it).values.sum(axis=-1), 1.0, EXACT)


def test_batches_equal_the_whole(name, rows):
    skip_if_order_matters(name)
    X, y = rows
    model = make(name, encoder="width")
    if not hasattr(model, "partial_fit"):
        pytest.skip("this method needs all rows at once")
    texts = {column: X[column] for column in ("kind", "same", "sign")}
    whole = clone(model).fit(texts, y)
    for start in range(0, len(y), 30):
        rows_of = slice(start, start + 30)
        model.partial_fit(take(texts, rows_of), y[rows_of])
    assert np.array_equal(model.predict_proba(texts), whole.predict_proba(texts))


def test_one_feature_and_one_row_per_class(name):
    model = make(name).fit({"only": ["a", "b"]}, [0, 1])
    assert model.predict({"only": ["b", "a"]}).tolist() == [1, 0]
