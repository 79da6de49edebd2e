from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from tanager.losses import ConditionalLikelihoodLoss, HybridLoss
from tanager.model import FamilyLayout
from tanager.optim import Adam
from tanager.parameters.softmax_cpts import SoftmaxCPTs
from tests.reference import gradient as reference
from tests.strategies import (
    generators,
    kinds,
    random_codes,
    random_schema,
    random_structure,
    too_wide,
)
from tests.tolerance import EXACT, assert_close


def made(
    random,
    missing=0.0,
    max_parents=1,
    n_rows=8,
    n_features=3,
    n_classes=3,
    drawn=random_structure,
):
    """Tables with random parameters, their codes, labels and weights."""
    schema = random_schema(random, n_features, max_states=3, n_classes=n_classes)
    structure = drawn(random, schema, max_parents)
    layout = FamilyLayout.of_structure(schema, structure)
    codes = np.ascontiguousarray(random_codes(random, schema, n_rows, missing))
    beta = random.normal(size=layout.n_cells)
    labels = random.integers(0, n_classes, n_rows)
    return SoftmaxCPTs(layout, beta, codes), beta, labels, random.random(n_rows) + 0.1


def of_parameters(tables, rows, loss, labels, weights):
    """The loss as a function of the softmax parameters, by the formulas."""

    def value(beta):
        log_theta = reference.log_tables(tables.layout, beta)
        joint = reference.log_joint(tables.layout, log_theta, tables.codes[rows])
        return loss.value_and_gradient(joint, labels[rows], weights[rows])[0]

    return value


@settings(max_examples=24)
@given(
    random=generators(),
    missing=st.sampled_from([0.0, 0.4, 1.0]),
    loss=st.sampled_from(
        [ConditionalLikelihoodLoss(), HybridLoss(lambda_=3.0, gamma=2.0, eta=2.0)]
    ),
    n_classes=st.integers(1, 3),
    drawn=kinds,
)
def test_gradient_of_the_whole_chain(random, missing, loss, n_classes, drawn):
    tables, beta, labels, weights = made(
        random, missing, n_classes=n_classes, drawn=drawn
    )
    rows = random.permutation(8)[:5]
    joint = tables.forward(rows)
    log_theta = reference.log_tables(tables.layout, beta)
    assert_close(tables.log_theta, log_theta, EXACT)
    assert_close(
        joint, reference.log_joint(tables.layout, log_theta, tables.codes[rows])
    )
    _, by_joint = loss.value_and_gradient(joint, labels[rows], weights[rows])
    tables.backward(by_joint)
    expected = reference.numerical_gradient(
        of_parameters(tables, rows, loss, labels, weights), beta
    )
    assert_close(by_beta(tables), expected, 1e-5)


def by_beta(tables):
    """``g - theta * sum(g)`` over the states."""
    layout, found = tables.layout, tables.gradient.copy()
    for t in range(layout.n_tables):
        slope, theta = layout.table(found, t), layout.table(tables.theta, t)
        slope -= theta * slope.sum(axis=layout.owner_axis(t), keepdims=True)
    return found


@settings(max_examples=20)
@given(
    random=generators(),
    max_parents=st.integers(0, 2),
    n_classes=st.integers(1, 3),
    rate=st.sampled_from([0.003, 0.1, 0.5]),
)
def test_steps_are_those_of_adam_on_the_parameters(
    random, max_parents, n_classes, rate
):
    """Many steps: the tables follow the softmax of parameters moved by plain Adam."""
    tables, beta, labels, weights = made(
        random, max_parents=max_parents, n_classes=n_classes
    )
    loss = ConditionalLikelihoodLoss()
    rows = np.arange(8)
    adam, plain = Adam(len(beta)), Adam(len(beta))
    for _ in range(30):
        joint = tables.forward(rows)
        tables.backward(loss.value_and_gradient(joint, labels, weights)[1])
        plain.step(beta, by_beta(tables), rate)
        tables.step(adam, rate)
        assert not tables.gradient.any()
        log_theta = reference.log_tables(tables.layout, beta)
        assert_close(tables.log_theta, log_theta, 1e-9)
        assert_close(tables.theta, np.exp(log_theta), 1e-9)
        # Rounding may tip the direction of a tiny step; go on from the same tables.
        beta = log_theta
        tables.log_theta[:] = log_theta
        tables.renew()
        adam.first[:], adam.second[:] = plain.first, plain.second


