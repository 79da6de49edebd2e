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
from tanager.loglinear.factor_bagging import FactorBags
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


def fit_seeded(data, seed, **arguments):
    structure = FactorSearch(**arguments)
    return BayesNetClassifier(structure=structure, random_state=seed).fit(*data)


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


def test_bags_are_one_model_with_its_errors(waves):
    plain, bagged = fit(waves), fit_seeded(waves, 0, n_bags=5)
    one, other = plain.network_, bagged.network_
    assert one.interactions == other.interactions
    pairs = list(zip(one.factors.tables, other.factors.tables, strict=True))
    assert all(a.strength == b.strength for a, b in pairs)
    assert all((a.support == b.support).all() for a, b in pairs)
    assert all((a.errors != b.errors).any() for a, b in pairs)
    for _, table in pairs:
        assert (table.errors[table.support > 0] > 0).all()
        assert np.isfinite(table.effective)
    # Bags do not see the bias by the penalty, which the posterior includes.
    curve, again = pairs[2]
    some = curve.support > 0
    assert 0.1 < np.median(again.errors[some] / curve.errors[some]) < 1.0
    assert abs(plain.score(*waves) - bagged.score(*waves)) < 0.03


def test_bands_cover_a_smooth_curve():
    covered = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(1500, 2))
        odds = 1.5 * np.sin(2 * X[:, 0]) + 0.8 * X[:, 1]
        y = (rng.random(1500) < 1 / (1 + np.exp(-odds))).astype(int)
        network = fit((X, y), order=1).network_
        cuts = np.array(network.schema[0].cuts)
        middles = np.concatenate([cuts[:1], (cuts[1:] + cuts[:-1]) / 2, cuts[-1:]])
        table = network.factors.tables[0]
        weights = table.support[:-1]
        found = np.diff(table.weights[:-1], axis=1)[:, 0]
        error = found - 1.5 * np.sin(2 * middles)
        error -= np.average(error, weights=weights)
        within = np.abs(error) < 2 * table.errors[:-1].sum(axis=1)
        covered.append(np.average(within, weights=weights))
    assert 0.9 < np.mean(covered) < 0.999


def test_bags_depend_on_the_random_state_alone(waves):
    first, same, other = (fit_seeded(waves, seed, n_bags=2) for seed in (0, 0, 1))
    p = first.predict_proba(waves[0])
    assert (p == same.predict_proba(waves[0])).all()
    assert (p != other.predict_proba(waves[0])).any()


def test_one_bag_is_the_fit_itself(waves):
    p = fit_seeded(waves, 0, n_bags=1).predict_proba(waves[0])
    assert (p == fit_seeded(waves, 1).predict_proba(waves[0])).all()


def test_bags_end_with_the_time_and_with_ctrl_c(waves, monkeypatch):
    plain = fit(waves)
    draw = FactorBags.draw
    for allowed, equal in ((1, True), (2, False)):

        def interrupt(bags, random, allowed=allowed):
            if bags.n_bags == allowed:
                raise KeyboardInterrupt
            draw(bags, random)

        monkeypatch.setattr(FactorBags, "draw", interrupt)
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            model = fit_seeded(waves, 0, n_bags=4)
        same = model.predict_proba(waves[0]) == plain.predict_proba(waves[0])
        assert same.all() == equal
    with pytest.warns(ConvergenceWarning, match="max_seconds"):
        fit(waves, n_bags=3, max_seconds=1e-9)


def test_bags_are_reported_and_saved(waves, capsys, tmp_path):
    model = fit_seeded(waves, 0, n_bags=2, verbose=True)
    assert "bag 2 of 2" in capsys.readouterr().err
    model.save(tmp_path / "model.json")
    again = tanager.load(tmp_path / "model.json")
    assert again.structure.n_bags == 2
    for one, other in zip(
        again.network_.factors.tables, model.network_.factors.tables, strict=True
    ):
        np.testing.assert_array_equal(one.errors, other.errors)


def test_ctrl_c_keeps_the_factors_so_far(waves, monkeypatch):
    from tanager.loglinear.factor_selection import FactorSelection

    def interrupt(self, best):
        raise KeyboardInterrupt

    monkeypatch.setattr(FactorSelection, "_grow", interrupt)
    with pytest.warns(ConvergenceWarning, match="was interrupted"):
        model = fit(waves)
    assert not model.network_.interactions


def test_tol_fits_the_same_factors_to_the_certificate(waves):
    few, exact = fit(waves), fit(waves, tol=1e-7)
    assert few.structure_.certificate_ is None
    found = exact.structure_.certificate_
    assert found["gap"] <= 1e-7 * found["objective"]
    assert found["passes"] > 1
    assert exact.network_.interactions == few.network_.interactions
    moved = exact.predict_proba(waves[0]) - few.predict_proba(waves[0])
    assert 0.0 < np.abs(moved).max() < 0.1


def test_tol_out_of_time(waves):
    with (
        pytest.warns(ConvergenceWarning, match=r"max_seconds.*passes, up to .* above"),
    ):
        model = fit(waves, tol=1e-9, max_seconds=1e-9)
    found = model.structure_.certificate_
    assert found["gap"] > 1e-9 * found["objective"]


