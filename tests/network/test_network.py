from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager import (
    BayesNetClassifier,
    InputError,
    Network,
    Schema,
    TableSizeError,
    Variable,
)
from tanager.model import Parameters
from tests.reference.enumeration import joint_probability, marginal
from tests.strategies import generators, log_linear_network, networks
from tests.tolerance import TABLES, assert_close


def test_a_network_by_hand_describes_itself(sprinkler):
    assert sprinkler.edges == (
        ("rain", "sprinkler"),
        ("sprinkler", "grass"),
        ("rain", "grass"),
    )
    assert sprinkler.parents("grass") == ("sprinkler", "rain")
    table = sprinkler.table("grass")
    assert table.names == ("sprinkler", "rain", "grass")
    assert table.states == (("off", "on"), ("no", "yes"), ("dry", "wet"))
    assert_close(table.values[1, 0], [0.1, 0.9])
    assert sprinkler.n_parameters == 1 + 2 + 4
    assert '"sprinkler" -> "grass";' in sprinkler.to_dot()
    assert "0.9900" in str(table)
    assert repr(sprinkler) == "<Network: 3 variables, 3 arcs, 7 parameters>"


def test_the_textbook_posterior(sprinkler):
    # P(rain | wet) with the tables above, by hand:
    wet_rain = 0.2 * (0.99 * 0.8 + 0.01 * 0.99)
    wet_dry = 0.8 * (0.6 * 0.0 + 0.4 * 0.9)
    assert_close(
        sprinkler.posterior({"grass": "wet"})["yes"], wet_rain / (wet_rain + wet_dry)
    )
    assert_close(sprinkler.posterior()["yes"], 0.2)
    on = sprinkler.posterior({"rain": "yes", "grass": None}, query="sprinkler")
    assert_close(on["on"], 0.01)


def check_posterior(network, data):
    """Compare the posterior of a variable, given some others, with enumeration."""
    schema = network.schema
    query = data.draw(st.integers(0, len(schema) - 1))
    evidence, codes = {}, list(schema.n_states)
    for v in range(len(schema)):
        if v != query and data.draw(st.booleans()):
            codes[v] = data.draw(st.integers(0, schema[v].n_states - 1))
            evidence[schema.names[v]] = schema[v].states[codes[v]]
    expected = marginal(network, codes, (query,))
    found = network.posterior(evidence, query=schema.names[query])
    assert list(found) == list(schema[query].states)
    assert_close(list(found.values()), expected / expected.sum())


@settings(max_examples=30)
@given(
    network=networks(max_features=4, max_parents=2, class_rooted=False), data=st.data()
)
def test_posteriors_equal_enumeration(network, data):
    check_posterior(network, data)


@settings(max_examples=30)
@given(network=networks(max_features=4), data=st.data())
def test_log_likelihood_equals_enumeration(network, data):
    schema = network.schema
    rows, expected = [], []
    for _ in range(3):
        codes = [data.draw(st.integers(0, int(r))) for r in schema.n_states]
        row = {
            variable.name: None if code == variable.n_states else variable.states[code]
            for variable, code in zip(schema, codes, strict=True)
        }
        rows.append(row)
        expected.append(np.log(marginal(network, codes, ())))
    assert_close(network.log_likelihood(rows), expected)


def test_probabilities_of_all_rows_sum_to_one(sprinkler):
    cells = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    states = [
        [v.states[code] for v, code in zip(sprinkler.schema, cell, strict=True)]
        for cell in cells
    ]
    found = np.exp(sprinkler.log_likelihood(states))
    assert_close(found, [joint_probability(sprinkler, cell) for cell in cells])
    assert_close(found.sum(), 1.0)


@pytest.mark.parametrize("kind", ["mapping", "pandas", "polars", "one row"])
def test_rows_of_any_kind(sprinkler, kind):
    columns = {"grass": ["wet", "dry"], "rain": ["no", "yes"]}
    if kind in ("pandas", "polars"):
        columns = pytest.importorskip(kind).DataFrame(columns)
    elif kind == "one row":
        columns = {"grass": "wet", "rain": "no"}
    found = sprinkler.log_likelihood(columns)
    assert_close(found[0], np.log(0.8 * 0.36))


