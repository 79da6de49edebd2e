from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager import BayesNetClassifier, InputError, Network, TableSizeError
from tanager.inference import elimination
from tanager.network import queries
from tests.network.makers import (
    column_table,
    complete_rows,
    general_network,
    random_evidence,
)
from tests.reference.joint import joint_table, marginal_of, restricted
from tests.strategies import generators, log_linear_network
from tests.tolerance import EXACT, TABLES, assert_close

FRACTIONS = st.sampled_from([0.0, 0.3, 0.6, 1.0])


@pytest.fixture
def impossible():
    """A network in which b = 1 cannot be, and c says nothing."""
    return Network.build(
        {"a": [0, 1], "b": [0, 1], "c": [0, 1]},
        {
            "a": [1.0, 0.0],
            "b": (["a"], [[1.0, 0.0], [0.5, 0.5]]),
            "c": (["a"], [[0.5, 0.5], [0.5, 0.5]]),
        },
        target="a",
    )


# One variable


@settings(max_examples=40)
@given(random=generators(), n=st.integers(1, 12), zeros=st.sampled_from([0, 0.4]))
def test_posteriors_of_any_variable_equal_enumeration(random, n, zeros):
    network = general_network(random, n, zeros=zeros)
    joint = joint_table(network)
    for query in random.choice(network.schema.names, 2):
        evidence, codes = random_evidence(random, network, 0.5, without=[query])
        expected = marginal_of(network, joint, codes, network.schema.index(query))
        if not expected.any():
            with pytest.raises(InputError, match="probability zero"):
                network.posterior(evidence, query)
            continue
        found = network.posterior(evidence, query)
        assert list(found) == list(network.schema[network.schema.index(query)].states)
        assert_close(list(found.values()), expected / expected.sum())


@settings(max_examples=25)
@given(random=generators(), n=st.integers(1, 8), fraction=FRACTIONS)
def test_tables_of_rows_equal_single_questions(random, n, fraction):
    network = general_network(random, n)
    query = str(random.choice(network.schema.names))
    others = [name for name in network.schema.names if name != query]
    rows = [random_evidence(random, network, fraction, [query])[0] for _ in range(5)]
    expected = [list(network.posterior(row, query).values()) for row in rows]
    found = network.posteriors(rows, query)
    assert found.shape == (5, len(expected[0]))
    assert_close(found, expected, EXACT)
    if others:
        again = network.posteriors(column_table(rows, others), query)
        assert np.array_equal(again, found)


def test_the_target_is_asked_for_by_default(sprinkler):
    found = sprinkler.posteriors({"grass": ["wet", None]})
    assert_close(found[0], list(sprinkler.posterior({"grass": "wet"}).values()))
    assert_close(found[1], [0.8, 0.2])


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames(sprinkler, kind):
    columns = {"grass": ["wet", None, "dry"], "rain": ["no", "yes", None]}
    expected = sprinkler.posteriors(columns, "sprinkler")
    frame = pytest.importorskip(kind).DataFrame(columns)
    assert np.array_equal(sprinkler.posteriors(frame, "sprinkler"), expected)


def test_the_query_may_be_a_column_of_missing_values(sprinkler):
    expected = sprinkler.posteriors({"grass": ["wet", "dry"]})
    missing = {"rain": [None, None], "grass": ["wet", "dry"]}
    assert np.array_equal(sprinkler.posteriors(missing), expected)
    with pytest.raises(InputError, match="'rain' is both the query and given"):
        sprinkler.posteriors({"rain": [None, "no"], "grass": ["wet", "dry"]})


def test_rows_of_nothing(sprinkler):
    assert_close(sprinkler.posteriors([{}, {}]), [[0.8, 0.2]] * 2)
    assert_close(sprinkler.log_likelihood([{}]), [0.0])


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_threads_change_no_bit(n_jobs):
    random = np.random.default_rng(0)
    network = general_network(random, 5, max_parents=1)
    rows = network.sample(20_000, random_state=1)
    query = "v2"
    del rows[query]
    expected = network.posteriors(rows, query)
    assert np.array_equal(network.posteriors(rows, query, n_jobs=n_jobs), expected)