def test_ctrl_c_during_the_search_leaves_the_certificate(waves, monkeypatch):
    from tanager.loglinear.factor_selection import FactorSelection

    def interrupt(self, best):
        raise KeyboardInterrupt

    monkeypatch.setattr(FactorSelection, "_grow", interrupt)
    with (
        pytest.warns(
            ConvergenceWarning, match=r"FactorSearch after \d+ steps; Fac.*kept"
        ),
    ):
        model = fit(waves, tol=1e-9)
    assert model.structure_.certificate_["passes"] == 1


def test_progress(waves, capsys):
    fit(waves, verbose=True)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("step 1 (")
    assert "): strength 30, factors 4, held out loss 0." in lines[0]
    assert any(" interactions, " in line for line in lines)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"order": 0}, "order"),
        ({"order": 4}, "order must be 1, 2 or 3"),
        ({"order": True}, "order"),
        ({"max_factors": -1}, "max_factors"),
        ({"max_seconds": 0}, "max_seconds"),
        ({"tol": 0.0}, "tol"),
        ({"tol": "small"}, "tol"),
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


def test_constant_features_are_in_no_interaction(waves):
    X, y = waves
    model = fit((np.column_stack([X, np.ones(len(X))]), y))
    assert model.network_.interactions
    assert not any("x4" in names for names in model.network_.interactions)


@pytest.mark.parametrize("n_samples", [400, 7000])
def test_required_factors_survive_an_interruption(n_samples, monkeypatch):
    from tanager.loglinear.factor_selection import FactorSelection

    def interrupt(self, best):
        raise KeyboardInterrupt

    monkeypatch.setattr(FactorSelection, "_fit_single_features", interrupt)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_samples, 4))
    y = (X[:, 0] > 0).astype(int)
    always = Constraints(required=[("x2", "x3")])
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model = fit((X, y), constraints=always)
    assert model.network_.interactions == (("x2", "x3"),)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"order": 1}, "order is 1; give order=2"),
        ({"max_factors": 0}, "raise it to at least 1"),
    ],
)
def test_required_arcs_that_contradict_other_arguments(waves, arguments, message):
    always = Constraints(required=[("x2", "x3")])
    with pytest.raises(InputError, match=message):
        fit(waves, constraints=always, **arguments)


@pytest.mark.filterwarnings("ignore:sample_weight sums to")
@pytest.mark.parametrize("scale", [1e-46, 1e39])
def test_weights_beyond_single_precision_are_refused(waves, scale):
    X, y = waves
    with pytest.raises(InputError, match=r"[Dd]ivide the"):
        BayesNetClassifier().fit(X, y, sample_weight=np.full(len(y), scale))


def test_features_without_a_factor_change_nothing(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 12))
    y = (rng.logistic(size=1200) < 3 * X[:, 0]).astype(int)
    model = fit((X, y), order=1)
    network = model.network_
    assert len(network.schema) == 13
    unused = [network.schema.index(name) for name in network.unused_features]
    assert len(unused) >= 6
    assert 0 not in unused
    p = model.predict_proba(X)
    X[:, unused] = rng.normal(size=(1200, len(unused)))
    X[::7, unused[0]] = np.nan
    X[5, unused[1]] = np.inf  # columns of an array that do not matter are not read
    assert (model.predict_proba(X) == p).all()
    assert (model.predict_proba(X[5:6]) == p[5:6]).all()
    repeated = np.resize(X, (20_000, 12))
    assert (model.predict_proba(repeated) == np.resize(p, (20_000, 2))).all()
    with pytest.raises(InputError, match="infinity"):
        fit((X[:, unused], y), order=1)
    X[5, unused[1]] = 0.0
    gains = model.next_question(np.full((1, 12), np.nan))
    assert len(gains.features) == 12
    assert set(model.importance(X, y).terms) <= {
        network.names_of(table) for table in network.factors.tables
    }
    model.save(tmp_path / "model.json")
    again = tanager.load(tmp_path / "model.json")
    assert again.network_.schema.names == network.schema.names
    assert (again.predict_proba(X) == p).all()
    converted = BayesNetClassifier.from_network(network.to_network())
    whole = {
        f"x{j}": rng.normal(size=1200) if j in unused else X[:, j] for j in range(12)
    }
    np.testing.assert_allclose(converted.predict_proba(whole), p, atol=1e-9)


@pytest.mark.parametrize("at", ["_fit_found", "_make_pool"])
def test_what_the_search_has_found_survives_an_interruption(at, monkeypatch):
    from tanager.loglinear.factor_selection import FactorSelection
    from tanager.utils import progress

    usual, calls = getattr(FactorSelection, at), []

    def interrupt_once(self, *arguments):
        calls.append(arguments)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return usual(self, *arguments)

    rng = np.random.default_rng(0)
    X = rng.normal(size=(7000, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    whole = fit((X, y)).score(X, y)
    monkeypatch.setattr(progress, "GRACE", -1.0)  # no time for the fit to all samples
    monkeypatch.setattr(FactorSelection, at, interrupt_once)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model = fit((X, y))
    assert model.score(X, y) > whole - 0.1
