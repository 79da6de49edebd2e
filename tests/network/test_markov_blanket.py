from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager import BayesNetClassifier, InputError, Network, Structure, TableSizeError
from tanager.inference import elimination
from tanager.network import markov_blanket
from tests.network.makers import (
    column_table,
    complete_rows,
    general_network,
    random_evidence,
)
from tests.reference.joint import joint_table
from tests.strategies import generators, log_linear_network
from tests.tolerance import EXACT, assert_close


@pytest.fixture
def winding():
    """A spouse that is a descendant of the class: t -> c -> m -> s -> d <- t.

    Parents p of t and q of s hang together through r; z is below everything.
    """
    names = ["r", "p", "q", "t", "c", "m", "s", "d", "z"]
    parents = {
        "r": [], "p": ["r"], "q": ["r"], "t": ["p"], "c": ["t"], "m": ["c"],
        "s": ["m", "q"], "d": ["s", "t"], "z": ["d", "m"],
    }  # fmt: skip
    random = np.random.default_rng(5)
    tables = {}
    for name in names:
        table = random.dirichlet(np.ones(2), size=[2] * len(parents[name]))
        tables[name] = (parents[name], table)
    return Network.build({name: ["no", "yes"] for name in names}, tables, target="t")


def is_separated(network, one, other, given):
    """Whether two variables are independent in the joint distribution."""
    joint = joint_table(network)
    axes = (one, other, *given)
    rest = tuple(v for v in range(joint.ndim) if v not in axes)
    table = joint.sum(axis=rest)
    table = np.moveaxis(table, np.argsort(np.argsort(axes)), range(len(axes)))
    pair = table * table.sum(axis=(0, 1))
    product = table.sum(axis=1)[:, None] * table.sum(axis=0)[None]
    return np.allclose(pair, product, atol=1e-12)


@settings(max_examples=25)
@given(random=generators(), n=st.integers(2, 7))
def test_all_others_are_independent_given_the_blanket(random, n):
    network = general_network(random, n, max_parents=2)
    target = int(random.integers(n))
    members = network.structure.markov_blanket(target)
    for other in set(range(n)) - {target, *members}:
        assert is_separated(network, target, other, members)


@settings(max_examples=25)
@given(random=generators(), n=st.integers(2, 9))
def test_membership_is_mutual(random, n):
    structure = general_network(random, n).structure
    blankets = [structure.markov_blanket(v) for v in range(n)]
    assert all(v in blankets[u] for v in range(n) for u in blankets[v])


def test_members_by_name(winding):
    assert winding.markov_blanket() == ("p", "c", "s", "d")
    assert winding.markov_blanket("z") == ("m", "d")
    assert winding.markov_blanket("r") == ("p", "q")
    with pytest.raises(InputError, match="Unknown variable"):
        winding.markov_blanket("y")
    assert Structure(((), ())).markov_blanket(0) == ()


# The small network


@settings(max_examples=60)
@given(
    random=generators(), n=st.integers(1, 9), fraction=st.sampled_from([0, 0.4, 0.8]),
    zeros=st.sampled_from([0, 0.4]),
)  # fmt: skip
def test_the_small_network_has_the_same_joint_distribution(random, n, fraction, zeros):
    network = general_network(random, n, zeros=zeros)
    name = str(random.choice(network.schema.names))
    small = network.blanket_network(name)
    kept = [
        v for v in network.schema.names if v in {name, *network.markov_blanket(name)}
    ]
    assert list(small.schema.names) == kept
    assert small.schema.target_variable.name == name
    gone = tuple(v for v, one in enumerate(network.schema.names) if one not in kept)
    assert_close(joint_table(small), joint_table(network).sum(axis=gone))
    evidence, _ = random_evidence(random, small, fraction)
    if np.isfinite(small.log_likelihood([evidence])[0]):
        expected = network.marginals(evidence, kept)
        for other, states in small.marginals(evidence).items():
            assert_close(list(states.values()), list(expected[other].values()))


@settings(max_examples=30)
@given(random=generators(), n=st.integers(1, 8), exact=st.booleans())
def test_posteriors_are_the_same_where_the_blanket_is_known(random, n, exact):
    network = general_network(random, n)
    name = str(random.choice(network.schema.names))
    small = network.blanket_network(name, exact=exact)
    members = network.markov_blanket(name)
    rows = [random_evidence(random, small, 1.0, without=[name])[0] for _ in range(4)]
    assert all(set(row) == set(members) for row in rows)
    assert_close(small.posteriors(rows, name), network.posteriors(rows, name))


@pytest.mark.parametrize("exact", [True, False])
def test_tables_that_stay(winding, exact):
    small = winding.blanket_network(exact=exact)
    assert small.schema.names == ("p", "t", "c", "s", "d")
    for name in ("t", "c", "d"):
        assert small.parents(name) == winding.parents(name)
        assert np.array_equal(small.table(name).values, winding.table(name).values)
    # q and m speak through p and c; the variable asked for is no parent of s.
    assert set(small.parents("s")) == ({"p", "c"} if exact else set())
    expected = winding.posterior(query="p")
    assert_close(small.table("p").values, list(expected.values()))
    if not exact:
        expected = winding.posterior(query="s")
        assert_close(small.table("s").values, list(expected.values()))


