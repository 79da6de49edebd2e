from __future__ import annotations

from dataclasses import replace
from itertools import combinations, count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from tanager import (
    BayesNetClassifier,
    ConditionalLikelihood,
    InputError,
    Network,
    QuantileEncoder,
    ResidualTree,
    Schema,
    Variable,
)
from tanager.data import ArrayData
from tanager.loglinear.model import NetworkModel
from tanager.structure import Constraints
from tanager.structure.constraints import ArcMasks
from tanager.structure.residual import residual_tree
from tanager.structure.residual.chordal_graph import ChordalGraph
from tanager.structure.residual.residual_tree import Residuals
from tanager.utils import progress
from tests.reference.residual import best_edges, can_be_directed, posterior, statistic
from tests.strategies import data_sets, generators, random_data, random_k_tree
from tests.tolerance import assert_close


def free(n):
    return ArcMasks(~np.eye(n, dtype=bool), np.zeros((n, n), dtype=bool))


def parity_rows(random, n_rows=400):
    """Six features; the class is the parity of 0 and 3, and of 1 and 4 added."""
    X = random.integers(0, 2, (n_rows, 6))
    y = (X[:, 0] ^ X[:, 3]) + (X[:, 1] ^ X[:, 4])
    return X, y


def parity_data(random, n_rows=400, n_jobs=None):
    X, y = parity_rows(random, n_rows)
    names = [f"f{j}" for j in range(6)]
    schema = Schema(
        (*(Variable(n, (0, 1)) for n in names), Variable("class", (0, 1, 2))), 6
    )
    codes = np.asfortranarray(X.astype(np.uint8))
    return ArrayData(schema, codes, y.astype(np.uint8), n_jobs=n_jobs)


# Statistics


@settings(max_examples=25)
@given(data=data_sets(max_features=4, unlabelled=0.3), random=generators())
def test_statistics_equal_the_formula(data, random):
    rows = random.dirichlet(np.ones(data.schema.n_classes), data.n_samples)
    n_features = len(data.schema) - 1
    wanted = random.random((n_features, n_features)) < 0.8
    wanted |= wanted.T
    listed = Residuals.of(rows, data.labels, data.weights, dropped=0.0)
    codes = np.ascontiguousarray(data.codes)
    states = data.schema.n_states[:-1]
    scores = listed.pair_scores(codes, states, wanted, 0.3)
    for i, j in combinations(range(n_features), 2):
        expected = statistic(data, rows, i, j, 0.3) if wanted[i, j] else -np.inf
        assert_close(scores[i, j], expected)
        assert scores[j, i] == scores[i, j]
    again = listed.pair_scores(codes, states, wanted, 0.3, n_jobs=3)
    assert np.array_equal(scores, again)


def test_sums_of_what_is_dropped_are_bounded():
    random = np.random.default_rng(0)
    rows = random.dirichlet(np.full(5, 0.1), 500)
    labels = random.integers(0, 6, 500)
    every = Residuals.of(rows, labels, dropped=0.0)
    most = Residuals.of(rows, labels, dropped=0.01)
    assert len(most.rows) < 0.9 * len(every.rows)
    total = np.abs(every.residuals).sum()
    assert np.abs(most.residuals).sum() >= 0.99 * total
    assert every.variances.sum() - most.variances.sum() <= 0.01 * total
    assert (labels[every.rows] < 5).all()


def test_equal_residuals_are_all_kept():
    equal = Residuals.of(np.full((4000, 2), 0.5), np.arange(4000) % 2, dropped=0.01)
    assert len(equal.rows) == 8000
    certain = Residuals.of(np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([0, 2]))
    assert len(certain.rows) == 0
    assert certain.bounds.tolist() == [0, 0, 0]


def test_wide_tables_are_summed_in_batches(monkeypatch):
    random = np.random.default_rng(3)
    data = random_data(random, 60, 6, missing=0.2)
    rows = random.dirichlet(np.ones(data.schema.n_classes), 60)
    listed = Residuals.of(rows, data.labels)
    arguments = (
        np.ascontiguousarray(data.codes),
        data.schema.n_states[:-1],
        np.ones((6, 6), dtype=bool),
        1.0,
    )
    expected = listed.pair_scores(*arguments)
    monkeypatch.setattr("tanager.structure.residual.residual_tree.BATCH_CELLS", 1)
    assert np.array_equal(listed.pair_scores(*arguments), expected)


