"""Steps on candidate tables, compared with the method written by its formulas."""

from __future__ import annotations

import numpy as np
import pytest

from tanager import Schema, Variable
from tanager.losses import (
    ConditionalLikelihoodLoss,
    HybridLoss,
    JointLikelihoodLoss,
    MarginLoss,
)
from tanager.parameters.training_samples import LabelledSamples
from tanager.structure.gumbel import gradient_descent
from tanager.structure.gumbel.candidate_cpts import CandidateCPTs
from tanager.structure.gumbel.gradient_descent import GumbelDescent
from tanager.structure.gumbel.parent_candidates import ParentCandidates
from tests.reference.gradient import numerical_gradient
from tests.reference.gumbel import SlowDescent
from tests.tolerance import EXACT, TABLES, assert_close

STATES = (2, 3, 1, 4, 2)
TREE = (
    ((), (1,), (3,)),
    ((),),
    ((), (0,), (1,)),
    ((), (1,)),
    ((), (0,), (1,), (2,), (3,)),
)
"""Candidates along the order 1, 3, 0, 2, 4."""

PAIRS = (
    ((),),
    ((), (0,)),
    ((), (0,), (1,), (0, 1)),
    ((), (0,), (1,), (0, 1)),
    ((), (1,), (2,), (3,), (1, 2), (1, 3), (2, 3)),
)
FREE = tuple(((), *((i,) for i in range(5) if i != j)) for j in range(5))
REQUIRED = (((), (1,)), ((),), ((0,), (1,)), ((1,),), ((0, 1), (0, 3)))
"""Some features must have a feature parent."""


class OwnJoint(JointLikelihoodLoss):
    """A subclass is not known to the kernels: it is asked as any other object."""


class OwnConditional(ConditionalLikelihoodLoss):
    pass


class OwnMargin(MarginLoss):
    pass


class OwnHybrid(HybridLoss):
    pass


LOSSES = {
    "likelihood": (JointLikelihoodLoss(), OwnJoint(), ()),
    "conditional": (ConditionalLikelihoodLoss(), OwnConditional(), ()),
    "margin": (MarginLoss(gamma=2.0, eta=3.0), OwnMargin(gamma=2.0, eta=3.0), (2, 3)),
    "hybrid": (
        HybridLoss(lambda_=5.0, gamma=1.5, eta=2.0),
        OwnHybrid(lambda_=5.0, gamma=1.5, eta=2.0),
        (5, 1.5, 2),
    ),
}


def some_rows(
    n_rows=43, states=STATES, n_classes=3, missing=0.0, weighted=False, kind=np.uint8
):
    """Rows in which features depend on the class and on each other."""
    random = np.random.default_rng(7)
    labels = random.integers(0, n_classes, n_rows)
    codes = random.integers(0, states, (n_rows, len(states)))
    codes[:, -1] = (labels + codes[:, 0]) % states[-1]
    codes = np.where(random.random(codes.shape) < missing, states, codes)
    weights = random.random(n_rows) * 2 + 0.1 if weighted else None
    return LabelledSamples(np.ascontiguousarray(codes.astype(kind)), labels, weights)


def both(
    rows, sets=TREE, loss="hybrid", *, own=False, states=STATES, n_classes=3,
    batch_size=10, relaxed=False, free=False, spread=1.0, look_ahead=False,
    exact=False,
):  # fmt: skip
    """The fast and the slow descent, from the same random tables."""
    variables = [Variable(f"f{j}", tuple(range(r))) for j, r in enumerate(states)]
    variables.append(Variable("class", tuple(range(n_classes))))
    schema = Schema(tuple(variables), target=len(states))
    tables = CandidateCPTs(schema, ParentCandidates(None if free else (0,), sets))
    known, asked, arguments = LOSSES[loss]
    fast = GumbelDescent(
        tables,
        rows,
        np.arange(len(rows.labels)),
        asked if own else known,
        batch_size=batch_size,
        relaxed=relaxed,
        unordered=free,
        look_ahead=look_ahead,
    )
    assert (fast._closed is None) == own
    slow = SlowDescent(
        (*states, n_classes), sets, rows.codes, rows.labels, rows.weights, loss,
        *arguments, batch_size=batch_size, relaxed=relaxed, free=free, exact=exact,
        look_ahead=look_ahead,
    )  # fmt: skip
    slow.beta[:] = np.random.default_rng(3).normal(size=len(slow.beta)) * spread
    tables.start_from(slow.beta)
    return fast, slow


