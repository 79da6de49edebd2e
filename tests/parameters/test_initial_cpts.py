from __future__ import annotations

import warnings
from itertools import permutations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import ConvergenceWarning

from tanager import (
    APN,
    DFE,
    ELR,
    EM,
    BayesNetClassifier,
    ConditionalLikelihood,
    Fixed,
    Frequency,
    LossMinimizer,
    Network,
    Schema,
    Structure,
    Variable,
)
from tanager.data import ArrayData
from tanager.losses import HybridLoss
from tanager.parameters.initial_cpts import make_initial_cpts
from tests.strategies import random_dag, random_data
from tests.tolerance import assert_close

ROWS = 1500
TRUE_H = np.array([[0.8, 0.1, 0.1], [0.1, 0.2, 0.7]])
"""P(h | class)."""

TRUE_X = np.array([[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0.05, 0.15, 0.8]])
"""P(x | h), for each of five features."""

HIDDEN = Structure(((5,), (5,), (5,), (5,), (5,), (6,), ()), 6)
"""Class -> h -> x0..x4, h being variable 5."""


def drawn_rows(random, n_rows, hide=True):
    """Rows of the network above; of h only its states are known."""
    labels = random.integers(0, 2, n_rows)
    h = (random.random(n_rows)[:, None] > TRUE_H[labels].cumsum(axis=1)).sum(axis=1)
    below = TRUE_X[h].cumsum(axis=1)[:, None]
    x = (random.random((n_rows, 5))[..., None] > below).sum(axis=2)
    codes = np.column_stack([x, np.full(n_rows, 3) if hide else h])
    names = [*(f"x{j}" for j in range(5)), "h"]
    variables = [Variable(name, (0, 1, 2)) for name in names]
    schema = Schema((*variables, Variable("class", (0, 1))), target=6)
    codes = np.asfortranarray(codes.astype(np.uint8))
    return ArrayData(schema, codes, labels.astype(np.uint8))


def log_likelihood(structure, parameters, data):
    """Mean of log P(class, x) and accuracy."""
    network = Network(data.schema, structure, parameters)
    joint = network.engine.log_joint(data.codes)
    own = joint[np.arange(len(joint)), data.labels]
    return own.mean(), (joint.argmax(axis=1) == data.labels).mean()


def test_families_that_were_counted_have_their_frequencies():
    random = np.random.default_rng(0)
    data = random_data(random, 60, 4, missing=0.3)
    structure = random_dag(random, data.schema)
    found = make_initial_cpts(structure, data, Frequency(), random)
    expected = Frequency().learn(structure, data).log_theta
    assert np.array_equal(found, expected)


def test_children_of_a_hidden_variable_are_near_what_was_counted_without_it():
    data = drawn_rows(np.random.default_rng(1), 300)
    # x1 has h and x0 as parents, the class has h; h itself has x4.
    structure = Structure(((), (5, 0), (6,), (), (), (4,), (5,)), 6)
    counts = data.count(structure.families)
    found = make_initial_cpts(structure, data, Frequency(), np.random.default_rng(2))
    again = make_initial_cpts(
        structure, data, Frequency(), np.random.default_rng(2), counts
    )
    other = make_initial_cpts(structure, data, Frequency(), np.random.default_rng(3))
    assert np.array_equal(found, again)
    plain = Frequency().log_tables(counts)
    layout = counts.layout
    for t in range(7):
        table = layout.table(found, t)
        total = np.exp(table).sum(axis=layout.owner_axis(t))
        assert_close(total, 1.0)
        if t in (1, 6):
            assert not np.array_equal(table, layout.table(other, t))
        else:
            # The table of h, too: its parent is observed.
            assert np.array_equal(table, layout.table(plain, t))
    of_x1 = np.exp(layout.table(found, 1))  # axes h, x0, x1
    assert layout.axes[1] == (5, 0, 1)
    without = np.exp(Frequency().log_tables(data.count([(0, 1)]))).reshape(3, 3)
    assert np.abs(of_x1 - without).max() < 0.35
    assert (np.ptp(of_x1, axis=0) > 0.001).all()


def test_members_that_are_never_observed_together():
    data = drawn_rows(np.random.default_rng(4), 200, hide=False)
    codes = data.codes.copy(order="F")
    codes[:100, 0] = 3
    codes[100:, 1] = 3
    data = ArrayData(data.schema, codes, data.labels)
    structure = Structure(((), (0,), (), (), (), (), ()), 6)
    found = make_initial_cpts(structure, data, Frequency(), np.random.default_rng(5))
    table = np.exp(data.count(structure.families).layout.table(found, 1))
    alone = (np.bincount(codes[:100, 1], minlength=3) + 1) / 103
    assert np.ptp(table, axis=0).min() > 0.001
    assert np.abs(table - alone).max() < 0.35