@settings(max_examples=25)
@given(data=data_sets(max_features=4), random=generators())
def test_posteriors_equal_the_formula(data, random):
    structure = random_k_tree(random, data.schema, 2)
    model = NetworkModel(data.schema, structure, None, smooth=False, pair_bins=None)
    u = random.normal(size=model.coordinates.n_in)
    found = model.posterior(u, tuple(data.blocks()))
    expected = posterior(model.factors, model.coordinates.apply(u), data)
    assert_close(found, expected)


# Graphs


@settings(max_examples=30, deadline=None)
@given(
    random=generators(),
    n=st.integers(1, 5),
    k=st.integers(1, 3),
    fraction=st.sampled_from([0.5, 0.8, 1.0]),
)
def test_edges_are_the_best_that_can_be_directed(random, n, k, fraction):
    weights = random.permutation(n * n).reshape(n, n).astype(float)
    weights += weights.T
    allowed = (random.random((n, n)) < fraction) & ~np.eye(n, dtype=bool)
    constraints = replace(free(n), allowed=allowed)
    graph = ChordalGraph(k, constraints, root=n - 1)
    expected = best_edges(weights, allowed, k, n * n)
    half = len(expected) // 2
    found = graph.add_best(weights, half) + graph.add_best(weights, n * n)
    assert found == expected
    if fraction == 1.0:
        most = min(k, n - 1)
        assert len(found) == most * n - most * (most + 1) // 2
    parents = graph.parents()
    assert sum(map(len, parents)) == len(found)
    for v, of in enumerate(parents):
        assert len(of) <= k
        assert all(allowed[p, v] for p in of)
        assert all(graph.adjacent[p, q] for p, q in combinations(of, 2))
    if fraction == 1.0:
        assert parents[n - 1] == ()


@settings(max_examples=30, deadline=None)
@given(random=generators(), n=st.integers(2, 5), k=st.integers(1, 3))
def test_required_arcs_stand_or_are_refused(random, n, k):
    order = random.permutation(n)
    required = np.zeros((n, n), dtype=bool)
    for place, v in enumerate(order):
        chosen = order[:place][random.random(place) < 0.3][:k]
        required[chosen, v] = True
    graph = ChordalGraph(k, replace(free(n), required=required))
    names = [*"vwxyz"[:n], "class"]
    schema = Schema(tuple(Variable(name, (0,)) for name in names), n)
    try:
        graph.add_required(schema)
    except InputError:
        # Joining parents may take more of them; a forest never does.
        refused = True
    else:
        refused = False
    if refused:
        assert k > 1
        return
    assert can_be_directed(graph.adjacent, ~required.T, k)
    graph.add_best(random.random((n, n)), n * n)
    parents = graph.parents()
    assert all(i in parents[j] for i, j in np.argwhere(required))


# The learner


def features_joined(result):
    target = result.structure.target
    return {frozenset(arc) for arc in result.structure.arcs if target not in arc}


def test_what_matters_is_found_first():
    data = parity_data(np.random.default_rng(0))
    result = ResidualTree().learn(data)
    first = [{step["parent"], step["child"]} for step in result.trace[:2]]
    assert {"f0", "f3"} in first
    assert {"f1", "f4"} in first
    assert result.structure.is_tree
    assert len(result.trace) == 5
    assert result.trace[0]["pairs"] == 15
    objectives = [step["objective"] for step in result.trace]
    assert objectives == sorted(objectives, reverse=True)
    assert {step["stage"] for step in result.trace} == {1, 2, 3, 4, 5}
    for step in result.trace:
        assert step["statistic"] > 0
        assert step["seconds"] >= 0


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("missing", [0.0, 0.4, 1.0])
def test_structures_are_true_k_trees(k, missing):
    random = np.random.default_rng(k)
    data = random_data(random, 60, 5, missing=missing, weighted=True, unlabelled=0.2)
    result = ResidualTree(k=k, stages=3).learn(data)
    structure = result.structure
    assert structure.is_class_rooted
    assert structure.needs_no_fill_in
    assert max(map(len, structure.feature_parents)) <= k
    assert sum(map(len, structure.feature_parents)) == len(result.trace)
    network = Network(data.schema, structure, result.start)
    for variable in data.schema:
        assert_close(network.table(variable.name).values.sum(axis=-1), 1.0)


