"""`GumbelTree` as a whole: what it finds, hands over, reports, saves and refuses."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import warnings
from itertools import count
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import tanager
from tanager import (
    BayesNetClassifier,
    CapabilityError,
    ChowLiu,
    ConditionalLikelihood,
    Constraints,
    Frequency,
    GumbelTree,
    InputError,
    Schema,
    Variable,
)
from tanager.data import ArrayData
from tanager.data.folds import hold_out
from tanager.losses import (
    AUCLoss,
    ConditionalLikelihoodLoss,
    HybridLoss,
    JointLikelihoodLoss,
    MarginLoss,
)
from tanager.structure import StructureLearner, StructureResult
from tanager.structure.gumbel import gumbel_tree, training_loop
from tanager.utils import progress
from tanager.utils.fingerprint import describe
from tests.strategies import random_data
from tests.tolerance import EXACT, assert_close

NAMES = ["x0", "x1", "x2", "x3"]


def table(n_rows=120, n_features=4):
    """Rows of text; of any two neighbours the second depends on the first."""
    random = np.random.default_rng(2)
    y = random.integers(0, 3, n_rows)
    X = np.empty((n_rows, n_features), dtype=object)
    last = y
    for j in range(n_features):
        noise = random.integers(0, 3, n_rows) * (random.random(n_rows) < 0.4)
        last = (last + y * (j % 2) + noise) % 3
        X[:, j] = np.array(["a", "b", "c"])[last]
    return X, y


def fitted(rows=None, *, parameters="keep", random_state=0, n_jobs=None, **arguments):
    X, y = table() if rows is None else rows
    learner = GumbelTree(**{"epochs": 3, "structure_rate": 0.1, **arguments})
    return BayesNetClassifier(
        structure=learner,
        parameters=parameters,
        random_state=random_state,
        n_jobs=n_jobs,
    ).fit(X, y)


def tables(model):
    return model.network_.parameters.log_theta


def feature_arcs(model):
    return {(a, b) for a, b in model.network_.edges if a != "class"}


def same(one, two, but=("seconds",)):
    """Whether two models are the same to the last bit."""
    stories = [
        [
            {k: v for k, v in step.items() if k not in but}
            for step in m.trace_["structure"]
        ]
        for m in (one, two)
    ]
    return (
        one.network_.edges == two.network_.edges
        and np.array_equal(tables(one), tables(two))
        and stories[0] == stories[1]
    )


# What it finds


def tree_data(n_rows=1200):
    """Rows of a tree in which every arc is strong, and the arcs."""
    random = np.random.default_rng(0)
    parent = [-1, 0, 0, 1, 1, 3]
    states = (3, 2, 3, 4, 2, 3)
    labels = random.integers(0, 3, n_rows)
    codes = np.zeros((n_rows, 6), dtype=np.uint8, order="F")
    for j, (above, r) in enumerate(zip(parent, states, strict=True)):
        source = labels if above < 0 else codes[:, above] + labels
        noisy = random.random(n_rows) < 0.25
        codes[:, j] = np.where(noisy, random.integers(0, r, n_rows), source % r)
    variables = [Variable(f"f{j}", tuple(range(r))) for j, r in enumerate(states)]
    schema = Schema((*variables, Variable("class", (0, 1, 2))), target=6)
    return ArrayData(schema, codes, labels.astype(np.uint8)), parent


def test_it_recovers_the_chow_liu_tree():
    """[1], section 4.6: with the likelihood alone and an order that has the tree."""
    data, parent = tree_data()
    tree = ChowLiu().learn(data).structure
    undirected = {frozenset((i, j)) for j, i in enumerate(parent) if i >= 0}
    arcs = [(i, j) for j, of in enumerate(tree.feature_parents[:6]) for i in of]
    assert {frozenset(arc) for arc in arcs} == undirected
    for settings in ({}, {"estimator": "relaxed"}, {"candidates": "information"}):
        learner = GumbelTree(
            JointLikelihoodLoss(),
            **{
                "order": "chow-liu",
                "start": "frequency",
                "n_candidates": 4 if settings else None,
                "epochs": 12,
                "structure_rate": 0.05,
                **settings,
            },
        )
        found = learner.learn(data, random_state=np.random.default_rng(1))
        assert found.structure.parents == tree.parents


def test_without_an_order_it_finds_the_tree_too():
    data, parent = tree_data()
    learner = GumbelTree(
        JointLikelihoodLoss(),
        start="frequency",
        order=None,
        n_candidates=None,
        epochs=12,
        structure_rate=0.05,
    )
    found = learner.learn(data, random_state=np.random.default_rng(1)).structure
    arcs = {frozenset((i, j)) for j in range(6) for i in found.feature_parents[j]}
    assert arcs == {frozenset((i, j)) for j, i in enumerate(parent) if i >= 0}


def test_the_likelihood_ends_near_the_frequencies():
    """From random tables the likelihood alone leads to the relative frequencies."""
    data, _ = tree_data(600)
    learner = GumbelTree(
        JointLikelihoodLoss(),
        start="random",
        order="chow-liu",
        epochs=60,
        rate=0.1,
        structure_rate=0.05,
        n_candidates=2,
    )
    found = learner.learn(data, random_state=np.random.default_rng(1))
    counted = Frequency(alpha=1e-3).learn(found.structure, data)
    assert_close(np.exp(found.start.log_theta), np.exp(counted.log_theta), 0.06)


@pytest.mark.parametrize(
    "order",
    [
        "random", "ro", "OMI", "omisp", "ocr", "min-omi", "chow-liu", "rows",
        "diagonal", "centre", ["x2", "x0", "x3", "x1"], None,
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "candidates", ["random", "nearest", "information", {"x1": ["x2", "x3"]}], ids=str
)
def test_orders_and_candidates_of_all_kinds(order, candidates):
    if isinstance(candidates, dict) and order in ("rows", "diagonal", "centre"):
        candidates = {"x3": ["x0", "x1"]}
    if isinstance(candidates, dict) and order == ["x2", "x0", "x3", "x1"]:
        candidates = {"x1": ["x2", "x3"]}
    model = fitted(order=order, candidates=candidates, n_candidates=2, epochs=2)
    network = model.network_
    assert all(("class", name) in network.edges for name in NAMES)
    if isinstance(candidates, dict):
        (child,) = candidates
        for parent, other in feature_arcs(model):
            assert other == child
            assert parent in candidates[child]
    if isinstance(order, list):
        for parent, child in feature_arcs(model):
            assert order.index(parent) < order.index(child)


@pytest.mark.parametrize("k", [1, 2])
def test_numbers_of_parents(k):
    model = fitted(k=k, n_candidates=None, order=NAMES, epochs=20, rate=0.1)
    counts = [len(of) for of in model.network_.structure.feature_parents[:-1]]
    assert counts[0] == 0
    assert max(counts) == k


def test_constraints():
    arcs = {
        "constraints": Constraints(required=[("x3", "x0")], forbidden=[("x3", "x1")]),
    }
    for order in ("random", None, "chow-liu"):
        model = fitted(order=order, n_candidates=None, **arcs)
        assert ("x3", "x0") in model.network_.edges
        assert ("x3", "x1") not in model.network_.edges
    model = fitted(
        order=None,
        constraints=Constraints(tiers=[["x3"], ["x0", "x1", "x2"]]),
        n_candidates=None,
    )
    assert not any(child == "x3" for _, child in feature_arcs(model))


def test_preferred_arcs_are_taken_where_nothing_else_speaks():
    arcs = [("x0", "x2"), ("x1", "x3"), ("class", "x0")]
    settings = {"order": NAMES, "structure_rate": 0.0, "n_candidates": None}
    model = fitted(prefer=arcs, **settings)
    assert feature_arcs(model) == {("x0", "x2"), ("x1", "x3")}
    assert not feature_arcs(fitted(prefer=arcs, preference=0.0, **settings))
    informed = fitted(prefer="information", **settings | {"order": "chow-liu"})
    tree = BayesNetClassifier(structure="tan").fit(*table())
    assert set(informed.network_.edges) == set(tree.network_.edges)


# What it hands over


class GivenTree(StructureLearner):
    def __init__(self, structure):
        self.structure = structure

    def learn(self, data, *, random_state=None):
        return StructureResult(self.structure)


@pytest.mark.parametrize("order", ["random", None])
def test_kept_tables_are_those_that_were_learned(order):
    X, y = table()
    model = fitted(order=order, held_out=0.25, epochs=15, rate=0.1)
    assert model.parameters_.__class__.__name__ == "KeepTables"
    # The last entry of the trace is the error of this very network on some of the rows.
    trace = model.trace_["structure"]
    wrong = (model.predict(X) != y).sum()
    n_watched = round(0.25 * len(y))
    assert trace[-1]["held_out_error"] * n_watched <= wrong + 1e-9
    layout = model.network_.parameters.layout
    for t in range(layout.n_tables):
        total = np.exp(layout.table(tables(model), t)).sum(axis=layout.owner_axis(t))
        assert_close(total, 1.0, EXACT)


def test_the_held_out_error_is_that_of_the_network():
    """With all rows of a class alike, those held out are as good as any."""
    X = np.array([["a"], ["b"], ["b"], ["b"]] * 20, dtype=object)
    y = np.array([0, 1, 1, 2] * 20)
    model = fitted((X, y), held_out=0.5, rate=0.3, epochs=10)
    wrong = model.predict(X) != y
    assert wrong.mean() == 0.25
    assert_close(model.trace_["structure"][-1]["held_out_error"], wrong.mean(), EXACT)


@pytest.mark.parametrize(
    "settings",
    [
        {"order": "omi"},
        {"order": "chow-liu", "start": "frequency"},
        {"order": None, "candidates": "information", "n_candidates": 2},
        {"prefer": "information"},
    ],
    ids=str,
)
def test_rows_held_out_do_not_teach(settings):
    data, _ = tree_data(300)
    _, validation = hold_out(data.labels, 0.4, np.random.default_rng(1))
    codes = data.codes.copy(order="F")
    codes[validation] = 0
    learner = GumbelTree(epochs=3, held_out=0.4, **settings)
    one, two = (
        learner.learn(rows, random_state=np.random.default_rng(1))
        for rows in (data, ArrayData(data.schema, codes, data.labels))
    )
    assert one.structure == two.structure
    assert np.array_equal(one.start.log_theta, two.start.log_theta)
    assert one.trace[-1]["held_out_error"] != two.trace[-1]["held_out_error"]


def test_other_parameters_for_the_structure_found():
    """Frequencies are counted anew; iterations begin at the tables handed over."""
    kept, counted = fitted(), fitted(parameters=Frequency(alpha=0.5))
    assert counted.network_.edges == kept.network_.edges
    learner = GivenTree(kept.network_.structure)
    expected = BayesNetClassifier(structure=learner, parameters=Frequency(alpha=0.5))
    assert np.array_equal(tables(counted), tables(expected.fit(*table())))
    climbed = fitted(parameters=ConditionalLikelihood())
    assert climbed.network_.edges == kept.network_.edges
    assert not np.allclose(tables(climbed), tables(kept), atol=1e-3)


def test_seeds():
    one, two, three = fitted(), fitted(), fitted(random_state=1)
    assert same(one, two)
    assert not same(one, three)


def test_any_number_of_threads_gives_the_same_bits():
    assert same(fitted(n_jobs=1), fitted(n_jobs=2))


def test_known_and_own_losses():
    class Own(HybridLoss):
        """The same, but not known to the kernels."""

    known, own = fitted(loss=HybridLoss()), fitted(loss=Own())
    assert known.network_.edges == own.network_.edges
    assert_close(tables(known), tables(own))
    for loss in (ConditionalLikelihoodLoss(), MarginLoss(), AUCLoss()):
        assert not same(known, fitted(loss=loss))


def test_by_default_the_margin_is_set_from_the_data():
    """Half of the median log margin of naive Bayes."""
    X, y = table()
    naive = BayesNetClassifier(structure="nb", parameters=Frequency(alpha=1.0))
    log_proba = naive.fit(X, y).predict_log_proba(X)
    own = log_proba[np.arange(len(y)), y]
    log_proba[np.arange(len(y)), y] = -np.inf
    gamma = float(np.median(abs(own - log_proba.max(axis=1)))) / 2
    default, given = fitted(), fitted(loss=HybridLoss(gamma=gamma))
    assert default.network_.edges == given.network_.edges
    assert_close(tables(default), tables(given), 1e-6)


def test_rows_without_a_label_do_not_count():
    random = np.random.default_rng(3)
    data = random_data(random, 60, 4, n_classes=2, unlabelled=0.3, missing=0.1)
    labelled = data.labels < 2
    part = ArrayData(
        data.schema, np.asfortranarray(data.codes[labelled]), data.labels[labelled]
    )
    learner = GumbelTree(epochs=3)
    found = [
        learner.learn(rows, random_state=np.random.default_rng(0))
        for rows in (data, part)
    ]
    assert found[0].structure == found[1].structure
    assert np.array_equal(found[0].start.log_theta, found[1].start.log_theta)


def test_missing_values():
    X, y = table()
    X[np.random.default_rng(0).random(X.shape) < 0.2] = None
    model = fitted((X, y), epochs=10, rate=0.1)
    assert np.isfinite(tables(model)).all()
    assert model.score(X, y) > 0.5


@pytest.mark.parametrize("order", ["random", None])
def test_single_feature(order):
    X, y = table()
    model = fitted((X[:, :1], y), order=order)
    assert model.network_.edges == (("class", "x0"),)


def test_a_constant_feature_and_a_single_class():
    random = np.random.default_rng(0)
    data = random_data(random, 30, 3, n_classes=1)
    found = GumbelTree(epochs=2, held_out=0.3).learn(data, random_state=random)
    assert found.trace[-1]["held_out_error"] == 0.0
    X, y = table()
    X[:, 1] = "always"
    assert np.isfinite(tables(fitted((X, y), order=None))).all()


def test_a_single_row():
    data = random_data(np.random.default_rng(0), 1, 3, n_classes=2)
    found = GumbelTree(epochs=2, held_out=0.5).learn(
        data, random_state=np.random.default_rng(0)
    )
    assert "held_out_error" not in found.trace[-1]  # there is none to hold out


def test_no_features():
    schema = Schema((Variable("class", (0, 1)),), target=0)
    codes = np.empty((5, 0), dtype=np.uint8, order="F")
    data = ArrayData(schema, codes, np.array([0, 1, 1, 1, 1], dtype=np.uint8))
    for order in ("random", None):
        found = GumbelTree(
            JointLikelihoodLoss(),
            order=order,
            epochs=80,
            rate=0.3,
            prefer="information",
        ).learn(data, random_state=np.random.default_rng(0))
        assert found.structure.parents == ((),)
        assert_close(np.exp(found.start.log_theta), [0.2, 0.8], 0.03)


# What it reports


def test_trace():
    trace = fitted(
        epochs=5, held_out=0.2, rate=0.2, decay=0.01, temperature=(8.0, 0.5)
    ).trace_["structure"]
    assert [step["iteration"] for step in trace] == [1, 2, 3, 4, 5]
    assert set(trace[0]) == {
        "iteration", "objective", "train_error", "entropy", "temperature", "rate",
        "seconds", "held_out_error",
    }  # fmt: skip
    assert_close([step["rate"] for step in trace], 0.2 * 0.01 ** (np.arange(5) / 4))
    assert_close(
        [step["temperature"] for step in trace], 8.0 * (0.5 / 8.0) ** (np.arange(5) / 4)
    )
    assert all(type(value) in (int, float) for value in trace[0].values())
    assert all(0.0 <= step["train_error"] <= 1.0 for step in trace)
    seconds = [step["seconds"] for step in trace]
    assert seconds == sorted(seconds)
    assert "held_out_error" not in fitted().trace_["structure"][0]


def test_choices_become_certain_and_the_loss_falls():
    trace = fitted(epochs=60, rate=0.1, structure_rate=0.3).trace_["structure"]
    assert trace[-1]["entropy"] < 0.2 * trace[0]["entropy"]
    assert trace[-1]["objective"] < trace[0]["objective"]


def test_verbose(capsys):
    fitted(verbose=True, epochs=2)
    out, err = capsys.readouterr()
    assert not out
    lines = err.splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("epoch 2 of at most 2 (")
    for word in (": objective ", ", train error 0.", ", entropy ", " s)"):
        assert word in lines[1]
    assert "held-out" not in err
    fitted(verbose=True, epochs=1, held_out=0.2)
    assert ", held out error 0." in capsys.readouterr().err
    fitted()
    assert capsys.readouterr() == ("", "")


def test_time_is_up():
    with pytest.warns(ConvergenceWarning, match=r"max_seconds=1e-09 and 1 epoch"):
        model = fitted(max_seconds=1e-9)
    assert len(model.trace_["structure"]) == 1  # one epoch at least
    assert np.isfinite(tables(model)).all()


class Interrupting(HybridLoss):
    """Stops in the middle of an epoch, after some batches."""

    left = 0
    error: type[BaseException] = KeyboardInterrupt

    def value_and_gradient(self, log_joint, labels, weights):
        Interrupting.left -= 1
        if Interrupting.left == 0:
            raise self.error("by the test")
        return super().value_and_gradient(log_joint, labels, weights)


def test_ctrl_c(monkeypatch):
    monkeypatch.setattr(Interrupting, "left", 8)
    with pytest.warns(ConvergenceWarning, match=r"was interrupted: .* after 2 epochs"):
        model = fitted(loss=Interrupting(), batch_size=40)
    assert len(model.trace_["structure"]) == 2
    assert np.isfinite(tables(model)).all()
    assert model.score(*table()) > 0.3


# What it saves

RUNS = {
    "known loss": {},
    "own loss": {"loss": Interrupting()},
    "no order": {"order": None, "held_out": 0.25, "start": "frequency"},
    "two parents": {"k": 2, "estimator": "relaxed", "prefer": "information"},
}


class KilledError(Exception):
    pass


def save_at_once(monkeypatch):
    """Save after every epoch, however long it takes."""
    monkeypatch.setattr(training_loop, "SAVE_SECONDS", 0.0)
    monkeypatch.setattr(training_loop, "SAVE_FRACTION", np.inf)


def killed_after(monkeypatch, n_saves):
    """Save after every epoch, and stop after some of them."""
    original, saves = training_loop.TrainingLoop._save, []

    def save(*arguments):
        original(*arguments)
        saves.append(1)
        if len(saves) == n_saves:
            raise KilledError

    save_at_once(monkeypatch)
    monkeypatch.setattr(training_loop.TrainingLoop, "_save", save)


@pytest.mark.parametrize("name", RUNS)
def test_an_interrupted_run_ends_as_a_whole_one(name, tmp_path, monkeypatch):
    path = tmp_path / "run.npz"
    arguments = {"epochs": 6, "batch_size": 25, **RUNS[name]}
    whole = fitted(**arguments)
    for n_saves in (2, 3):  # twice, in epochs 2 and 5
        with monkeypatch.context() as patch:
            killed_after(patch, n_saves)
            with pytest.raises(KilledError):
                fitted(**arguments, checkpoint=path)
            assert path.exists()
    again = fitted(**arguments, checkpoint=path)
    assert same(again, whole)
    assert not path.exists()
    seconds = [step["seconds"] for step in again.trace_["structure"]]
    assert seconds == sorted(seconds)


def test_an_exception_in_the_middle_of_an_epoch(tmp_path, monkeypatch):
    path = tmp_path / "run.npz"
    arguments = {"loss": Interrupting(), "epochs": 4, "batch_size": 40}
    whole = fitted(**arguments)
    save_at_once(monkeypatch)
    monkeypatch.setattr(Interrupting, "left", 8)
    monkeypatch.setattr(Interrupting, "error", RuntimeError)
    with pytest.raises(RuntimeError, match="by the test"):
        fitted(**arguments, checkpoint=path)
    assert same(fitted(**arguments, checkpoint=path), whole)
    # Ctrl-C gives what there is, and the file stays.
    monkeypatch.setattr(Interrupting, "left", 8)
    monkeypatch.setattr(Interrupting, "error", KeyboardInterrupt)
    with pytest.warns(ConvergenceWarning, match="interrupted: .* after 2"):
        fitted(**arguments, checkpoint=path)
    assert path.exists()
    assert same(fitted(**arguments, checkpoint=path), whole)


def test_more_time_goes_on_where_it_was_up(tmp_path):
    path = tmp_path / "run.npz"
    with pytest.warns(ConvergenceWarning, match="max_seconds"):
        fitted(checkpoint=path, max_seconds=1e-9)
    assert path.exists()
    assert same(fitted(checkpoint=path, max_seconds=1e6), fitted())
    assert not path.exists()


def ticking(monkeypatch):
    """A clock that goes on by a second whenever it is asked."""
    ticks = count()
    for module in (gumbel_tree, training_loop, progress):
        monkeypatch.setattr(module, "perf_counter", lambda: float(next(ticks)))


def test_time_is_up_again_and_again(tmp_path, monkeypatch):
    path = tmp_path / "run.npz"
    arguments = {"epochs": 9, "order": None, "held_out": 0.25}
    whole = fitted(**arguments)
    ticking(monkeypatch)
    lengths = []
    while not lengths or path.exists():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            part = fitted(**arguments, checkpoint=path, max_seconds=8.0)
        lengths.append(len(part.trace_["structure"]))
    assert lengths == sorted(set(lengths))
    assert len(lengths) > 2
    assert same(part, whole)


def test_large_states_are_saved_less_often(tmp_path, monkeypatch):
    """Saving takes a second by this clock, and may take one in twenty."""
    saves = []
    monkeypatch.setattr(training_loop, "SAVE_SECONDS", 0.0)
    monkeypatch.setattr(
        training_loop.TrainingLoop, "_save", lambda run: saves.append(run)
    )
    ticking(monkeypatch)
    model = fitted(epochs=60, checkpoint=tmp_path / "run.npz")
    seconds = model.trace_["structure"][-1]["seconds"]
    assert 0.5 * seconds / 20 < len(saves) <= seconds / 20 + 1


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_killed_process(tmp_path):
    """Also of a loss without a text of its own, which shows where it is in memory."""
    path = tmp_path / "run.npz"
    program = dedent(
        """
        import os, signal, sys
        from tests.structure.gumbel import test_gumbel_tree as tests
        from tanager.structure.gumbel import training_loop

        training_loop.SAVE_SECONDS, training_loop.SAVE_FRACTION = 0.0, float("inf")
        tests.PlainLoss.dies = 3
        tests.fitted(loss=tests.PlainLoss(5.0), batch_size=None, checkpoint=sys.argv[1])
        """
    )
    root = Path(__file__).parents[3]
    search = os.pathsep.join([str(root), *filter(None, sys.path)])
    ended = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        env={**os.environ, "PYTHONPATH": search},
        cwd=root,
        check=False,
        timeout=300,
    )
    assert ended.returncode == -signal.SIGKILL
    assert path.exists()
    whole = fitted(loss=PlainLoss(5.0), batch_size=None)
    again = fitted(loss=PlainLoss(5.0), batch_size=None, checkpoint=path)
    assert same(again, whole)
    assert again.trace_["structure"][0]["seconds"] > 0.0
    assert os.listdir(tmp_path) == []


class PlainLoss:
    """Any object with the method is a loss."""

    dies = 0

    def __init__(self, lambda_):
        self.inner = HybridLoss(lambda_=lambda_)
        self.costs = np.arange(3.0)

    def value_and_gradient(self, log_joint, labels, weights):
        if PlainLoss.dies:
            PlainLoss.dies -= 1
            if PlainLoss.dies == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return self.inner.value_and_gradient(log_joint, labels, weights)


X, Y = table()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rate": 0.01}, r"rate was None and is 0\.01 now"),
        ({"loss": PlainLoss(2.0)}, r"loss\.inner\.lambda_ was 5\.0 and is 2\.0 now"),
        ({"loss": HybridLoss()}, "loss.class was 'PlainLoss' and is 'HybridLoss' now"),
        ({"epochs": 4}, "epochs was 3 and is 4 now"),
        ({"random_state": 1}, "random_state differs"),
        ({"rows": (X[:, ::-1], Y)}, "samples differ"),
        ({"rows": (X[:-1], Y[:-1])}, "samples differ"),
        ({"rows": (X, Y.astype(str))}, None),  # the same codes
    ],
)
def test_checkpoints_of_other_runs_are_refused(settings, message, tmp_path):
    path = tmp_path / "run.npz"
    first = {"loss": PlainLoss(5.0), "checkpoint": path}
    with pytest.warns(ConvergenceWarning, match="max_seconds"):
        fitted(max_seconds=1e-9, **first)
    before = path.read_bytes()
    if message is None:
        fitted(**first | settings)
        return
    with pytest.raises(InputError, match=rf"run\.npz' is of another run: {message}"):
        fitted(**first | settings)
    assert path.read_bytes() == before


def test_other_states_with_the_same_codes_are_refused(tmp_path):
    data = random_data(np.random.default_rng(0), 20, 2, n_classes=2)
    *features, target = data.schema
    wider = Variable(features[0].name, (*features[0].states, "new"))
    schema = Schema((wider, *features[1:], target), target=2)
    path = tmp_path / "run.npz"
    learner = GumbelTree(checkpoint=path, max_seconds=1e-9)
    with pytest.warns(ConvergenceWarning):
        learner.learn(data, random_state=np.random.default_rng(0))
    other = ArrayData(schema, data.codes, data.labels)
    with pytest.raises(InputError, match="n_states was"):
        learner.learn(other, random_state=np.random.default_rng(0))


def test_a_file_that_is_no_checkpoint_is_left_alone(tmp_path):
    path = tmp_path / "thesis.txt"
    path.write_text("years of work")
    with pytest.raises(InputError, match="is no checkpoint"):
        fitted(checkpoint=path)
    assert path.read_text() == "years of work"


def test_model_files(tmp_path):
    X, _ = table()
    model = fitted(loss=HybridLoss(lambda_=3.0), order=None, prefer=[("x0", "x1")])
    model.save(tmp_path / "model.json")
    again = tanager.load(tmp_path / "model.json")
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert isinstance(again.structure, GumbelTree)
    assert describe(again.structure) == describe(model.structure)
    assert again.structure.loss.lambda_ == 3.0
    assert same(again.set_params(random_state=0).fit(*table()), model)


def test_pickle_and_clone():
    X, y = table()
    model = fitted(loss=MarginLoss(gamma=3.0), temperature=(5.0, 0.2))
    expected = model.predict_proba(X)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_proba(X), expected)
    assert np.array_equal(clone(model).fit(X, y).predict_proba(X), expected)


# What it refuses


class NotANumber(HybridLoss):
    def value_and_gradient(self, log_joint, labels, weights):
        value, gradient = super().value_and_gradient(log_joint, labels, weights)
        return value, gradient * np.nan


class TooLarge(HybridLoss):
    def value_and_gradient(self, log_joint, labels, weights):
        value, gradient = super().value_and_gradient(log_joint, labels, weights)
        return value, gradient * 1e200


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_candidates": 0}, "n_candidates must be .* at least 1, got 0.*NaiveBayes"),
        ({"n_candidates": 2.5}, "n_candidates must be"),
        ({"order": "randon"}, "Unknown order 'randon'. Did you mean 'random'"),
        ({"order": ["x0", "x1", "x2", "zz"]}, "Unknown feature 'zz'"),
        ({"order": ["x0"]}, "order lists 1 of 4 features"),
        ({"order": 3}, "order must be None, one of"),
        ({"order": None, "k": 2}, "Give an order, or k=1"),
        ({"candidates": "near"}, "candidates must be one of"),
        ({"candidates": {"x0": ["zz"]}}, "'x0' 'zz'"),
        ({"image_shape": (2, 3)}, "image of 6 pixels, but there are 4 features"),
        ({"k": 0}, "k must be a whole number of at least 1"),
        ({"estimator": "relax"}, "Did you mean 'relaxed'"),
        ({"estimator": None}, "Unknown estimator None"),
        ({"epochs": 0}, "epochs must be"),
        ({"batch_size": 0}, "batch_size must be None or"),
        ({"rate": 0.6}, "rate must be .* at most 0.5, got 0.6"),
        ({"rate": np.nan}, "rate must be"),
        ({"decay": 0}, "decay must be"),
        ({"structure_rate": -1}, "structure_rate must be"),
        ({"temperature": 3}, r"temperature must be a pair, .* such as \(10.0, 0.1\)"),
        ({"temperature": (1.0, 0.0)}, "temperature must be a finite number above 0"),
        ({"temperature": (np.nan, 1.0)}, "temperature must be"),
        ({"start": "zero"}, "Unknown start 'zero'"),
        ({"alpha": 0}, "alpha must be .* no gradient"),
        ({"prefer": "chow"}, "Unknown prefer 'chow'"),
        ({"prefer": 3}, r"prefer must be None, 'information' or a list .* got 3"),
        ({"prefer": [("x0", "zz")]}, "Unknown variable 'zz'"),
        ({"preference": -1.0}, "preference must be"),
        ({"held_out": 1.0}, "held_out must be .* below 1"),
        ({"max_seconds": 0}, "max_seconds must be"),
        ({"verbose": "yes"}, "verbose must be True or False"),
        ({"checkpoint": 3}, "name of a file, such as"),
        ({"checkpoint": "no/such/folder/run.npz"}, "does not exist"),
        (
            {"constraints": Constraints(required=[("x3", "x0")]), "order": NAMES},
            "must come before 'x0'",
        ),
        ({"loss": HybridLoss(lambda_=-1)}, "lambda_ must be"),
        ({"loss": NotANumber()}, "NotANumber.* gradient with nan in row 0, class 0"),
        ({"loss": TooLarge()}, "TooLarge cannot be minimised: .* Scale the loss"),
        ({"loss": TooLarge(), "order": None}, "TooLarge cannot be minimised"),
        ({"loss": HybridLoss(lambda_=1e200)}, "HybridLoss cannot be minimised"),
        (
            {
                "loss": HybridLoss(lambda_=2e155),
                "estimator": "relaxed",
                "start": "frequency",
            },
            "HybridLoss cannot be minimised",
        ),
    ],
    ids=str,
)
def test_bad_input(arguments, message):
    # Overflow is reported where nothing is compiled.
    quiet = np.errstate(over="ignore", invalid="ignore")
    with quiet, pytest.raises(InputError, match=message):
        fitted(**arguments)


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (object(), "object is not a loss: it has no method value_and_gradient"),
        (HybridLoss, r"pass an instance, such as HybridLoss\(\)"),
        ("hybrid", "str is not a loss"),
    ],
)
def test_no_loss(loss, message):
    with pytest.raises(CapabilityError, match=message):
        fitted(loss=loss)


def test_refused_before_any_work():
    """The names alone tell what cannot be."""
    schema = random_data(np.random.default_rng(0), 1, 4, n_classes=2).schema
    GumbelTree().check(schema)
    for arguments in ({"n_candidates": 0}, {"order": ["f0"]}, {"temperature": 1}):
        with pytest.raises(InputError):
            GumbelTree(**arguments).check(schema)


def test_no_labelled_rows():
    data = random_data(np.random.default_rng(0), 5, 3, n_classes=2)
    empty = ArrayData(data.schema, data.codes, np.full(5, 2, dtype=np.uint8))
    with pytest.raises(InputError, match=r"needs labelled samples .* there are none"):
        GumbelTree().learn(empty, random_state=np.random.default_rng(0))


def with_an_empty_column(n_rows=600):
    """A feature that knows the class, after one without any value."""
    random = np.random.default_rng(0)
    y = random.integers(0, 3, n_rows)
    known = np.where(random.random(n_rows) < 0.9, y, random.integers(0, 3, n_rows))
    X = np.empty((n_rows, 2), dtype=object)
    X[:, 0] = None
    X[:, 1] = np.array(["x", "y", "z"])[known]
    return X, y


@pytest.mark.parametrize("order", [["x0", "x1"], None])
def test_a_column_without_any_value_is_no_parent(order):
    X, y = with_an_empty_column()
    model = BayesNetClassifier(
        structure=GumbelTree(order=order, epochs=20), parameters="keep", random_state=2
    ).fit(X, y)
    assert ("x0", "x1") not in model.network_.edges
    assert model.score(X, y) > 0.9


def test_incomplete_samples_are_learned_as_they_are_classified(monkeypatch):
    X, y = table(400, 6)
    X[np.random.default_rng(0).random(X.shape) < 0.4] = None
    learner = GumbelTree(ConditionalLikelihoodLoss(), epochs=50, n_candidates=None)

    def loss():
        model = BayesNetClassifier(
            structure=learner, parameters="keep", random_state=0
        ).fit(X, y)
        return -model.predict_log_proba(X)[np.arange(len(y)), y].mean()

    after = loss()
    monkeypatch.setattr(
        gumbel_tree.LossMinimizer, "learn", lambda *_, start, **__: start
    )
    assert after < 0.95 * loss()


def test_a_checkpoint_needs_a_seed(tmp_path):
    X, y = table()
    learner = GumbelTree(epochs=2, checkpoint=tmp_path / "run.npz")
    with pytest.raises(InputError, match="give the classifier a random_state"):
        BayesNetClassifier(structure=learner, parameters="keep").fit(X, y)
