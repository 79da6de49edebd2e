"""Importances and strengths of edges by their definitions."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

from tanager import BayesNetClassifier, InputError, TableSizeError
from tanager.explain import (
    explain_samples,
    measure_edges,
    measure_importance,
    stored_importance,
)
from tanager.explain.odds_conversion import probabilities_of
from tanager.network import Network, arc_information
from tests.explain.makers import (
    KINDS,
    fitted_model,
    random_codes,
    random_network,
    training_data,
)
from tests.reference.enumeration import marginal
from tests.reference.explanations import mutual_information


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_increase_of_the_log_loss(kind, n_classes):
    network = fitted_model(kind, n_classes).network_
    codes = random_codes(network.schema, 40, missing=0.1)
    labels = np.arange(40) % n_classes
    found = measure_importance(network, codes, labels, n_jobs=2)
    whole = explain_samples(network, codes, by="factor")
    base = log_loss(labels, whole.probabilities)
    assert sorted(found.terms) == sorted(whole.terms)
    for term, value in zip(found.terms, found.values, strict=True):
        t = whole.terms.index(term)
        rest = probabilities_of(whole.log_odds - whole.values[:, t], n_classes)
        np.testing.assert_allclose(value, log_loss(labels, rest) - base, atol=1e-10)
    assert (np.diff(found.values) <= 0).all()


@pytest.mark.parametrize("kind", ["tan", "general"])
def test_features_of_networks_are_marginalised(kind):
    network = fitted_model(kind).network_
    codes = random_codes(network.schema, 40)
    labels = np.arange(40) % 2
    found = measure_importance(network, codes, labels, by="feature")
    base = log_loss(labels, explain_samples(network, codes).probabilities)
    for (name,), value in zip(found.terms, found.values, strict=True):
        j = network.schema.index(name)
        hidden = codes.copy(order="F")
        hidden[:, j] = network.schema[j].n_states
        other = log_loss(labels, explain_samples(network, hidden).probabilities)
        np.testing.assert_allclose(value, other - base, atol=1e-10)


def test_features_of_factors_lose_all_their_factors():
    network = fitted_model("factors").network_
    codes = random_codes(network.schema, 40)
    labels = np.arange(40) % 2
    found = measure_importance(network, codes, labels, by="feature")
    whole = explain_samples(network, codes, by="factor")
    base = log_loss(labels, whole.probabilities)
    for (name,), value in zip(found.terms, found.values, strict=True):
        own = [t for t, names in enumerate(whole.terms) if name in names]
        rest = whole.log_odds - whole.values[:, own].sum(axis=1)
        other = log_loss(labels, probabilities_of(rest, 2))
        np.testing.assert_allclose(value, other - base, atol=1e-10)


def test_support_weights_and_errors():
    model = fitted_model("nb")
    X, y = training_data(2)
    X["x0"][:100] = [None] * 100
    found = model.importance(X, y)
    support = dict(zip(found.names, found.support, strict=True))
    assert support["x0"] == 140
    assert support["x1"] == 240
    assert (found.errors > 0).sum() >= 4
    doubled = model.importance(X, y, np.full(240, 2.0))
    np.testing.assert_allclose(doubled.values, found.values)
    assert doubled.support.max() == 480
    some = model.importance(X, y, np.arange(240) < 50)
    first = {name: column[:50] for name, column in X.items()}
    expected = model.importance(first, y[:50])
    np.testing.assert_allclose(some.values, expected.values)
    np.testing.assert_allclose(some.errors, expected.errors)


def test_importance_of_factors_without_data():
    network = fitted_model("factors").network_
    found = stored_importance(network)
    assert found.errors is None
    for term, value in zip(found.terms, found.values, strict=True):
        assert value == network.factor(*term).importance
    by_feature = stored_importance(network, by="feature")
    sums = {
        name: sum(v**2 for t, v in zip(found.terms, found.values, strict=True)
                  if name in t) ** 0.5
        for name in network.schema.names[:-1]
    }  # fmt: skip
    for (name,), value in zip(by_feature.terms, by_feature.values, strict=True):
        np.testing.assert_allclose(value, sums[name])


@pytest.mark.numerical
@pytest.mark.parametrize("seed", range(4))
def test_mutual_information_with_the_class_without_data(seed):
    network = random_network(seed, 4)
    found = stored_importance(network, by="feature")
    target = len(network.schema) - 1
    nothing = network.schema.n_states.tolist()
    for (name,), value in zip(found.terms, found.values, strict=True):
        joint = marginal(network, nothing, (network.schema.index(name), target))
        np.testing.assert_allclose(value, mutual_information(joint), atol=1e-10)


def conditional_information(joint, one, two):
    """I(one; two | other axes) by a loop over the others."""
    moved = np.moveaxis(joint, [one, two], [-2, -1])
    total = 0.0
    for table in moved.reshape(-1, *moved.shape[-2:]):
        if table.sum() > 0:
            total += table.sum() * mutual_information(table / table.sum())
    return total


@pytest.mark.numerical
@pytest.mark.parametrize("by_elimination", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_strengths_of_arcs_by_enumeration(seed, by_elimination, monkeypatch):
    if by_elimination:
        monkeypatch.setattr(arc_information.NetworkInformation, "_cells", None)
    network = random_network(seed, 4, zeros=0.1 * (seed % 2))
    found = measure_edges(network)
    assert set(found.edges) == set(network.edges)
    nothing = network.schema.n_states.tolist()
    for (parent, child), value in zip(found.edges, found.values, strict=True):
        v = network.schema.index(child)
        family = network.structure.families[v]
        joint = marginal(network, nothing, family)
        one = family.index(network.schema.index(parent))
        expected = conditional_information(joint, one, len(family) - 1)
        np.testing.assert_allclose(value, expected, atol=1e-10)
    # A family's part without data is that of the arc from the class.
    by_family = stored_importance(network)
    target = network.schema.target_variable.name
    strengths = dict(zip(found.edges, found.values, strict=True))
    for (name,), value in zip(by_family.terms, by_family.values, strict=True):
        np.testing.assert_allclose(value, strengths.get((target, name), 0.0))


def test_edges_of_factors():
    model = fitted_model("factors")
    found = model.edge_strengths()
    assert set(found.edges) == set(model.network_.edges)
    strengths = dict(zip(found.edges, found.values, strict=True))
    triples = [names for names in model.network_.interactions if len(names) == 3]
    own = [model.network_.factor("x0", "x1").importance]
    own += [
        model.network_.factor(*t).importance for t in triples if {"x0", "x1"} <= {*t}
    ]
    np.testing.assert_allclose(strengths["x0", "x1"], np.sum(np.square(own)) ** 0.5)
    assert list(found.to_frame()) == ["parent", "child", "strength"]


def test_sums_of_tables_give_the_same_strengths():
    X, y = training_data(2)
    model = BayesNetClassifier(structure="tan-res", random_state=0).fit(X, y)
    found = model.edge_strengths()
    assert (found.values >= 0).all()
    assert set(found.edges) == set(model.network_.edges)


def test_invalid_arguments(monkeypatch):
    model = fitted_model("nb")
    X, _ = training_data(2)
    with pytest.raises(InputError, match="both X and y, or neither"):
        model.importance(X)
    with pytest.raises(InputError, match="Unknown class 9"):
        model.importance(X, np.full(240, 9))
    with pytest.raises(InputError, match="by must be"):
        model.importance(by="family")
    codes = random_codes(model.network_.schema, 0)
    with pytest.raises(InputError, match="at least one sample"):
        measure_importance(model.network_, codes, np.zeros(0, dtype=int))
    monkeypatch.setattr(arc_information, "MAX_CELLS", 3)
    parts = model.network_
    large = Network(parts.schema, parts.structure, parts.parameters)
    with pytest.raises(TableSizeError, match="family of 'x0' is too large"):
        measure_edges(large)
