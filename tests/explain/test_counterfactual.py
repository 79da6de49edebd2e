"""Counterfactuals flip the class, and nothing smaller or cheaper does."""

import numpy as np
import pytest

from tanager import BayesNetClassifier, CapabilityError, InputError, Network
from tanager.explain import counterfactual, find_counterfactual
from tests.explain.makers import (
    KINDS,
    fitted_model,
    random_codes,
    random_network,
    training_data,
)
from tests.reference.explanations import counterfactuals


def price(schema, row, change, costs):
    """Cost of a change by the definition."""
    total = 0.0
    for j, code in change:
        variable = schema[j]
        distance = 1.0
        if variable.ordered and variable.n_values > 1:
            distance = abs(code - int(row[j])) / (variable.n_values - 1)
        total += costs.get(variable.name, 1.0) * distance
    return total


def check(network, row, *, costs=None, immutable=(), target=None, max_changes=3):
    schema = network.schema
    found = find_counterfactual(
        network, row, costs=costs, immutable=immutable, target=target,
        max_changes=max_changes,
    )  # fmt: skip
    candidates = {
        j: [c for c in range(schema[j].n_values) if c != row[j]]
        for j in range(len(row))
        if row[j] < schema[j].n_values and schema.names[j] not in immutable
    }
    label = None if target is None else schema.target_variable.states.index(target)
    every = counterfactuals(
        lambda rows: network.engine.log_joint_block(np.asfortranarray(rows)),
        row, candidates, max_changes, label,
    )  # fmt: skip
    if not every:
        assert found.target is None
        assert found.changes == ()
        return 0
    cheapest = min(price(schema, row, change, costs or {}) for change in every)
    assert found.n_changes == len(every[0])
    assert found.cost == pytest.approx(cheapest, abs=1e-9)
    changed = {change.feature: change.after for change in found.changes}
    after = row.copy()
    for name, state in changed.items():
        j = schema.index(name)
        after[j] = schema[j].states.index(state)
    log_joint = network.engine.log_joint_block(np.asfortranarray(after[None]))
    states = schema.target_variable.states
    assert states[log_joint[0].argmax()] == found.target != found.prediction
    assert found.log_odds[0] < 0 < found.log_odds[-1]
    assert found.before.argmax() != found.after.argmax()
    return found.n_changes


def certain_rows(network, seed):
    """Samples of large and of small log odds."""
    codes = random_codes(network.schema, 200, seed)
    log_joint = np.sort(network.engine.log_joint_block(codes), axis=1)
    order = np.argsort(log_joint[:, -1] - log_joint[:, -2])
    return codes[order[[-1, -2, -5, 100, 50]]]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_smallest_change_by_brute_force(kind, n_classes):
    sizes = set()
    for seed in range(2):
        network = fitted_model(kind, n_classes, seed).network_
        for row in certain_rows(network, seed):
            sizes.add(check(network, row))
            if kind != "general":
                sizes.add(check(network, row, immutable=["size"]))
    assert len(sizes) > 1 or kind == "general"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("structure", ["nb", "tan", "factors"])
def test_up_to_three_of_many_features(structure, seed):
    """Weak features: only changes of several suffice."""
    random = np.random.default_rng(seed)
    y = random.integers(2, size=300)
    noisy = random.random((300, 9)) < 0.3
    X = np.where(noisy, 1 - y[:, None], y[:, None]) + 0.0
    X[:, 0] = (X[:, 0] + random.integers(0, 4, 300)) % 5
    parameters = "auto" if structure == "factors" else "fe"
    model = BayesNetClassifier(structure=structure, parameters=parameters).fit(X, y)
    costs = {f"x{j}": random.random() for j in range(9)}
    network = model.network_
    sizes = {check(network, row, costs=costs) for row in certain_rows(network, seed)}
    assert max(sizes) == 3 or 0 in sizes


@pytest.mark.parametrize("kind", ["tan", "2-tree", "factors"])
def test_costs_immutable_features_and_target_by_brute_force(kind):
    network = fitted_model(kind, 3).network_
    labels = network.schema.target_variable.states
    costs = {"x0": 5.0, "x1": 0.2, "size": 2.5}
    for row in random_codes(network.schema, 4, 1):
        check(network, row, costs=costs)
        check(network, row, immutable=["size"], max_changes=2)
        now = network.engine.log_joint_block(np.asfortranarray(row[None]))[0].argmax()
        check(network, row, target=labels[(now + 1) % 3], max_changes=2)


@pytest.mark.parametrize("kind", ["nb", "tan", "2-tree", "general", "factors"])
def test_missing_values_stay_missing(kind):
    network = fitted_model(kind).network_
    for row in random_codes(network.schema, 6, missing=0.4):
        check(network, row, max_changes=2)


@pytest.mark.parametrize("seed", range(3))
def test_networks_with_zeros(seed):
    network = random_network(seed, zeros=0.2)
    possible = []
    for row in random_codes(network.schema, 30, seed):
        log_joint = network.engine.log_joint_block(np.asfortranarray(row[None]))
        if np.isfinite(log_joint).any():
            possible.append(row)
    for row in possible[:3]:
        check_possible(network, row)


