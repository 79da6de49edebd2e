"""DFE with random samples, and without the frequencies of its equation 2."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.special import softmax

from lab.measurements.cross_validation import classifier, splits
from lab.runner.cell import Numbers
from tanager import DFE
from tanager.types import FloatArray, IntArray

PASSES = 4
"""Of DFE in the paper."""

DRAWS: Mapping[str, bool | str] = {
    "NB+DFE": False,
    "NB+DFE, shuffled": True,
    "NB+DFE, Algorithm 1": "replace",
}
"""How samples are taken, by method."""

NO_FREQUENCIES = {
    "NB+DFE, entries multiplied": "product",
    "NB+DFE, entries added": "sum",
}
"""Interpretations of DFE without equation 2: what is made of a sample's entries."""


def dfe_variant(*, data: str, method: str, n_folds: int, repeat: int = 1) -> Numbers:
    """Accuracy of naive Bayes with a variant of DFE, in every fold.

    Parameters
    ----------
    data, n_folds, repeat
        As of `cross_validation_scores`, prepared as in Su et al. (2008).
    method : str
        One of `DRAWS` or `NO_FREQUENCIES`, or ``NB+FE``.
    """
    parts = splits(data, n_folds, repeat, n_classes=2, fill=True, shuffled=True)
    right = []
    for part in parts:
        if method in NO_FREQUENCIES:
            model = classifier("NB+FE", "su2008").fit(part.X, part.y)
            labels = np.searchsorted(model.classes_, part.y)
            codes, test = (model.encoder_.encode(X) for X in (part.X, part.X_test))
            states = model.network_.schema.n_states[:-1].tolist()
            reading = NO_FREQUENCIES[method]
            scores = entry_scores(codes, labels, test, states, reading)
            guessed = model.classes_[scores.argmax(axis=1)]
        else:
            model = classifier("NB+FE", "su2008")
            if method != "NB+FE":
                model.set_params(parameters=DFE(shuffle=DRAWS[method]))
            guessed = model.fit(part.X, part.y).predict(part.X_test)
        right.append(float(np.mean(guessed == part.y_test)))
    return {"accuracy": right}


def entry_scores(
    codes: IntArray,
    labels: IntArray,
    test: IntArray,
    n_states: list[int],
    reading: str,
    n_classes: int = 2,
    passes: int = PASSES,
) -> FloatArray:
    """Scores of the classes if DFE takes its entries themselves for parameters.

    Su et al. (2008), section 4: P(c | e) is computed from the entries theta of a sample
    instead of the probabilities that equation 2 makes of them. The paper does not say
    how; with ``reading="product"`` they are multiplied as in equation 1 (one is added
    to each, as to the counts of DFE), with ``"sum"`` the class scores are their sums
    and P is the softmax, as in a perceptron.

    Parameters
    ----------
    codes, test : ndarray of int, shape (n_samples, n_features)
        Training and test samples; a code of the number of states is missing.
    labels : ndarray of int, shape (n_samples,)
        Classes of the training samples.
    n_states : list of int
        Of the features.
    reading : {"product", "sum"}
        See above.

    Returns
    -------
    ndarray of float64, shape (n_test, n_classes)
        Their argmax is the class.

    Examples
    --------
    >>> codes = np.array([[0], [0], [1], [1]])
    >>> scores = entry_scores(codes, np.array([0, 0, 1, 1]), codes, [2], "sum")
    >>> scores.argmax(axis=1)
    array([0, 0, 1, 1])
    """
    # A further state of every feature, that of a missing value, stays at zero.
    offsets = np.concatenate([[0], np.cumsum(np.array(n_states) + 1)])
    theta = np.zeros((offsets[-1] + 1, n_classes))
    prior = offsets[-1]
    missing = np.array(n_states)

    def cells(row: IntArray) -> IntArray:
        seen = np.flatnonzero(row < missing)
        return np.append(offsets[seen] + row[seen], prior)

    def score(touched: IntArray) -> FloatArray:
        entries = theta[touched]
        if reading == "product":
            entries = np.log1p(entries)
        total: FloatArray = entries.sum(axis=0)
        return total

    rows = [cells(row) for row in codes.astype(np.int64)]
    for _ in range(passes):
        for touched, label in zip(rows, labels, strict=True):
            posterior = softmax(score(touched))
            theta[touched, label] += 1.0 - posterior[label]
    return np.array([score(cells(row)) for row in test.astype(np.int64)])