def run(fast, slow, epochs=3, rate=0.03, weight_rate=0.05, tau=1.0, seed=11):
    """Some epochs of both, compared after each of them, or in the end."""
    one, two = np.random.default_rng(seed), np.random.default_rng(seed)
    for epoch in range(1, epochs + 1):
        found = fast.epoch(rate, weight_rate, tau, one)
        expected = slow.epoch(rate, weight_rate, tau, two)
        if epoch == epochs or not fast.look_ahead:
            agree(fast, slow)
        for name in ("objective", "train_error"):
            assert_close(found[name], expected[name])
    assert one.bit_generator.state == two.bit_generator.state


def agree(fast, slow, tolerance=TABLES):
    fast.retract()
    assert_close(fast.tables.log_theta, slow.log_theta, tolerance)
    assert_close(fast.tables.theta, np.exp(slow.log_theta), tolerance)
    assert_close(fast.log_phi, slow.log_phi, tolerance)


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("relaxed", [False, True])
def test_tables_and_weights_are_those_of_the_formulas(loss, relaxed, own):
    run(*both(some_rows(), loss=loss, relaxed=relaxed, own=own))


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize(
    ("rows", "settings"),
    [
        ({"weighted": True}, {}),
        ({"missing": 0.3}, {}),
        ({"missing": 0.3}, {"relaxed": True}),
        ({"missing": 1.0}, {}),
        ({"missing": 0.2, "weighted": True}, {"sets": PAIRS}),
        ({}, {"sets": PAIRS}),
        ({}, {"sets": PAIRS, "relaxed": True}),
        ({}, {"sets": FREE, "free": True}),
        ({}, {"sets": FREE, "free": True, "relaxed": True}),
        ({"missing": 0.3}, {"sets": FREE, "free": True}),
        # Every feature selects its parent whatever the others do: pseudo-TAN.
        ({}, {"sets": FREE}),
        ({"missing": 0.3}, {"sets": FREE}),
        ({}, {"sets": REQUIRED}),
        ({"missing": 0.3}, {"sets": REQUIRED}),
        ({}, {"batch_size": 1000}),
        ({}, {"batch_size": 1}),
        ({"n_rows": 1}, {}),
        ({"n_classes": 1}, {"n_classes": 1}),
        ({"n_classes": 2}, {"n_classes": 2, "loss": "conditional"}),
        ({"kind": np.uint16}, {}),
    ],
    ids=str,
)
def test_all_kinds_of_rows_and_candidates(rows, settings, own):
    run(*both(some_rows(**rows), **settings, own=own))


@pytest.mark.parametrize("rate", [3e-3, 0.03, 0.1, 0.5])
@pytest.mark.parametrize("relaxed", [False, True])
def test_rates(rate, relaxed):
    run(*both(some_rows(), loss="conditional", relaxed=relaxed), rate=rate)


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("rate", [3e-3, 0.03, 0.5])
@pytest.mark.parametrize(
    ("rows", "settings"),
    [
        ({}, {}),
        ({"missing": 0.3, "weighted": True}, {}),
        ({"missing": 0.3}, {"sets": REQUIRED}),
        ({}, {"sets": PAIRS, "loss": "conditional"}),
        ({}, {"sets": FREE, "free": True, "batch_size": 25}),
    ],
    ids=str,
)
def test_momentum_ahead_of_time(rows, settings, rate, own):
    """Tables that are drawn are where Adam has them; others are seen farther on."""
    run(*both(some_rows(**rows), **settings, own=own, look_ahead=True), rate=rate)


def test_relaxed_samples_have_nothing_to_look_ahead():
    assert not both(some_rows(), relaxed=True, look_ahead=True)[0].look_ahead


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_with_fixed_weights_looking_ahead_changes_no_table(missing):
    """Also at rates that change from step to step."""
    rows = some_rows(missing=missing)
    runs = [both(rows, look_ahead=ahead)[0] for ahead in (False, True)]
    for fast in runs:
        random = np.random.default_rng(0)
        for rate in (0.1, 0.03, 0.2, 0.01):
            fast.epoch(rate, 0.0, 1.0, random)
        fast.retract()
        fast.retract()  # once more changes nothing
    assert_close(runs[0].tables.log_theta, runs[1].tables.log_theta)


@pytest.mark.parametrize("look_ahead", [False, True])
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_what_is_left_out_of_adam_is_little(loss, look_ahead):
    """The formulas of the paper, without exceptions: a small fraction of the way.

    It is most for the margin: classes that are far off have tiny derivatives, of which
    Adam, that divides by their size, makes steps of some percent of the rate.
    """
    rows = some_rows()
    fast, slow = both(rows, loss=loss, exact=True, look_ahead=look_ahead)
    slow.look_ahead = False
    begin = fast.tables.log_theta.copy()
    one, two = np.random.default_rng(3), np.random.default_rng(3)
    for _ in range(4):
        fast.epoch(0.03, 0.0, 1.0, one)
        slow.epoch(0.03, 0.0, 1.0, two)
    way = abs(slow.log_theta - begin).max()
    assert way > 0.05
    agree(fast, slow, (0.05 if loss == "margin" else 1e-3) * way)


