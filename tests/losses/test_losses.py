from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from tanager import InputError
from tanager.losses import (
    AUCLoss,
    ConditionalLikelihoodLoss,
    CostSensitiveLoss,
    HybridLoss,
    JointLikelihoodLoss,
    MarginLoss,
    SquaredErrorLoss,
    auc,
    set_margin,
)
from tanager.losses.base import closed_form
from tests.reference import losses as reference
from tests.strategies import generators
from tests.tolerance import EXACT, assert_close


def some_costs(n_classes):
    costs = np.random.default_rng(5).integers(0, 9, (n_classes, n_classes))
    return costs * (1.0 - np.eye(n_classes))


# Every loss for a number of classes, and its formula.
LOSSES = {
    "joint": lambda k: (
        JointLikelihoodLoss(),
        lambda *rows: reference.summed(reference.likelihood, *rows),
    ),
    "conditional": lambda k: (
        ConditionalLikelihoodLoss(),
        lambda *rows: reference.summed(reference.conditional, *rows),
    ),
    "margin": lambda k: (
        MarginLoss(gamma=2.0, eta=3.0),
        lambda *rows: reference.summed(reference.margin, *rows, 2.0, 3.0),
    ),
    "hybrid": lambda k: (
        HybridLoss(lambda_=7.0, gamma=2.0, eta=3.0),
        lambda *rows: reference.summed(reference.hybrid, *rows, 7.0, 2.0, 3.0),
    ),
    "auc": lambda k: (AUCLoss(), reference.auc),
    "brier": lambda k: (
        SquaredErrorLoss(),
        lambda *rows: reference.summed(reference.brier, *rows),
    ),
    "squared": lambda k: (
        SquaredErrorLoss(all_classes=False),
        lambda *rows: reference.summed(reference.squared_error, *rows),
    ),
    "cost": lambda k: (
        CostSensitiveLoss(costs=some_costs(k)),
        lambda *rows: reference.summed(reference.cost, *rows, some_costs(k)),
    ),
}
every_loss = pytest.mark.parametrize("name", sorted(LOSSES))


def some_rows(random, n_rows=6, n_classes=3, scale=2.0, weighted=True):
    log_joint = random.normal(size=(n_rows, n_classes)) * scale - 3.0
    labels = random.integers(0, n_classes, n_rows).astype(np.uint8)
    return log_joint, labels, random.random(n_rows) * 2 if weighted else None


@every_loss
@settings(max_examples=25)
@given(
    random=generators(),
    n_rows=st.integers(1, 8),
    n_classes=st.integers(1, 5),
    weighted=st.booleans(),
)
def test_value_is_the_formula(name, random, n_rows, n_classes, weighted):
    loss, formula = LOSSES[name](n_classes)
    rows = some_rows(random, n_rows, n_classes, weighted=weighted)
    value, gradient = loss.value_and_gradient(*rows)
    assert type(value) is float
    assert gradient.shape == (n_rows, n_classes)
    assert_close(value, formula(*rows), EXACT)


@every_loss
@pytest.mark.parametrize("scale", [1e-3, 40.0, 1e4])
def test_extreme_rows_keep_their_digits(name, scale):
    loss, formula = LOSSES[name](4)
    rows = some_rows(np.random.default_rng(1), 12, 4, scale)
    value, gradient = loss.value_and_gradient(*rows)
    np.testing.assert_allclose(value, formula(*rows), rtol=1e-11)
    assert np.isfinite(gradient).all()


def test_an_all_but_certain_row_still_costs_something():
    """log(1 + exp(-80)) is lost where probabilities are subtracted from one."""
    log_joint, labels = np.array([[0.0, -80.0]]), np.array([0])
    value, gradient = ConditionalLikelihoodLoss().value_and_gradient(
        log_joint, labels, None
    )
    np.testing.assert_allclose(value, np.exp(-80.0), rtol=1e-13)
    np.testing.assert_allclose(gradient, np.exp(-80.0) * np.array([[-1, 1]]))


@every_loss
def test_the_largest_numbers_stay_finite(name):
    loss, _ = LOSSES[name](3)
    log_joint = np.array([[-1e300, 0.0, -5.0], [0.0, -1e300, -1e300], [1e300, 1.0, 2]])
    value, gradient = loss.value_and_gradient(log_joint, np.array([0, 0, 1]), None)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()


@every_loss
@settings(max_examples=25)
@given(random=generators(), n_classes=st.integers(1, 4))
def test_gradient_is_that_of_finite_differences(name, random, n_classes):
    loss, _ = LOSSES[name](n_classes)
    log_joint, labels, weights = some_rows(random, 5, n_classes)
    gradient = loss.value_and_gradient(log_joint, labels, weights)[1]
    step = 1e-6
    for cell in np.ndindex(log_joint.shape):
        ends = []
        for sign in (1, -1):
            moved = log_joint.copy()
            moved[cell] += sign * step
            ends.append(loss.value_and_gradient(moved, labels, weights)[0])
        assert_close((ends[0] - ends[1]) / (2 * step), gradient[cell], 1e-5)


