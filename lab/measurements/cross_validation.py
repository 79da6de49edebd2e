"""Scores of a classifier in the folds of a cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold

from lab.measurements.dataset_preparation import filled, rows_of
from lab.runner.cell import Numbers
from tanager.classifiers import BayesNetClassifier
from tanager.types import FloatArray, IndexArray

WARMING_ROWS = 200
"""Samples of a first fit that is not timed: kernels are compiled and loaded in it."""


def cross_validation_scores(
    *,
    data: str,
    method: str,
    n_folds: int,
    repeat: int = 1,
    stratified: bool = True,
    paper: str | None = None,
    n_classes: int | None = None,
    fill: bool = False,
    missing_as: str | None = None,
    shuffled: bool = False,
) -> Numbers:
    """Accuracy, log loss and seconds of fit in every fold.

    Parameters
    ----------
    data : str
        Name of the dataset.
    method : str
        Name of a classifier, such as ``NB+DFE``.
    n_folds : int
        Number of folds.
    repeat : int, default=1
        Which repetition; the seed of the folds.
    stratified : bool, default=True
        Whether every fold has its fraction of every class.
    paper : str or None, default=None
        Whose settings the classifier has; see `tanager.names`.
    n_classes : int or None, default=None
        Keep only samples of the largest classes.
    fill : bool, default=False
        Whether missing cells are replaced by the mean or most frequent value.
    missing_as : str or None, default=None
        Read a missing nominal feature as this further state.
    shuffled : bool, default=False
        Whether the samples are brought into random order first, which matters to
        learners that take them one by one.
    """
    parts = splits(
        data,
        n_folds,
        repeat,
        stratified=stratified,
        n_classes=n_classes,
        fill=fill,
        missing_as=missing_as,
        shuffled=shuffled,
    )
    scores: dict[str, list[float]] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        for number, part in enumerate(parts):
            model = classifier(method, paper)
            if number == 0:
                some = of_all_classes(part.y, WARMING_ROWS)
                model.fit(part.X.iloc[some], part.y[some])
            for name, value in scored(model, part).items():
                scores.setdefault(name, []).append(value)
    warned = sum(issubclass(one.category, ConvergenceWarning) for one in caught)
    return scores | {"warnings": [float(warned)]}


class Split(NamedTuple):
    """Training samples and their classes, test samples and theirs."""

    X: Any
    y: npt.NDArray[Any]
    X_test: Any
    y_test: npt.NDArray[Any]


def splits(
    data: str,
    n_folds: int,
    repeat: int,
    *,
    stratified: bool = True,
    n_classes: int | None = None,
    fill: bool = False,
    missing_as: str | None = None,
    shuffled: bool = False,
) -> Iterator[Split]:
    """The folds of a cross-validation; see `cross_validation_scores`."""
    X, y = rows_of(data, n_classes, missing_as)
    if shuffled:
        order = np.random.default_rng(repeat).permutation(len(y))
        X, y = X.iloc[order], y[order]
    kind = StratifiedKFold if stratified else KFold
    folds = kind(n_folds, shuffle=True, random_state=repeat)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        places = list(folds.split(np.zeros(len(y)), y))
    for train, test in places:
        parts = X.iloc[train], X.iloc[test]
        if fill:
            parts = filled(*parts)
        yield Split(parts[0], y[train], parts[1], y[test])


def of_all_classes(y: npt.NDArray[Any], n_rows: int) -> IndexArray:
    """Positions of some rows, of every class that is not rare.

    Examples
    --------
    >>> of_all_classes(np.array(["a"] * 6 + ["b"] * 6), 4)
    array([ 0,  3,  7, 11])
    """
    by_class = np.argsort(y, kind="stable")
    return by_class[np.linspace(0, len(y) - 1, min(n_rows, len(y))).astype(np.intp)]


def classifier(method: str, paper: str | None = None, **arguments: Any) -> Any:
    """An unfitted classifier by name, with a seed.

    Numeric features are discretised by MDL, or as the paper does it.
    """
    if paper is None:
        arguments = {"encoder": "mdl", **arguments}
    made = BayesNetClassifier.from_name(method, paper=paper, **arguments)
    return made.set_params(random_state=0)


def scored(model: Any, part: Split) -> dict[str, float]:
    """Fit a classifier and classify other samples."""
    begin = process_time()
    model.fit(part.X, part.y)
    seconds = process_time() - begin
    found = model.predict_proba(part.X_test)
    own = of_own_class(found, model.classes_, part.y_test)
    return {
        "accuracy": float(np.mean(model.classes_[found.argmax(axis=1)] == part.y_test)),
        "log_loss": float(-np.log(own.clip(min=LEAST)).mean()),
        "seconds": seconds,
    }


LEAST = float(np.finfo(np.float64).eps)
"""Least probability in a log loss, as in scikit-learn."""


def of_own_class(probabilities: FloatArray, classes: Any, labels: Any) -> FloatArray:
    """Probability of every sample's own class; 0 if the classifier does not know it.

    Examples
    --------
    >>> found = np.array([[0.75, 0.25], [0.5, 0.5]])
    >>> of_own_class(found, np.array(["a", "b"]), np.array(["a", "c"]))
    array([0.75, 0.  ])
    """
    place = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
    own = probabilities[np.arange(len(labels)), place]
    return np.where(classes[place] == labels, own, 0.0)