@settings(max_examples=15)
@given(random=generators(), k=st.integers(2, 3), fraction=FRACTIONS)
def test_log_linear_families(random, k, fraction):
    network = log_linear_network(random, 4, k)
    joint = joint_table(network)
    for v, query in enumerate(network.schema.names):
        evidence, codes = random_evidence(random, network, fraction, [query])
        expected = marginal_of(network, joint, codes, v)
        found = network.posteriors([evidence], query)[0]
        assert_close(found, expected / expected.sum())


def test_posteriors_are_the_probabilities_of_a_classifier(sprinkler):
    rows = {"rain": ["yes", None, "no"], "sprinkler": ["on", "off", None]}
    model = BayesNetClassifier.from_network(sprinkler, target="grass")
    assert_close(sprinkler.posteriors(rows, "grass"), model.predict_proba(rows), EXACT)


def test_numbers_go_into_their_bins():
    X = {"age": [20.0, 40.0] * 10, "sky": ["blue", "grey"] * 10}
    model = BayesNetClassifier(structure="tan-res").fit(X, [0, 1] * 10)
    network = model.network_
    found = network.posteriors({"age": [25.0, 35.0, np.nan], "class": [0, 1, 0]}, "sky")
    for row, age in zip(found, (25.0, 35.0), strict=False):
        label = int(age > 30)
        expected = network.posterior({"age": age, "class": label}, "sky")
        assert_close(row, list(expected.values()))


def test_few_engines_are_kept_and_none_is_pickled(monkeypatch):
    monkeypatch.setattr(queries, "MAX_ENGINES", 3)
    network = general_network(np.random.default_rng(1), 6, target="v0")
    for name in network.schema.names:
        network.posterior(query=name)
    assert len(network._engines) == 3
    first = network._engine_of(5)
    assert network._engine_of(5) is first
    assert network._engine_of(0) is network.engine
    again = pickle.loads(pickle.dumps(network))
    assert not {"engine", "_engines"} & set(vars(again))
    for name in network.schema.names:
        assert again.posterior(query=name) == network.posterior(query=name)


# All variables


@settings(max_examples=30)
@given(
    random=generators(), n=st.integers(1, 10), fraction=FRACTIONS,
    zeros=st.sampled_from([0, 0.4]), with_target=st.booleans(),
)  # fmt: skip
def test_marginals_equal_enumeration(random, n, fraction, zeros, with_target):
    target = "v0" if with_target else None
    network = general_network(random, n, zeros=zeros, target=target)
    joint = joint_table(network)
    evidence, codes = random_evidence(random, network, fraction)
    if not restricted(network, joint, codes).any():
        with pytest.raises(InputError, match="probability zero"):
            network.marginals(evidence)
        return
    found = network.marginals(evidence)
    assert list(found) == list(network.schema.names)
    for v, variable in enumerate(network.schema):
        expected = marginal_of(network, joint, codes, v)
        assert list(found[variable.name]) == list(variable.states)
        assert_close(list(found[variable.name].values()), expected / expected.sum())


@settings(max_examples=10)
@given(random=generators(), k=st.integers(2, 3), fraction=FRACTIONS)
def test_marginals_of_log_linear_families(random, k, fraction):
    network = log_linear_network(random, 4, k)
    joint = joint_table(network)
    evidence, codes = random_evidence(random, network, fraction)
    for v, states in enumerate(network.marginals(evidence).values()):
        expected = marginal_of(network, joint, codes, v)
        assert_close(list(states.values()), expected / expected.sum())


def test_marginals_of_some_variables(sprinkler):
    found = sprinkler.marginals({"grass": "wet"}, ["sprinkler", "grass"])
    assert list(found) == ["sprinkler", "grass"]
    assert found["grass"] == {"dry": 0.0, "wet": 1.0}
    expected = sprinkler.posterior({"grass": "wet"}, "sprinkler")
    assert_close(list(found["sprinkler"].values()), list(expected.values()))
    assert sprinkler.marginals({"grass": None}, ["grass"])["grass"]["wet"] < 1
    assert sprinkler.marginals(variables=[]) == {}


