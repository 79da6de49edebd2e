"""Tables to start from, which every iterative learner checks alike."""

from __future__ import annotations

import numpy as np
import pytest

from tanager import (
    APN,
    DFE,
    ELR,
    EM,
    ConditionalLikelihood,
    Frequency,
    InputError,
    LossMinimizer,
)
from tanager.loglinear.weights_to_cpts import log_linear_families
from tanager.losses import HybridLoss
from tanager.model import FamilyLayout, Parameters
from tests.strategies import (
    random_data,
    random_k_tree,
    random_structure,
    weight_layout,
)

LEARNERS = [
    EM(),
    APN(max_iter=500),
    LossMinimizer(epochs=2),
    LossMinimizer(loss=HybridLoss(), epochs=2),
]


def problem():
    random = np.random.default_rng(0)
    data = random_data(random, 60, 3, n_classes=2)
    return random_structure(random, data.schema), data


@pytest.mark.parametrize("learner", LEARNERS)
def test_tables_of_another_layout_are_refused(learner):
    structure, data = problem()
    other = FamilyLayout.of_families((2, 2), ((1, 0), (1,)), 1)
    start = Parameters(other, np.log(np.full(6, 0.5)))
    with pytest.raises(InputError, match=r"to start from.*got 2 with 6"):
        learner.learn(structure, data, start=start)


@pytest.mark.parametrize(
    "learner", [*LEARNERS, ConditionalLikelihood(), ELR(solver="lbfgs")]
)
def test_log_linear_families_are_refused(learner):
    random = np.random.default_rng(0)
    data = random_data(random, 60, 3, n_classes=2)
    structure = random_k_tree(random, data.schema, 2, full=True)
    layout = weight_layout(data.schema, structure)
    weights = np.zeros(layout.n_cells)
    start = log_linear_families(structure, layout, weights, full_cells=0)
    assert not start.layout.is_full(structure)
    with pytest.raises(InputError, match=r"are log-linear families.*or none"):
        learner.learn(structure, data, start=start)
    for ignores in (Frequency(), DFE()):
        ignores.learn(structure, data, start=start)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("learner", LEARNERS)
def test_no_logarithms_are_refused(learner, value):
    structure, data = problem()
    start = Frequency().learn(structure, data)
    log_theta = start.log_theta.copy()
    log_theta[0] = value
    with pytest.raises(InputError, match=r"to start from.*no logarithms"):
        learner.learn(structure, data, start=Parameters(start.layout, log_theta))


@pytest.mark.parametrize("learner", LEARNERS)
def test_zeros_are_lifted(learner):
    structure, data = problem()
    start = Frequency().learn(structure, data)
    log_theta = start.log_theta.copy()
    log_theta[0] = -np.inf
    start = Parameters(start.layout, log_theta)
    found = learner.learn(structure, data, start=start)
    assert np.isfinite(found.log_theta).all()
