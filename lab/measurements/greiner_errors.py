"""Errors on the synthetic data of Greiner et al. (2005)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lab.measurements.cross_validation import Split, classifier, scored
from lab.measurements.synthetic_datasets import simple_truth
from lab.runner.cell import Numbers
from tanager.datasets import Dataset
from tanager.datasets.generators import correct_structure
from tanager.parameters import ELR
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
    missing_in_test: bool = False,
    cross_tuning: bool = True,
    links: int | None = None,
) -> Numbers:
    """Error on samples of which the first `m` features are equal.

    Parameters
    ----------
    method : str
        Name of a classifier, such as ``NB+ELR``.
    m : int
        Number of equal features; below two, naive Bayes is the truth.
    n_samples : int
        Number of training samples.
    repeat : int
        Which repetition: the seed.
    n_features : int, default=5
        Number of features.
    missing : float, default=0.0
        Probability with which every value of a training row is removed.
    missing_in_test : bool, default=False
        Whether values are removed from the test samples, too.
    cross_tuning : bool, default=True
        Whether ELR is stopped by cross tuning; else it runs until it converges.
    links : int or None, default=None
        Give the classifier a structure in which the first `links` features form a
        chain, instead of its own.

    See Also
    --------
    tanager.datasets.generators.correct_structure : What is drawn.
    """
    draw = partial(correct_structure, m=m, n_features=n_features)
    parts = _drawn(draw, n_samples, missing, missing_in_test, repeat)
    return _errors(_model(method, links, cross_tuning), *parts)


def irrelevant_features(
    *,
    method: str,
    n_samples: int,
    repeat: int,
    n_features: int = 6,
    correlation: float = 1.0,
    missing: float = 0.0,
    missing_in_test: bool = False,
    cross_tuning: bool = True,
) -> Numbers:
    """Error on samples whose class depends on the first feature alone.

    Parameters
    ----------
    method : str
        Name of a classifier, such as ``NB+ELR``.
    n_samples : int
        Number of training samples.
    repeat : int
        Which repetition: the seed.
    n_features : int, default=6
        Number of features.
    correlation : float, default=1.0
        Correlation of class and first feature.
    missing : float, default=0.0
        Probability with which every value of a training row is removed.
    missing_in_test : bool, default=False
        Whether values are removed from the test samples, too.
    cross_tuning : bool, default=True
        Whether ELR is stopped by cross tuning; else it runs until it converges.

    See Also
    --------
    lab.measurements.synthetic_datasets.simple_truth : What is drawn.
    """
    draw = partial(simple_truth, n_features=n_features, correlation=correlation)
    parts = _drawn(draw, n_samples, missing, missing_in_test, repeat)
    return _errors(_model(method, None, cross_tuning), *parts)


def _drawn(
    draw: Callable[..., Dataset],
    n_samples: int,
    missing: float,
    missing_in_test: bool,
    repeat: int,
) -> tuple[Dataset, Dataset]:
    """Training and test samples."""
    train, test = (np.random.default_rng([repeat, part]) for part in range(2))
    gone = missing if missing_in_test else 0.0
    return (
        draw(n_samples=n_samples, missing=missing, random_state=train),
        draw(n_samples=TEST_ROWS, missing=gone, random_state=test),
    )


def _model(method: str, links: int | None, cross_tuning: bool) -> Any:
    model = classifier(method, "greiner2005")
    if not cross_tuning and isinstance(model.parameters, ELR):
        model.set_params(parameters__folds=None)
    if links is not None:
        chain = [(f"E{j}", f"E{j + 1}") for j in range(1, links)]
        model.set_params(structure=Fixed(edges=chain))
    return model


def _errors(model: Any, train: Dataset, test: Dataset) -> Numbers:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        y, y_test = (np.asarray(part.y).astype(str) for part in (train, test))
        scores = scored(model, Split(train.X, y, test.X, y_test))
    return {"error": 1.0 - scores["accuracy"], "log_loss": scores["log_loss"]}