def test_bad_questions(sprinkler):
    for ask, message in [
        (lambda: sprinkler.posterior({"gras": "wet"}), "Did you mean 'grass'"),
        (
            lambda: sprinkler.posterior({"grass": "soaked"}),
            "state for 'grass': 'soaked'",
        ),
        (lambda: sprinkler.posterior({"rain": "no"}), "both the query and given"),
        (lambda: sprinkler.posterior(["rain"]), "must be a mapping"),
        (lambda: sprinkler.posterior({}, query="sun"), "Unknown variable 'sun'"),
        (lambda: sprinkler.parents("sun"), "Unknown variable"),
        (lambda: sprinkler.sample(-1), "at least 0"),
        (lambda: sprinkler.log_likelihood({"grass": ["soaked"]}), "Unknown state"),
        (lambda: sprinkler.log_likelihood({"gras": ["wet"]}), "Unknown variable"),
        (lambda: sprinkler.log_likelihood([["no", "off"]]), "one column per variable"),
    ]:
        with pytest.raises(InputError, match=message):
            ask()


def test_impossible_evidence_is_an_error_not_nan():
    network = Network.build(
        {"a": [0, 1], "b": [0, 1], "c": [0, 1]},
        {
            "a": [1.0, 0.0],
            "b": (["a"], [[1.0, 0.0], [0.5, 0.5]]),
            "c": (["a"], [[0.5, 0.5], [0.5, 0.5]]),
        },
        target="a",
    )
    for query in (None, "c"):
        with pytest.raises(InputError, match="probability zero"):
            network.posterior({"b": 1}, query=query)


AB = {"a": [0, 1], "b": [0, 1]}


@pytest.mark.parametrize(
    ("variables", "tables", "message"),
    [
        ({}, {}, "at least one variable"),
        (AB, {"a": [0.5, 0.5]}, "no CPT for 'b'"),
        (AB, {"a": [0.5, 0.5], "b": [0.5, 0.5], "c": [1]}, "Unknown variable 'c'"),
        (AB, {"a": [0.5, 0.6], "b": [0.5, 0.5]}, "sums to 1.1"),
        (AB, {"a": [1.5, -0.5], "b": [0.5, 0.5]}, "negative"),
        (AB, {"a": [0.5, np.nan], "b": [0.5, 0.5]}, "not numbers"),
        (AB, {"a": [0.5, 0.5, 0.0], "b": [0.5, 0.5]}, r"expected \(2,\)"),
        (AB, {"a": [0.5, "x"], "b": [0.5, 0.5]}, "not an array of numbers"),
        (
            AB,
            {"a": (["b"], np.full((2, 2), 0.5)), "b": (["a"], np.full((2, 2), 0.5))},
            "cycle: a -> b -> a|cycle: b -> a -> b",
        ),
        ({"a": []}, {"a": []}, "no states"),
    ],
)
def test_networks_that_cannot_be(variables, tables, message):
    with pytest.raises(InputError, match=message):
        Network.build(variables, tables)


def test_samples_follow_the_tables(sprinkler):
    rows = sprinkler.sample(40_000, random_state=0)
    assert set(rows) == {"rain", "sprinkler", "grass"}
    rain = rows["rain"] == "yes"
    assert abs(rain.mean() - 0.2) < 0.01
    on = rows["sprinkler"] == "on"
    assert abs(on[~rain].mean() - 0.4) < 0.01
    assert not ((rows["grass"] == "wet") & ~on & ~rain).any()
    again = sprinkler.sample(40_000, random_state=0)
    assert all(np.array_equal(rows[name], again[name]) for name in rows)
    assert len(sprinkler.sample(0)["rain"]) == 0


def test_samples_keep_the_types_of_mixed_states():
    network = Network.build({"x": ["a", 1, 2.5]}, {"x": [0.3, 0.3, 0.4]})
    drawn = network.sample(50, random_state=1)["x"]
    assert set(map(type, drawn.tolist())) == {str, int, float}


def test_numbers_go_into_their_bins():
    schema = Schema((Variable.binned("age", [30.0]), Variable("y", (0, 1))), target=1)
    made = BayesNetClassifier().fit({"age": [20.0, 40.0] * 10}, [0, 1] * 10).network_
    assert made.schema[0].cuts == schema[0].cuts
    assert made.posterior({"age": 25}) == made.posterior({"age": "(-inf, 30]"})


def test_the_class_can_be_moved_to_the_end(sprinkler):
    moved = sprinkler.with_target_last()
    assert moved.schema.names == ("sprinkler", "grass", "rain")
    assert_close(
        list(moved.posterior({"grass": "wet"}).values()),
        list(sprinkler.posterior({"grass": "wet"}).values()),
    )
    other = sprinkler.with_target_last("grass")
    assert other.schema.names[-1] == "grass"


def test_a_network_becomes_a_classifier(sprinkler):
    model = BayesNetClassifier.from_network(sprinkler, target="grass")
    assert model.classes_.tolist() == ["dry", "wet"]
    rows = {"rain": ["yes", None], "sprinkler": ["on", "off"]}
    found = model.predict_proba(rows)
    assert_close(found[0, 1], 0.99)
    expected = sprinkler.posterior({"sprinkler": "off"}, query="grass")
    assert_close(found[1], list(expected.values()), TABLES)