def check_possible(network, row):
    """The change is minimal among those to samples of positive probability."""
    found = find_counterfactual(network, row, max_changes=2)

    def score(rows):
        log_joint = network.engine.log_joint_block(np.asfortranarray(rows))
        same = np.eye(log_joint.shape[1])[int(now)]
        impossible = np.isneginf(log_joint).all(axis=1, keepdims=True)
        return np.where(impossible, same, log_joint)

    now = network.engine.log_joint_block(np.asfortranarray(row[None]))[0].argmax()
    candidates = {
        j: [c for c in range(v.n_states) if c != row[j]]
        for j, v in enumerate(network.schema.variables[:-1])
    }
    every = counterfactuals(score, row, candidates, 2)
    assert found.n_changes == (len(every[0]) if every else 0)


def test_interaction_of_two_features_is_found():
    """Neither feature alone changes the class, both together do."""
    X = [["a", "u"], ["b", "v"], ["a", "v"], ["b", "u"]] * 10
    model = BayesNetClassifier(structure="factors").fit(X, [0, 0, 1, 1] * 10)
    found = model.counterfactual([["a", "u"]])
    assert found.n_changes == 1
    same = {"x": [0, 1], "y": [0, 1], "c": [0, 1]}
    table = [[[0.9, 0.1], [0.6, 0.4]], [[0.6, 0.4], [0.1, 0.9]]]
    parts = {"x": [0.5, 0.5], "y": [0.5, 0.5], "c": (["x", "y"], table)}
    both = BayesNetClassifier.from_network(Network.build(same, parts, target="c"))
    assert both.counterfactual({"x": [0], "y": [0]}).n_changes == 2


def test_many_features_take_bounds_instead_of_enumeration():
    random = np.random.default_rng(0)
    codes = random.integers(0, 6, (400, 60))
    y = (codes[:, :12].sum(axis=1) + random.normal(size=400) > 30).astype(int)
    X = {f"f{j}": codes[:, j].astype(float) for j in range(60)}
    model = BayesNetClassifier(structure="nb", parameters="fe", encoder="quantile")
    model.fit(X, y)
    margins = np.abs(np.diff(model.predict_log_proba(X), axis=1))[:, 0]
    row = model.encode(X)[np.argsort(margins)[len(margins) // 3]]
    found = find_counterfactual(model.network_, row)
    assert found.target is None or found.n_changes >= 1


def test_text_and_columns():
    model = fitted_model("nb")
    X, _ = training_data(2)
    found = model.counterfactual({name: column[:1] for name, column in X.items()})
    assert str(found).startswith(f"{found.target} instead of {found.prediction} if ")
    frame = found.to_frame()
    assert frame["cost"].sum() == pytest.approx(found.cost)
    assert list(frame) == ["feature", "before", "after", "cost"]


def test_nothing_can_change():
    model = fitted_model("nb")
    X = {name: [None] for name in model.feature_names_in_}
    found = model.counterfactual(X)
    assert found.target is None
    assert "no change of up to 3 features suffices" in str(found)
    with pytest.raises(InputError, match="nothing to draw"):
        found.to_svg()
    np.testing.assert_array_equal(found.before, found.after)


def test_invalid_arguments(monkeypatch):
    model = fitted_model("tan")
    X = {name: column[:1] for name, column in training_data(2)[0].items()}
    label = model.predict(X)[0]
    with pytest.raises(InputError, match=r"predicts .* already"):
        model.counterfactual(X, target=label)
    with pytest.raises(InputError, match="Unknown class 'x'"):
        model.counterfactual(X, target="x")
    with pytest.raises(InputError, match=r"Unknown feature 'x9'. Known: 'x0'"):
        model.counterfactual(X, immutable=["x9"])
    with pytest.raises(InputError, match="must be a list of names"):
        model.counterfactual(X, immutable="x1")
    with pytest.raises(InputError, match="Unknown feature 'class'"):
        model.counterfactual(X, costs={"class": 1.0})
    with pytest.raises(InputError, match=r"cost of 'x1' must be .* at least 0"):
        model.counterfactual(X, costs={"x1": -1})
    with pytest.raises(InputError, match=r"max_changes .* from 1 to 3, got 4"):
        model.counterfactual(X, max_changes=4)
    with pytest.raises(InputError, match="Expected one sample, got 2"):
        model.counterfactual({name: [None, None] for name in X})
    parts = {"c": [0.5, 0.5], "x": (["c"], [[1, 0], [1, 0]])}
    impossible = Network.build({name: [0, 1] for name in "xc"}, parts, target="c")
    with pytest.raises(InputError, match="probability zero"):
        find_counterfactual(impossible, np.array([1], dtype=np.uint8))
    monkeypatch.setattr(counterfactual, "MAX_ENUMERATED", 3)
    network = fitted_model("tan").network_
    child = next(j for j, p in enumerate(network.structure.feature_parents) if p)
    row = random_codes(network.schema, 1)[0]
    row[network.structure.feature_parents[child][0]] = 99
    row = np.minimum(row, network.schema.n_states[:-1]).astype(row.dtype)
    with pytest.raises(CapabilityError, match="more than the 3 allowed"):
        find_counterfactual(network, row)
