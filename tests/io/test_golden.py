"""Files of schema versions 1, 3 and 5, written by hand, that must load for ever.

The expected probabilities are worked out in the comments, from the probabilities whose
logarithms the files state.
"""

from pathlib import Path

import numpy as np
import pytest

from tanager.io import read_model

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(scope="module")
def naive_bayes():
    return read_model(GOLDEN / "naive-bayes.json").network


@pytest.fixture(scope="module")
def tan():
    return read_model(GOLDEN / "tan.json")


def test_naive_bayes_is_what_the_file_says(naive_bayes):
    names = naive_bayes.schema.names
    assert names == ('a "quoted" name', "größe 🐦", "x", "empty", "play")
    assert naive_bayes.edges == tuple(("play", name) for name in names[:-1])
    assert [v.ordered for v in naive_bayes.schema] == [False, False, True, False, False]
    assert naive_bayes.schema[2].cuts == (0.5, 2.0)
    kinds = [[type(s) for s in v.states] for v in naive_bayes.schema]
    assert kinds[:3] == [[int] * 3, [bool] * 2, [str] * 3]


@pytest.mark.parametrize(
    ("evidence", "no", "yes"),
    [
        ({}, 0.4, 0.6),  # the prior
        ({"empty": "(missing)"}, 0.4, 0.6),
        ({'a "quoted" name': 0}, 0.4 * 0.5, 0.6 * 0.1),
        ({"größe 🐦": False}, 0.4 * 0.8, 0.0),  # null is the logarithm of zero
        ({"größe 🐦": True, "x": 0.5}, 0.4 * 0.2 * 0.1, 0.6 * 1.0 * 0.5),
        ({'a "quoted" name': 2, "x": 99.0}, 0.4 * 0.25 * 0.7, 0.6 * 0.6 * 0.25),
    ],
)
def test_naive_bayes_posterior(naive_bayes, evidence, no, yes):
    found = naive_bayes.posterior(evidence)
    assert found["yes"] == pytest.approx(yes / (no + yes), abs=1e-12)
    assert found["no"] == pytest.approx(no / (no + yes), abs=1e-12)


def test_tan_is_what_the_file_says(tan):
    assert tan.version == 1
    assert tan.written_by == "hand"
    assert tan.classifier == {"note": "anything plain", "list": [1, 2.5, None, True]}
    network = tan.network
    assert network.parents("second") == ("class", "first")
    assert network.parents("third") == ("class", "second")
    assert network.schema[2].states == ("", "2", 2, 2.5)
    assert [type(s) for s in network.schema[2].states] == [str, str, int, float]
    # class 1: 1 + 2*2 + 3*3 per class, plus 1 for the class: 2 * (1 + 4 + 9) + 1
    assert network.n_parameters == 29
    table = network.table("second")
    assert table.names == ("class", "first", "second")
    np.testing.assert_allclose(
        table.values,
        [
            [[0.5, 0.25, 0.25], [0.1, 0.3, 0.6]],
            [[0.2, 0.6, 0.2], [0, 0.5, 0.5]],
        ],
        atol=1e-12,
    )


@pytest.mark.parametrize(
    ("evidence", "one", "two"),
    [
        ({}, 0.3, 0.7),
        # P(first=a | c): 1/4 and 6/10
        ({"first": "a"}, 0.3 * 0.25, 0.7 * 0.6),
        # ... times P(second <= -1.5 | c, a): 1/2 and 1/5
        ({"first": "a", "second": -1.5}, 0.3 * 0.25 * 0.5, 0.7 * 0.6 * 0.2),
        # class 2 gives second <= -1.5 with first=b no chance
        ({"first": "b", "second": -7}, 0.3 * 0.75 * 0.1, 0.0),
        # second marginalised, given first=b and third=2.5:
        # class 1: .1*.25 + .3*.125 + .6*.4 = .3025; class 2: 0*.1 + .5*0 + .5*1 = .5
        ({"first": "b", "third": 2.5}, 0.3 * 0.75 * 0.3025, 0.7 * 0.4 * 0.5),
        # first and second marginalised, given third="2":
        # P(second | 1) = .25*(.5,.25,.25) + .75*(.1,.3,.6) = (.2, .2875, .5125)
        # times P("2" | 1, second) = (.25, .25, .2): .05 + .071875 + .1025 = .224375
        # P(second | 2) = .6*(.2,.6,.2) + .4*(0,.5,.5) = (.12, .56, .32)
        # times P("2" | 2, second) = (.3, 0, 0): .036
        ({"third": "2"}, 0.3 * 0.224375, 0.7 * 0.036),
    ],
)
def test_tan_posterior(tan, evidence, one, two):
    found = tan.network.posterior(evidence)
    assert list(found) == [1, 2]
    assert found[1] == pytest.approx(one / (one + two), abs=1e-12)
    assert found[2] == pytest.approx(two / (one + two), abs=1e-12)