@pytest.mark.parametrize(
    "learner", [EM(), EM(alpha=0.0), APN(solver="lbfgs"), APN(max_iter=400)]
)
def test_a_hidden_variable_is_found(learner):
    random = np.random.default_rng(6)
    data, fresh = drawn_rows(random, ROWS), drawn_rows(random, 4000)
    found = learner.learn(HIDDEN, data, random_state=np.random.default_rng(0))
    value, right = log_likelihood(HIDDEN, found, fresh)
    bayes = Structure.class_rooted([()] * 7, 6)
    apart = Structure(((),) * 7, 6)
    for without in (bayes, apart):
        simple = log_likelihood(without, Frequency().learn(without, data), fresh)
        assert value > simple[0] + 0.1
        assert right >= simple[1]
    # Its states are those of the truth under other names.
    of_h = np.exp(found.log_table(5)).T
    of_x = np.exp([found.log_table(j) for j in range(5)])
    order = min(
        map(list, permutations(range(3))),
        key=lambda order: np.abs(of_x[:, order] - TRUE_X).max(),
    )
    assert np.abs(of_x[:, order] - TRUE_X).max() < 0.1
    assert np.abs(of_h[:, order] - TRUE_H).max() < 0.1


@pytest.mark.parametrize("learner", [EM(max_iter=20), APN(max_iter=20)])
def test_a_seed_gives_the_same_tables(learner):
    data = drawn_rows(np.random.default_rng(6), 300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        one, again, other = (
            learner.learn(HIDDEN, data, random_state=np.random.default_rng(seed))
            for seed in (0, 0, 1)
        )
    assert np.array_equal(one.log_theta, again.log_theta)
    assert not np.array_equal(one.log_theta, other.log_theta)


@pytest.mark.parametrize(
    "learner",
    [
        ELR(solver="lbfgs", folds=3),
        ELR(solver="cg", folds=None, max_iter=30),
        LossMinimizer(epochs=30),
    ],
)
def test_discriminative_learners_use_a_hidden_variable(learner):
    random = np.random.default_rng(7)
    data, fresh = drawn_rows(random, ROWS), drawn_rows(random, 4000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = learner.learn(HIDDEN, data, random_state=np.random.default_rng(0))
    truth = drawn_rows(np.random.default_rng(8), 20_000, hide=False)
    best = log_likelihood(HIDDEN, Frequency().learn(HIDDEN, truth), fresh)[1]
    assert log_likelihood(HIDDEN, found, fresh)[1] > best - 0.02


LEARNERS = [
    Frequency(),
    EM(),
    APN(),
    DFE(),
    ConditionalLikelihood(),
    ELR(solver="cg"),
    ELR(solver="lbfgs"),
    LossMinimizer(loss=HybridLoss(), epochs=3),
]


@pytest.mark.parametrize("learner", LEARNERS)
def test_columns_without_a_value(learner):
    random = np.random.default_rng(9)
    n_rows = 40
    X = pd.DataFrame(
        {
            "a": random.choice(list("uvw"), n_rows),
            "declared": pd.Categorical([None] * n_rows, categories=["p", "q"]),
            "objects": pd.Series([None] * n_rows, dtype=object),
            "numbers": np.nan,
        }
    )
    y = random.integers(0, 2, n_rows)
    arcs = [("declared", "a"), ("class", "declared"), ("objects", "class")]
    structures = ["nb", "tan"]
    if not isinstance(learner, ConditionalLikelihood):
        structures.append(Fixed([*arcs, ("a", "numbers")], class_rooted=False))
    for structure in structures:
        model = BayesNetClassifier(
            structure=structure, parameters=learner, random_state=0
        ).fit(X, y)
        assert model.network_.schema[1].states == ("p", "q")
        assert_close(model.predict_proba(X).sum(axis=1), 1.0)


def test_states_of_a_hidden_polars_column():
    column = pl.Series([None] * 4, dtype=pl.Enum(["p", "q", "r"]))
    X = pl.DataFrame({"a": ["u", "v", "u", "v"], "h": column})
    arcs = Fixed([("class", "h"), ("h", "a")], class_rooted=False)
    model = BayesNetClassifier(structure=arcs, parameters=EM(), random_state=0)
    assert model.fit(X, [0, 1, 0, 1]).network_.schema[1].states == ("p", "q", "r")
    assert model.score(X, [0, 1, 0, 1]) == 1.0
