from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import tanager
from tanager import (
    BayesNetClassifier,
    CapabilityError,
    Frequency,
    InputError,
    LossMinimizer,
    Structure,
)
from tanager.data import ArrayData
from tanager.data.folds import hold_out
from tanager.inference import engine_for
from tanager.losses import (
    AUCLoss,
    ConditionalLikelihoodLoss,
    CostSensitiveLoss,
    HybridLoss,
    JointLikelihoodLoss,
    MarginLoss,
)
from tanager.model import Parameters
from tanager.parameters import loss_minimizer
from tanager.parameters.margin_scale import typical_margin
from tanager.parameters.training_samples import LabelledSamples
from tests.reference import gradient as reference
from tests.strategies import random_data, random_structure
from tests.tolerance import EXACT, assert_close

LOSSES = [
    AUCLoss(),
    ConditionalLikelihoodLoss(),
    CostSensitiveLoss(),
    HybridLoss(),
    JointLikelihoodLoss(),
    MarginLoss(),
]


def seeded(seed=0):
    return np.random.default_rng(seed)


def problem(seed=0, n_rows=60, **options):
    data = random_data(seeded(seed), n_rows, 4, n_classes=3, **options)
    return random_structure(seeded(seed), data.schema), data


def value_of(loss, parameters, data):
    joint = engine_for(parameters).log_joint(data.codes)
    return loss.value_and_gradient(joint, data.labels.astype(int), data.weights)[0]


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_losses_end_below_their_start(loss, missing):
    structure, data = problem(1, missing=missing, weighted=True)
    learner = LossMinimizer(
        loss=loss, epochs=60, batch_size=20, start="random", rate=0.05
    )
    learned = learner.learn(structure, data, random_state=seeded())
    layout = learned.layout
    uniform = Parameters(layout, reference.log_tables(layout, np.zeros(layout.n_cells)))
    assert value_of(loss, learned, data) < value_of(loss, uniform, data)


@pytest.mark.numerical
def test_full_batches_follow_adam_by_its_text():
    """The learner from end to end, against the formulas and finite differences."""
    structure, data = problem(2, n_rows=25, weighted=True)
    loss = ConditionalLikelihoodLoss()
    learner = LossMinimizer(loss=loss, epochs=6, batch_size=None, rate=0.05, decay=0.1)
    learned = learner.learn(structure, data)
    layout = learned.layout

    def objective(beta):
        tables = Parameters(layout, reference.log_tables(layout, beta))
        return value_of(loss, tables, data) / data.weights.sum()

    start = Frequency(alpha=1.0).learn(structure, data).log_theta
    path = reference.adam_path(
        lambda beta: reference.numerical_gradient(objective, beta),
        start.copy(),
        [step["rate"] for step in learner.trace_],
    )
    expected = reference.log_tables(layout, path[-1])
    # Adam divides by the size of a gradient: tiny ones have the noise of differences.
    assert_close(objective(learned.log_theta), objective(expected), 1e-6)
    for step, beta in zip(learner.trace_, [start, *path[:-1]], strict=True):
        assert_close(step["objective"], objective(beta), 1e-6)


def test_likelihood_leads_back_to_the_frequencies():
    structure, data = problem(3, n_rows=300)
    exact = Frequency(alpha=1e-9).learn(structure, data)
    learner = LossMinimizer(
        loss=JointLikelihoodLoss(), epochs=400, batch_size=None, rate=0.1,
        start="random",
    )  # fmt: skip
    learned = learner.learn(structure, data, random_state=seeded())
    loss = JointLikelihoodLoss()
    assert value_of(loss, learned, data) < value_of(loss, exact, data) * (1 + 1e-4)


def test_weights_are_repetitions_when_all_rows_go_at_once():
    structure, data = problem(4, n_rows=40)
    times = seeded(1).integers(0, 4, 40)
    weighted = ArrayData(data.schema, data.codes, data.labels, times.astype(float))
    repeated = data.take(np.repeat(np.arange(40), times))
    learner = LossMinimizer(loss=HybridLoss(), batch_size=None, epochs=30)
    one, two = learner.learn(structure, weighted), learner.learn(structure, repeated)
    assert_close(one.log_theta, two.log_theta, 1e-8)


