"""Sensitivities equal the posteriors of networks with changed entries."""

import numpy as np
import pytest

from tanager import CapabilityError, InputError, Network
from tanager.explain import measure_sensitivity
from tests.explain.makers import fitted_model, random_codes, random_network


def changed_network(network, variable, cell, value):
    """The network with one entry changed and the others of its row rescaled."""
    names = network.schema.names
    variables = {v.name: list(v.states) for v in network.schema}
    tables = {}
    for name in names:
        table = network.table(name).values.copy()
        if name == variable:
            row = table[cell[:-1]]
            old = row[cell[-1]]
            row *= (1 - value) / (1 - old)
            row[cell[-1]] = value
        tables[name] = (list(network.parents(name)), table)
    return Network.build(variables, tables, target=names[-1])


def posterior(network, row, k):
    codes = np.asfortranarray(row[None])
    log_joint = network.engine.log_joint_block(codes)[0]
    return np.exp(log_joint[k] - np.logaddexp.reduce(log_joint))


@pytest.mark.numerical
@pytest.mark.parametrize("seed", range(6))
def test_every_entry_by_recomputation(seed):
    network = random_network(seed, 4, n_classes=2 + seed % 2, zeros=0.05 * (seed % 3))
    schema = network.schema
    codes = random_codes(schema, 50, seed, missing=0.4)
    possible = np.isfinite(network.engine.log_joint_block(codes)).all(axis=1)
    row = codes[possible.argmax()]
    label = schema.target_variable.states[seed % 2]
    found = measure_sensitivity(network, row, label, odds=3.0, max_entries=10_000)
    np.testing.assert_allclose(found.base, posterior(network, row, seed % 2))
    known = {
        key: values
        for key, *values in zip(
            zip(found.variables, found.given, found.states, strict=True),
            found.entries, found.derivatives, found.low, found.high,
            strict=True,
        )
    }  # fmt: skip
    for name in schema.names:
        table = network.table(name)
        for cell in np.ndindex(table.values.shape):
            theta = table.values[cell]
            if not 1e-9 < theta < 1 - 1e-9:
                continue
            states = [s[c] for s, c in zip(table.states, cell, strict=True)]
            pairs = zip(table.names[:-1], states[:-1], strict=True)
            given = ", ".join(f"{n} = {s}" for n, s in pairs)
            results = []
            for factor in (1 / 3, 3):
                moved = theta * factor / (1 - theta + theta * factor)
                other = changed_network(network, name, cell, moved)
                results.append(posterior(other, row, seed % 2))
            step = 1e-6 * min(theta, 1 - theta)
            sides = [
                posterior(
                    changed_network(network, name, cell, theta + d), row, seed % 2
                )
                for d in (-step, step)
            ]
            slope = (sides[1] - sides[0]) / (2 * step)
            if (name, given, states[-1]) not in known:
                np.testing.assert_allclose(results, found.base, atol=1e-10)
                continue
            entry, derivative, low, high = known[name, given, states[-1]]
            np.testing.assert_allclose(entry, theta)
            np.testing.assert_allclose([low, high], results, atol=1e-10)
            np.testing.assert_allclose(derivative, slope, atol=1e-5, rtol=1e-5)


def test_the_widest_ranges_come_first():
    model = fitted_model("tan")
    X = {"x0": ["a"], "x1": [None], "x2": ["b"], "same": ["z"], "size": [0.1]}
    found = model.sensitivity(X, max_entries=5)
    widths = np.abs(found.high - found.low)
    assert len(widths) == 5
    assert (np.diff(widths) <= 0).all()
    assert found.base == model.predict_proba(X).max()
    assert all(label.startswith("P(") for label in found.labels)
    assert len(found.to_frame()) == 5


def test_invalid_arguments():
    model = fitted_model("nb")
    X = {name: [None] for name in model.feature_names_in_}
    with pytest.raises(InputError, match="odds must be a finite number above 1"):
        model.sensitivity(X, odds=1.0)
    with pytest.raises(InputError, match="Unknown class 'z'"):
        model.sensitivity(X, "z")
    with pytest.raises(CapabilityError, match=r"has no .sensitivity.: .* no CPTs"):
        fitted_model("factors").sensitivity(X)
