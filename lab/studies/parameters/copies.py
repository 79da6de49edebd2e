"""Copies of a feature: naive Bayes counts the same evidence several times."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from lab.studies.parameters.results import Results
from tanager import (
    DFE,
    ELR,
    BayesNetClassifier,
    ConditionalLikelihood,
    Frequency,
    LossMinimizer,
)
from tanager.datasets import Dataset
from tanager.datasets.generators import correct_structure
from tanager.losses import HybridLoss

SEED = 0
KEYS = ("m", "parameters")
COPIES = (1, 2, 3, 4, 5)
N_FEATURES = 5
REPETITIONS = 100
TEST_ROWS = 5000
LEARNERS: dict[str, Any] = {
    "FE": Frequency(),
    "DFE": DFE(),
    "CL": ConditionalLikelihood(C="cv"),
    "ELR": ELR(solver="cg"),
    "HYB": LossMinimizer(loss=HybridLoss()),
}
SLOW = {"HYB": 20}
"""Repetitions of those that take longer."""


def run() -> None:
    """Error and log loss of naive Bayes for every number of copies."""
    results = Results("copies", KEYS, SEED)
    for m in COPIES:
        if (m, "best") not in results:
            error, log_loss = best(m)
            results.add((m, "best"), _summary([error], [log_loss]))
        for name in LEARNERS:
            if (m, name) not in results:
                results.add((m, name), measured(name, m))


def measured(name: str, m: int) -> dict[str, float]:
    """Mean over repetitions on fresh rows, and its standard error."""
    errors, losses = [], []
    for repetition in range(SLOW.get(name, REPETITIONS)):
        train = correct_structure(m=m, random_state=_random(m, repetition, 0))
        test = correct_structure(
            m=m, n_samples=TEST_ROWS, random_state=_random(m, repetition, 1)
        )
        model = BayesNetClassifier(
            encoder="categorical",
            structure="nb",
            parameters=LEARNERS[name],
            random_state=0,
        )
        error, log_loss = scores(model.fit(train.X, train.y), test)
        errors.append(error)
        losses.append(log_loss)
    return _summary(errors, losses)


def _random(*parts: int) -> np.random.Generator:
    return np.random.default_rng([SEED, *parts])


def scores(model: Any, test: Dataset) -> tuple[float, float]:
    """Error and log loss on test rows."""
    log_proba = model.predict_log_proba(test.X)
    truth = np.searchsorted(model.classes_, np.asarray(test.y))
    error = float(np.mean(log_proba.argmax(axis=1) != truth))
    return error, float(-log_proba[np.arange(len(truth)), truth].mean())


def best(m: int) -> tuple[float, float]:
    """Error and log loss of the true distribution, the least there can be."""
    error = log_loss = 0.0
    for states in product((0, 1), repeat=N_FEATURES - m + 1):
        on = sum(states)
        off = len(states) - on
        joint = np.array([0.1 * 0.8**on * 0.2**off, 0.9 * 0.2**on * 0.8**off])
        error += joint.min()
        log_loss -= float(joint @ np.log(joint / joint.sum()))
    return float(error), log_loss


def _summary(errors: list[float], losses: list[float]) -> dict[str, float]:
    root = len(errors) ** 0.5
    return {
        "error": float(np.mean(errors)),
        "error_se": float(np.std(errors)) / root,
        "log_loss": float(np.mean(losses)),
        "log_loss_se": float(np.std(losses)) / root,
    }