@every_loss
def test_weights_are_repetitions(name):
    loss, _ = LOSSES[name](3)
    random = np.random.default_rng(2)
    log_joint, labels, _ = some_rows(random, 20)
    times = random.integers(0, 4, 20)
    again = np.repeat(np.arange(20), times)
    value, gradient = loss.value_and_gradient(log_joint, labels, times.astype(float))
    other, repeated = loss.value_and_gradient(log_joint[again], labels[again], None)
    added = np.zeros_like(gradient)
    np.add.at(added, again, repeated)
    assert_close(value, other, EXACT)
    assert_close(gradient, added, EXACT)


@every_loss
def test_classes_can_be_renamed(name):
    random = np.random.default_rng(3)
    log_joint, labels, weights = some_rows(random, 15, 4)
    order = random.permutation(4)
    loss, _ = LOSSES[name](4)
    renamed = clone(loss)
    if name == "cost":
        renamed.set_params(costs=loss.costs[np.ix_(order, order)])
    value, gradient = loss.value_and_gradient(log_joint, labels, weights)
    other, permuted = renamed.value_and_gradient(
        log_joint[:, order], np.argsort(order)[labels], weights
    )
    assert_close(other, value, EXACT)
    assert_close(permuted, gradient[:, order], EXACT)


@every_loss
def test_arguments_are_left_alone(name):
    rows = some_rows(np.random.default_rng(4), 9)
    before = [array.copy() for array in rows]
    LOSSES[name](3)[0].value_and_gradient(*rows)
    for array, copy in zip(rows, before, strict=True):
        assert np.array_equal(array, copy)


def test_blocks_of_pairs_equal_the_whole(monkeypatch):
    rows = some_rows(np.random.default_rng(6), 40, 3)
    whole = AUCLoss().value_and_gradient(*rows)
    monkeypatch.setattr(auc, "BLOCK", 7)
    parts = AUCLoss().value_and_gradient(*rows)
    assert_close(parts[0], whole[0], EXACT)
    assert_close(parts[1], whole[1], EXACT)


def test_auc_of_one_class_is_nothing():
    value, gradient = AUCLoss().value_and_gradient(
        np.zeros((3, 2)), np.array([1, 1, 1]), None
    )
    assert value == 0.0
    assert not gradient.any()


def test_hybrid_without_margin_is_the_likelihood():
    rows = some_rows(np.random.default_rng(7))
    one = HybridLoss(lambda_=0.0).value_and_gradient(*rows)
    two = JointLikelihoodLoss().value_and_gradient(*rows)
    assert one[0] == two[0]
    assert np.array_equal(one[1], two[1])


def test_mistakes_cost_one_by_default():
    log_joint, labels = np.log([[0.3, 0.1], [0.2, 0.2]]), np.array([1, 0])
    value, _ = CostSensitiveLoss().value_and_gradient(log_joint, labels, None)
    assert_close(value, 0.75 + 0.5, EXACT)


IMPOSSIBLE = [
    (MarginLoss(gamma=0.0), "gamma must be"),
    (MarginLoss(eta=np.inf), "eta must be"),
    (HybridLoss(lambda_=-1.0), "lambda_ must be"),
    (HybridLoss(lambda_="much"), "lambda_ must be"),
]


@pytest.mark.parametrize(("loss", "message"), IMPOSSIBLE)
def test_impossible_arguments_of_closed_forms(loss, message):
    with pytest.raises(InputError, match=message):
        closed_form(loss)


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        *IMPOSSIBLE,
        (CostSensitiveLoss(costs=[[0, 1]]), "shape"),
        (CostSensitiveLoss(costs=[[0, -1], [1, 0]]), "at least 0"),
        (CostSensitiveLoss(costs=[[0, np.nan], [1, 0]]), "finite"),
        (CostSensitiveLoss(costs="free"), "matrix of numbers"),
    ],
)
def test_impossible_arguments(loss, message):
    with pytest.raises(InputError, match=message):
        loss.value_and_gradient(np.zeros((1, 2)), np.array([0]), None)


def test_a_margin_that_is_not_given_is_set_once_from_a_typical_one():
    open_loss = HybridLoss(lambda_=3.0, gamma=None, eta=2.0)
    found = open_loss.with_margin(lambda: 5.0)
    assert found.get_params() == {"lambda_": 3.0, "gamma": 2.5, "eta": 2.0}
    for loss in (HybridLoss(), MarginLoss(), ConditionalLikelihoodLoss()):
        assert loss.with_margin(lambda: pytest.fail("is not needed")) is loss
    own = object()
    assert set_margin(own, lambda: pytest.fail("is not needed")) is own
    with pytest.raises(InputError, match="call with_margin first, or give a number"):
        open_loss.value_and_gradient(np.zeros((1, 2)), np.array([0]), None)
    with pytest.raises(InputError, match="gamma=None is half of a typical margin"):
        closed_form(open_loss)