def test_twenty_thousand_steps_stay_normalised():
    random = np.random.default_rng(0)
    tables, beta, _, _ = made(random)
    adam = Adam(len(beta))
    for _ in range(20_000):
        tables.gradient[:] = random.normal(size=len(beta))
        tables.step(adam, 0.01)
    assert_close(tables.theta, np.exp(tables.log_theta), 1e-10)
    before = tables.log_theta.copy()
    tables.renew()
    assert_close(tables.log_theta, before, 1e-10)


def test_complete_and_incomplete_rows_share_a_batch():
    tables, _, labels, weights = made(np.random.default_rng(3), missing=0.3, n_rows=30)
    loss = ConditionalLikelihoodLoss()
    rows = np.arange(30)
    whole = tables.forward(rows)
    tables.backward(loss.value_and_gradient(whole, labels, weights)[1])
    together = tables.gradient.copy()
    tables.gradient[:] = 0.0
    for m in rows:
        one = tables.forward(rows[m : m + 1])
        assert_close(one, whole[m : m + 1], EXACT)
        part = loss.value_and_gradient(one, labels[m : m + 1], weights[m : m + 1])
        tables.backward(part[1])
    assert_close(tables.gradient, together, EXACT)


def test_incomplete_families_are_left_out_where_sums_are_too_large():
    random = np.random.default_rng(0)
    structure, data = too_wide(random, 9, missing=0.1)
    layout = FamilyLayout.of_structure(data.schema, structure)
    codes = np.ascontiguousarray(data.codes)
    with pytest.warns(UserWarning, match="left out of incomplete samples"):
        tables = SoftmaxCPTs(layout, random.normal(size=layout.n_cells), codes)
    rows = random.permutation(9)
    log_joint = tables.forward(rows)
    assert_close(
        log_joint,
        reference.whole_families(layout, tables.log_theta, codes[rows]),
        EXACT,
    )
    by_joint = random.normal(size=log_joint.shape)
    tables.backward(by_joint)
    # The sum is linear in the cells.
    way = random.normal(size=layout.n_cells)
    found = by_joint * reference.whole_families(layout, way, codes[rows])
    assert_close(tables.gradient @ way, found.sum(), 1e-9)


@settings(max_examples=30)
@given(
    random=generators(),
    bound=st.sampled_from([1e-9, 1e-3, 0.025, 0.03, 0.25, 0.26, 1.0, 3.65]),
    states=st.integers(1, 5),
    width=st.integers(1, 7),
    blocks=st.integers(1, 3),
)
def test_moved_tables_are_the_softmax(random, bound, states, width, blocks):
    """By short series for short steps, and for the largest that Adam can take."""
    from tanager.parameters._softmax_kernels import move_table

    shape = (blocks, states, width)
    logs = random.normal(size=shape) * 5.0
    logs -= logsumexp(logs, axis=1, keepdims=True)
    moves = random.uniform(-bound, bound, shape)
    # The far ends: all states of a table one way, or one of them against the others.
    moves[:, :, 0] = random.choice([-bound, bound])
    moves[:, 0, -1] = -moves[:, 0, 0]
    expected = logs + moves
    expected -= logsumexp(expected, axis=1, keepdims=True)
    steps, theta, log_theta = moves.ravel(), np.exp(logs).ravel(), logs.ravel().copy()
    room = np.full((2, width), np.nan)
    move_table(steps, theta, log_theta, states, width, bound, *room)
    assert not steps.any()
    # Only steps that a rate of 0.5 could take at the very most are seen to be cut off.
    tolerance = 2e-14 if bound <= 1.0 else 1e-9
    assert_close(log_theta, expected.ravel(), tolerance)
    np.testing.assert_allclose(theta, np.exp(expected).ravel(), rtol=tolerance)