@pytest.mark.parametrize("early_stopping", [None, 0.3])
def test_a_margin_that_is_not_given_is_set_from_the_training_samples(early_stopping):
    structure, data = problem(4, n_rows=60)
    options = {"epochs": 3, "early_stopping": early_stopping}
    learner = LossMinimizer(loss=HybridLoss(gamma=None), **options)
    found = learner.learn(structure, data, random_state=seeded())
    assert learner.loss.gamma is None
    training = np.arange(60)
    if early_stopping is not None:
        training, _ = hold_out(data.labels.astype(int), early_stopping, seeded())
    gamma = typical_margin(data.take(training)) / 2
    given = LossMinimizer(loss=HybridLoss(gamma=gamma), **options)
    expected = given.learn(structure, data, random_state=seeded())
    assert_close(found.log_theta, expected.log_theta, EXACT)


def test_rows_without_label_or_weight_are_left_out():
    structure, data = problem(5)
    labels, weights = data.labels.copy(), np.ones(60)
    labels[::4], weights[1::4] = 3, 0.0
    partly = ArrayData(data.schema, data.codes, labels, weights)
    known = data.take(np.flatnonzero((labels < 3) & (weights > 0)))
    learner = LossMinimizer(loss=HybridLoss(), epochs=5, batch_size=7)
    one = learner.learn(structure, partly, random_state=seeded())
    two = learner.learn(structure, known, random_state=seeded())
    assert_close(one.log_theta, two.log_theta, EXACT)


@pytest.mark.parametrize("early_stopping", [None, 0.3])
def test_bits_follow_the_seed_and_nothing_else(early_stopping):
    structure, data = problem(6, missing=0.2)

    def learn(seed, n_jobs=None):
        rows = ArrayData(data.schema, data.codes, data.labels, None, n_jobs)
        learner = LossMinimizer(
            loss=HybridLoss(), epochs=5, batch_size=7, early_stopping=early_stopping
        )
        return learner.learn(structure, rows, random_state=seeded(seed)).log_theta

    assert np.array_equal(learn(1), learn(1))
    assert np.array_equal(learn(1), learn(1, n_jobs=3))
    assert not np.array_equal(learn(1), learn(2))


def test_warm_start():
    structure, data = problem(7)
    learner = LossMinimizer(epochs=30, batch_size=None)
    once = learner.learn(structure, data)
    first = learner.trace_[0]["objective"]
    learner.learn(structure, data, start=once)
    assert learner.trace_[0]["objective"] < first


@pytest.mark.parametrize(
    "learner",
    [
        LossMinimizer(),
        LossMinimizer(loss=MarginLoss()),
        LossMinimizer(loss=HybridLoss()),
    ],
)
def test_zeros_to_start_from_are_lifted(learner):
    structure, data = problem(7)
    start = Frequency(alpha=0.0).learn(structure, data)
    assert np.isinf(start.log_theta).any()
    learned = learner.set_params(epochs=5).learn(structure, data, start=start)
    assert np.isfinite(learned.log_theta).all()
    assert np.isfinite(learner.trace_[0]["objective"])


