from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tanager
from tanager import (
    DFE,
    ELR,
    KDB,
    BayesNetClassifier,
    CapabilityError,
    ChowLiu,
    ConditionalLikelihood,
    Constraints,
    Frequency,
    InputError,
)
from tanager.data import ArrayData
from tanager.structure.orders.kdb import rates_by_prefix
from tests.reference import kdb as reference
from tests.strategies import data_sets, generators, random_data
from tests.tolerance import EXACT, assert_close


@given(data=data_sets(), k=st.integers(0, 3))
def test_structures_equal_the_definition(data, k):
    result = KDB(k=k).learn(data)
    order, parents = reference.order_and_parents(data, k)
    names = data.schema.names
    assert [entry["child"] for entry in result.trace] == [names[j] for j in order]
    for j in order:
        assert result.structure.feature_parents[j] == parents[j]
    assert result.structure.is_class_rooted
    for place, entry in enumerate(result.trace):
        assert len(entry["parents"]) == min(k, place)
        assert entry["weights"] == sorted(entry["weights"], reverse=True)
        assert entry["information"] >= 0


@settings(max_examples=25)
@given(
    random=generators(),
    k=st.integers(0, 2),
    missing=st.sampled_from([0.0, 0.2]),
    alpha=st.sampled_from([0.5, 1.0]),
)
def test_leave_one_out_equals_leaving_out_one_row_after_the_other(
    random, k, missing, alpha
):
    data = random_data(
        random, int(random.integers(1, 25)), 4, missing=missing, unlabelled=0.1
    )
    structure = KDB(k=k).learn(data).structure
    order = random.permutation(4)
    rates = rates_by_prefix(data, structure, order, alpha)
    parents = structure.feature_parents
    assert_close(rates, reference.rates_by_prefix(data, parents, order, alpha), EXACT)


def test_leave_one_out_without_smoothing_is_finite():
    data = random_data(np.random.default_rng(0), 30, 4)
    structure = KDB().learn(data).structure
    rates = rates_by_prefix(data, structure, np.arange(4), 0.0)
    assert ((rates >= 0) & (rates <= 1)).all()


def test_leave_one_out_takes_weights_as_repetitions_and_any_threads():
    random = np.random.default_rng(4)
    data = random_data(random, 60, 5, n_classes=3, missing=0.1)
    times = random.integers(0, 4, 60)
    weighted = ArrayData(data.schema, data.codes, data.labels, times.astype(float))
    repeated = data.take(np.repeat(np.arange(60), times))
    structure = KDB().learn(repeated).structure
    order = np.arange(5)
    expected = rates_by_prefix(repeated, structure, order)
    assert_close(rates_by_prefix(weighted, structure, order), expected, EXACT)
    many = random_data(random, 20_000, 5, n_classes=3)
    again = ArrayData(many.schema, many.codes, many.labels, None, n_jobs=3)
    assert np.array_equal(
        rates_by_prefix(many, structure, order),
        rates_by_prefix(again, structure, order),
    )


