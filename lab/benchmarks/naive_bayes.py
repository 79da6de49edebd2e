"""Naive Bayes on a million coded samples against scikit-learn's `CategoricalNB`."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.naive_bayes import CategoricalNB

from lab.benchmarks._data import synthetic
from lab.benchmarks._harness import Options, Row, best_of, faster, shape_text
from tanager import BayesNetClassifier

REQUIRED = 8.0


def run(options: Options) -> list[Row]:
    """Fit and predict the same samples with both, for small and for wide integers."""
    codes, labels = synthetic(options.pick(1_000_000, 50_000))
    rows = []
    for dtype in (np.uint8, np.int64):
        X, y = codes.astype(dtype), labels.astype(dtype)
        rows += _compare(X, y, options.pick(4, 2))
    return rows


def _compare(X: Any, y: Any, repeats: int) -> list[Row]:
    ours = BayesNetClassifier(
        encoder="categorical", structure="nb", parameters="fe", n_jobs=2
    )
    theirs = CategoricalNB(alpha=1.0)
    times = best_of(
        {
            "our fit": lambda: ours.fit(X, y),
            "their fit": lambda: theirs.fit(X, y),
            "our predict": lambda: ours.predict(X),
            "their predict": lambda: theirs.predict(X),
        },
        repeats,
    )
    equal = np.mean(ours.predict(X) == theirs.predict(X))
    if equal < 0.999_99:  # sums in another order may turn a tie around
        raise RuntimeError(f"Only {equal:.4%} of the predicted labels are equal.")
    of = f"{shape_text(X)} {X.dtype}"
    peer = "CategoricalNB"
    fit, predict = times["our fit"], times["our predict"]
    their_fit, their_predict = times["their fit"], times["their predict"]
    return [
        faster(f"fit, {of}", fit, their_fit, name=peer),
        faster(f"predict, {of}", predict, their_predict, name=peer),
        faster(
            f"fit + predict, {of}",
            fit + predict,
            their_fit + their_predict,
            name=peer,
            at_least=REQUIRED,
        ),
    ]
