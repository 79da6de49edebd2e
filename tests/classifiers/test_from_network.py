from __future__ import annotations

import pickle

import numpy as np
import pytest

import tanager
from tanager import BayesNetClassifier, InputError, Network
from tests.tolerance import EXACT, assert_close


@pytest.fixture
def chain():
    steps = [[0.9, 0.1], [0.3, 0.7]]
    return Network.build(
        dict.fromkeys(("sun", "heat", "ice"), ["no", "yes"]),
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
    with pytest.raises(
        InputError, match="Unknown column 'Sun'. Did you mean 'sun'"
    ) as e:
        model.predict({"Sun": ["no"], "ice": ["no"]})
    assert " fit" not in str(e.value)


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


def test_fitted_classifiers_keep_to_the_columns_of_fit(chain, tmp_path):
    made = BayesNetClassifier.from_network(chain, target="heat")
    rows = chain.sample(40, random_state=0)
    y = rows.pop("heat")
    swapped = {name: rows[name] for name in ("ice", "sun")}
    fitted = made.fit(rows, y)
    tanager.save(fitted, tmp_path / "model.json")
    for model in (fitted, tanager.load(tmp_path / "model.json")):
        with pytest.raises(InputError, match="same order as they were in fit"):
            model.predict(swapped)
        with pytest.raises(InputError, match="yet now missing"):
            model.predict({"sun": rows["sun"]})
