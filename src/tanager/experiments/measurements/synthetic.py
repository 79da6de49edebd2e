"""Errors on the synthetic data of Greiner et al. (2005)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tanager.datasets import Dataset
from tanager.datasets.generators import correct_structure, simple_truth
from tanager.experiments.cell import Numbers
from tanager.experiments.measurements.folds import classifier, scored
from tanager.structure import Fixed

TEST_ROWS = 5000


def equal_features(
    *,
    method: str,
    m: int,
    n_samples: int,
    repeat: int,
    n_features: int = 5,
    missing: float = 0.0,
    links: int | None = None,
) -> Numbers:
    """Error on rows of which the first `m` features are equal.

    Parameters
    ----------
    method : str
        Name of a classifier, such as ``NB+ELR``.
    m : int
        Number of equal features; below two, naive Bayes is the truth.
    n_samples : int
        Number of training rows.
    repeat : int
        Which repetition: the seed.
    n_features : int, default=5
        Number of features.
    missing : float, default=0.0
        Probability with which every value of a training row is removed.
    links : int or None, default=None
        Give the classifier a structure in which the first `links` features form a
        chain, instead of its own.

    See Also
    --------
    tanager.datasets.generators.correct_structure : What is drawn.
    """
    train, test = (
        correct_structure(
            m=m,
            n_features=n_features,
            n_samples=n,
            missing=gone,
            random_state=np.random.default_rng([repeat, part]),
        )
        for part, (n, gone) in enumerate([(n_samples, missing), (TEST_ROWS, 0.0)])
    )
    return _errors(_model(method, links), train, test)


def irrelevant_features(
    *,
    method: str,
    n_samples: int,
    repeat: int,
    n_features: int = 6,
    correlation: float = 1.0,
    missing: float = 0.0,
) -> Numbers:
    """Error on rows whose class depends on the first feature alone.

    Parameters
    ----------
    method : str
        Name of a classifier, such as ``NB+ELR``.
    n_samples : int
        Number of training rows.
    repeat : int
        Which repetition: the seed.
    n_features : int, default=6
        Number of features.
    correlation : float, default=1.0
        Correlation of class and first feature.
    missing : float, default=0.0
        Probability with which every value of a training row is removed.

    See Also
    --------
    tanager.datasets.generators.simple_truth : What is drawn.
    """
    train, test = (
        simple_truth(
            n_features=n_features,
            correlation=correlation,
            n_samples=n,
            missing=gone,
            random_state=np.random.default_rng([repeat, part]),
        )
        for part, (n, gone) in enumerate([(n_samples, missing), (TEST_ROWS, 0.0)])
    )
    return _errors(_model(method, None), train, test)


def _model(method: str, links: int | None) -> Any:
    model = classifier(method, "mdl")
    if links is not None:
        chain = [(f"E{j}", f"E{j + 1}") for j in range(1, links)]
        model.set_params(structure=Fixed(edges=chain))
    return model


def _errors(model: Any, train: Dataset, test: Dataset) -> Numbers:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        y, y_test = (np.asarray(part.y).astype(str) for part in (train, test))
        scores = scored(model, (train.X, test.X), y, y_test)
    return {"error": 1.0 - scores["accuracy"], "log_loss": scores["log_loss"]}
