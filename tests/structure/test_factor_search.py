"""The learner of factors behind the classifier."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import tanager
from tanager import (
    BayesNetClassifier,
    CapabilityError,
    Constraints,
    FactorSearch,
    InputError,
)
from tanager.registry import parts_from


@pytest.fixture(scope="module")
def waves():
    """Three classes, an interaction of two numeric features, noise, a missing value."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 4))
    y = (X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 2] > 1)
    X[rng.random(900) < 0.1, 3] = np.nan
    return X, y


def fit(data, **arguments):
    return BayesNetClassifier(structure=FactorSearch(**arguments)).fit(*data)


def test_interactions_are_found(waves):
    model = fit(waves)
    assert ("x0", "x1") in model.network_.interactions
    assert model.score(*waves) > 0.9
    assert model.trace_["structure"][-1]["held_out_loss"] < 0.6
    single = fit(waves, order=1)
    assert not single.network_.interactions
    assert single.score(*waves) < 0.8


def test_auto_makes_fine_bins_and_a_state_for_missing_values(waves):
    encoder, structure, parameters = parts_from("auto", "factors", "auto")
    assert isinstance(structure, FactorSearch)
    assert parameters.takes_tables
    assert encoder.numeric.n_bins == 254
    model = fit(waves, order=1)
    states = [variable.missing_state for variable in model.network_.schema]
    assert states == [False, False, False, True, False]


def test_threads_do_not_change_a_bit(waves, monkeypatch):
    monkeypatch.setattr("tanager.loglinear.block_newton.LANE_SAMPLES", 100)
    found = [
        BayesNetClassifier(structure="factors", n_jobs=n)
        .fit(*waves)
        .predict_proba(waves[0])
        for n in (1, 3)
    ]
    assert (found[0] == found[1]).all()


def test_constraints(waves):
    names = [f"x{j}" for j in range(4)]
    X = {name: waves[0][:, j] for j, name in enumerate(names)}
    never = Constraints(forbidden=[("x0", "x1"), ("x1", "x0")])
    model = fit((X, waves[1]), constraints=never)
    assert not any({"x0", "x1"} <= set(f) for f in model.network_.interactions)
    always = Constraints(required=[("x3", "x2")])
    model = fit((X, waves[1]), constraints=always, max_factors=1)
    assert model.network_.interactions == (("x2", "x3"),)


def test_time_is_up(waves):
    with pytest.warns(ConvergenceWarning, match="max_seconds=1e-09"):
        model = fit(waves, max_seconds=1e-9)
    assert len(model.network_.factors.tables) == 4
    assert np.isfinite(model.predict_log_proba(waves[0])).all()


def test_ctrl_c_keeps_the_factors_so_far(waves, monkeypatch):
    from tanager.loglinear.factor_selection import FactorSelection

    def interrupt(self, best, order):
        raise KeyboardInterrupt

    monkeypatch.setattr(FactorSelection, "_grow", interrupt)
    with pytest.warns(ConvergenceWarning, match="was interrupted"):
        model = fit(waves)
    assert not model.network_.interactions


def test_progress(waves, capsys):
    fit(waves, verbose=True)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("strength 30: 4 factors, loss 0.")
    assert any(line.startswith("2 features: ") for line in lines)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"order": 0}, "order"),
        ({"order": 4}, "order must be 1, 2 or 3"),
        ({"order": True}, "order"),
        ({"max_factors": -1}, "max_factors"),
        ({"max_seconds": 0}, "max_seconds"),
        ({"verbose": 1}, "verbose"),
    ],
)
def test_wrong_arguments(waves, arguments, message):
    with pytest.raises(InputError, match=message):
        fit(waves, **arguments)


def test_other_parameters_have_nothing_to_learn(waves):
    model = BayesNetClassifier(structure="factors", parameters="fe")
    with pytest.raises(CapabilityError, match="learns its own tables"):
        model.fit(*waves)


def test_no_partial_fit():
    model = BayesNetClassifier(structure="factors")
    assert not hasattr(model, "partial_fit")


def test_warm_start_after_factors_starts_afresh(waves):
    model = BayesNetClassifier(structure="factors", warm_start=True).fit(*waves)
    model.set_params(structure="nb").fit(*waves)
    assert isinstance(model.network_, tanager.Network)


def test_few_samples_and_one_feature():
    model = fit(([["a"], ["b"], ["a"]], [0, 1, 0]))
    assert model.predict([["a"], ["b"], ["c"]]).tolist() == [0, 1, 0]


def test_unlabelled_and_zero_weight_samples_are_left_out(waves):
    X, y = waves
    weights = np.ones(len(y))
    weights[::3] = 0.0
    some = BayesNetClassifier(structure="factors").fit(X[weights > 0], y[weights > 0])
    same = BayesNetClassifier(structure="factors").fit(X, y, sample_weight=weights)
    assert (some.predict_proba(X) == same.predict_proba(X)).all()
