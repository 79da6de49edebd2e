"""Accuracy and size of models whose numbers have few bits."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from lab.runner.cell import Numbers
from tanager import BayesNetClassifier
from tanager.datasets import load
from tanager.export import measure_rounding, to_c

SEED = 0

MODELS: dict[str, dict[str, Any]] = {
    "default": {},
    "naive Bayes": {"structure": "nb"},
    "TAN": {"structure": "tan", "parameters": "fe"},
    "residual tree": {"structure": "tan-res"},
}
"""Arguments of a classifier by name."""


def rounding_loss(
    *,
    data: str,
    model: str,
    bits: int = 8,
    max_bytes: int = 0,
    n_folds: int = 4,
) -> Numbers:
    """Mean accuracy of models and of their C files over folds, and the largest size.

    Parameters
    ----------
    data : str
        Name of the dataset.
    model : str
        One of `MODELS`.
    bits : int, default=8
        Bits of a number.
    max_bytes : int, default=0
        Size into which the most important factors must fit; 0 for no limit.
    n_folds : int, default=4
        Number of folds.
    """
    found = load(data)
    X, y = found.X, np.asarray(found.y).astype(str)
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=SEED)
    losses, sizes = [], []
    for train, test in folds.split(X, y):
        classifier = BayesNetClassifier(**MODELS[model])
        classifier.fit(X.iloc[train], y[train])
        network = classifier.network_
        source = to_c(network, bits=bits, max_bytes=max_bytes or None, complete=True)
        labels = np.searchsorted(classifier.classes_, y[test])
        codes = classifier.encode(X.iloc[test])
        losses.append(measure_rounding(network, source, codes, labels))
        sizes.append(source.n_bytes)
    exact = float(np.mean([loss.exact for loss in losses]))
    rounded = float(np.mean([loss.rounded for loss in losses]))
    return {
        "exact": exact,
        "rounded": rounded,
        "lost": exact - rounded,
        "bytes": max(sizes),
        "features": X.shape[1],
        "factors": float(np.mean([loss.n_factors for loss in losses])),
        "kept": float(np.mean([loss.n_kept for loss in losses])),
    }