def test_inexact_posteriors_differ_where_values_are_missing(winding):
    given = {"c": "yes", "d": "no"}
    whole = winding.posterior(given)["yes"]
    assert_close(winding.blanket_network().posterior(given)["yes"], whole)
    assert abs(winding.blanket_network(exact=False).posterior(given)["yes"] - whole) > 0


@settings(max_examples=15)
@given(random=generators(), k=st.integers(2, 3))
def test_sums_of_tables_stay_sums(random, k):
    network = log_linear_network(random, 5, k)
    small = network.blanket_network()
    assert small.parameters.layout == network.parameters.layout
    assert np.array_equal(small.parameters.log_theta, network.parameters.log_theta)
    name = network.schema.names[0]
    other = network.blanket_network(name)
    gone = tuple(
        v for v, n in enumerate(network.schema.names) if n not in other.schema.position
    )
    assert_close(joint_table(other), joint_table(network).sum(axis=gone))


def test_too_large_a_table_is_refused(winding, monkeypatch):
    monkeypatch.setattr(markov_blanket, "MAX_BLANKET_CELLS", 7)
    with pytest.raises(TableSizeError, match=r"8 entries over \['p', 'q', 'r'\]"):
        winding.blanket_network()
    assert winding.blanket_network(exact=False).parents("d") == ("s", "t")


# The classifier


@pytest.mark.parametrize("exact", [True, False])
def test_a_classifier_of_the_columns_that_matter(winding, exact):
    model = BayesNetClassifier.from_network(winding)
    model.set_params(unknown="error", n_jobs=2)
    assert model.markov_blanket_ == ("p", "c", "s", "d")
    small = model.blanket_classifier(exact=exact)
    assert small.feature_names_in_.tolist() == list(model.markov_blanket_)
    assert small.get_params()["unknown"] == "error"
    assert small.get_params()["n_jobs"] == 2
    rows = pd.DataFrame(complete_rows(winding)).drop(columns="t")
    found = small.predict_proba(rows[list(model.markov_blanket_)])
    assert_close(found, model.predict_proba(rows))
    if exact:
        rows[["s", "c"]] = None
        rows.loc[5:, "d"] = None
        rows[["r", "q", "m", "z"]] = None
        found = small.predict_proba(rows[list(model.markov_blanket_)])
        assert_close(found, model.predict_proba(rows))


def test_a_classifier_of_arrays_keeps_to_arrays():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(60, 3)), random.integers(0, 2, 60)
    model = BayesNetClassifier("width", "tan-res").fit(X, y)
    assert model.markov_blanket_ == ("x0", "x1", "x2")
    small = model.blanket_classifier()
    assert not hasattr(small, "feature_names_in_")
    assert not hasattr(small.encoder_, "feature_names_in_")
    assert_close(small.predict_proba(X), model.predict_proba(X), EXACT)
    assert small.predict(X).dtype == model.predict(X).dtype


def test_a_class_to_which_nothing_matters():
    network = Network.build(
        {"a": [0, 1], "b": [0, 1]}, {"a": [0.5] * 2, "b": [0.5] * 2}
    )
    model = BayesNetClassifier.from_network(network, target="b")
    assert model.markov_blanket_ == ()
    with pytest.raises(InputError, match="Markov blanket of the class is empty"):
        model.blanket_classifier()
    assert network.blanket_network("b").posterior() == {0: 0.5, 1: 0.5}


def test_an_ensemble_is_asked_for_all_its_networks():
    rows = {"sky": ["blue", "grey", "grey", "blue"] * 5, "wind": [1, 2, 3, 2] * 5}
    model = BayesNetClassifier.from_name("NB+Ada").fit(rows, [0, 1, 1, 0] * 5)
    assert model.markov_blanket_ == ("sky", "wind")


def test_rows_of_columns_and_single_rows_agree(winding):
    random = np.random.default_rng(3)
    small = winding.blanket_network()
    rows = [random_evidence(random, small, 0.6, without=["t"])[0] for _ in range(8)]
    table = column_table(rows, small.schema.names)
    assert_close(small.posteriors(table), winding.posteriors(rows))


def test_without_exactness_what_is_too_large_becomes_uniform(winding, monkeypatch):
    usual = winding.blanket_network("t", exact=False)
    monkeypatch.setattr(elimination, "MAX_FACTOR_CELLS", 0)
    found = winding.blanket_network("t", exact=False)
    assert found.edges == usual.edges
    alone = [name for name in found.schema.names if not found.parents(name)]
    assert any(np.allclose(found.table(name).values, 0.5) for name in alone)
    assert not any(np.allclose(usual.table(name).values, 0.5) for name in alone)
    monkeypatch.undo()
    members = winding.markov_blanket("t")
    evidence = dict.fromkeys(members, "yes")
    assert found.posterior(evidence, "t")["yes"] == pytest.approx(
        usual.posterior(evidence, "t")["yes"]
    )