def test_the_graph_does_not_depend_on_threads_blocks_or_columns():
    random = np.random.default_rng(1)
    result = ResidualTree(k=2).learn(parity_data(np.random.default_rng(2)))
    threads = ResidualTree(k=2).learn(parity_data(np.random.default_rng(2), n_jobs=3))
    assert threads.structure == result.structure
    assert np.array_equal(threads.start.log_theta, result.start.log_theta)
    data = random_data(random, 300, 5, max_states=3, n_classes=3)
    order = random.permutation(5)
    permuted = ArrayData(
        Schema((*(data.schema[j] for j in order), data.schema[5]), 5),
        np.asfortranarray(data.codes[:, order]),
        data.labels,
    )
    found = features_joined(ResidualTree().learn(permuted))
    assert {frozenset(int(order[v]) for v in edge) for edge in found} == (
        features_joined(ResidualTree().learn(data))
    )


def test_tables_to_start_from_spare_steps():
    data = parity_data(np.random.default_rng(4))
    for k in (1, 2):
        result = ResidualTree(k=k, C=2.0).learn(data)
        learner = ConditionalLikelihood(C=2.0, interactions=2)
        learner.learn(result.structure, data)
        steps = learner.n_iter_
        learner.learn(result.structure, data, start=result.start)
        assert learner.n_iter_ < steps
        begin = learner.trace_[0]["objective"]
        assert begin <= result.trace[-1]["objective"]


def test_tables_that_would_be_too_large_are_not_made(monkeypatch):
    monkeypatch.setattr("tanager.loglinear.model.MAX_CELLS", 10)
    data = parity_data(np.random.default_rng(4))
    assert ResidualTree().learn(data).start is None


def test_the_penalty_can_be_chosen():
    data = parity_data(np.random.default_rng(5))
    found = features_joined(ResidualTree(C="cv").learn(data))
    assert {frozenset((0, 3)), frozenset((1, 4))} <= found
    alone = data.take(np.arange(3))
    assert ResidualTree(C="cv").learn(alone).structure.is_tree


@pytest.mark.parametrize("k", [1, 2])
def test_constraints_are_kept_to(k):
    data = parity_data(np.random.default_rng(6))
    learner = ResidualTree(
        k=k,
        constraints=Constraints(
            required=[("f5", "f2")],
            forbidden=[("f0", "f3"), ("f3", "f0")],
            tiers=[["f4"], ["f0", "f1", "f5"]],
        ),
    )
    arcs = set(learner.learn(data).structure.arcs)
    assert (5, 2) in arcs
    assert (4, 1) in arcs
    assert not {(0, 3), (3, 0), (0, 4), (1, 4), (5, 4)} & arcs


def test_the_root_has_no_parents():
    data = parity_data(np.random.default_rng(6))
    for root in ("f2", 2):
        structure = ResidualTree(root=root).learn(data).structure
        assert structure.feature_parents[2] == ()


def test_nothing_to_explain_joins_nothing():
    one_class = random_data(np.random.default_rng(0), 30, 4, n_classes=1)
    one_feature = random_data(np.random.default_rng(0), 30, 1, n_classes=2)
    for data in (one_class, one_feature):
        result = ResidualTree().learn(data)
        assert result.trace == ()
        assert not any(result.structure.feature_parents)


