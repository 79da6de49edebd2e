from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from tanager.data import (
    ArrayData,
    class_information,
    conditional_information,
    entropy,
    explaining_away,
    pair_class_information,
)
from tanager.encoding import TableEncoder
from tests.reference.counting import conditional_information as by_definition
from tests.reference.counting import count_family
from tests.strategies import data_sets, random_data
from tests.tolerance import EXACT, assert_close


def check(data):
    information = conditional_information(data)
    n_features = len(data.schema) - 1
    assert np.array_equal(information, information.T)
    for i in range(n_features):
        for j in range(i + 1, n_features):
            table = count_family(data, (i, j, n_features))
            expected = by_definition(table) if table.sum() else 0.0
            assert_close(information[i, j], expected, EXACT)


def check_pairs(data):
    information = pair_class_information(data)
    n_features = len(data.schema) - 1
    assert np.array_equal(information, information.T)
    assert_close(information.diagonal(), class_information(data), EXACT)
    for i in range(n_features):
        for j in range(i + 1, n_features):
            table = count_family(data, (i, j, n_features))
            # Both features as one, which shares with the class what they share.
            both = table.reshape(-1, 1, table.shape[2]).transpose(0, 2, 1)
            expected = by_definition(both) if table.sum() else 0.0
            assert_close(information[i, j], expected, EXACT)


@given(data=data_sets())
def test_conditional_information_equals_the_definition(data):
    check(data)


@given(data=data_sets())
def test_information_of_pairs_about_the_class_equals_the_definition(data):
    check_pairs(data)


@pytest.mark.parametrize("weighted", [False, True])
def test_kernels_equal_the_definition(kernels_always, weighted):
    random = np.random.default_rng(0)
    data = random_data(random, 80, 6, missing=0.2, weighted=weighted)
    check(data)
    check_pairs(data)


def test_batches_give_the_same_as_one_pass(monkeypatch):
    data = random_data(np.random.default_rng(1), 80, 7)
    whole, pairs = conditional_information(data), pair_class_information(data)
    monkeypatch.setattr("tanager.data.information.PAIR_BUDGET", 40)
    assert np.array_equal(conditional_information(data), whole)
    assert np.array_equal(pair_class_information(data), pairs)


@given(data_sets(max_features=4))
def test_explaining_away_equals_the_definition(data):
    residual = explaining_away(data)
    assert not residual.diagonal().any()
    for i in range(len(residual)):
        for j in range(i + 1, len(residual)):
            table = count_family(data, (i, j, data.schema.target))
            whole = table.sum(axis=2, keepdims=True)
            expected = by_definition(table) - by_definition(whole)
            assert_close(residual[i, j], expected, EXACT)
            assert residual[j, i] == residual[i, j]


def test_explaining_away_is_synergy():
    data = random_data(np.random.default_rng(0), 300, 4)
    alone = class_information(data)
    together = pair_class_information(data)
    expected = together - alone[:, None] - alone[None, :]
    np.fill_diagonal(expected, 0.0)
    assert_close(explaining_away(data), expected, 1e-12)


def test_class_information_is_what_entropy_loses():
    data = random_data(np.random.default_rng(2), 200, 3, n_classes=3)
    table = data.count([(3, 0)]).table(0)
    expected = entropy(table.sum(axis=0)) - sum(
        row.sum() / table.sum() * entropy(row) for row in table
    )
    assert_close(class_information(data)[0], expected, EXACT)


@pytest.mark.numerical
@pytest.mark.parametrize("name", ["letter", "satimage", "usps"])
def test_published_matrices(data_folder, name):
    arrays = np.load(data_folder / "images" / f"{name}.npz")
    published = np.load(data_folder / "images" / f"{name}_mi.npz")
    for fold in range(1, int(arrays["n_folds"]) + 1):
        X, y = arrays[f"x_tr_fold{fold}"], arrays[f"t_tr_fold{fold}"]
        encoder = TableEncoder(categorical_features="all")
        codes = encoder.fit_encode(X)
        schema = _with_class(encoder.schema_, int(y.max()) + 1)
        information = conditional_information(ArrayData(schema, codes, y))
        lower = np.tril_indices(len(information), -1)
        expected = published[f"mi_graph_{fold}"][lower]
        assert np.abs(information[lower] - expected).max() < 1e-10


def _with_class(features, n_classes):
    from tanager import Schema, Variable

    target = Variable("class", tuple(range(n_classes)))
    return Schema((*features.variables, target), target=len(features))
