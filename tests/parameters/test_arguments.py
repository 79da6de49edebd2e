"""Arguments that every parameter learner refuses."""

from __future__ import annotations

import numpy as np
import pytest

from tanager import (
    DFE,
    ELR,
    ConditionalLikelihood,
    Frequency,
    InputError,
    LossMinimizer,
)
from tanager.losses import HybridLoss, MarginLoss
from tests.strategies import random_data, random_structure

IMPOSSIBLE = {
    DFE: [
        {"passes": 0},
        {"passes": 1.5},
        {"passes": True},
        {"alpha": -1.0},
        {"alpha": None},
        {"alpha": "1"},
        {"shuffle": "no"},
    ],
    ELR: [
        {"folds": 1},
        {"alpha": -1.0},
        {"tol": 0.0},
        {"max_iter": 0},
    ],
    ConditionalLikelihood: [
        {"C": 0.0},
        {"C": np.inf},
        {"C": "auto"},
        {"tol": -1.0},
        {"max_iter": 0},
        {"folds": 1},
        {"folds": None},
    ],
    LossMinimizer: [
        {"epochs": 0},
        {"epochs": True},
        {"batch_size": 1.5},
        {"patience": 0},
        {"rate": 0.0},
        {"rate": 0.6},
        {"rate": "fast"},
        {"decay": 1.1},
        {"alpha": 0.0},
        {"early_stopping": 1.0},
        {"early_stopping": True},
        {"start": "uniform"},
        {"loss": HybridLoss(lambda_=-1.0)},
        {"loss": MarginLoss(gamma=0.0)},
        {"loss": HybridLoss(eta=np.nan)},
    ],
    Frequency: [
        {"alpha": -1.0},
        {"alpha": np.nan},
        {"alpha": None},
        {"zero": 0.0},
        {"zero": "little"},
    ],
}
REQUIRED = {LossMinimizer: {"loss": HybridLoss()}}


@pytest.mark.parametrize(
    ("kind", "options"),
    [(kind, options) for kind, every in IMPOSSIBLE.items() for options in every],
)
def test_impossible_arguments(kind, options):
    data = random_data(np.random.default_rng(0), 5, 1)
    structure = random_structure(np.random.default_rng(0), data.schema)
    learner = kind(**{**REQUIRED.get(kind, {}), **options})
    message = "must be|^Unknown "
    with pytest.raises(InputError, match=message):
        learner.learn(structure, data)
