"""Mistakes that cost differently: a loss of costs, or costs applied to probabilities.

The two Statlog sets come with a matrix of costs: to take a bad risk for good, or a sick
person for healthy, costs five times as much as the reverse.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from lab.studies.parameters.results import Results
from tanager import (
    BayesNetClassifier,
    ConditionalLikelihood,
    Frequency,
    LossMinimizer,
)
from tanager.datasets import load
from tanager.losses import CostSensitiveLoss

SEED = 0
KEYS = ("set", "parameters", "decision")
REPETITIONS = 5
DEAR = {"uci25/german": "bad", "uci25/heart": "present"}
"""Class that it is dear to miss."""

FACTOR = 5.0


def run() -> None:
    """Mean cost of a test row, naive Bayes, five times 5-fold cross-validation."""
    results = Results("costs", KEYS, SEED)
    for name, dear in DEAR.items():
        data = load(name)
        classes = sorted(set(data.y))
        if dear not in classes:
            raise ValueError(f"{name} has the classes {classes}, not {dear!r}")
        costs = 1.0 - np.eye(2)
        costs[classes.index(dear)] *= FACTOR
        learners = {
            "FE": Frequency(),
            "CL": ConditionalLikelihood(C="cv"),
            "costs": LossMinimizer(loss=CostSensitiveLoss(costs=costs)),
        }
        for parameters, learner in learners.items():
            keys = [(name, parameters, d) for d in ("likeliest", "cheapest")]
            if any(key not in results for key in keys):
                found = _mean_costs(data, learner, costs)
                for key, cost in zip(keys, found, strict=True):
                    results.add(key, {"cost": cost})


def _mean_costs(data: Any, learner: Any, costs: Any) -> tuple[float, float]:
    """Mean cost of the likeliest class, and of the class of least expected cost."""
    X, y = data.X, np.asarray(data.y)
    likeliest, cheapest = [], []
    for repetition in range(REPETITIONS):
        folds = StratifiedKFold(5, shuffle=True, random_state=SEED + repetition)
        for train, test in folds.split(X, y):
            model = BayesNetClassifier(
                structure="nb", parameters=learner, random_state=SEED
            ).fit(X.iloc[train], y[train])
            truth = np.searchsorted(model.classes_, y[test])
            proba = model.predict_proba(X.iloc[test])
            likeliest.append(costs[truth, proba.argmax(axis=1)].mean())
            cheapest.append(costs[truth, (proba @ costs).argmin(axis=1)].mean())
    return float(np.mean(likeliest)), float(np.mean(cheapest))