# The most probable explanation


@settings(max_examples=60)
@given(
    random=generators(), n=st.integers(1, 12), fraction=FRACTIONS,
    zeros=st.sampled_from([0, 0.4]),
)  # fmt: skip
def test_explanations_equal_enumeration(random, n, fraction, zeros):
    network = general_network(random, n, zeros=zeros)
    evidence, codes = random_evidence(random, network, fraction)
    possible = restricted(network, joint_table(network), codes)
    best = possible.max()
    if best == 0:
        with pytest.raises(InputError, match="probability zero"):
            network.most_probable(evidence)
        return
    found = network.most_probable(evidence)
    assert list(found.states) == list(network.schema.names)
    assert evidence.items() <= found.states.items()
    assert_close(found.log_probability, np.log(best))
    # The states are those of the maximum, or of another that rounding cannot tell.
    where = tuple(v.code_of(found.states[v.name]) for v in network.schema)
    assert_close(possible[where], best, TABLES)
    assert_close(network.log_likelihood([found.states])[0], found.log_probability)


@settings(max_examples=15)
@given(random=generators(), k=st.integers(2, 3), fraction=FRACTIONS)
def test_explanations_of_log_linear_families(random, k, fraction):
    network = log_linear_network(random, 4, k)
    evidence, codes = random_evidence(random, network, fraction)
    best = restricted(network, joint_table(network), codes).max()
    assert_close(network.most_probable(evidence).log_probability, np.log(best))


def test_the_explanation_is_not_made_of_the_marginals():
    network = Network.build(
        {"a": [0, 1], "b": [0, 1, 2]},
        {"a": [0.6, 0.4], "b": (["a"], [[0.4, 0.3, 0.3], [0.0, 1.0, 0.0]])},
    )
    assert max(network.posterior(query="a").items(), key=lambda s: s[1])[0] == 0
    found = network.most_probable()
    assert found.states == {"a": 1, "b": 1}
    assert_close(found.log_probability, np.log(0.4))
    given = network.most_probable({"b": 2})
    fraction = np.exp(given.log_probability - network.log_likelihood([{"b": 2}])[0])
    assert given.states == {"a": 0, "b": 2}
    assert_close(fraction, 1.0)


def test_of_equal_explanations_the_lowest_states_are_taken():
    fair = [[0.5, 0.5]] * 2
    network = Network.build(
        {name: ["x", "y"] for name in "abc"},
        {"a": [0.5, 0.5], "b": (["a"], fair), "c": (["b"], fair)},
    )
    assert set(network.most_probable().states.values()) == {"x"}
    assert network.most_probable({"b": "y"}).states == {"a": "x", "b": "y", "c": "x"}


def test_many_variables_do_not_underflow():
    n = 1200
    names = [f"v{k}" for k in range(n)]
    step = [[0.7, 0.3], [0.4, 0.6]]
    tables = {
        name: (["v" + str(k - 1)], step) if k else [0.5, 0.5]
        for k, name in enumerate(names)
    }
    network = Network.build({name: [0, 1] for name in names}, tables)
    found = network.most_probable()
    assert set(found.states.values()) == {0}
    assert_close(found.log_probability, np.log(0.5) + (n - 1) * np.log(0.7))


# Bad questions


def test_impossible_evidence_is_an_error(impossible):
    for ask in (
        lambda given: impossible.posterior(given),
        lambda given: impossible.posterior(given, query="c"),
        lambda given: impossible.marginals(given),
        lambda given: impossible.marginals(given, ["b"]),
        lambda given: impossible.most_probable(given),
    ):
        with pytest.raises(InputError, match=r"\{'b': 1\} has probability zero"):
            ask({"b": 1})
    with pytest.raises(InputError, match=r"\{'a': 1\} has probability zero"):
        impossible.marginals({"a": 1, "c": None})