@pytest.mark.parametrize("tau", [10.0, 0.1, 1e-3])
def test_temperatures(tau):
    run(*both(some_rows()), tau=tau)


def test_many_states():
    """Codes above 255 need two bytes."""
    states = (300, 2, 2, 2, 2)
    rows = some_rows(states=states, kind=np.uint16, missing=0.1)
    assert rows.codes.max() > 255
    run(*both(rows, states=states), epochs=2)


def test_one_feature():
    run(*both(some_rows(states=(3,)), (((),),), states=(3,)))


def test_noise_in_batches_is_the_same(monkeypatch):
    monkeypatch.setattr(gradient_descent, "NOISE", 1)
    run(*both(some_rows()))
    run(*both(some_rows(), own=True))


def first_gradients(fast, tau, rate=0.01, seed=5):
    """Rows, noise and gradients of a first step, read from the means of Adam."""
    random = np.random.default_rng(seed)
    rows = random.permutation(len(fast.rows.labels))
    noise = random.gumbel(size=(1, fast.tables.n_tables))[0]
    fast.epoch(rate, 0.01, tau, np.random.default_rng(seed))
    assert fast.steps == 1
    by_beta, by_phi = fast.state["mean"] / 0.1, fast.state["phi_mean"] / 0.1
    # The mean of the squares must be of the same gradients.
    assert_close(fast.state["root"], np.sqrt(0.001) * abs(by_beta), EXACT)
    assert_close(fast.state["phi_square"], 0.001 * by_phi**2, EXACT)
    return rows, noise, by_beta, by_phi


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("sets", [TREE, PAIRS], ids=["one parent", "two"])
def test_relaxed_gradients_are_finite_differences(loss, missing, sets, own):
    rows = some_rows(n_rows=9, missing=missing, weighted=True)
    fast, slow = both(rows, sets, loss, own=own, relaxed=True)
    slow.log_phi[:] = np.random.default_rng(2).normal(size=len(slow.log_phi))
    fast.log_phi[:] = slow.log_phi
    taken, noise, by_beta, by_phi = first_gradients(fast, tau=0.7)

    random = np.random.default_rng(6)
    for _ in range(4):
        along_beta, along_phi = (
            random.normal(size=len(slow.beta)),
            np.zeros(len(by_phi)),
        )
        along_phi[random.integers(len(by_phi))] = 1.0
        for d_beta, d_phi in ((along_beta, 0.0), (0.0, along_phi)):
            slope = numerical_gradient(
                lambda step, d_beta=d_beta, d_phi=d_phi: slow.value(
                    slow.beta + step * d_beta, slow.log_phi + step * d_phi, noise, 0.7,
                    taken,
                ),
                np.zeros(1),
            )  # fmt: skip
            assert_close(np.sum(by_beta * d_beta) + np.sum(by_phi * d_phi), slope, 1e-6)
    assert abs(by_phi).max() > 1e-3


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("own", [False, True])
def test_a_straight_through_step(free, own):
    """The tables drawn get their gradient; the weights that of the softened draw."""
    fast, slow = both(some_rows(), FREE, own=own, free=free, batch_size=43)
    taken, noise, by_beta, by_phi = first_gradients(fast, tau=0.5)
    expected = slow.gradients(noise, 0.5, taken)
    assert_close(by_beta, expected[0], EXACT)
    assert_close(by_phi, expected[1], EXACT)
    selection = slow.hard(slow.log_phi, noise)
    for slope, share in zip(slow.split(by_beta), selection, strict=False):
        assert slope.any() <= (share == 1.0)
    # Weights move also where nothing was drawn, but for the feature of one state.
    moved = [by_phi[tables].any() for tables in slow.of]
    assert moved == [True, True, False, True, True]
    assert all((by_phi[slow.of[j]] != 0.0).all() for j in (0, 1, 3, 4))