def test_early_stopping_keeps_the_best_tables():
    structure, data = problem(8, n_rows=80)
    learner = LossMinimizer(
        epochs=300, rate=0.3, decay=1.0, early_stopping=0.25, patience=5
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        learned = learner.learn(structure, data, random_state=seeded())
    errors = [step["held_out_error"] for step in learner.trace_]
    best = int(
        np.lexsort(([s["held_out_objective"] for s in learner.trace_], errors))[0]
    )
    assert learner.n_iter_ == len(errors) == best + 1 + 5
    # The rows held out are drawn first.
    watched = hold_out(data.labels.astype(int), 0.25, seeded())[1]
    joint = engine_for(learned).log_joint(data.codes[watched])
    wrong = np.mean(joint.argmax(axis=1) != data.labels[watched])
    assert_close(wrong, errors[best], EXACT)


def test_rows_held_out_teach_nothing():
    structure, data = problem(9)
    learner = LossMinimizer(loss=HybridLoss(), epochs=3, early_stopping=0.3)
    one = learner.learn(structure, data, random_state=seeded())
    trace = learner.trace_
    watched = hold_out(data.labels.astype(int), 0.3, seeded())[1]
    codes = data.codes.copy()
    codes[watched] = codes[watched][:, :] * 0
    learner.learn(
        structure, ArrayData(data.schema, codes, data.labels), random_state=seeded()
    )
    assert [s["objective"] for s in learner.trace_] == [s["objective"] for s in trace]
    assert np.isfinite(one.log_theta).all()


def test_single_rows_are_never_held_out():
    labels = np.array([0, 1, 2, 2, 2, 2])
    learned, watched = hold_out(labels, 0.9, seeded())
    assert set(labels[learned]) == {0, 1, 2}
    assert set(labels[watched]) == {2}
    assert len(watched) == 3


@pytest.mark.parametrize("labels", [[0, 1, 2], [0, 1, 1]])
def test_early_stopping_with_single_rows(labels):
    data = random_data(seeded(), 3, 2, n_classes=3)
    data = ArrayData(data.schema, data.codes, np.array(labels, dtype=np.uint8))
    structure = random_structure(seeded(), data.schema)
    learner = LossMinimizer(loss=HybridLoss(), epochs=4, early_stopping=0.5)
    learned = learner.learn(structure, data, random_state=seeded())
    assert np.isfinite(learned.log_theta).all()


@pytest.mark.parametrize("loss", [MarginLoss(), HybridLoss(), None])
def test_separable_rows_stay_finite(loss):
    X = [["a", "u"], ["b", "v"]] * 10
    parameters = LossMinimizer(loss=loss, epochs=500, rate=0.5, decay=1.0)
    model = BayesNetClassifier(structure="tan", parameters=parameters, random_state=0)
    model.fit(X, [0, 1] * 10)
    assert np.isfinite(model.network_.parameters.log_theta).all()
    assert model.predict(X).tolist() == [0, 1] * 10


def test_the_trace_lists_every_epoch():
    structure, data = problem(10)
    learner = LossMinimizer(loss=HybridLoss(), epochs=4, rate=0.1, decay=0.01)
    learner.learn(structure, data, random_state=seeded())
    assert [step["iteration"] for step in learner.trace_] == [1, 2, 3, 4]
    for step in learner.trace_:
        assert set(step) == {
            "iteration", "objective", "train_error", "rate", "seconds",
        }  # fmt: skip
        assert 0 <= step["train_error"] <= 1
    assert_close(learner.trace_[-1]["rate"], 0.1 * 0.01, EXACT)


class Squares:
    """A loss of a user's own, without a base class."""

    def value_and_gradient(self, log_joint, labels, weights):
        p = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        miss = p - np.eye(p.shape[1])[labels]
        weights = np.ones(len(labels)) if weights is None else weights
        value = weights @ (miss**2).sum(axis=1)
        slope = 2 * p * (miss - (miss * p).sum(axis=1, keepdims=True))
        return value, slope * weights[:, None]


def test_a_loss_of_ones_own():
    structure, data = problem(12, missing=0.1, weighted=True)
    learner = clone(LossMinimizer(loss=Squares(), epochs=80, batch_size=30))
    learned = learner.learn(structure, data, random_state=seeded())
    start = Frequency().learn(structure, data)
    assert value_of(Squares(), learned, data) < value_of(Squares(), start, data)


def test_losses_go_into_model_files(tmp_path):
    X, y = [["a"], ["b"]] * 4, [0, 1] * 4
    loss = CostSensitiveLoss(costs=[[0, 5], [1, 0]])
    parameters = LossMinimizer(loss=loss, epochs=3)
    model = BayesNetClassifier(parameters=parameters, random_state=0).fit(X, y)
    model.save(tmp_path / "model.json")
    again = tanager.load(tmp_path / "model.json")
    assert isinstance(again.parameters.loss, CostSensitiveLoss)
    assert again.parameters.loss.costs == [[0, 5], [1, 0]]
    model = BayesNetClassifier(parameters=LossMinimizer(loss=Squares(), epochs=3))
    with pytest.raises(CapabilityError, match="cannot be written"):
        model.fit(X, y).save(tmp_path / "other.json")


class Broken:
    def __init__(self, result):
        self.result = result

    def value_and_gradient(self, log_joint, labels, weights):
        return self.result(log_joint)


@pytest.mark.parametrize(
    ("loss", "error", "message"),
    [
        (object(), CapabilityError, "no method"),
        (Broken(lambda joint: joint.sum()), CapabilityError, "must return a pair"),
        (Broken(lambda joint: (0.0, joint[:, 0])), CapabilityError, "shape"),
        (Broken(lambda joint: (np.nan, joint)), InputError, "Broken.*not finite"),
        (Broken(lambda joint: (0.0, joint * np.inf)), InputError, "Broken.*gradient"),
        (Broken(lambda joint: (0.0, joint * 1e160)), InputError, "Broken.*so large"),
        (
            Broken(lambda joint: (0.0, np.full(joint.shape, 1e160))),
            InputError,
            "Broken.*so large",
        ),
        (
            Broken(lambda joint: (0.0, np.negative(joint, out=joint))),
            CapabilityError,
            "copy",
        ),
    ],
)
def test_broken_losses_are_named(loss, error, message):
    structure, data = problem(13)
    with pytest.raises(error, match=message):
        LossMinimizer(loss=loss).learn(structure, data)


def test_diverging_steps_are_reported():
    class Runaway:
        """A gradient that points uphill."""

        def value_and_gradient(self, log_joint, labels, weights):
            value, slope = JointLikelihoodLoss().value_and_gradient(
                log_joint, labels, weights
            )
            return value, -slope

    structure, data = problem(14)
    with pytest.warns(ConvergenceWarning, match="lower rate"):
        LossMinimizer(loss=Runaway(), rate=0.1).learn(structure, data)


def test_the_joint_likelihood_reaches_tables_without_the_class():
    data = random_data(seeded(), 200, 3, n_classes=2)
    structure = Structure(((), (0,), (1, 3), (0,)), 3)
    learner = LossMinimizer(
        loss=JointLikelihoodLoss(),
        epochs=400,
        batch_size=None,
        rate=0.1,
        decay=1e-4,
        start="random",
    )
    found = learner.learn(structure, data, random_state=seeded())
    # Its least value is at the frequencies.
    expected = Frequency(alpha=0.0).learn(structure, data)
    assert_close(np.exp(found.log_theta), np.exp(expected.log_theta), 1e-3)


def test_needs_a_labelled_row():
    structure, data = problem(16)
    nothing = ArrayData(data.schema, data.codes, np.full(60, 3, dtype=np.uint8))
    with pytest.raises(InputError, match="there are none"):
        LossMinimizer(loss=HybridLoss()).learn(structure, nothing)


def test_blocks_are_joined_in_order():
    _, data = problem(17, n_rows=20_000, missing=0.1, weighted=True)
    rows = LabelledSamples.of(data, LossMinimizer())
    assert np.array_equal(rows.codes, data.codes)
    assert rows.codes.flags.c_contiguous
    assert np.array_equal(rows.labels, data.labels)
    assert np.array_equal(rows.weights, data.weights)


@pytest.mark.parametrize(
    ("early_stopping", "n_arrays"), [(None, 4), (0.25, 5)], ids=["all", "held out"]
)
@pytest.mark.parametrize("least", [1, 2, 10])
def test_states_of_epochs_stay_below_their_size(
    early_stopping, n_arrays, least, monkeypatch
):
    """As many epochs lie between two states as the size of all demands."""
    structure, data = problem()
    kept = []

    class Recalling:
        def __getattr__(self, name):
            return getattr(data, name)

        def recall(self, name, compute):
            kept.append(compute())
            return kept[-1]

    learner = LossMinimizer(epochs=10, early_stopping=early_stopping)
    n_cells = len(learner.learn(structure, data).log_theta)
    state_bytes = n_arrays * 8 * n_cells
    for limit, size in ((10 * state_bytes // least, least), (1, 10)):
        kept.clear()
        monkeypatch.setattr(loss_minimizer, "KEPT_BYTES", limit)
        learner.learn(structure, Recalling(), random_state=seeded())
        assert [state.epoch for state in kept] == list(range(size, 11, size))
        assert all(state.n_bytes == state_bytes for state in kept)
