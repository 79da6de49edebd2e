"""Expected information gains equal enumeration."""

import numpy as np
import pytest

from tanager import BayesNetClassifier, InputError, Network
from tanager.explain import rank_questions
from tanager.explain.next_question import state_frequencies
from tests.explain.makers import (
    factor_network,
    fitted_model,
    random_codes,
    random_network,
)
from tests.reference.explanations import information_gain, mutual_information


@pytest.mark.numerical
@pytest.mark.parametrize("seed", range(8))
def test_gain_of_general_networks_by_enumeration(seed):
    network = random_network(seed, n_classes=2 + seed % 2, zeros=0.1 * (seed % 2))
    for row in random_codes(network.schema, 4, seed, missing=0.6):
        log_joint = network.engine.log_joint_block(np.asfortranarray(row[None]))[0]
        if np.isneginf(log_joint).all():
            continue
        found = rank_questions(network, row)
        missing = {
            name
            for name, code, states in zip(
                network.schema.names, row, network.schema.n_states, strict=False
            )
            if code == states
        }
        assert set(found.features) == missing
        for name, gain in zip(found.features, found.gains, strict=True):
            j = network.schema.index(name)
            expected = information_gain(network, row, j)
            np.testing.assert_allclose(gain, expected, atol=1e-10)
        assert (np.diff(found.gains) <= 0).all()
        p = np.exp(log_joint - np.logaddexp.reduce(log_joint))
        p = p[p > 0]
        np.testing.assert_allclose(found.entropy, -(p * np.log(p)).sum(), atol=1e-10)


def test_a_state_for_missing_values_is_asked_for_its_value():
    random = np.random.default_rng(0)
    y = random.integers(2, size=300)
    x = np.where(random.random(300) < 0.2, np.nan, y + random.normal(size=300))
    model = BayesNetClassifier(structure="nb", parameters="rcl", random_state=0)
    model.fit({"x": x, "z": random.normal(size=300)}, y)
    network = model.network_
    assert network.schema[0].missing_state
    found = model.next_question({"x": [None], "z": [0.1]})
    assert found.features == ("x",)
    row = model.encode({"x": [None], "z": [0.1]})[0].tolist()
    values = network.schema[0].n_values
    expected = information_gain(network, row, 0, values)
    np.testing.assert_allclose(found.gains[0], expected, atol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_gain_of_factors_uses_training_frequencies(n_classes):
    network = fitted_model("factors", n_classes).network_
    row = network.schema.n_states[:-1].astype(np.uint8)
    row[0] = 1
    found = rank_questions(network, row)
    assert found.features[0] in ("x1", "x2", "size")
    for name, gain in zip(found.features, found.gains, strict=True):
        j = network.schema.index(name)
        joint = []
        for code, frequency in enumerate(state_frequencies(network, j)):
            evidence = {"x0": network.schema[0].states[1]}
            evidence[name] = network.schema[j].states[code]
            posterior = network.posterior(evidence)
            joint.append([frequency * p for p in posterior.values()])
        expected = min(mutual_information(np.array(joint)), found.entropy)
        np.testing.assert_allclose(gain, expected, atol=1e-10)


def test_gain_of_factors_is_at_most_the_entropy():
    # Given x0 = b, x1 = a is as frequent as ever, and would make the class uncertain.
    odds = {(j,): np.array([-4.0 - j, 4.0 + j, 0.0]) for j in range(3)}
    network = factor_network(list(odds), odds=odds)
    found = rank_questions(network, np.array([1, 2, 2], dtype=np.uint8))
    joint = [
        [0.5 * p for p in network.posterior({"x0": "b", "x1": state}).values()]
        for state in "ab"
    ]
    assert mutual_information(np.array(joint)) > 2 * found.entropy > 0
    assert found.gains.tolist() == [found.entropy] * 2
    assert found.features == ("x2", "x1")


def test_frequencies_of_states():
    X = {"x": ["a"] * 10 + ["b"] * 30}
    model = BayesNetClassifier().fit(X, [0, 1] * 20)
    found = state_frequencies(model.network_, 0)
    np.testing.assert_allclose(found, [0.25, 0.75])


def test_costs_change_the_order():
    model = fitted_model("nb")
    X = {name: [None] for name in model.feature_names_in_}
    plain = model.next_question(X)
    first = plain.best
    costly = model.next_question(X, costs={first: 1e6})
    assert costly.best != first
    assert costly.costs[costly.features.index(first)] == 1e6
    frame = costly.to_frame()
    expected = frame["gain"] / frame["cost"]
    np.testing.assert_allclose(frame["gain_per_cost"], expected)


def test_nothing_is_missing():
    model = fitted_model("nb")
    X = {"x0": ["a"], "x1": ["a"], "x2": ["b"], "same": ["z"], "size": [0.0]}
    found = model.next_question(X)
    assert found.best is None
    assert found.features == ()


def test_invalid_arguments():
    model = fitted_model("nb")
    X = {name: [None] for name in model.feature_names_in_}
    with pytest.raises(InputError, match=r"cost of 'x0' must be .* above 0"):
        model.next_question(X, costs={"x0": 0})
    with pytest.raises(InputError, match="mapping from names"):
        model.next_question(X, costs=[1, 2])
    parts = {"c": [0.5, 0.5], "x": (["c"], [[1, 0], [1, 0]]), "z": [0.5, 0.5]}
    network = Network.build({name: [0, 1] for name in "xzc"}, parts, target="c")
    row = np.array([1, 2], dtype=np.uint8)
    with pytest.raises(InputError, match="probability zero"):
        rank_questions(network, row)
