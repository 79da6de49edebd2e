from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tanager import (
    Schema,
    TableEncoder,
    Variable,
    datasets,
)
from tanager.counts import ArrayData
from tanager.encoding.labels import encode_labels
from tanager.parameters import Frequency
from tanager.scores import ClassificationRate
from tanager.structure import GreedyKTree, OrderBased, SuperParent
from tanager.structure.orders import feature_order
from tests.reference import search as reference
from tests.strategies import generators, random_data


def with_ties(random, data):
    """The data with a copy of a feature, a constant one and repeated rows."""
    codes = data.codes.copy()
    if codes.shape[1] > 2:
        states = data.schema.n_states
        source, target = random.choice(codes.shape[1], size=2, replace=False)
        codes[:, target] = np.minimum(codes[:, source], states[target] - 1)
        codes[:, random.integers(codes.shape[1])] = 0
    rows = random.integers(len(codes), size=len(codes))
    weights = None if data.weights is None else data.weights[rows]
    return ArrayData(
        data.schema, np.asfortranarray(codes[rows]), data.labels[rows], weights
    )


def steps_of(result, data):
    """Arcs and scores of every step that changed something."""
    index = data.schema.index
    return [
        ([(index(p), index(c)) for p, c in step["arcs"]], step["score"])
        for step in result.trace
        if step["arcs"]
    ]


def assert_same_search(result, expected, data):
    parents, steps = expected
    found = steps_of(result, data)
    assert [arcs for arcs, _ in found] == [arcs for arcs, _ in steps]
    scores = [float(score) for _, score in steps]
    np.testing.assert_allclose([score for _, score in found], scores, rtol=1e-9)
    assert [sorted(of) for of in result.structure.feature_parents[:-1]] == [
        sorted(of) for of in parents
    ]


@st.composite
def searched_data(draw, missing=(0.0, 0.2)):
    random = draw(generators())
    data = random_data(
        random,
        int(random.integers(8, 60)),
        int(random.integers(2, 6)),
        missing=draw(st.sampled_from(missing)),
        weighted=draw(st.booleans()),
    )
    return with_ties(random, data) if draw(st.booleans()) else data


@given(
    data=searched_data(),
    k=st.integers(1, 3),
    kind=st.sampled_from(["cr", "cl", "margin"]),
)
def test_greedy_search_equals_scoring_every_candidate(data, k, kind):
    expected = reference.greedy(
        reference.PlainScore(data, kind), data.codes.shape[1], k
    )
    assert_same_search(GreedyKTree(k, score=kind).learn(data), expected, data)


@given(
    data=searched_data(),
    alpha=st.sampled_from([0.0, 0.5, 1.0]),
    folds=st.sampled_from([None, 2, 3]),
)
def test_smoothing_and_folds_equal_scoring_every_candidate(data, alpha, folds):
    counts = np.bincount(data.labels, minlength=data.schema.n_classes)
    if folds is not None and counts.max() < folds:
        return
    score = ClassificationRate(parameters=Frequency(alpha=alpha), folds=folds)
    plain = reference.PlainScore(data, "cr", alpha, 0.0, folds)
    expected = reference.greedy(plain, data.codes.shape[1], 2)
    assert_same_search(GreedyKTree(2, score=score).learn(data), expected, data)


@given(
    data=searched_data(), k=st.integers(1, 3), n_children=st.sampled_from([None, 1, 2])
)
def test_superparent_equals_scoring_every_candidate(data, k, n_children):
    expected = reference.superparent(
        reference.PlainScore(data), data.codes.shape[1], k, n_children
    )
    learner = SuperParent(k, n_children=n_children)
    assert_same_search(learner.learn(data), expected, data)


@given(
    data=searched_data(),
    k=st.integers(1, 3),
    order=st.sampled_from(["omi", "omisp", "ocr", "min-omi"]),
)
def test_order_based_search_equals_scoring_every_candidate(data, k, order):
    found = feature_order(data, order).tolist()
    expected = reference.order_based(reference.PlainScore(data), found, k)
    assert_same_search(OrderBased(order, k=k).learn(data), expected, data)


def coded_data(name, folder, **options):
    """A data set as codes, numbers by MDL."""
    dataset = datasets.load(name, folder=folder, **options)
    encoder = TableEncoder()
    codes = encoder.fit_encode(dataset.X, dataset.y)
    classes, labels = encode_labels(dataset.y, len(codes), "test")
    variables = (*encoder.schema_, Variable("class", tuple(classes.tolist())))
    return ArrayData(Schema(variables, target=codes.shape[1]), codes, labels)


@pytest.mark.parametrize("name", ["weka33/vote", "uci25/corral", "uci25/chess"])
def test_real_data_equal_scoring_every_candidate(data_folder, name):
    data = coded_data(name, data_folder)
    n_features = data.codes.shape[1]
    plain = reference.PlainScore(data)
    order = feature_order(data, "omi").tolist()
    expected = reference.order_based(plain, order, 1)
    assert_same_search(OrderBased("omi").learn(data), expected, data)
    if n_features <= 16:
        expected = reference.greedy(plain, n_features, 1)
        assert_same_search(GreedyKTree().learn(data), expected, data)
        expected = reference.superparent(plain, n_features, 1)
        assert_same_search(SuperParent().learn(data), expected, data)
