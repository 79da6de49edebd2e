"""Unlabelled samples, and how they go through a classifier."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tanager import (
    BayesNetClassifier,
    BoostedClassifier,
    Frequency,
    InputError,
    MDLEncoder,
    NaiveBayesClassifier,
    TANClassifier,
)


class Watching(Frequency):
    """Frequencies that note the rows they were given, labelled or not."""

    needs = "rows"
    uses_unlabelled = True

    def learn(self, structure, data, *, start=None, random_state=None):
        blocks = list(data.blocks())
        self.labels_ = np.concatenate([block.labels for block in blocks])
        self.codes_ = np.concatenate([block.codes for block in blocks])
        self.weights_ = None
        if blocks[0].weights is not None:
            self.weights_ = np.concatenate([block.weights for block in blocks])
        return super().learn(structure, data, start=start, random_state=random_state)


def rows(seed=0, n_rows=90):
    """Two columns, three classes, and the labels of two rows in three."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, n_rows)
    X = {
        "size": y + random.normal(scale=0.4, size=n_rows),
        "kind": np.array(list("abc"))[(y + random.integers(0, 2, n_rows)) % 3],
    }
    X["kind"] = X["kind"].astype(object)
    known = np.arange(n_rows) % 3 > 0
    names = np.array(["x", "y", "z"])[y].astype(object)
    return X, names, known


def take(X, index):
    return {name: values[index] for name, values in X.items()}


def test_unlabelled_rows_reach_learners_that_use_them():
    X, y, known = rows()
    X["kind"][0] = "only here"
    partly = np.where(known, y, None)
    model = TANClassifier(parameters=Watching()).fit(X, partly)
    assert model.classes_.tolist() == ["x", "y", "z"]
    assert np.array_equal(model.parameters_.labels_ == 3, ~known)
    assert len(model.parameters_.codes_) == len(known)
    schema = model.network_.schema
    assert schema[1].states == ("a", "b", "c", "only here")
    alone = MDLEncoder().fit(X["size"][known][:, None], y[known])
    assert schema[0].cuts == tuple(alone.cuts_[0])


def test_counting_leaves_unlabelled_rows_out():
    X, y, known = rows()
    partly = np.where(known, y, None)
    semi = TANClassifier(parameters=Watching()).fit(X, partly)
    plain = TANClassifier().fit(take(X, known), y[known])
    assert semi.network_.schema == plain.network_.schema
    assert np.array_equal(semi.predict_proba(X), plain.predict_proba(X))


@pytest.mark.parametrize("class_weight", [{"x": 3.0}, "balanced"])
def test_class_weights_leave_unlabelled_rows_alone(class_weight):
    X, y, known = rows()
    y[::7] = "x"
    weights = np.arange(len(y)) % 4 + 1.0
    semi = NaiveBayesClassifier(parameters=Watching(), class_weight=class_weight)
    semi.fit(X, np.where(known, y, None), weights)
    seen = NaiveBayesClassifier(parameters=Watching(), class_weight=class_weight)
    seen.fit(take(X, known), y[known], weights[known])
    assert np.array_equal(semi.parameters_.weights_[~known], weights[~known])
    assert np.array_equal(semi.parameters_.weights_[known], seen.parameters_.weights_)


def test_weight_zero_and_no_label():
    X, y, known = rows()
    partly = np.where(known, y, None)
    weights = (np.arange(len(y)) % 2).astype(float)
    weights[y == "y"] = 0.0
    kept = weights > 0
    one = NaiveBayesClassifier(parameters=Watching()).fit(X, partly, weights)
    two = NaiveBayesClassifier(parameters=Watching()).fit(take(X, kept), partly[kept])
    assert one.classes_.tolist() == ["x", "z"]
    assert np.array_equal(one.parameters_.labels_, two.parameters_.labels_)
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))
    with pytest.raises(InputError, match="labelled sample has weight 0"):
        NaiveBayesClassifier(parameters=Watching()).fit(X, partly, ~known * 1.0)


def test_ordinary_learners_refuse_unlabelled_rows():
    X, y, known = rows()
    partly = np.where(known, y, None)
    message = r'in 30 of 90 samples, the first in row 0.*parameters="em"'
    for model in (TANClassifier(), BayesNetClassifier(parameters="dfe")):
        with pytest.raises(InputError, match=message):
            model.fit(X, partly)
    with pytest.raises(InputError, match="only missing labels"):
        TANClassifier(parameters=Watching()).fit(X, [None] * len(y))


def test_a_batch_without_labels_leaves_the_classifier_alone():
    X, y, known = rows()
    model = TANClassifier().partial_fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(InputError, match="missing labels in 30 of 90 samples"):
        model.partial_fit(X, np.where(known, y, None))
    assert np.array_equal(model.predict_proba(X), before)
    assert not hasattr(TANClassifier(parameters=Watching()), "partial_fit")


@pytest.mark.parametrize("boosted", [False, True])
@pytest.mark.parametrize("parameters", ["fe", "dfe", "em", "apn", "mm", "cl", "rcl"])
def test_classes_that_all_weigh_nothing(parameters, boosted):
    model = BayesNetClassifier(parameters=parameters, class_weight={0: 0.0, 1: 0})
    model = BoostedClassifier(model) if boosted else model
    with pytest.raises(InputError, match="all labelled samples the weight zero"):
        model.fit([["a"], ["b"]] * 4, [0, 1] * 4)


@pytest.mark.parametrize("factor", ["a", "2", None, np.nan, -1.0, [1.0]])
def test_class_weights_that_are_no_numbers(factor):
    model = BayesNetClassifier(class_weight={0: factor})
    with pytest.raises(InputError, match="class_weight must hold finite numbers"):
        model.fit([["a"], ["b"]], [0, 1])


def test_boosting_needs_every_label():
    model = BoostedClassifier(BayesNetClassifier(parameters="em"))
    for y in ([0, 1, None], pd.Series(["a", "b", None])):
        with pytest.raises(
            InputError, match="boosting needs the class of every sample"
        ):
            model.fit([["a"], ["b"], ["b"]], y)