def test_log_linear_is_what_the_file_says():
    """P(x | class, a, b) is proportional to F(a, x) G(class, b, x), with

    F = 1 2   G(no) = 1 1   G(yes) = 1 1
        3 1           2 1            1 4
    """
    found = read_model(GOLDEN / "log-linear.json")
    assert found.version == 3
    network = found.network
    assert network.parents("x") == ("class", "a", "b")
    assert [part.names for part in network.log_tables("x")] == [
        ("a", "x"),
        ("class", "b", "x"),
        ("class", "a", "b"),
    ]
    np.testing.assert_allclose(
        network.table("x").values,
        [
            [[[1 / 3, 2 / 3], [2 / 4, 2 / 4]], [[3 / 4, 1 / 4], [6 / 7, 1 / 7]]],
            [[[1 / 3, 2 / 3], [1 / 9, 8 / 9]], [[3 / 4, 1 / 4], [3 / 7, 4 / 7]]],
        ],
        atol=1e-12,
    )
    # x: a and x, class, b and x; less class and x, which both can say
    assert network.n_parameters == 1 + 2 + 4 + (2 + 4 - 1)


@pytest.mark.parametrize(
    ("evidence", "no", "yes"),
    [
        ({}, 0.4, 0.6),
        ({"a": 0, "b": 1, "x": "high"}, 0.4 * 0.5 * 0.8 / 2, 0.6 * 0.25 * 0.4 * 8 / 9),
        # b marginalised, given a=1 and x=low: .5 * 3/4 + .5 * 6/7; .3 * 3/4 + .7 * 3/7
        ({"a": 1, "x": "low"}, 0.4 * 0.5 * 45 / 56, 0.6 * 0.75 * 0.525),
        # a and b marginalised, given x=high:
        # no: .5 * (.2 * 2/3 + .8 / 2) + .5 * (.5 / 4 + .5 / 7)
        # yes: .25 * (.6 * 2/3 + .4 * 8/9) + .75 * (.3 / 4 + .7 * 4/7)
        (
            {"x": "high"},
            0.4 * (0.5 * (0.4 / 3 + 0.4) + 0.5 * (0.125 + 0.5 / 7)),
            0.6 * (0.25 * (0.4 + 3.2 / 9) + 0.75 * (0.075 + 0.4)),
        ),
    ],
)
def test_log_linear_posterior(evidence, no, yes):
    network = read_model(GOLDEN / "log-linear.json").network
    found = network.posterior(evidence)
    assert found["yes"] == pytest.approx(yes / (no + yes), abs=1e-12)


@pytest.mark.parametrize(
    ("evidence", "no", "yes"),
    [
        ({"fever": 37.0}, 1 / 2, 1 / 8),
        ({"fever": 39.0}, 1 / 4, 1 / 2),
        ({"fever": "missing"}, 1 / 4, 3 / 8),
        ({"fever": None}, 1, 1),
        ({"fever": "missing", "cough": True}, 1 / 4 / 2, 3 / 8 * 3 / 4),
    ],
)
def test_a_state_of_missing_values(evidence, no, yes):
    found = read_model(GOLDEN / "missing-state.json")
    assert found.version == 5
    assert [v.missing_state for v in found.network.schema] == [True, False, False]
    posterior = found.network.posterior(evidence)
    assert posterior["yes"] == pytest.approx(yes / (no + yes), abs=1e-12)