def test_pickles_are_small_and_equal(sprinkler):
    sprinkler.posterior({"grass": "wet"})
    again = pickle.loads(pickle.dumps(sprinkler))
    assert again.posterior({"grass": "wet"}) == sprinkler.posterior({"grass": "wet"})
    assert "engine" in vars(sprinkler)  # compiled, but not pickled
    assert "engine" not in pickle.loads(pickle.dumps(sprinkler)).__getstate__()
    assert len(pickle.dumps(sprinkler)) < 3000


def test_variables_of_many_states_may_be_absent_from_rows():
    many = list(range(300))
    network = Network.build(
        {"wide": many, "bit": [0, 1]},
        {"wide": np.full(300, 1 / 300), "bit": (["wide"], [[0.3, 0.7]] * 300)},
    )
    assert_close(network.log_likelihood({"bit": [1, 0]}), np.log([0.7, 0.3]))
    assert_close(network.log_likelihood({"wide": [299], "bit": [1]}), np.log(0.7 / 300))


def test_samples_go_back_in():
    X = {"age": [20.0, 40.0] * 10, "sky": ["blue", "grey"] * 10}
    model = BayesNetClassifier(structure="tan-res").fit(X, [0, 1] * 10)
    network = model.network_
    rows = network.sample(5, random_state=0)
    found = network.log_likelihood(rows)
    assert_close(
        found[0], network.log_likelihood({k: v[0] for k, v in rows.items()})[0]
    )
    numbers = {**rows, "age": np.where(rows["age"] == "(-inf, 30]", 25.0, 35.0)}
    assert_close(network.log_likelihood(numbers), found)


def test_moving_the_class_changes_no_bit():
    tiny = np.exp(-800.0) if np.exp(-800.0) > 0 else 5e-324
    network = Network.build(
        {"c": [0, 1], "x": [0, 1]},
        {"c": [0.25, 0.75], "x": (["c"], [[tiny, 1 - tiny], [1 / 3, 2 / 3]])},
        target="c",
    )
    moved = network.with_target_last()
    ours = {name: network.table(name).values for name in ("c", "x")}
    for name, values in ours.items():
        assert np.array_equal(moved.table(name).values, values)
    back = sorted(moved.parameters.log_theta.tolist())
    assert back == sorted(network.parameters.log_theta.tolist())


def test_classes_of_mixed_types_stay_apart():
    network = Network.build(
        {"x": [0, 1], "c": ["a", 1]},
        {"c": [0.5, 0.5], "x": (["c"], [[0.9, 0.1], [0.2, 0.8]])},
        target="c",
    )
    model = BayesNetClassifier.from_network(network)
    assert model.predict({"x": [0, 1]}).tolist() == ["a", 1]


def test_evidence_that_is_missing_is_not_given(sprinkler):
    expected = sprinkler.posterior({"grass": "wet"})
    assert sprinkler.posterior({"grass": "wet", "rain": None}) == expected


def test_states_of_another_type_are_told_apart():
    network = Network.build({"j": [0, 1]}, {"j": [0.5, 0.5]}, target="j")
    with pytest.raises(InputError, match="1 is known, of type int; '1' is of type str"):
        network.log_likelihood({"j": ["1"]})


# Families that are sums of log tables


@settings(max_examples=25)
@given(random=generators(), k=st.integers(2, 3))
def test_tables_of_log_linear_families(random, k):
    network = log_linear_network(random, 5, k)
    for index, name in enumerate(network.schema.names):
        table, parts = network.table(name), network.log_tables(name)
        assert table.names == (*network.parents(name), name)
        assert len(parts) == len(network.parameters.layout.tables_of(index))
        assert_close(table.values.sum(axis=-1), 1.0)
        for cell in np.ndindex(table.values.shape):
            state = dict(zip(table.names, cell, strict=True))
            total = sum(p.values[tuple(state[n] for n in p.names)] for p in parts)
            assert_close(np.log(table.values[cell]), total)


def test_log_linear_families_describe_themselves():
    network = log_linear_network(np.random.default_rng(0), 4, 2, max_states=4)
    layout = network.parameters.layout
    sums = [v for v in range(4) if len(layout.tables_of(v)) > 1]
    assert sums
    name = network.schema.names[sums[0]]
    own, *_, last = network.log_tables(name)
    assert name in own.names
    assert name not in last.names
    assert str(own).startswith(f"log table over {', '.join(own.names)}\n")
    assert f"{own.values.ravel()[0]:.4f}" in str(own)
    assert last.states[0] == network.schema.target_variable.states
    (only,) = network.log_tables("class")
    assert_close(np.exp(only.values), network.table("class").values)
    # As many as log-linear models have, fewer than full tables.
    n_full = sum(
        size // layout.n_states[family[-1]] * (layout.n_states[family[-1]] - 1)
        for family in network.structure.families
        for size in [np.prod([layout.n_states[v] for v in family])]
    )
    assert network.n_parameters == sum(layout.n_free(v) for v in range(5)) < n_full


