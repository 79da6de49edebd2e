"""Losses in kernels, compared with those in NumPy and with the formulas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager.losses import (
    AUCLoss,
    ConditionalLikelihoodLoss,
    CostSensitiveLoss,
    HybridLoss,
    JointLikelihoodLoss,
    MarginLoss,
)
from tanager.losses._kernels import conditional_loss, hybrid_loss
from tanager.losses.base import closed_form
from tests.reference import losses as reference
from tests.strategies import generators
from tests.tolerance import EXACT, assert_close

LOSSES = {
    "joint": (JointLikelihoodLoss(), reference.likelihood, ()),
    "conditional": (ConditionalLikelihoodLoss(), reference.conditional, ()),
    "margin": (MarginLoss(gamma=2.0, eta=3.0), reference.margin, (2.0, 3.0)),
    "sharp": (MarginLoss(gamma=0.1, eta=200.0), reference.margin, (0.1, 200.0)),
    "hybrid": (
        HybridLoss(lambda_=7.0, gamma=20.0, eta=1.0),
        reference.hybrid,
        (7.0, 20.0, 1.0),
    ),
    "no margin": (HybridLoss(lambda_=0.0), reference.hybrid, (0.0, 1.0, 10.0)),
}
every_loss = pytest.mark.parametrize("name", sorted(LOSSES))


def by_kernel(loss, log_joint, labels, weights, scale=1.0, room=None):
    """Value and gradient as a learner in a kernel gets them."""
    kind, likelihood, margin, gamma, eta = closed_form(loss)
    # What was in the gradient before does not count.
    gradient = np.full(log_joint.shape, np.nan) if room is None else room
    if kind == 1.0:
        value = conditional_loss(log_joint, labels, weights, scale, gradient)
    else:
        value = hybrid_loss(
            log_joint, labels, weights, scale, likelihood, margin, gamma, eta, gradient
        )
    return value, gradient


@every_loss
@settings(max_examples=40)
@given(
    random=generators(),
    n_classes=st.integers(1, 5),
    spread=st.sampled_from([1e-3, 1.0, 40.0, 1e4, 1e8]),
    scale=st.sampled_from([1.0, 0.01]),
)
def test_value_and_gradient_are_those_of_numpy(name, random, n_classes, spread, scale):
    loss, formula, arguments = LOSSES[name]
    log_joint = random.normal(size=(7, n_classes)) * spread - 3.0
    log_joint[0] = log_joint[0, 0]  # a tie
    labels = random.integers(0, n_classes, 7)
    weights = random.random(7) * 2
    value, gradient = by_kernel(loss, log_joint, labels, weights, scale)
    expected, slopes = loss.value_and_gradient(log_joint, labels, weights)
    np.testing.assert_allclose(value, expected, rtol=EXACT, atol=EXACT)
    # Exponents far below the largest are left out.
    np.testing.assert_allclose(gradient, scale * slopes, rtol=1e-11, atol=2e-14)
    exact = reference.summed(formula, log_joint, labels, weights, *arguments)
    np.testing.assert_allclose(value, exact, rtol=1e-11, atol=1e-12)


@every_loss
def test_a_tie_of_two_classes_at_the_margin(name):
    """Exactly at the margin asked for nothing is short of it."""
    loss = LOSSES[name][0]
    for log_joint in ([[2.0, 0.0]], [[0.0, 0.0]], [[-2.0, 0.0]]):
        rows = np.array(log_joint), np.array([0]), np.ones(1)
        value, gradient = by_kernel(loss, *rows)
        expected, slopes = loss.value_and_gradient(*rows)
        assert_close(value, expected, EXACT)
        assert_close(gradient, slopes, EXACT)


@every_loss
def test_the_largest_numbers_stay_finite(name):
    log_joint = np.array([[-1e300, 0.0, -5.0], [0.0, -1e300, -1e300], [1e300, 1.0, 2]])
    labels, weights = np.array([0, 0, 1]), np.ones(3)
    value, gradient = by_kernel(LOSSES[name][0], log_joint, labels, weights)
    expected, _ = LOSSES[name][0].value_and_gradient(log_joint, labels, weights)
    np.testing.assert_allclose(value, expected, rtol=EXACT)
    assert np.isfinite(gradient).all()


def test_an_all_but_certain_row_still_costs_something():
    rows = np.array([[0.0, -80.0]]), np.array([0]), np.ones(1)
    value, gradient = by_kernel(ConditionalLikelihoodLoss(), *rows)
    np.testing.assert_allclose(value, np.exp(-80.0), rtol=1e-13)
    np.testing.assert_allclose(gradient, np.exp(-80.0) * np.array([[-1, 1]]))


@every_loss
def test_rows_without_weight_and_room_for_more_rows(name):
    """A gradient with room for more rows keeps what is below."""
    loss = LOSSES[name][0]
    random = np.random.default_rng(0)
    log_joint, labels = random.normal(size=(4, 3)), random.integers(0, 3, 4)
    weights = np.array([1.0, 0.0, 2.0, 0.0])
    room = np.full((6, 3), 9.0)
    value, _ = by_kernel(loss, log_joint, labels, weights, room=room)
    expected, slopes = loss.value_and_gradient(log_joint, labels, weights)
    assert_close(value, expected, EXACT)
    assert_close(room[:4], slopes, EXACT)
    assert not room[[1, 3]].any()
    assert (room[4:] == 9.0).all()


class Own(HybridLoss):
    pass


@pytest.mark.parametrize("loss", [Own(), AUCLoss(), CostSensitiveLoss(), object()])
def test_other_losses_are_not_known(loss):
    assert closed_form(loss) is None