def signal_and_noise(n_rows=400):
    """Three features that tell the class, three that are noise."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, n_rows)
    good = [np.where(random.random(n_rows) < 0.8, y, 1 - y) for _ in range(3)]
    noise = [random.integers(0, 12, n_rows) for _ in range(3)]
    return np.column_stack([*noise, *good]), y


def test_selection_drops_noise_and_keeps_the_rest():
    X, y = signal_and_noise()
    model = BayesNetClassifier("categorical", KDB(select=True)).fit(X, y)
    assert {child for _, child in model.network_.edges} == {"x3", "x4", "x5"}
    assert len(model.network_.edges) == 6
    for name in ("x0", "x1", "x2"):
        assert model.network_.parents(name) == ()
    trace = model.trace_["structure"]
    assert [entry["kept"] for entry in trace] == [True] * 3 + [False] * 3
    rates = [entry["rate"] for entry in trace]
    assert max(rates) == rates[2] > rates[-1]
    whole = BayesNetClassifier("categorical", KDB()).fit(X, y)
    assert whole.network_.n_parameters > model.network_.n_parameters
    # A feature without arcs says nothing about the class.
    other = X.copy()
    other[:, :3] = 11 - other[:, :3]
    assert_close(model.predict_proba(other), model.predict_proba(X), EXACT)


def test_selected_networks_do_what_networks_do(tmp_path):
    X, y = signal_and_noise()
    model = BayesNetClassifier("categorical", KDB(select=True), n_jobs=2).fit(X, y)
    incomplete = X.astype(object)
    incomplete[np.random.default_rng(1).random(X.shape) < 0.3] = None
    probabilities = model.predict_proba(incomplete)
    assert_close(probabilities.sum(axis=1), 1.0, EXACT)
    names = model.network_.schema.names[:-1]
    by_network = [
        list(model.network_.posterior(dict(zip(names, row, strict=True))).values())
        for row in incomplete[:20].tolist()
    ]
    assert_close(probabilities[:20], by_network, EXACT)
    model.save(tmp_path / "model.json")
    again = tanager.load(tmp_path / "model.json")
    assert np.array_equal(again.predict_proba(incomplete), probabilities)
    assert set(model.network_.sample(5, random_state=0)) == {
        *(f"x{j}" for j in range(6)), "class",
    }  # fmt: skip
    assert "x0" in model.network_.to_dot()


def test_selection_keeps_what_is_required():
    X, y = signal_and_noise()
    learner = KDB(select=True, constraints=Constraints(required=[("x0", "x1")]))
    model = BayesNetClassifier("categorical", learner).fit(X, y)
    assert ("x0", "x1") in model.network_.edges
    assert ("class", "x0") in model.network_.edges


@pytest.mark.parametrize("parameters", [ELR(solver="lbfgs"), DFE(), "mm", "em"])
def test_dropped_features_do_not_matter_to_any_learner(parameters):
    X, y = signal_and_noise(200)
    model = BayesNetClassifier("categorical", KDB(select=True), parameters).fit(X, y)
    kept = model.markov_blanket_
    assert 0 < len(kept) < X.shape[1]
    others = X.copy()
    for j in range(X.shape[1]):
        if f"x{j}" not in kept:
            others[:, j] = X[::-1, j]
    assert_close(model.predict_proba(others), model.predict_proba(X))


def test_convex_learning_refuses_dropped_features():
    X, y = signal_and_noise(200)
    model = BayesNetClassifier("categorical", KDB(select=True), ConditionalLikelihood())
    with pytest.raises(CapabilityError, match="ConditionalLikelihood needs"):
        model.fit(X, y)


def test_batches_where_pairs_are_all_that_is_needed():
    random = np.random.default_rng(2)
    X = random.integers(0, 3, (120, 5)).astype(str)
    y = random.integers(0, 2, 120)
    model = BayesNetClassifier(structure=KDB(k=1))
    for start in range(0, 120, 40):
        model.partial_fit(X[start : start + 40], y[start : start + 40])
    whole = BayesNetClassifier(structure=KDB(k=1)).fit(X, y)
    assert model.network_.edges == whole.network_.edges
    assert np.array_equal(model.predict_proba(X), whole.predict_proba(X))
    for learner in (KDB(), KDB(k=1, select=True)):
        refused = BayesNetClassifier(structure=learner)
        assert not hasattr(refused, "partial_fit")
        with pytest.raises(AttributeError) as error:
            refused.partial_fit(X, y)
        assert "KDB needs all samples at once" in str(error.value.__cause__)
        assert 'use parameters="dfe"' in str(error.value.__cause__)
        online = BayesNetClassifier(structure=learner, parameters="dfe")
        assert online.partial_fit(X[:60], y[:60]).partial_fit(X[60:], y[60:])


def test_one_parent_gives_a_tree_of_the_same_kind_as_chow_liu():
    data = random_data(np.random.default_rng(1), 200, 5, max_states=3)
    assert KDB(k=1).learn(data).structure.is_tree
    assert KDB(k=0).learn(data).structure.feature_parents == ((),) * 6
    best = sum(step["weight"] for step in ChowLiu().learn(data).trace)
    found = sum(sum(step["weights"]) for step in KDB(k=1).learn(data).trace)
    assert found <= best + 1e-9


def test_constraints_are_kept_to():
    data = random_data(np.random.default_rng(2), 150, 5)
    learner = KDB(
        constraints=Constraints(
            required=[("f3", "f0")],
            forbidden=[("f0", "f1"), ("f1", "f0")],
            tiers=[["f4"], ["f0", "f1", "f2"]],
        ),
    )
    result = learner.learn(data)
    arcs = set(result.structure.arcs)
    assert (3, 0) in arcs
    assert not {(0, 1), (1, 0), (0, 4), (1, 4), (2, 4)} & arcs
    order = [entry["child"] for entry in result.trace]
    assert all(order.index("f4") < order.index(name) for name in ("f0", "f1", "f2"))
    assert order.index("f3") < order.index("f0")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": -1}, "k must be a whole number of at least 0"),
        ({"k": 1.5}, "k must be"),
        ({"k": "2"}, "k must be"),
        ({"select": 1}, "select must be True or False"),
        ({"alpha": -1}, "alpha must be"),
        (
            {"constraints": Constraints(required=[("f0", "f2"), ("f1", "f2")]), "k": 1},
            "allows 1 feature",
        ),
        (
            {"constraints": Constraints(required=[("f0", "f9")])},
            "Unknown variable 'f9'",
        ),
        (
            {
                "constraints": Constraints(
                    required=[("f0", "f2"), ("f2", "f1")],
                    tiers=[["f1"], ["f0"]],
                ),
            },
            "No order of the features",
        ),
    ],
)
def test_impossible_arguments(options, message):
    data = random_data(np.random.default_rng(0), 20, 3)
    with pytest.raises(InputError, match=message):
        KDB(**options).learn(data)
    with pytest.raises(InputError, match=message):
        KDB(**options).check(data.schema)


def test_tables_too_large_are_refused_before_they_are_made():
    X = np.char.add(
        "s", np.random.default_rng(0).integers(0, 600, (900, 4)).astype(str)
    )
    y = np.arange(900) % 2
    model = BayesNetClassifier(structure=KDB(), parameters=Frequency())
    with pytest.raises(tanager.TableSizeError, match="fewer parents"):
        model.fit(X, y)