def test_impossible_rows_are_an_error_that_names_the_first(impossible):
    rows = {"b": [0, None, 1, 0, 1]}
    assert_close(impossible.log_likelihood(rows)[[0, 1, 3]], 0.0)
    assert np.isneginf(impossible.log_likelihood(rows)[[2, 4]]).all()
    assert np.isneginf(impossible.log_likelihood({"a": [1], "c": [0]})).all()
    for query in ("a", "c"):
        with pytest.raises(
            InputError, match=r"Row 2 \(and 1 more\).* network: \{'b': 1\}\. It has no"
        ):
            impossible.posteriors(rows, query)
        with pytest.raises(InputError, match=r"network: \{'b': 1\}\. It has no"):
            impossible.posteriors({"b": [1]}, query)
    many = {name: [0, 1] for name in "abcdefghijk"}
    tables = {name: [1.0, 0.0] for name in many}
    network = Network.build(many, tables)
    given = {name: [1] for name in many if name != "a"}
    with pytest.raises(InputError, match=r"'i': 1\} and 2 more values\."):
        network.posteriors(given, "a")


def test_bad_questions(sprinkler):
    for ask, message in [
        (lambda: sprinkler.posteriors({"gras": ["wet"]}), "Did you mean 'grass'"),
        (lambda: sprinkler.posteriors({"grass": ["soaked"]}), "Unknown state"),
        (lambda: sprinkler.posteriors({"grass": ["wet"]}, "sun"), "Unknown variable"),
        (lambda: sprinkler.marginals({"gras": "wet"}), "Did you mean 'grass'"),
        (lambda: sprinkler.marginals(["grass"]), "must be a mapping"),
        (lambda: sprinkler.marginals({}, ["sun"]), "Unknown variable 'sun'"),
        (lambda: sprinkler.marginals({}, "rain"), r"write \['rain'\]"),
        (lambda: sprinkler.most_probable({"grass": "soaked"}), "state for 'grass'"),
        (lambda: sprinkler.most_probable({"sun": 1}), "Unknown variable 'sun'"),
    ]:
        with pytest.raises(InputError, match=message):
            ask()
    without = Network.build({"a": [0, 1]}, {"a": [0.5, 0.5]})
    for ask, argument in [
        (without.posterior, "query"),
        (lambda: without.posteriors([{}]), "query"),
        (without.markov_blanket, "name"),
        (without.blanket_network, "name"),
    ]:
        with pytest.raises(InputError, match=f"`{argument}=`"):
            ask()


def test_too_large_cliques_are_named(sprinkler, monkeypatch):
    monkeypatch.setattr(elimination, "MAX_FACTOR_CELLS", 7)
    with pytest.raises(
        TableSizeError,
        match=r"8 cells over the clique \['rain', 'sprinkler', 'grass'\]",
    ):
        sprinkler.most_probable()
    assert sprinkler.most_probable({"rain": "yes"}).states["grass"] == "wet"


def test_refused_before_anything_is_allocated():
    names = [f"p{k}" for k in range(40)]
    tables = {name: [0.5, 0.5] for name in names}
    # Every pair of parents has a child, so that all of them are in one clique.
    variables = {name: [0, 1] for name in names}
    pairs = [(a, b) for i, a in enumerate(names) for b in names[:i]]
    for a, b in pairs:
        variables[f"{a}{b}"] = [0, 1]
        tables[f"{a}{b}"] = ([a, b], [[[0.5, 0.5]] * 2] * 2)
    network = Network.build(variables, tables)
    given = {f"{a}{b}": 1 for a, b in pairs}
    for ask in (
        lambda: network.most_probable(given),
        lambda: network.posterior(given, "p3"),
        lambda: network.posteriors([given] * 3, "p3"),
        lambda: network.marginals(given),
        lambda: network.log_likelihood([given]),
    ):
        with pytest.raises(
            TableSizeError, match=r"1,\d{3},.* cells over the clique \['p0', 'p1', 'p2'"
        ):
            ask()


def test_complete_rows_have_certain_marginals(sprinkler):
    for row in complete_rows(sprinkler):
        if np.isneginf(sprinkler.log_likelihood([row])[0]):
            continue
        assert sprinkler.most_probable(row).states == row
        found = sprinkler.marginals(row)
        assert {name: max(found[name], key=found[name].get) for name in row} == row