def test_cpts_that_are_not_sampled_for_long_stand_still():
    """Adam's momentum carries them on until it has died out."""
    fast, slow = both(some_rows(), loss="conditional", batch_size=2)
    run(fast, slow, epochs=1, weight_rate=0.0)
    before = fast.tables.log_theta.copy()
    for log_phi in (fast.log_phi, slow.log_phi):
        log_phi[[1, 2, 5]] = -200.0
    run(fast, slow, epochs=1, weight_rate=0.0, seed=12)
    assert not np.array_equal(
        slow.split(fast.tables.log_theta)[1], slow.split(before)[1]
    )
    run(fast, slow, epochs=17, weight_rate=0.0, seed=13)
    assert fast.tables.kept[1] == 0.0
    still = slow.split(fast.tables.log_theta.copy())
    run(fast, slow, epochs=1, weight_rate=0.0, seed=14)
    assert_close(slow.split(fast.tables.log_theta)[1], still[1], EXACT)
    # And they go on from there as if they had never been left out.
    for log_phi in (fast.log_phi, slow.log_phi):
        log_phi[[1, 2, 5]] = 0.0
    run(fast, slow, epochs=2, weight_rate=0.0, seed=15)
    assert fast.tables.kept[1] > 0.0


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("loss", ["conditional", "hybrid"])
def test_rows_that_are_all_but_certain(loss, own):
    """Some derivatives are far below the others of their row, and left out."""
    run(*both(some_rows(), loss=loss, own=own, spread=12.0))


def test_kernel_and_python_path_agree_for_long():
    rows = some_rows(missing=0.1, weighted=True)
    runs = [both(rows, own=own)[0] for own in (False, True)]
    for fast in runs:
        random = np.random.default_rng(0)
        for _ in range(25):
            fast.epoch(0.03, 0.01, 0.5, random)
    for name, array in runs[0].state.items():
        assert_close(array, runs[1].state[name], 1e-6)


def test_rows_to_learn_from():
    """Others are not looked at; the error of any rows is that of the best tables."""
    rows = some_rows(missing=0.2, weighted=True)
    learned, others = np.arange(0, 43, 2), np.arange(1, 43, 2)
    fast, _ = both(rows)
    some = GumbelDescent(
        fast.tables, rows, learned, LOSSES["hybrid"][0], batch_size=10, relaxed=False,
        unordered=False, look_ahead=False,
    )  # fmt: skip
    part = LabelledSamples(
        rows.codes[learned], rows.labels[learned], rows.weights[learned]
    )
    _, slow = both(part)
    one, two = np.random.default_rng(4), np.random.default_rng(4)
    some.epoch(0.03, 0.5, 1.0, one)
    slow.epoch(0.03, 0.5, 1.0, two)
    agree(some, slow)
    selection = slow.hard(slow.log_phi, np.zeros(len(slow.log_phi)))
    assert some.most_probable() == np.flatnonzero(selection).tolist()
    joint = slow.log_joint(slow.log_tables(), selection, rows.codes[others])
    wrong = joint.argmax(axis=1) != rows.labels[others]
    weight = rows.weights[others]
    assert_close(some.error(others), weight @ wrong / weight.sum(), EXACT)


def test_entropy():
    fast, _ = both(some_rows())
    sizes = [3, 1, 3, 2, 5]
    assert_close(fast.entropy(), np.mean(np.log(sizes)), EXACT)
    fast.log_phi[:3] = np.log([0.7, 0.2, 0.1]) + 5.0
    expected = np.log(sizes[1:]).sum() - np.array([0.7, 0.2, 0.1]) @ np.log(
        [0.7, 0.2, 0.1]
    )
    assert_close(fast.entropy(), expected / 5, EXACT)
    assert fast.most_probable() == [0, 3, 4, 7, 9]
    fast.log_phi[[1, 2]] = -np.inf  # not to be chosen at all
    assert np.isfinite(fast.entropy())


def test_the_most_probable_forest_has_no_cycle():
    fast, slow = both(some_rows(), FREE, free=True)
    for log_phi in (fast.log_phi, slow.log_phi):
        log_phi[:] = np.random.default_rng(1).normal(size=len(log_phi)) * 3
    chosen = np.flatnonzero(slow.hard(slow.log_phi, np.zeros(len(slow.log_phi))))
    assert fast.most_probable() == chosen.tolist()
    best = [max(tables, key=lambda t: slow.log_phi[t]) for tables in slow.of]
    assert fast.most_probable() != best
    fast.tables.network(fast.most_probable())  # would refuse a cycle


def test_the_network_has_the_tables_in_its_own_order():
    fast, slow = both(some_rows(), PAIRS)
    chosen = [0, 2, 6, 8, 15]
    structure, parameters = fast.tables.network(chosen)
    assert structure.feature_parents[:5] == ((), (0,), (0, 1), (0,), (1, 2))
    tables = slow.log_tables()
    for row in some_rows().codes:
        for c in range(3):
            expected = tables[-1][c]
            for t in chosen:
                owner, parents = slow.tables[t]
                expected += tables[t][tuple(row[v] for v in (owner, *parents))][c]
            found = sum(
                parameters.layout.table(parameters.log_theta, v)[
                    tuple(c if a == 5 else row[a] for a in axes)
                ]
                for v, axes in enumerate(parameters.layout.axes)
            )
            assert_close(found, expected, EXACT)