def test_a_table_that_is_too_large_is_refused(monkeypatch):
    network = log_linear_network(np.random.default_rng(0), 4, 2, max_states=4)
    layout = network.parameters.layout
    name = next(
        n for v, n in enumerate(network.schema.names) if layout.tables_of(v)[1:]
    )
    monkeypatch.setattr("tanager.network.network.MAX_TABLE_CELLS", 3)
    with pytest.raises(TableSizeError, match=rf"use log_tables\('{name}'\)"):
        network.table(name)
    assert network.table("class").values.shape == (network.schema.n_classes,)


@settings(max_examples=15)
@given(random=generators(), k=st.integers(2, 3), data=st.data())
def test_posteriors_of_log_linear_families_equal_enumeration(random, k, data):
    network = log_linear_network(random, 4, k)
    check_posterior(network, data)


def test_samples_of_log_linear_families_have_their_joint_distribution(monkeypatch):
    monkeypatch.setattr("tanager.network.sampling.MAX_BLOCK_CELLS", 1000)
    network = log_linear_network(
        np.random.default_rng(1), 3, 2, max_states=3, n_classes=2
    )
    assert any(network.parameters.layout.tables_of(v)[1:] for v in range(3))
    n = 20_000
    drawn = network.sample(n, random_state=0)
    again = network.sample(n, random_state=0)
    assert all(np.array_equal(drawn[name], again[name]) for name in drawn)
    schema = network.schema
    codes = np.array([[v.code_of(s) for s in drawn[v.name]] for v in schema])
    counts = np.zeros(schema.n_states)
    np.add.at(counts, tuple(codes), 1)
    for cell in np.ndindex(counts.shape):
        p = joint_probability(network, cell)
        assert abs(counts[cell] / n - p) < 5 * np.sqrt(p * (1 - p) / n) + 1e-9


def test_log_linear_families_move_with_the_class_and_are_pickled():
    network = log_linear_network(np.random.default_rng(2), 4, 2, max_states=3)
    other = network.schema.names[0]
    moved = network.with_target_last(other)
    assert moved.schema.names[-1] == other
    assert moved.edges != network.edges
    again = pickle.loads(pickle.dumps(moved))
    for name in network.schema.names:
        assert again.parents(name) == network.parents(name)
        assert_close(again.table(name).values, network.table(name).values, 1e-12)
    evidence = {"class": 0}
    for query in network.schema.names[:-1]:
        assert_close(
            list(again.posterior(evidence, query).values()),
            list(network.posterior(evidence, query).values()),
        )


def test_tables_of_other_families_are_refused():
    network = log_linear_network(np.random.default_rng(0), 4, 2, max_states=4)
    layout = network.parameters.layout
    for change in (
        {"owners": tuple(reversed(layout.owners))},
        {"axes": tuple(axes[::-1] for axes in layout.axes)},
        {"axes": layout.axes[:-1], "owners": layout.owners[:-1]},
    ):
        other = replace(layout, **change)
        with pytest.raises(InputError, match="do not have the axes"):
            Network(
                network.schema,
                network.structure,
                Parameters(other, np.zeros(other.n_cells)),
            )


def test_one_parent_may_be_given_by_its_name():
    variables = {"a": [0, 1], "b": [0, 1]}
    rows = [[0.9, 0.1], [0.2, 0.8]]
    one = Network.build(variables, {"a": [0.5, 0.5], "b": ("a", rows)})
    other = Network.build(variables, {"a": [0.5, 0.5], "b": (["a"], rows)})
    assert one.edges == other.edges == (("a", "b"),)


def test_tables_too_large_are_refused_before_they_are_copied():
    n = 6
    variables = {f"x{j}": list(range(60)) for j in range(n)}
    tables = {name: np.full(60, 1 / 60) for name in variables}
    huge = np.broadcast_to(np.array(1 / 60), (60,) * n)
    tables["x5"] = ([f"x{j}" for j in range(5)], huge)
    with pytest.raises(TableSizeError, match="'x5'"):
        Network.build(variables, tables)


def test_a_row_of_a_data_frame_is_evidence(sprinkler):
    row = pytest.importorskip("pandas").Series({"grass": "wet"})
    assert sprinkler.posterior(row) == sprinkler.posterior({"grass": "wet"})
    with pytest.raises(InputError, match="mapping from names to values, got list"):
        sprinkler.posterior(["grass"])
