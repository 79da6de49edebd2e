"""Incremental learning by an online learner, from a start, and the trace of it."""

from __future__ import annotations

import numpy as np
import pytest

import tanager
from tanager import (
    DFE,
    BayesNetClassifier,
    CapabilityError,
    ConditionalLikelihood,
    Fixed,
    Frequency,
    InputError,
    NaiveBayesClassifier,
    Network,
    RandomTree,
    TANClassifier,
)
from tanager.loglinear.weights_to_cpts import log_linear_families
from tanager.parameters import ParameterLearner
from tests.reference.dfe import dfe_tables
from tests.strategies import weight_layout
from tests.tolerance import assert_close


def rows(seed=0, n_rows=120):
    """Strings: three classes, a rare state, missing cells."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, n_rows)
    X = np.empty((n_rows, 3), dtype=object)
    X[:, 0] = np.array(["a", "b", "c"])[(y + random.integers(0, 2, n_rows)) % 3]
    X[:, 1] = np.array(["u", "v"])[random.integers(0, 2, n_rows)]
    X[:, 2] = np.where(X[:, 0] == "a", X[:, 1], "w")
    X[random.random(X.shape) < 0.05] = None
    return X, np.array(["x", "y", "z"])[y]


EFFECT = Fixed([("x0", "class"), ("class", "x1")], class_rooted=False)
"""The class has a parent and a child, and other features are on their own."""


def batches(model, X, y, size=40, **first):
    for start in range(0, len(y), size):
        options = first if start == 0 else {}
        model.partial_fit(X[start : start + size], y[start : start + size], **options)
    return model


@pytest.mark.parametrize(
    "structure",
    ["nb", "tan", Fixed([("x0", "x1"), ("x2", "x1")]), EFFECT, RandomTree()],
)
def test_the_first_batch_equals_fit(structure):
    X, y = rows()
    model = BayesNetClassifier(
        structure=structure, parameters=DFE(shuffle=True), random_state=3
    )
    whole = model.fit(X, y).predict_proba(X)
    fresh = BayesNetClassifier(**model.get_params(deep=False))
    assert np.array_equal(fresh.partial_fit(X, y).predict_proba(X), whole)
    assert fresh.network_.edges == model.network_.edges


@pytest.mark.parametrize(
    "structure", ["nb", Fixed([("x0", "x1"), ("x2", "x1")]), EFFECT]
)
def test_batches_of_one_pass_equal_one_pass(structure):
    """All states and classes occur in the first batch."""
    X, y = rows()
    whole = BayesNetClassifier(structure=structure, parameters=DFE(passes=1)).fit(X, y)
    parts = BayesNetClassifier(structure=structure, parameters=DFE(passes=1))
    batches(parts, X, y)
    assert_close(parts.predict_proba(X), whole.predict_proba(X))


def test_every_batch_is_gone_through_by_the_text():
    """Two batches, two passes each, new states and a new class in the second."""
    X, y = rows()
    order = np.argsort((X[:, 0] == "a") | (y == "z"), kind="stable")
    X, y = X[order], y[order]
    early = np.count_nonzero((X[:, 0] != "a") & (y != "z"))
    model = NaiveBayesClassifier(parameters=DFE(passes=2))
    model.partial_fit(X[:early], y[:early])
    first = model.network_
    model.partial_fit(X[early:], y[early:])

    def coded(schema, start, stop):
        codes = np.array(
            [
                [
                    schema.n_states[j]
                    if X[m, j] is None
                    else schema[j].states.index(X[m, j])
                    for j in range(3)
                ]
                for m in range(start, stop)
            ]
        )
        labels = np.array([schema[3].states.index(label) for label in y[start:stop]])
        return codes, labels

    families = first.structure.families
    schema = first.schema
    codes, labels = coded(schema, 0, early)
    before = dfe_tables(codes, labels, None, schema.n_states, families, 3, 2, 1.0)
    now = model.network_.schema
    moved = [np.zeros([now.n_states[v] for v in family]) for family in families]
    for old, new, family in zip(before, moved, families, strict=True):
        places = [[now[v].states.index(s) for s in schema[v].states] for v in family]
        new[np.ix_(*places)] = old
    codes, labels = coded(now, early, len(y))
    after = dfe_tables(
        codes, labels, None, now.n_states, families, 3, 2, 1.0, counts=moved
    )
    for v, counts in enumerate(after):
        smooth = counts + 1.0
        expected = smooth / smooth.sum(axis=-1, keepdims=True)
        assert_close(model.network_.table(now[v].name).values, expected)


def test_fit_then_partial_fit_goes_on():
    X, y = rows()
    one = TANClassifier(parameters="dfe").fit(X[:60], y[:60])
    edges, steps = one.network_.edges, one.trace_["structure"]
    one.partial_fit(X[60:], y[60:])
    two = batches(TANClassifier(parameters="dfe"), X, y, size=60)
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))
    assert one.network_.edges == edges
    assert one.trace_["structure"] == steps != []


def test_an_unusable_batch_changes_nothing():
    X, y = rows()
    model = NaiveBayesClassifier(parameters="dfe").partial_fit(X[:60], y[:60])
    before = model.predict_proba(X)
    counts = model._counts.families.values.copy()
    for bad in (["x"] * 59 + [None], [1] * 60):
        with pytest.raises(InputError):
            model.partial_fit(X[60:], bad)
    model.set_params(parameters=DFE(passes=0))
    with pytest.raises(InputError, match="passes"):
        model.partial_fit(X[60:], y[60:])
    assert np.array_equal(model.predict_proba(X), before)
    assert np.array_equal(model._counts.families.values, counts)


def test_online_counts_cannot_be_merged():
    X, y = rows()
    one = NaiveBayesClassifier(parameters="dfe").fit(X[:60], y[:60])
    two = NaiveBayesClassifier().fit(X[60:], y[60:])
    for first, second in ((one, one), (one, two), (two, one)):
        with pytest.raises(CapabilityError, match="depend on the samples before"):
            first.merge(second)


def test_counts_of_another_learner_are_not_gone_on_from():
    X, y = rows()
    for one, other in ((DFE(), Frequency()), (Frequency(), DFE())):
        model = NaiveBayesClassifier(parameters=one).fit(X, y)
        model.set_params(parameters=other)
        with pytest.raises(CapabilityError, match="those of " + type(one).__name__):
            model.partial_fit(X, y)


def test_learners_that_need_all_rows_say_so():
    X, y = rows()
    model = NaiveBayesClassifier(parameters=ConditionalLikelihood()).fit(X, y)
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError) as error:
        _ = model.partial_fit
    assert str(error.value.__cause__) == (
        "ConditionalLikelihood needs all samples at once, so there is no partial_fit; "
        'call fit, or use parameters="fe", which learns incrementally.'
    )
    assert NaiveBayesClassifier(parameters="fe").fit(X, y).partial_fit(X, y)
    with pytest.raises(CapabilityError, match="Likelihood cannot learn incrementally"):
        ConditionalLikelihood().learn_more(model.network_.structure, None, None)


def test_pickled_classifiers_go_on():
    import pickle

    X, y = rows()
    model = NaiveBayesClassifier(parameters="dfe").fit(X[:60], y[:60])
    again = pickle.loads(pickle.dumps(model)).partial_fit(X[60:], y[60:])
    model.partial_fit(X[60:], y[60:])
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


# From the present tables on


class Noting(Frequency):
    """Frequencies that report what they were given."""

    def learn(self, structure, data, *, start=None, random_state=None):
        self.trace_ = [{"step": 0, "start": start}, {"step": 1, "start": None}]
        return super().learn(structure, data, random_state=random_state)


def start_of(model):
    return model.trace_["parameters"][0]["start"]


@pytest.mark.parametrize("structure", ["nb", "tan"])
def test_a_warm_start_takes_fewer_steps(structure):
    X, y = rows()
    # Complete rows: in others the problem leaves families out, and tables that differ
    # in nothing else do so there.
    complete = (X != None).all(axis=1)  # noqa: E711 - elementwise
    X, y = X[complete], y[complete]
    model = BayesNetClassifier(
        structure=structure, parameters=ConditionalLikelihood(), warm_start=True
    )
    cold = model.fit(X, y).parameters_.certificate_
    expected = model.predict_proba(X)
    warm = model.fit(X, y).parameters_.certificate_
    assert warm["iterations"] < cold["iterations"]
    assert abs(warm["objective"] - cold["objective"]) <= cold["gap"] + warm["gap"]
    assert_close(model.predict_proba(X), expected, 1e-2)


def test_a_warm_start_is_that_of_the_same_tables():
    X, y = rows()
    model = TANClassifier(parameters=Noting(), warm_start=True).fit(X, y)
    assert start_of(model) is None
    for again in (X, X[::-1]):
        former = model.network_.parameters
        labels = y if again is X else y[::-1]
        assert start_of(model.fit(again, labels)) is former
    cold = TANClassifier(parameters=Noting()).fit(X, y)
    assert start_of(cold.fit(X, y)) is None


def test_other_variables_states_or_structures_start_anew():
    X, y = rows()
    more = X.copy()
    more[0, 0] = "new"
    shuffled = X.copy()
    shuffled[:, 2] = np.random.default_rng(5).permutation(X[:, 1])
    few = y != "z"
    others = [(more, y), (X[:, :2], y), (X[few], y[few]), (shuffled, y)]
    for other, labels in others:
        model = NaiveBayesClassifier(parameters=Noting(), warm_start=True).fit(X, y)
        assert start_of(model.fit(other, labels)) is None
    model = BayesNetClassifier(parameters=Noting(), warm_start=True).fit(X, y)
    model.set_params(structure="nb").fit(X, y)
    assert start_of(model) is None


def test_batches_have_no_warm_start():
    X, y = rows()
    model = NaiveBayesClassifier(parameters=Noting(), warm_start=True)
    batches(model, X, y)
    assert start_of(model) is None


def test_a_loaded_classifier_starts_warm(tmp_path):
    X, y = rows()
    model = NaiveBayesClassifier(
        parameters=ConditionalLikelihood(), warm_start=True
    ).fit(X, y)
    model.save(tmp_path / "model.json")
    again = tanager.load(tmp_path / "model.json")
    assert again.warm_start is True
    assert again.trace_ == {"structure": [], "parameters": [], "seconds": {}}
    cold = model.parameters_.certificate_["iterations"]
    assert again.fit(X, y).parameters_.certificate_["iterations"] < cold


def test_the_trace_of_both_learners():
    X, y = rows()
    model = TANClassifier(parameters=Noting()).fit(X, y)
    assert [entry["step"] for entry in model.trace_["parameters"]] == [0, 1]
    assert len(model.trace_["structure"]) == 2
    assert TANClassifier().fit(X, y).trace_["parameters"] == []
    merged = model.merge(model)
    assert len(merged.trace_["parameters"]) == 2


# Families that are sums of tables


class Pairs(ParameterLearner):
    """Random weights of pairs, as families that are sums."""

    def learn(self, structure, data, *, start=None, random_state=None):
        self.trace_ = [{"start": start}]
        layout = weight_layout(data.schema, structure)
        weights = np.random.default_rng(0).normal(size=layout.n_cells)
        return log_linear_families(structure, layout, weights, data, full_cells=0)


def test_log_linear_families_classify_are_saved_and_start(tmp_path, monkeypatch):
    X, y = rows()
    arcs = [("x0", "x1"), ("x0", "x2"), ("x1", "x2")]
    model = BayesNetClassifier(
        structure=Fixed(arcs), parameters=Pairs(), warm_start=True
    ).fit(X, y)
    network = model.network_
    assert len(network.parameters.layout.tables_of(2)) == 3
    assert_close(model.predict_proba(X).sum(axis=1), 1.0)
    again = BayesNetClassifier.from_network(network)
    columns = dict(zip(["x0", "x1", "x2"], X.T, strict=True))
    assert_close(again.predict_proba(columns), model.predict_proba(X))
    again.save(tmp_path / "m.json")
    loaded = tanager.load(tmp_path / "m.json")
    assert loaded.network_.parameters.layout == network.parameters.layout
    # The next learner gets the same probabilities, as full tables.
    model.fit(X, y)
    start = start_of(model)
    assert start.layout.is_full(network.structure)
    full = Network(network.schema, network.structure, start)
    for name in network.schema.names:
        assert_close(full.table(name).values, network.table(name).values)
    # Other learners take them, too.
    for learner in (ConditionalLikelihood(), DFE(), Frequency()):
        model.set_params(parameters=learner).fit(X, y)
        model.set_params(parameters=Pairs()).fit(X, y)
    # Tables that are too large to be written out are no start.
    monkeypatch.setattr("tanager.classifiers.training.START_CELLS", 10)
    assert start_of(model.fit(X, y)) is None