def test_groups_of_bins_find_the_same_edges():
    X, y = parity_rows(np.random.default_rng(7))
    X = X + np.random.default_rng(8).random(X.shape)
    model = BayesNetClassifier(
        QuantileEncoder(n_bins=12),
        ResidualTree(C=10.0, smooth=True, pair_bins=4),
        ConditionalLikelihood(C=10.0, smooth=True, pair_bins=4),
    ).fit(X, y)
    first = [{s["parent"], s["child"]} for s in model.trace_["structure"][:2]]
    assert {"x0", "x3"} in first
    assert {"x1", "x4"} in first
    assert model.score(X, y) > 0.95


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 0}, "k must be"),
        ({"stages": 0}, "stages must be"),
        ({"C": -1}, "C must be"),
        ({"C": "best"}, "C must be"),
        ({"ridge": 0}, "ridge must be"),
        ({"smooth": 1}, "smooth must be"),
        ({"pair_bins": 0}, "pair_bins must be"),
        ({"root": "class"}, "root must be"),
        (
            {"constraints": Constraints(required=[("f0", "f1"), ("f2", "f1")])},
            "allows 1 feature parent",
        ),
        (
            {
                "k": 2,
                "constraints": Constraints(
                    required=[("f0", "f2"), ("f1", "f2")],
                    forbidden=[("f0", "f1"), ("f1", "f0")],
                ),
            },
            "do not fit into a graph",
        ),
    ],
)
def test_impossible_arguments_fail_before_any_work(arguments, message):
    schema = parity_data(np.random.default_rng(0), 5).schema
    with pytest.raises(InputError, match=message):
        ResidualTree(**arguments).check(schema)


def test_a_time_limit_keeps_the_tree_so_far(monkeypatch):
    data = random_data(np.random.default_rng(1), 80, 6, n_classes=3)
    ticks = count()
    monkeypatch.setattr(progress, "perf_counter", lambda: float(next(ticks)))
    ResidualTree(max_seconds=1e6, stages=5).learn(data)
    half = next(ticks) // 2
    with pytest.warns(ConvergenceWarning, match=f"max_seconds={half} and . stages"):
        result = ResidualTree(max_seconds=half, stages=5).learn(data)
    stages = {step["stage"] for step in result.trace}
    assert 1 in stages
    assert 5 not in stages
    assert result.structure.is_tree


def test_an_interrupt_keeps_the_tree_so_far(monkeypatch):
    data = random_data(np.random.default_rng(1), 80, 6, n_classes=3)
    fit = residual_tree._Fits.fit
    calls = []

    def interrupted(self, *arguments):
        calls.append(arguments)
        if len(calls) == 3:  # the first fit is that of naive Bayes
            raise KeyboardInterrupt
        return fit(self, *arguments)

    monkeypatch.setattr(residual_tree._Fits, "fit", interrupted)
    with pytest.warns(ConvergenceWarning, match="interrupted after 1 stages"):
        result = ResidualTree(stages=5).learn(data)
    assert {step["stage"] for step in result.trace} == {1}
    arcs = sum(len(of) for of in result.structure.feature_parents)
    assert arcs == len(result.trace)


def test_verbose_reports_stages(capsys):
    data = random_data(np.random.default_rng(1), 80, 4, n_classes=2)
    ResidualTree(stages=2, verbose=True).learn(data)
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("stage 1 of at most 2 (")
    assert "): 2 edges of 6 pairs, objective " in first
    assert second.startswith("stage 2 of at most 2 (")


def test_rows_without_labels_are_refused():
    data = random_data(np.random.default_rng(1), 20, 3, n_classes=2)
    nothing = replace(data, labels=np.full(20, 2, dtype=np.uint8))
    with pytest.raises(InputError, match="no labelled sample"):
        ResidualTree().learn(nothing)


def test_folds_depend_on_the_order_of_rows():
    assert ResidualTree(C="cv").order_matters
    assert not ResidualTree().order_matters


def test_pair_codes_keep_missing_values_apart():
    random = np.random.default_rng(0)
    age = Variable.binned("age", range(1, 12)).with_missing_state()
    few = Variable.binned("few", [1.0]).with_missing_state()
    schema = Schema((age, few, Variable("class", (0, 1))), 2)
    codes = random.integers(0, [13, 3], (60, 2)).astype(np.uint8)
    codes[0] = 13, 3  # not observed
    data = ArrayData(schema, np.asfortranarray(codes), random.integers(0, 2, 60))
    fits = residual_tree._Fits(data, True, 4)
    assert fits._n_states == [5, 3]
    groups = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 5])
    np.testing.assert_array_equal(fits._codes[:, 0], groups[codes[:, 0]])
    np.testing.assert_array_equal(fits._codes[:, 1], codes[:, 1])
