from __future__ import annotations

import pickle

import numpy as np
import pytest

import tanager
from tanager import (
    BayesNetClassifier,
    CapabilityError,
    DataWarning,
    Fixed,
    InputError,
    Network,
)
from tests.tolerance import EXACT, assert_close


@pytest.fixture
def chain():
    steps = [[0.9, 0.1], [0.3, 0.7]]
    return Network.build(
        dict.fromkeys(("sun", "heat", "ice"), ("no", "yes")),
        {"sun": [0.6, 0.4], "heat": (["sun"], steps), "ice": (["heat"], steps)},
    )


ROWS = {"sun": ["no", "yes", None], "ice": ["yes", None, "no"]}


# Named tables


def test_columns_are_matched_by_name(chain):
    model = BayesNetClassifier.from_network(chain, target="heat")
    expected = model.predict_proba(ROWS)
    others = {"ice": ROWS["ice"], "heat": ["no", "yes", "no"], "sun": ROWS["sun"]}
    again = pickle.loads(pickle.dumps(model))
    for asked in (model, again):
        assert np.array_equal(asked.predict_proba(others), expected)
    fewer = model.predict_proba({"ice": ROWS["ice"]})
    assert_close(fewer, model.predict_proba({**ROWS, "sun": [None] * 3}), EXACT)
    assert_close(fewer[0, 1], chain.posterior({"ice": "yes"}, query="heat")["yes"])
    prior = chain.posterior(query="heat")
    assert_close(model.predict_proba({"heat": ["no"]}), [list(prior.values())])


def test_columns_that_are_no_variables_are_named(chain):
    model = BayesNetClassifier.from_network(chain, target="heat")
    with pytest.raises(InputError, match="Unknown column 'Sun'") as raised:
        model.predict({"Sun": ["no"], "ice": ["no"]})
    assert "Did you mean 'sun'" in str(raised.value)
    assert " fit" not in str(raised.value)


def test_absent_columns_can_be_errors(chain):
    model = BayesNetClassifier.from_network(chain, target="heat")
    model.set_params(missing="error")
    with pytest.raises(InputError, match="'sun' has 1 missing"):
        model.predict({"ice": ["no"]})


def test_columns_of_a_blanket_are_matched_by_name(chain):
    small = BayesNetClassifier.from_network(chain, target="heat").blanket_classifier()
    rows = {"ice": ["yes"], "heat": ["no"], "sun": ["no"]}
    expected = chain.posterior({"ice": "yes", "sun": "no"}, query="heat")
    assert_close(small.predict_proba(rows), [list(expected.values())])


def test_fitted_classifiers_match_columns_by_name(chain, tmp_path):
    made = BayesNetClassifier.from_network(chain, target="heat")
    rows = chain.sample(40, random_state=0)
    y = rows.pop("heat")
    swapped = {name: rows[name] for name in ("ice", "sun")}
    fitted = made.fit(rows, y)
    tanager.save(fitted, tmp_path / "model.json")
    expected = fitted.predict_proba(rows)
    nothing = {"sun": rows["sun"], "ice": [None] * 40}
    for model in (fitted, tanager.load(tmp_path / "model.json")):
        assert (model.predict_proba(swapped) == expected).all()
        assert (model.predict_proba({**swapped, "snow": y}) == expected).all()
        for other in ({"sun": rows["sun"]}, {"sun": rows["sun"], "Ice": rows["ice"]}):
            with pytest.warns(DataWarning, match="lacks the column 'ice'") as caught:
                found = model.predict_proba(other)
            message = str(caught[0].message)
            assert ("unseen in fit: 'Ice'" in message) == ("Ice" in other)
            assert (found == model.predict_proba(nothing)).all()
        with pytest.raises(InputError, match="none of 'sun', 'ice' is a column"):
            model.predict({"Sun": rows["sun"]})


# Values that are nearly states


@pytest.mark.parametrize(
    ("states", "value", "state"),
    [
        (["no", "yes"], "Yes", "'yes'"),
        (["1", "a"], 1, "'1'"),
        (["False", "True"], "true", "'True'"),
    ],
)
def test_a_column_of_near_misses_is_warned_of(states, value, state):
    network = Network.build(
        {"c": ["p", "q"], "x": states, "z": ["u", "v"]},
        {
            "c": [0.5, 0.5],
            "x": (["c"], [[0.9, 0.1], [0.2, 0.8]]),
            "z": (["c"], [[0.9, 0.1], [0.2, 0.8]]),
        },
    )
    model = BayesNetClassifier.from_network(network, target="c")
    rows = {"x": np.array([value, None, "new"], dtype=object), "z": ["u", "v", "U"]}
    message = f"column 'x' .*{value!r} .*category {state}.*treated as missing"
    for ask in (model.predict, model.predict_proba, model.predict_log_proba):
        with pytest.warns(UserWarning, match=message) as caught:
            ask(rows)
        assert len(caught) == 1
    # Once something is known, or nothing is near, the rest are new categories.
    for column in ([value, states[0], states[1]], ["new", None, "other"]):
        model.predict({"x": np.array(column, dtype=object)})
    model.set_params(unknown="error")
    with pytest.raises(InputError, match="unknown='error'"):
        model.predict(rows)


def test_near_misses_that_do_not_occur_are_left_alone(chain):
    pandas = pytest.importorskip("pandas")
    model = BayesNetClassifier.from_network(chain, target="heat")
    values = pandas.Categorical(["new", "Yes"], categories=["new", "Yes"])
    rows = pandas.DataFrame({"sun": values, "ice": values})
    model.predict(rows[:1])
    with pytest.warns(UserWarning, match="'sun' .*The same holds for 1 more") as caught:
        model.predict(rows)
    assert len(caught) == 1


# What is no network, and no table


def test_what_is_no_network_is_refused(tmp_path):
    with pytest.raises(InputError, match="expects a Network, got a str; "):
        BayesNetClassifier.from_network("alarm.bif", target="x")
    for suffix in ("json", "bif"):
        with pytest.raises(InputError, match="got an object of type int"):
            tanager.save(3, tmp_path / f"model.{suffix}")


def test_a_network_is_no_structure_learner(chain):
    rows = chain.sample(40, random_state=0)
    y = rows.pop("heat")
    for given in (chain, chain.structure):
        model = BayesNetClassifier(structure=given)
        with pytest.raises(CapabilityError, match=r"Fixed\(network.edges, class_ro"):
            model.fit(rows, y)


def test_the_tables_of_a_network_are_learned_anew(chain):
    pandas = pytest.importorskip("pandas")
    rows = pandas.DataFrame(chain.sample(40, random_state=0))
    model = BayesNetClassifier(structure=Fixed(chain.edges, class_rooted=False))
    model.fit(rows[["sun", "ice"]], rows["heat"])
    assert set(model.network_.edges) == set(chain.edges)


def test_rows_may_be_mappings(chain):
    model = BayesNetClassifier.from_network(chain, target="heat")
    rows = [{"ice": "yes", "sun": "no"}, {"sun": "yes"}, {"ice": "no", "sun": None}]
    assert np.array_equal(model.predict_proba(rows), model.predict_proba(ROWS))
    with pytest.raises(InputError, match="row 1 is a list"):
        model.predict([{"ice": "yes"}, ["no", "yes"]])
