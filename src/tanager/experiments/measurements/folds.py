"""Scores of a classifier in the folds of a cross-validation."""

from __future__ import annotations

import warnings
from time import process_time
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold

from tanager.classifiers import BayesNetClassifier, BoostedClassifier
from tanager.experiments.cell import Numbers
from tanager.experiments.measurements.rows import ENCODERS, filled, rows_of

LEAST = np.finfo(np.float64).eps
"""Probability below which the log loss does not count."""

WARMING_ROWS = 200
"""Rows of a first fit that is not timed: kernels are compiled and loaded in it."""


def cross_validated(
    *,
    data: str,
    method: str,
    n_folds: int,
    repeat: int = 1,
    stratified: bool = True,
    encoder: str = "mdl",
    n_classes: int | None = None,
    fill: bool = False,
    missing_as: str | None = None,
) -> Numbers:
    """Accuracy, log loss and seconds of fit in every fold.

    Parameters
    ----------
    data : str
        Name of the set.
    method : str
        Name of a classifier, such as ``NB+DFE``.
    n_folds : int
        Number of folds.
    repeat : int, default=1
        Which repetition; the seed of the folds.
    stratified : bool, default=True
        Whether every fold has its share of every class.
    encoder : str, default="mdl"
        How numbers become states, by the training rows: a name of `ENCODERS`.
    n_classes : int or None, default=None
        Keep only rows of the largest classes.
    fill : bool, default=False
        Whether missing cells are replaced by the mean or most frequent value.
    missing_as : str or None, default=None
        Read a missing nominal feature as this further state.
    """
    X, y = rows_of(data, n_classes, missing_as)
    kind = StratifiedKFold if stratified else KFold
    folds = kind(n_folds, shuffle=True, random_state=repeat)
    scores: dict[str, list[float]] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        warnings.filterwarnings("ignore", message="The least populated class")
        for number, (train, test) in enumerate(folds.split(np.zeros(len(y)), y)):
            parts = X.iloc[train], X.iloc[test]
            if fill:
                parts = filled(*parts)
            model = classifier(method, encoder)
            if number == 0:
                some = slice(None, WARMING_ROWS)
                model.fit(parts[0].iloc[some], y[train][some])
            for name, score in scored(model, parts, y[train], y[test]).items():
                scores.setdefault(name, []).append(score)
    warned = sum(issubclass(one.category, ConvergenceWarning) for one in caught)
    return scores | {"warnings": [float(warned)]}


def classifier(method: str, encoder: str) -> Any:
    """An unfitted classifier by name, with a seed."""
    made = BayesNetClassifier.from_name(method).set_params(random_state=0)
    inner = "estimator__" if isinstance(made, BoostedClassifier) else ""
    return made.set_params(**{f"{inner}encoder": ENCODERS[encoder]})


def scored(
    model: Any, parts: tuple[Any, Any], y: npt.NDArray[Any], y_test: npt.NDArray[Any]
) -> dict[str, float]:
    """Fit a classifier and classify other rows."""
    begin = process_time()
    model.fit(parts[0], y)
    seconds = process_time() - begin
    found = model.predict_proba(parts[1])
    place = np.searchsorted(model.classes_, y_test).clip(max=len(model.classes_) - 1)
    known = model.classes_[place] == y_test
    own = np.where(known, found[np.arange(len(y_test)), place], 0.0)
    return {
        "accuracy": float(np.mean(known & (found.argmax(axis=1) == place))),
        "log_loss": float(-np.log(own.clip(min=LEAST)).mean()),
        "seconds": seconds,
    }
