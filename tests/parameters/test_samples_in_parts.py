"""Parameter learners find the same on samples in parts as on all in one place."""

import itertools

import numpy as np
import pytest

from tanager.errors import CapabilityError
from tanager.model import Structure
from tanager.network import Network
from tanager.parameters import (
    APN,
    DFE,
    ELR,
    EM,
    ConditionalLikelihood,
    Frequency,
    LossMinimizer,
)
from tests.partitions import ForgetfulPartitions, cut, make_data

PARTS = (1, 2, 7)
TREE = Structure.class_rooted([(), (0,), (1,), (1,), (0,), (3,), ()], 6)


def learn(learner, data):
    return learner.learn(TREE, data, random_state=np.random.default_rng(0))


@pytest.mark.parametrize("awkward", [False, True], ids=["complete", "awkward"])
@pytest.mark.parametrize(
    "learner", [Frequency(), DFE(), DFE(passes=3), EM(), APN(), ELR()], ids=str
)
def test_tables_are_the_same(learner, awkward):
    options = {"missing": 0.1, "weighted": True} if awkward else {}
    if awkward and learner.uses_unlabelled:
        options["unlabelled"] = 0.1
    data = make_data(1500, **options)
    expected = np.exp(learn(learner, data).log_theta)
    for n_parts in PARTS:
        found = np.exp(learn(learner, cut(data, n_parts)).log_theta)
        assert np.abs(found - expected).max() < 1e-9
        if isinstance(learner, Frequency):
            assert (found == expected).all()


@pytest.mark.parametrize(
    "learner",
    [Frequency(), DFE(), EM(), APN(), ELR(), ConditionalLikelihood(C=1.0)],
    ids=str,
)
def test_values_that_are_lost_are_made_again(learner):
    data = cut(make_data(300), 2)
    found = learn(learner, ForgetfulPartitions(data.parts))
    assert (found.log_theta == learn(learner, data).log_theta).all()


@pytest.mark.parametrize(
    "learner",
    [
        ConditionalLikelihood(C=1.0),
        ConditionalLikelihood(C="cv"),
        ConditionalLikelihood(smooth=True),
    ],
    ids=str,
)
def test_posteriors_of_conditional_likelihood_are_the_same(learner):
    """CPTs are free where P(c | x) leaves a choice; that ends at a loose tolerance."""
    data = make_data(1500, ordered=True, missing=0.05)

    def posterior(parameters):
        network = Network(data.schema, TREE, parameters)
        joint = network.engine.log_joint_block(data.codes)
        return np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))

    expected = learn(learner, data)
    for n_parts in PARTS:
        found = learn(learner, cut(data, n_parts))
        complete = (data.codes < data.schema.n_states[:-1]).all(axis=1)
        gap = np.abs(posterior(found) - posterior(expected))[complete]
        assert gap.max() < 1e-7
        theta = np.exp([found.log_theta, expected.log_theta])
        assert np.abs(theta[0] - theta[1]).max() < 0.02


def test_shuffled_dfe_depends_on_the_parts_only_by_its_blocks():
    """Samples are shuffled within blocks of 8192, which parts cut elsewhere."""
    data = make_data(3 * 8192 + 100)
    parts = cut(data, 1).parts[0]
    edges = [0, 8192, 2 * 8192, data.n_samples]
    from tanager.data.partitioned_data import LocalPartitions

    aligned = LocalPartitions(
        [parts.take(np.arange(a, b)) for a, b in itertools.pairwise(edges)]
    )
    learner = DFE(shuffle=True, passes=2)
    expected = np.exp(learn(learner, data).log_theta)
    assert np.abs(np.exp(learn(learner, aligned).log_theta) - expected).max() < 1e-9


def test_stochastic_learners_need_all_rows():
    with pytest.raises(CapabilityError, match="one place"):
        learn(LossMinimizer(epochs=1), cut(make_data(100), 2))
