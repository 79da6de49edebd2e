"""Classifiers on tables whose values are hidden in three ways."""

from __future__ import annotations

import warnings
from functools import lru_cache
from time import process_time
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from lab.measurements.dataset_preparation import rows_of
from lab.measurements.default_candidates import scores
from lab.measurements.named_models import MODELS, SEED
from lab.runner.cell import Numbers
from tanager.types import BoolArray

CONTRAST = 0.75
"""How much the rate of informative missing values differs between classes."""

MOST = 0.95
"""Greatest rate of missing values in a feature."""

N_FOLDS = 3


def incomplete_sample_scores(
    *, data: str, model: str, kind: str, rate: float, where: str, fold: int
) -> Numbers:
    """Scores of a classifier when values are hidden in training, at prediction or both.

    Parameters
    ----------
    data : str
        Name of a complete dataset.
    model : str
        A name of `lab.measurements.named_models.MODELS`.
    kind : {"at random", "informative", "almost always"}
        See `hidden`.
    rate : float
        See `hidden`.
    where : {"training", "prediction", "both"}
        Which samples are incomplete.
    fold : int
        Which of three stratified folds, from 1, is predicted.
    """
    X, y = rows_of(data)
    _, test = _fold(data, fold)
    if where == "prediction":
        classifier, seconds = _fitted(data, model, fold, None, 0.0)
    else:
        classifier, seconds = _fitted(data, model, fold, kind, rate)
    if where != "training":
        X = _table(data, kind, rate)
    classes = np.unique(y)
    with warnings.catch_warnings():
        # Imputers note features that have no missing value in training.
        warnings.simplefilter("ignore", UserWarning)
        found = classifier.predict_proba(X.iloc[test])
    return {
        **scores(found, np.searchsorted(classes, y[test])),
        "fit_seconds": seconds,
    }


def hidden(
    y: npt.NDArray[Any],
    n_features: int,
    kind: str,
    rate: float,
    random: np.random.Generator,
) -> BoolArray:
    """Which values are hidden, shape (n_samples, n_features).

    "at random": every value with the same probability `rate`. "informative": with a
    probability between 0.25 and 1.75 times `rate`, at most 0.95, that depends on the
    class and on the feature. "almost always": the fraction `rate` of the features, at
    least one, is missing in 95 % of the samples, the others are complete.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> hidden(np.zeros(1000), 4, "almost always", 0.5, random).mean(axis=0).round(2)
    array([0.  , 0.94, 0.95, 0.  ])
    """
    labels = np.unique(y, return_inverse=True)[1]
    draws = random.random((len(y), n_features))
    if kind == "at random":
        return draws < rate
    if kind == "informative":
        signs = random.choice([-1.0, 1.0], (labels.max() + 1, n_features))
        return draws < np.minimum(rate * (1.0 + CONTRAST * signs), MOST)[labels]
    if kind != "almost always":
        raise ValueError(f"unknown kind of missing values: {kind!r}")
    rare = random.permutation(n_features) < max(1, round(rate * n_features))
    return (draws < MOST) & rare


def _table(data: str, kind: str, rate: float) -> Any:
    """The features of a dataset with hidden values."""
    X, y = rows_of(data)
    random = np.random.default_rng([SEED, round(1000 * rate)])
    return X.mask(hidden(y, X.shape[1], kind, rate, random))


def _fold(data: str, fold: int) -> tuple[Any, Any]:
    _, y = rows_of(data)
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=SEED)
    train, test = list(folds.split(np.zeros(len(y)), y))[fold - 1]
    return train, test


@lru_cache(maxsize=64)
def _fitted(
    data: str, model: str, fold: int, kind: str | None, rate: float
) -> tuple[Any, float]:
    """A classifier and the seconds of its fit, in memory for the next cell."""
    X, y = rows_of(data)
    if kind is not None:
        X = _table(data, kind, rate)
    train, _ = _fold(data, fold)
    classifier = MODELS[model]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        begin = process_time()
        classifier.fit(X.iloc[train], y[train])
        return classifier, process_time() - begin
