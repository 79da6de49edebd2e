"""Candidates for the default and their rivals, on tables as they come."""

from __future__ import annotations

import warnings
from time import process_time
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from lab.measurements.dataset_preparation import rows_of
from lab.measurements.named_models import LEAST_SHOWN, MODELS, SEED
from lab.runner.cell import Numbers
from tanager.types import FloatArray, IndexArray

CALIBRATION_BINS = 10

FEWEST = 20
"""Samples that a class must have in a part of a large set."""


def model_scores(
    *,
    data: str,
    model: str,
    fold: int,
    n_folds: int = 5,
    n_rows: int | None = None,
) -> Numbers:
    """Scores and seconds of a classifier in a fold, without columns of no use.

    Parameters
    ----------
    data : str
        Name of the dataset.
    model : str
        A name of `lab.measurements.named_models.MODELS`.
    fold : int
        Which of the stratified folds, from 1.
    n_folds : int, default=5
        How many there are.
    n_rows : int or None, default=None
        Take at most so many rows, drawn at random, and of these the classes that have
        at least `FEWEST`: not all classifiers can be fitted with fewer.
    """
    X, y = rows_of(data)
    X = X[[name for name in X if not is_useless(X[name])]]
    if n_rows is not None:
        X, y = _some(X, y, n_rows)
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message="The least populated class")
        warnings.filterwarnings("ignore", message="Bins whose width are too small")
        warnings.filterwarnings("ignore", message=r"Feature \d+ is constant")
        train, test = list(folds.split(np.zeros(len(y)), y))[fold - 1]
        classifier = MODELS[model]()
        begin = process_time()
        classifier.fit(X.iloc[train], y[train])
        fitted = process_time()
        found = classifier.predict_proba(X.iloc[test])
        ended = process_time()
    classes = np.unique(y)
    probabilities = np.zeros((len(test), len(classes)))
    probabilities[:, np.searchsorted(classes, classifier.classes_)] = found
    return {
        **scores(probabilities, np.searchsorted(classes, y[test])),
        "fit_seconds": fitted - begin,
        "predict_seconds": ended - fitted,
    }


def is_useless(column: Any) -> bool:
    """Whether a column has no value, or words that tell samples apart, such as names.

    Some classifiers cannot be fitted with such columns.
    """
    n_values = column.nunique()
    names = column.dtype.kind not in "biuf" and n_values > len(column) / 2
    return bool(names or n_values == 0)


def _some(X: Any, y: npt.NDArray[Any], n_rows: int) -> tuple[Any, npt.NDArray[Any]]:
    """Samples drawn at random, of classes that are not rare among them."""
    kept = np.random.default_rng(SEED).permutation(len(y))[:n_rows]
    classes, counts = np.unique(y[kept], return_counts=True)
    kept = kept[np.isin(y[kept], classes[counts >= FEWEST])]
    return X.iloc[kept], y[kept]


def scores(probabilities: FloatArray, right: IndexArray) -> dict[str, float]:
    """Accuracy, log loss, Brier score and calibration error.

    The calibration error is the mean distance, over rows, between the probability of
    the most probable class and how often it is right, in bins of equal width.

    Examples
    --------
    >>> found = scores(np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([0, 0]))
    >>> {name: round(float(score), 4) for name, score in found.items()}
    {'accuracy': 0.5, 'log_loss': 0.837, 'brier': 0.625, 'calibration_error': 0.25}
    """
    hit = probabilities.argmax(axis=1) == right
    own = probabilities[np.arange(len(right)), right]
    squares = (probabilities**2).sum(axis=1) - 2 * own + 1
    return {
        "accuracy": float(hit.mean()),
        "log_loss": float(-np.log(np.maximum(own, LEAST_SHOWN)).mean()),
        "brier": float(squares.mean()),
        "calibration_error": _calibration_error(probabilities.max(axis=1), hit),
    }


def _calibration_error(sure: FloatArray, hit: npt.NDArray[Any]) -> float:
    bins = np.minimum((sure * CALIBRATION_BINS).astype(np.intp), CALIBRATION_BINS - 1)
    claimed = np.bincount(bins, sure, CALIBRATION_BINS)
    came = np.bincount(bins, hit.astype(np.float64), CALIBRATION_BINS)
    return float(np.abs(claimed - came).sum() / len(sure))
