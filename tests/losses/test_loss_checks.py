from __future__ import annotations

import numpy as np
import pytest

from tanager import CapabilityError, InputError
from tanager.losses import ConditionalLikelihoodLoss, check_loss

ROWS = np.log([[0.5, 0.1], [0.2, 0.2]]), np.array([0, 1]), None


def made(result):
    class Given:
        def value_and_gradient(self, log_joint, labels, weights):
            return result

    return check_loss(Given())


def test_good_losses_pass_through():
    loss = ConditionalLikelihoodLoss()
    value, gradient = check_loss(loss).value_and_gradient(*ROWS)
    expected = loss.value_and_gradient(*ROWS)
    assert value == expected[0]
    assert np.array_equal(gradient, expected[1])


def test_lists_become_arrays():
    value, gradient = made((1, [[0, 1], [2, 3]])).value_and_gradient(*ROWS)
    assert type(value) is float
    assert gradient.dtype == np.float64


@pytest.mark.parametrize(
    ("result", "error", "message"),
    [
        (3.0, CapabilityError, "must return a pair"),
        (None, CapabilityError, "must return a pair"),
        ((1.0, None), CapabilityError, "must return"),
        ((1.0, np.zeros((2, 2), dtype=complex)), CapabilityError, "must return a pair"),
        ((1.0, np.full((2, 2), "0")), CapabilityError, "must return a pair"),
        ((1.0, np.zeros(2)), CapabilityError, r"of shape \(2,\)"),
        ((np.zeros((2, 2)), 1.0), CapabilityError, "must return a pair"),
        ((np.nan, np.zeros((2, 2))), InputError, "value nan"),
        ((-np.inf, np.zeros((2, 2))), InputError, "value -inf"),
        ((0.0, np.array([[0, 0], [np.nan, 0]])), InputError, "nan in row 1, class 0"),
    ],
)
def test_bad_results_are_named(result, error, message):
    with pytest.raises(error, match=message) as raised:
        made(result).value_and_gradient(*ROWS)
    assert "Given.value_and_gradient" in str(raised.value)


@pytest.mark.parametrize("loss", ["margin", None, object()])
def test_things_that_are_no_loss(loss):
    with pytest.raises(CapabilityError, match="no method value_and_gradient"):
        check_loss(loss)


def test_a_class_is_not_an_object():
    with pytest.raises(CapabilityError, match=r"ConditionalLikelihoodLoss\(\)"):
        check_loss(ConditionalLikelihoodLoss)


def test_the_log_joint_may_only_be_read():
    class Overwriting:
        def value_and_gradient(self, log_joint, labels, weights):
            log_joint -= log_joint.max(axis=1, keepdims=True)
            return 0.0, np.exp(log_joint)

    log_joint = ROWS[0].copy()
    with pytest.raises(CapabilityError, match=r"Overwriting.*log_joint\.copy\(\)"):
        check_loss(Overwriting()).value_and_gradient(log_joint, *ROWS[1:])
    assert np.array_equal(log_joint, ROWS[0])
    assert log_joint.flags.writeable


def test_errors_of_the_loss_itself_come_through():
    class Failing:
        def value_and_gradient(self, log_joint, labels, weights):
            raise ValueError("of its own")

    with pytest.raises(ValueError, match="of its own"):
        check_loss(Failing()).value_and_gradient(*ROWS)
