"""A rival of the scoreboard in one fold: scores, times and size."""

from __future__ import annotations

import pickle
import resource
import warnings
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata
from sklearn.model_selection import StratifiedKFold

from lab.data_folder import read_table
from lab.measurements.default_candidates import is_useless, scores
from lab.runner.cell import Numbers
from tanager.types import FloatArray, IndexArray

SPLIT_SEED = 26
"""Seed of the folds, which served no development."""


def rival_scores(*, data: str, rival: str, fold: int, n_folds: int = 3) -> Numbers:
    """Fit a rival to all folds but one and predict that one.

    Columns without a value, and words that identify samples, are left out for all.

    Parameters
    ----------
    data : str
        A table of the data folder.
    rival : str
        A name that `lab.scoreboard.rivals.find_rival` knows.
    fold : int
        Which of the stratified folds, from 1.
    n_folds : int, default=3
        How many there are.

    Returns
    -------
    mapping
        Scores of the fold; processor and wall seconds of fit and prediction, of this
        process and those that it starts; bytes of the pickled model, and the number of
        its parameters, where these are known; the size of the data.
    """
    from lab.scoreboard.rivals import find_rival

    entry = find_rival(rival)
    X, y = read_table(data)
    X = X[[name for name in X if not is_useless(X[name])]]
    train, test = split(y, fold, n_folds)
    known, asked, classes = X.iloc[train], X.iloc[test], np.unique(y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of other libraries
        classifier = entry.make()
        began, wall_began = processor_seconds(), perf_counter()
        classifier.fit(known, y[train])
        fitted, wall_fitted = processor_seconds(), perf_counter()
        found = classifier.predict_proba(asked)
        ended, wall_ended = processor_seconds(), perf_counter()
        probabilities = np.zeros((len(test), len(classes)))
        places = np.searchsorted(classes, np.asarray(classifier.classes_).astype(str))
        probabilities[:, places] = found
        right = np.searchsorted(classes, y[test])
        size = {} if entry.count is None else {"n_parameters": entry.count(classifier)}
    if (n_bytes := pickled_bytes(classifier)) is not None:
        size["model_bytes"] = n_bytes
    return {
        **scores(probabilities, right),
        "auc": area_under_curve(probabilities, right),
        "fit_seconds": fitted - began,
        "fit_wall_seconds": wall_fitted - wall_began,
        "predict_seconds": ended - fitted,
        "predict_wall_seconds": wall_ended - wall_fitted,
        **size,
        "n_train": float(len(train)),
        "n_test": float(len(test)),
        "n_features": float(X.shape[1]),
        "n_classes": float(len(classes)),
    }


def split(
    y: npt.NDArray[Any], fold: int, n_folds: int
) -> tuple[IndexArray, IndexArray]:
    """Training and test samples of a stratified fold, the same for all rivals."""
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=SPLIT_SEED)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        train, test = list(folds.split(np.zeros(len(y)), y))[fold - 1]
    return train, test


def processor_seconds() -> float:
    """Of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (
        resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    )]  # fmt: skip
    return float(sum(one.ru_utime + one.ru_stime for one in used))


def area_under_curve(probabilities: FloatArray, right: IndexArray) -> float:
    """Area under the ROC curve of each class against the others, their mean.

    Classes without a sample count nothing. Ties count half.

    Examples
    --------
    >>> p = np.array([0.9, 0.6, 0.6, 0.1])
    >>> area_under_curve(np.column_stack([p, 1 - p]), np.array([0, 0, 1, 1]))
    0.875
    """
    areas = []
    for c in np.unique(right):
        own = right == c
        n_own, n_others = int(own.sum()), int((~own).sum())
        if n_others:
            ranks = rankdata(probabilities[:, c])[own].sum()
            areas.append((ranks - n_own * (n_own + 1) / 2) / (n_own * n_others))
    return float(np.mean(areas)) if areas else 1.0


def pickled_bytes(model: Any) -> float | None:
    """Bytes of a pickled model; None if it cannot be pickled."""
    try:
        return float(len(pickle.dumps(model, protocol=5)))
    except (TypeError, AttributeError, pickle.PicklingError, NotImplementedError):
        return None
