"""Factors converted to CPTs: the same P(c | x), and what cannot be converted."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

import tanager
from tanager import (
    BayesNetClassifier,
    CapabilityError,
    FactorSearch,
    TableSizeError,
)
from tanager.errors import NetworkOnlyError
from tanager.loglinear import factors_to_cpts
from tanager.loglinear.factors_to_cpts import BinTerms, chordless_cycle
from tanager.model import FamilyLayout
from tests.loglinear.factor_makers import (
    make_codes,
    make_factor,
    make_network,
    make_variable,
    make_variables,
)
from tests.reference.log_linear import joint_of_families
from tests.strategies import generators, random_codes, random_k_tree
from tests.tolerance import assert_close

SINGLE = [(0,), (1,), (2,), (3,)]
CHORDAL = {
    "order 1": SINGLE,
    "nothing": [],
    "some features": [(1,), (3,)],
    "a pair": [*SINGLE, (0, 2)],
    "a chain": [*SINGLE, (0, 1), (1, 2), (2, 3)],
    "a star": [*SINGLE, (0, 2), (1, 2), (2, 3)],
    "a forest": [*SINGLE, (0, 3), (1, 2)],
    "a triangle of pairs": [*SINGLE, (0, 1), (0, 2), (1, 2), (2, 3)],
    "a triple": [*SINGLE, (0, 1, 3)],
    "a triangle with a triple": [*SINGLE, (0, 1), (0, 2), (1, 2), (0, 1, 2)],
    "two triples": [*SINGLE, (0, 1, 2), (1, 2, 3)],
    "all pairs": [*SINGLE, *combinations(range(4), 2)],
}
SQUARE = [*SINGLE, (0, 1), (1, 2), (2, 3), (0, 3)]

VARIABLES = [
    make_variable("a", 5, True),
    make_variable("b", 3, False, missing_state=True),
    make_variable("c", 4, True, missing_state=True),
    make_variable("d", 2, False),
]


def network_of(keys, n_classes=2, max_bins=2, seed=0):
    random = np.random.default_rng(seed)
    return make_network(random, VARIABLES, keys, n_classes, max_bins)


def posteriors(network, codes):
    return softmax(network.engine.log_joint_block(codes), axis=1)


def random_keys(random, schema, k):
    """Factors over a random chordal graph: pairs, and some triples."""
    structure = random_k_tree(random, schema, k)
    keys = {(v,) for v in range(len(schema) - 1) if random.random() < 0.8}
    for v, parents in enumerate(structure.feature_parents):
        keys.update(tuple(sorted((v, p))) for p in parents)
        if len(parents) == 2 and random.random() < 0.5:
            keys.add(tuple(sorted((v, *parents))))
    return [tuple(map(int, key)) for key in sorted(keys)]


# The same P(c | x)


@pytest.mark.parametrize("full_cells", [0, 100_000])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", CHORDAL)
def test_posteriors_of_complete_samples(name, n_classes, full_cells, monkeypatch):
    monkeypatch.setattr(factors_to_cpts, "FULL_CELLS", full_cells)
    network = network_of(CHORDAL[name], n_classes)
    converted = network.to_network()
    codes = random_codes(np.random.default_rng(1), network.schema, 300)
    assert_close(posteriors(converted, codes), posteriors(network, codes))
    names = network.schema.names
    joined = {
        frozenset((names[i], names[j]))
        for key in CHORDAL[name]
        for i, j in combinations(key, 2)
    }
    arcs = {frozenset(arc) for arc in converted.edges}
    assert arcs == joined | {frozenset((name, "class")) for name in names[:-1]}
    for variable in names:
        assert_close(converted.table(variable).values.sum(axis=-1), 1.0)


@settings(max_examples=40, deadline=None)
@given(
    random=generators(),
    n_features=st.integers(1, 6),
    k=st.integers(1, 2),
    n_classes=st.integers(2, 3),
    max_bins=st.sampled_from([None, 2]),
)
def test_random_chordal_graphs(random, n_features, k, n_classes, max_bins):
    variables = make_variables(random, n_features, max_values=3)
    schema = make_network(random, variables, [], n_classes).schema
    keys = random_keys(random, schema, k)
    network = make_network(random, variables, keys, n_classes, max_bins)
    assert chordless_cycle(network.factors) == []
    converted = network.to_network()
    codes = random_codes(random, schema, 60)
    assert_close(posteriors(converted, codes), posteriors(network, codes))


def test_a_fitted_model_with_missing_values():
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 4))
    y = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int) + (X[:, 3] > 1)
    X[random.random(X.shape) < 0.1] = np.nan  # these have a state
    model = BayesNetClassifier(structure=FactorSearch(order=1)).fit(X, y)
    converted = BayesNetClassifier.from_network(model.network_.to_network())
    found = converted.predict_proba({f"x{j}": X[:, j] for j in range(4)})
    assert_close(found, model.predict_proba(X))


# The distribution of the features


@pytest.mark.parametrize("full_cells", [0, 100_000])
@pytest.mark.parametrize("name", ["a chain", "a triangle with a triple", "all pairs"])
def test_missing_features_are_marginalised(name, full_cells, monkeypatch):
    monkeypatch.setattr(factors_to_cpts, "FULL_CELLS", full_cells)
    converted = network_of(CHORDAL[name], 3).to_network()
    layout = converted.parameters.layout
    joint = joint_of_families(layout, converted.parameters.log_theta)
    codes = random_codes(np.random.default_rng(2), converted.schema, 40, missing=0.5)
    states = layout.n_states
    for row, found in zip(codes, posteriors(converted, codes), strict=True):
        seen = tuple(
            slice(None) if c == n else slice(c, c + 1)
            for c, n in zip(row, states, strict=False)
        )
        expected = joint[seen].sum(axis=(0, 1, 2, 3))
        assert_close(found, expected / expected.sum())


@pytest.mark.parametrize("full_cells", [0, 100_000])
def test_cells_have_the_probabilities_of_the_training_samples(full_cells, monkeypatch):
    monkeypatch.setattr(factors_to_cpts, "FULL_CELLS", full_cells)
    random = np.random.default_rng(3)
    codes = make_codes(random, VARIABLES, 3000)
    codes = codes[:, (codes < [[v.n_states] for v in VARIABLES]).all(axis=0)]
    codes[1, codes[0] > 2] = 0  # a dependence
    keys = CHORDAL["a triangle of pairs"]
    network = make_network(random, VARIABLES, keys, 2, 2, codes)
    converted = network.to_network()
    joint = joint_of_families(
        converted.parameters.layout, converted.parameters.log_theta
    )
    for table in network.factors.tables:
        key = table.factor.key
        gone = tuple(v for v in range(5) if v not in key)
        found = np.zeros(table.factor.n_cells)
        for states, p in np.ndenumerate(joint.sum(axis=gone)):
            place = dict(zip(key, states, strict=True))
            found[table.factor.cells([[place.get(v, 0)] for v in range(4)])] += p
        expected = table.support / table.support.sum()
        np.testing.assert_allclose(found, expected, atol=0.01)


def test_marginalisation_of_hidden_values_of_adult(data_folder):
    """Some values of the test samples are hidden at random.

    Factors average over features that are not observed, the converted network
    marginalises them exactly and has a slightly lower log loss. This is not so if
    hidden values get the state of missing values, which three features have.
    """
    data = tanager.datasets.load("large/adult")
    X, X_test, y, y_test = train_test_split(
        data.X, data.y, test_size=1 / 3, random_state=0, stratify=data.y
    )
    model = BayesNetClassifier(structure=FactorSearch(order=1)).fit(X, y)
    network = model.network_
    converted = network.to_network()
    codes = model.encoder_.encode(X_test)
    features = network.schema.variables[:-1]
    not_observed = [v.n_states for v in features]
    missing = [v.missing_code for v in features]
    # Means over five random seeds; one seed is within 0.003.
    cases = [
        (0.3, not_observed, 0.326, -0.002),
        (0.3, missing, 0.332, 0.001),
        (0.5, missing, 0.385, 0.007),
    ]
    for rate, code, loss, change in cases:
        hidden = np.random.default_rng(0).random(codes.shape) < rate
        left = np.asfortranarray(np.where(hidden, code, codes).astype(np.uint8))
        before, after = (posteriors(one, left) for one in (network, converted))
        losses = [log_loss(y_test, p, labels=model.classes_) for p in (before, after)]
        assert losses[0] == pytest.approx(loss, abs=0.003)
        assert losses[1] - losses[0] == pytest.approx(change, abs=0.003)
        if code is not_observed:
            right = [
                (model.classes_[p.argmax(axis=1)] == y_test).mean()
                for p in (before, after)
            ]
            assert right == pytest.approx([0.847, 0.847], abs=0.003)


def test_sums_and_full_tables_give_the_same(monkeypatch):
    network = network_of(CHORDAL["two triples"])
    full = network.to_network()
    monkeypatch.setattr(factors_to_cpts, "FULL_CELLS", 0)
    sums = network.to_network()
    for name in network.schema.names:
        found, expected = sums.table(name), full.table(name)
        np.testing.assert_allclose(found.values, expected.values, atol=0.02)


def test_the_terms_of_bins_are_a_linear_map():
    factors = [make_factor(VARIABLES, key, 2) for key in [(0,), (1, 2), (0, 2, 3)]]
    states = (*(v.n_states for v in VARIABLES), 3)
    axes = ((4,), (0, 4), (1, 2, 4), (0, 2, 3, 4))
    layout = FamilyLayout(states, axes, (4, 0, 2, 3), 4)
    terms = BinTerms(layout, factors)
    assert terms.n_in == 2 + 3 * 3 + 2 * 3 * 2
    matrix = np.stack([terms.apply(row) for row in np.eye(terms.n_in)], axis=1)
    assert (matrix[:3] == 0).all()
    assert (matrix[3:].sum(axis=1) == 1).all()  # one term for every cell
    y = np.random.default_rng(0).normal(size=terms.n_out)
    assert_close(terms.adjoint(y), matrix.T @ y)


# What a network can do


def test_sampling_and_bif(tmp_path):
    network = network_of(CHORDAL["a triangle with a triple"], 3)
    converted = network.to_network()
    codes = random_codes(np.random.default_rng(1), network.schema, 50, missing=0.2)
    assert len(converted.sample(20, random_state=0)["a"]) == 20
    assert converted.most_probable({"a": VARIABLES[0].states[0]}).log_probability < 0
    for name in ("model.bif", "model.xml"):
        tanager.save(network, tmp_path / name)  # converts
        again = tanager.load(tmp_path / name)
        assert again.schema == network.schema
        assert_close(posteriors(again, codes), posteriors(converted, codes))


# What cannot be converted


def has_chordless_cycle(n_nodes, edges):
    """By the definition: some nodes, each with two neighbours, all connected."""
    for size in range(4, n_nodes + 1):
        for nodes in combinations(range(n_nodes), size):
            inside = [e for e in edges if set(e) <= set(nodes)]
            degrees = np.bincount(np.ravel(inside).astype(int), minlength=n_nodes)
            if set(degrees[list(nodes)]) != {2}:
                continue
            reached = {nodes[0]}
            for _ in nodes:
                reached |= {v for e in inside if reached & set(e) for v in e}
            if reached == set(nodes):
                return True
    return False


@settings(max_examples=150, deadline=None)
@given(chosen=st.sets(st.sampled_from(list(combinations(range(6), 2)))))
def test_chordless_cycles(chosen):
    random = np.random.default_rng(0)
    variables = [make_variable(f"f{j}", 2, False) for j in range(6)]
    network = make_network(random, variables, [(0,), (5,), *sorted(chosen)])
    cycle = chordless_cycle(network.factors)
    assert bool(cycle) == has_chordless_cycle(6, chosen)
    if cycle:
        # Neighbours along the cycle are joined, and no others.
        assert len(cycle) >= 4
        for i, j in combinations(range(len(cycle)), 2):
            near = j - i in (1, len(cycle) - 1)
            assert (tuple(sorted((cycle[i], cycle[j]))) in chosen) == near
        with pytest.raises(NetworkOnlyError, match=f"'f{cycle[0]}' - 'f{cycle[1]}'"):
            network.to_network()
    else:
        network.to_network()


def test_a_square_is_refused(tmp_path):
    network = network_of(SQUARE)
    with pytest.raises(NetworkOnlyError) as caught:
        network.to_network()
    assert str(caught.value) == (
        "These factors cannot be converted to CPTs: the features 'a' - 'b' - 'c' - 'd' "
        "- 'a' form a cycle, in which only neighbours have a common factor. Fit with "
        'structure=FactorSearch(order=1), "tan-res" or "2-tree-res" for a Network.'
    )
    with pytest.raises(CapabilityError, match="save the model as a model file"):
        tanager.save(network, tmp_path / "model.bif")
    assert not list(tmp_path.iterdir())
    for name in ("sample", "with_target_last"):
        with pytest.raises(CapabilityError, match=r"cannot convert this .* 'a' - 'b'"):
            getattr(network, name)("a")
    # A chord is enough.
    network_of([*SQUARE, (0, 2)]).to_network()


def test_too_many_cells_are_refused_before_they_are_allocated():
    variables = [make_variable(f"f{j}", 254, True) for j in range(3)]
    random = np.random.default_rng(0)
    triple = make_network(random, variables, [(0, 1, 2)], max_bins=3)
    with pytest.raises(TableSizeError, match=r"32,\d+,\d+ .* 10,000,000 allowed.*res"):
        triple.to_network()
    # A sum of pairs needs no CPT of the family.
    pairs = [*combinations(range(3), 2)]
    sums = make_network(random, variables, pairs, max_bins=3).to_network()
    assert len(sums.log_tables("f0")) == 3
