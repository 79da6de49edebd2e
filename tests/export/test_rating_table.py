"""Points add up to the odds of the model."""

from math import log

import numpy as np
import pytest

from tanager import BayesNetClassifier, CapabilityError, InputError
from tanager.export import to_rating_table


@pytest.mark.parametrize("kind", ["factors", "nb"])
def test_points_add_up_to_the_odds(models, train, kind):
    model = models[kind, 2]
    table = to_rating_table(model.network_, base_points=100, base_odds=2)
    sample = train.iloc[[400]]
    points = table.base
    explanation = model.explain(sample, by="factor")
    weights = explanation.values[0, :, 0] * 20 / log(2)
    unlisted = set(explanation.terms) - set(table.features)
    assert not any(weights[explanation.terms.index(names)] for names in unlisted)
    for names in dict.fromkeys(table.features):
        weight = weights[explanation.terms.index(names)]
        own = [
            p for n, p in zip(table.features, table.points, strict=True) if n == names
        ]
        assert np.abs(np.array(own) - weight).min() < 1e-6  # one of its rows
        points += weight
    p = model.predict_proba(sample)[0]
    odds = 2 * 2 ** ((points - 100) / 20)
    assert odds == pytest.approx(p[1] / p[0], rel=1e-6)


def test_points_for_the_other_class_are_opposite(models):
    network = models["nb", 2].network_
    one = to_rating_table(network)
    other = to_rating_table(network, label=network.schema.target_variable.states[0])
    np.testing.assert_allclose(one.points, -np.array(other.points))


def test_rows_have_readable_states():
    X = {
        "age": [20.0, 30.0, 40.0, 50.0] * 10,
        "sky": ["blue", None, "grey", "grey"] * 10,
    }
    model = BayesNetClassifier().fit(X, [0, 0, 1, 1] * 10)
    columns = to_rating_table(model.network_, decimals=1).columns()
    assert columns["states"][0] == "base"
    ages = [
        s
        for f, s in zip(columns["features"], columns["states"], strict=True)
        if f == "age"
    ]
    assert ages[0].startswith("(-inf, ")
    assert ages[-1] == "not observed"
    assert len(columns["points"]) == len(columns["states"])


def test_bad_arguments(models):
    with pytest.raises(CapabilityError, match="one of two classes"):
        to_rating_table(models["nb", 3].network_)
    network = models["nb", 2].network_
    with pytest.raises(InputError, match="label must be one of"):
        to_rating_table(network, label="absent")
    with pytest.raises(InputError, match="above 0"):
        to_rating_table(network, base_odds=0)


def test_a_row_for_every_state(many_states):
    table = many_states[0].to_rating_table()
    assert len(table.points) == 100_001 + 3


def test_rounded_points(models):
    network = models["nb", 2].network_
    exact = np.array(to_rating_table(network).points)
    whole = to_rating_table(network, decimals=0)
    assert all(type(p) is int for p in (whole.base, *whole.points))
    assert np.abs(exact - whole.points).max() <= 0.5
    tenths = to_rating_table(network, decimals=1).points
    assert np.abs(exact - tenths).max() <= 0.05 + 1e-12
    assert not np.signbit(np.array(tenths)[np.equal(tenths, 0.0)]).any()
