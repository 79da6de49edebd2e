"""Rules for features that are missing at prediction, but never were in training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from tanager.classifiers import BayesNetClassifier
from tanager.types import FloatArray

Rule = Callable[[FloatArray, FloatArray, tuple[int, ...]], FloatArray]
"""From weights, counts, both with the class last, and the axes of missing features to
the weights without these axes, which are kept with length 1."""


def leave_out(
    weights: FloatArray, counts: FloatArray, hidden: tuple[int, ...]
) -> FloatArray:
    """The factor adds nothing."""
    return 0.0 * mean_of_samples(weights, counts, hidden)


def mean_of_samples(
    weights: FloatArray, counts: FloatArray, hidden: tuple[int, ...]
) -> FloatArray:
    """Mean over the training samples of all classes."""
    fraction = _fraction(counts.sum(axis=-1), hidden)[..., np.newaxis]
    mean: FloatArray = np.sum(fraction * weights, axis=hidden, keepdims=True)
    return mean


def log_mean_of_class(
    weights: FloatArray, counts: FloatArray, hidden: tuple[int, ...]
) -> FloatArray:
    """Logarithm of the mean of exp(weight) over the training samples of the class."""
    fraction = _fraction_in_class(counts, hidden)
    mean = np.sum(fraction * np.exp(weights), axis=hidden, keepdims=True)
    logarithm: FloatArray = np.log(mean)
    return logarithm


def mean_of_class(
    weights: FloatArray, counts: FloatArray, hidden: tuple[int, ...]
) -> FloatArray:
    """Mean over the training samples of the class."""
    fraction = _fraction_in_class(counts, hidden)
    mean: FloatArray = np.sum(fraction * weights, axis=hidden, keepdims=True)
    return mean


class FactorsByRule(ClassifierMixin, BaseEstimator):
    """Factors of the library with another rule for missing features.

    Parameters
    ----------
    rule : callable
        One of the functions of this module. Features without missing values in training
        follow it; no other training data are expected.
    """

    def __init__(self, rule: Rule) -> None:
        self.rule = rule

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the factors, and set the weights of missing features by the rule."""
        model = BayesNetClassifier(structure="factors").fit(X, y)
        codes = model.encoder_.encode(X).T
        labels = np.searchsorted(model.classes_, y)
        factors = model.network_.factors
        tables = tuple(self._average(table, codes, labels) for table in factors.tables)
        changed = replace(factors, tables=tables, variance_scale=0.0)
        model.network_ = replace(model.network_, factors=changed)
        self.classes_, self.model_ = model.classes_, model
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Predict P(class | observed features)."""
        found: FloatArray = self.model_.predict_proba(X)
        return found

    def _average(self, table: Any, codes: Any, labels: Any) -> Any:
        """The table with weights by the rule where features are not observed."""
        n_cells, n_classes = table.weights.shape
        cells = table.factor.cells(codes) * n_classes + labels
        counts = np.bincount(cells, minlength=n_cells * n_classes).astype(np.float64)
        shape = (*table.factor.shape.tolist(), n_classes)
        weights, counts = table.weights.reshape(shape).copy(), counts.reshape(shape)
        axes = range(len(shape) - 1)
        seen = (slice(-1),) * len(axes)
        for size in axes:
            for hidden in combinations(axes, size + 1):
                place = [slice(-1, None) if a in hidden else slice(-1) for a in axes]
                found = self.rule(weights[seen], counts[seen], hidden)
                weights[tuple(place)] = found - found.mean(axis=-1, keepdims=True)
        return replace(table, weights=weights.reshape(n_cells, n_classes))


def _fraction(counts: FloatArray, hidden: tuple[int, ...]) -> FloatArray:
    """P(hidden features | others): frequencies and one more sample from P(hidden)."""
    others = tuple(a for a in range(counts.ndim) if a not in hidden)
    marginal = counts.sum(axis=others, keepdims=True) / counts.sum()
    total = counts.sum(axis=hidden, keepdims=True) + 1.0
    fraction: FloatArray = (counts + marginal) / total
    return fraction


def _fraction_in_class(counts: FloatArray, hidden: tuple[int, ...]) -> FloatArray:
    """The same given the class, with one more sample from P(hidden | others)."""
    more = _fraction(counts.sum(axis=-1), hidden)[..., np.newaxis]
    total = counts.sum(axis=hidden, keepdims=True) + 1.0
    fraction: FloatArray = (counts + more) / total
    return fraction
