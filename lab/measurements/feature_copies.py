"""Naive Bayes on copies of a feature: it counts the same evidence several times."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from lab.measurements.classifier_evaluation import error_and_log_loss
from lab.runner.cell import Numbers
from tanager import BayesNetClassifier
from tanager.datasets.generators import correct_structure
from tanager.registry import parameters_from

SEED = 0
N_FEATURES = 5
TEST_SAMPLES = 5000


def copied_features(*, m: int, parameters: str, repetitions: int) -> Numbers:
    """Error and log loss of naive Bayes where the first `m` of 5 features are equal.

    Parameters
    ----------
    m : int
        Number of equal features.
    parameters : str
        Name of a parameter learner; ``truth`` is the true distribution.
    repetitions : int
        Number of training and test samples, each with a seed of its own.
    """
    if parameters == "truth":
        scores = [true_scores(m)]
    else:
        scores = [_scores(m, parameters, one) for one in range(repetitions)]
    errors, log_losses = np.transpose(scores)
    root = len(scores) ** 0.5
    return {
        "error": float(errors.mean()),
        "error_se": float(errors.std()) / root,
        "log_loss": float(log_losses.mean()),
        "log_loss_se": float(log_losses.std()) / root,
    }


def true_scores(m: int) -> tuple[float, float]:
    """Error and log loss of the true distribution, the least possible.

    Examples
    --------
    >>> round(true_scores(1)[0], 5)
    0.03232
    """
    error = log_loss = 0.0
    for states in product((0, 1), repeat=N_FEATURES - m + 1):
        on = sum(states)
        off = len(states) - on
        joint = np.array([0.1 * 0.8**on * 0.2**off, 0.9 * 0.2**on * 0.8**off])
        error += joint.min()
        log_loss -= float(joint @ np.log(joint / joint.sum()))
    return float(error), log_loss


def _scores(m: int, parameters: str, repetition: int) -> tuple[float, float]:
    def random(which: int) -> np.random.Generator:
        return np.random.default_rng([SEED, m, repetition, which])

    train = correct_structure(m=m, random_state=random(0))
    test = correct_structure(m=m, n_samples=TEST_SAMPLES, random_state=random(1))
    model: Any = BayesNetClassifier(
        encoder="categorical",
        structure="nb",
        parameters=parameters_from(parameters),
        random_state=SEED,
    )
    return error_and_log_loss(model.fit(train.X, train.y), test.X, test.y)
