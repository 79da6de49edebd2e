from __future__ import annotations

import warnings
from itertools import combinations

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from tanager.loglinear import (
    block_newton,
    factor_samples,
    factor_selection,
    strength_path,
)
from tanager.loglinear.block_newton import FactorFit
from tanager.loglinear.factor_samples import split_folds
from tanager.loglinear.factor_selection import FactorSelection, _Best
from tanager.loglinear.selection_options import SelectionOptions
from tanager.loglinear.strength_path import RATIO, STRENGTHS
from tanager.optim import Monitor
from tanager.utils import progress
from tanager.utils.progress import watch
from tests.loglinear.factor_makers import (
    make_codes,
    make_labels,
    make_log_prior,
    make_schema,
    make_variable,
    make_variables,
    vector_of,
)
from tests.reference import factors as reference
from tests.strategies import generators
from tests.tolerance import assert_close

pytestmark = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT), reason="takes minutes with compilation off"
)


def make_options(n_features, order=2, **options):
    allowed = options.pop("allowed", np.ones((n_features, n_features), dtype=bool))
    return SelectionOptions(order, options.pop("max_factors", None), allowed, **options)


def select(variables, codes, labels, n_classes, *, weights=None, n_jobs=None, **how):
    """Run a selection; returns the fit and the selection."""
    max_seconds = how.pop("max_seconds", None)
    selection = FactorSelection(
        make_schema(variables, n_classes),
        codes,
        labels,
        np.ones(len(labels)) if weights is None else weights,
        make_options(len(variables), **how),
        n_jobs,
    )
    with watch("FactorSearch", max_seconds):
        return selection.run(), selection


def keys_of(fit):
    return [term.factor.key for term in fit.terms]


def n_interactions(fit):
    return sum(len(key) > 1 for key in keys_of(fit))


def predictions(fit):
    if fit.samples.n_classes == 2:
        return (fit.posterior[:, 0] > 1).astype(int)
    return fit.posterior.argmax(axis=1)


def mean_loss(fit, codes, labels):
    p = reference.log_posterior(
        codes,
        fit.log_prior,
        [term.factor for term in fit.terms],
        [term.table for term in fit.terms],
    )
    return -p[np.arange(len(labels)), labels].mean()


def parity_data(random, n_samples=600, n_features=5, n_bits=2):
    """The class is the parity of the first features; the others are noise."""
    variables = [make_variable(f"f{j}", 2, ordered=False) for j in range(n_features)]
    codes = random.integers(0, 2, (n_features, n_samples)).astype(np.uint8)
    labels = (codes[:n_bits].sum(axis=0) % 2).astype(np.int64)
    return variables, codes, labels


def test_an_interaction_is_found_and_classifies_perfectly():
    variables, codes, labels = parity_data(np.random.default_rng(0))
    fit, selection = select(variables, codes, labels, 2)
    # The features alone say nothing, so that they have no factors in the end.
    assert keys_of(fit) == [(0, 1)]
    assert (predictions(fit) == labels).all()
    assert mean_loss(fit, codes, labels) < 0.1
    losses = [step["held_out_loss"] for step in selection.monitor.trace]
    assert losses[0] > 0.6
    assert losses[-1] < 0.1


def test_features_alone_have_no_interactions():
    variables, codes, labels = parity_data(np.random.default_rng(0))
    fit, _ = select(variables, codes, labels, 2, order=1)
    assert keys_of(fit) == [(0,), (1,), (2,), (3,), (4,)]


def test_a_triple_of_a_chosen_pair_is_found():
    random = np.random.default_rng(1)
    variables, codes, labels = parity_data(random, 1500, 4, n_bits=3)
    # A pair alone says something, too: otherwise its triple is no candidate.
    labels = np.where(random.random(1500) < 0.3, codes[0] ^ codes[1], labels)
    labels = labels.astype(np.int64)
    fit, _ = select(variables, codes, labels, 2, order=3)
    assert (0, 1) in keys_of(fit)
    assert (0, 1, 2) in keys_of(fit)
    without, _ = select(variables, codes, labels, 2, order=2)
    assert mean_loss(fit, codes, labels) < mean_loss(without, codes, labels) - 0.1


@pytest.mark.parametrize("n_classes", [2, 3])
def test_noise_is_not_much_worse_than_the_prior(n_classes):
    random = np.random.default_rng(2)
    variables = [make_variable(f"f{j}", 6, ordered=j % 2 == 0) for j in range(6)]
    codes = make_codes(random, variables, 800)
    labels = random.integers(0, n_classes, 800)
    fit, _ = select(variables, codes, labels, n_classes)
    assert {len(key) for key in keys_of(fit)} == {1}
    new_codes = make_codes(random, variables, 2000)
    new_labels = random.integers(0, n_classes, 2000)
    assert mean_loss(fit, new_codes, new_labels) < np.log(n_classes) + 0.02


@pytest.mark.parametrize("order", [2, 3])
def test_forbidden_pairs_never_occur(order):
    variables, codes, labels = parity_data(np.random.default_rng(3), 400, 4)
    allowed = np.ones((4, 4), dtype=bool)
    allowed[0, 1] = allowed[1, 0] = allowed[2, 3] = allowed[3, 2] = False
    labels = labels ^ (codes[0] & codes[2])  # something to find elsewhere
    fit, _ = select(variables, codes, labels, 2, order=order, allowed=allowed)
    found = keys_of(fit)
    assert any(len(key) > 1 for key in found)
    for key in found:
        for pair in combinations(key, 2):
            assert allowed[pair]


@pytest.mark.parametrize("case", ["few", "one validation set", "deadline", "no folds"])
def test_required_pairs_always_occur(case, monkeypatch):
    variables, codes, labels = parity_data(np.random.default_rng(4), 300, 4)
    how = {"required": ((3, 2), (1, 2))}
    if case in ("one validation set", "deadline"):
        monkeypatch.setattr(factor_samples, "FOLDS", ())
    if case == "deadline":
        how["max_seconds"] = 1e-9
    if case == "no folds":
        codes, labels = codes[:, :2].copy(), np.array([0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit, _ = select(variables, codes, labels, 2, **how)
    found = keys_of(fit)
    assert found.count((2, 3)) == 1
    assert found.count((1, 2)) == 1
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("max_factors", [0, 1, 3, 5])
@pytest.mark.parametrize("folds", [True, False])
def test_no_more_factors_than_allowed(max_factors, folds, monkeypatch):
    if not folds:
        monkeypatch.setattr(factor_samples, "FOLDS", ())
    random = np.random.default_rng(5)
    variables = [make_variable(f"f{j}", 3, ordered=False) for j in range(6)]
    codes = random.integers(0, 3, (6, 1000)).astype(np.uint8)
    labels = np.zeros(1000, dtype=np.int64)
    for i, j, k in ((0, 1, 2), (2, 3, 4), (3, 4, 5)):
        same = codes[i].astype(int) + codes[j] + codes[k]
        labels += (same % 3 == 0) + (codes[i] == codes[j])
    fit, _ = select(variables, codes, labels % 3, 3, order=3, max_factors=max_factors)
    assert n_interactions(fit) <= max_factors
    assert max_factors == 0 or n_interactions(fit) > 0
    required, _ = select(
        variables, codes, labels % 3, 3, order=3, max_factors=max_factors,
        required=((0, 1),),
    )  # fmt: skip
    assert 1 <= n_interactions(required) <= max(max_factors, 1)


@pytest.mark.parametrize("folds", [True, False])
def test_a_deadline_in_the_past_gives_a_fit(folds, monkeypatch):
    if not folds:
        monkeypatch.setattr(factor_samples, "FOLDS", ())
    random = np.random.default_rng(6)
    variables = [make_variable("f", 4, ordered=True), make_variable("g", 3, False)]
    codes = random.integers(0, 3, (2, 400)).astype(np.uint8)
    labels = (codes[0] > 1).astype(np.int64)
    with pytest.warns(ConvergenceWarning, match="max_seconds=1e-09"):
        fit, selection = select(variables, codes, labels, 2, max_seconds=1e-9)
    assert keys_of(fit) == [(0,), (1,)]
    assert not selection.monitor.trace
    assert (predictions(fit) == labels).all()
    assert len(fit.samples.labels) == 400


def test_the_best_strength_before_the_deadline_is_kept(monkeypatch):
    variables, codes, _ = parity_data(np.random.default_rng(6))
    steps = []
    record = Monitor.record

    def count(monitor, **values):
        steps.append(values)
        record(monitor, **values)

    monkeypatch.setattr(Monitor, "record", count)
    monkeypatch.setattr(progress, "perf_counter", lambda: 2.0 * (len(steps) > 3))
    labels = codes[0].astype(np.int64)
    with pytest.warns(ConvergenceWarning, match="and 4 steps"):
        fit, selection = select(variables, codes, labels, 2, max_seconds=1.0)
    trace = selection.monitor.trace
    assert [step["step"] for step in trace] == [
        f"strength {strength:g}" for strength in STRENGTHS[:4]
    ]
    assert_close([term.strength for term in fit.terms], STRENGTHS[3])


@settings(max_examples=12)
@given(
    random=generators(),
    n_features=st.integers(1, 4),
    n_classes=st.integers(1, 4),
    n_samples=st.sampled_from([1, 2, 5, 30, 150]),
    order=st.integers(1, 3),
    dtype=st.sampled_from([np.uint8, np.uint16]),
)
def test_any_shape_gives_finite_posteriors(
    random, n_features, n_classes, n_samples, order, dtype
):
    variables = make_variables(random, n_features, max_values=4)
    codes = make_codes(random, variables, n_samples, dtype)
    labels = make_labels(random, codes, n_classes)
    weights = random.gamma(1.0, size=n_samples) + 1e-3
    fit, selection = select(
        variables, codes, labels, n_classes, weights=weights, order=order
    )
    assert np.isfinite(vector_of(fit)).all()
    assert np.isfinite(fit.posterior).all()
    assert fit.posterior.shape == (n_samples, 1 if n_classes <= 2 else n_classes)
    if n_classes > 2:
        assert_close(fit.posterior.sum(axis=1), 1.0, 1e-5)
    assert_close(fit.log_prior, make_log_prior(labels, weights, n_classes))
    found = keys_of(fit)
    assert len(set(found)) == len(found)
    assert max(map(len, found)) <= order
    assert found
    assert all(np.isfinite(s["held_out_loss"]) for s in selection.monitor.trace)


def test_one_sample_per_class():
    variables = [make_variable("f", 5, ordered=True), make_variable("g", 5, False)]
    codes = np.array([np.arange(5), np.arange(5)], dtype=np.uint8)
    fit, selection = select(variables, codes, np.arange(5), 5, order=3)
    assert not selection.monitor.trace
    assert (predictions(fit) == np.arange(5)).all()


def test_constant_features_are_harmless():
    random = np.random.default_rng(7)
    variables = [
        make_variable("one", 1, ordered=True),
        make_variable("f", 3, ordered=False),
        make_variable("two", 4, ordered=True),
    ]
    codes = np.zeros((3, 300), dtype=np.uint8)
    codes[1] = random.integers(0, 3, 300)
    codes[2] = 2
    labels = (codes[1] == 1).astype(np.int64)
    fit, _ = select(variables, codes, labels, 2)
    assert (predictions(fit) == labels).all()
    assert keys_of(fit) == [(1,)]


def test_many_classes():
    random = np.random.default_rng(8)
    variables = [make_variable("f", 25, ordered=False), make_variable("g", 20, True)]
    codes = np.array([random.integers(0, 25, 1500), random.integers(0, 20, 1500)])
    labels = codes[0] * 20 + codes[1]
    fit, _ = select(variables, codes.astype(np.uint8), labels, 500)
    assert fit.posterior.shape == (1500, 500)
    assert np.isfinite(fit.posterior).all()
    assert (predictions(fit) == labels).mean() > 0.8


def test_a_rare_class_is_kept():
    random = np.random.default_rng(9)
    variables, codes, _ = parity_data(random, 3000)
    labels = np.zeros(3000, dtype=np.int64)
    labels[7] = 1
    fit, _ = select(variables, codes, labels, 2)
    assert np.isfinite(fit.posterior).all()
    assert fit.posterior.max() < 0.5


@pytest.mark.parametrize("folds", [True, False])
def test_threads_and_repetition_give_the_same_bits(folds, monkeypatch):
    monkeypatch.setattr(block_newton, "LANE_SAMPLES", 150)
    if not folds:
        monkeypatch.setattr(factor_samples, "FOLDS", ())
        monkeypatch.setattr(factor_selection, "SMALLEST_SPREAD", 100)
    variables, codes, labels = parity_data(np.random.default_rng(10), 700)
    labels = labels + (codes[2] & codes[3])
    fits = [
        select(variables, codes, labels, 3, n_jobs=n_jobs)[0] for n_jobs in (1, 1, 3)
    ]
    for other in fits[1:]:
        assert keys_of(other) == keys_of(fits[0])
        np.testing.assert_array_equal(vector_of(other), vector_of(fits[0]))
        np.testing.assert_array_equal(other.posterior, fits[0].posterior)


def test_sorted_samples_have_all_classes_in_the_validation_set(monkeypatch):
    monkeypatch.setattr(factor_samples, "FOLDS", ())
    monkeypatch.setattr(factor_samples, "HELD_OUT", (5, 40))
    monkeypatch.setattr(factor_samples, "SEARCH_SAMPLES", 300)
    random = np.random.default_rng(11)
    variables, codes, _ = parity_data(random, 900)
    labels = np.repeat([0, 1, 2], 300)
    selection = FactorSelection(
        make_schema(variables, 3), codes, labels, np.ones(900), make_options(5)
    )
    (fit,) = map(selection._start, factor_samples.split_folds(selection.samples))
    samples = fit.samples
    np.testing.assert_array_equal(
        np.bincount(samples.labels[samples.held_out]), [14, 14, 14]
    )
    np.testing.assert_array_equal(
        np.bincount(samples.labels[samples.weights > 0]), [100, 100, 100]
    )
    # No sample is both trained on and held out.
    assert not samples.weights[samples.held_out].any()
    assert len(samples.labels) == 342


def test_strengths_of_single_factors_follow_the_data(monkeypatch):
    monkeypatch.setattr(factor_samples, "FOLDS", ((3_000, 2),))
    random = np.random.default_rng(12)
    variables = [make_variable(f"f{j}", 20, ordered=True) for j in range(3)]
    codes = random.integers(0, 20, (3, 2500)).astype(np.uint8)
    jump = np.where(codes[0] == 7, 3.0, -1.0)
    slope = 0.05 * (codes[1].astype(float) + codes[2])
    labels = (random.logistic(size=2500) < jump + slope).astype(np.int64)
    fit, selection = select(variables, codes, labels, 2, order=1)
    steps = {step["step"] for step in selection.monitor.trace}
    assert "strength of every factor" in steps
    strengths = [term.strength for term in fit.terms]
    assert len(strengths) == 3
    assert strengths[0] < 0.3 * min(strengths[1:])


def test_progress_is_reported(capsys):
    variables, codes, labels = parity_data(np.random.default_rng(13), 200)
    with watch("test", verbose=True, every=True):
        _, selection = select(variables, codes, labels, 2)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(selection.monitor.trace)
    assert all("loss" in line for line in lines)


@pytest.mark.parametrize(("n_samples", "expected"), [(500, True), (6500, False)])
def test_pairs_of_small_datasets_are_forests(n_samples, expected):
    variables = [make_variable(f"f{j}", 3, ordered=False) for j in range(3)]
    codes = make_codes(np.random.default_rng(0), variables, n_samples)
    selection = FactorSelection(
        make_schema(variables, 2), codes, np.arange(n_samples) % 2,
        np.ones(n_samples), make_options(3),
    )  # fmt: skip
    assert selection._make_pool()._forest == expected


def test_identifiers_of_samples_and_constants_take_no_part_in_interactions():
    variables = [
        make_variable("name", 200, ordered=False),
        make_variable("f", 3, ordered=False),
        make_variable("same", 3, ordered=False),
        make_variable("g", 100, ordered=True),
    ]
    codes = np.zeros((4, 200), dtype=np.uint8)
    codes[0], codes[1], codes[3] = (
        np.arange(200),
        np.arange(200) % 3,
        np.arange(200) // 2,
    )
    selection = FactorSelection(
        make_schema(variables, 2), codes, np.arange(200) % 2, np.ones(200),
        make_options(4),
    )  # fmt: skip
    assert selection._joins.tolist() == [False, True, False, True]


def noisy_data(random, n_samples, n_noise=20, n_classes=2):
    """Two features with an effect, and many without."""
    variables = [make_variable(f"f{j}", 12, ordered=True) for j in range(n_noise + 2)]
    codes = random.integers(0, 12, (n_noise + 2, n_samples)).astype(np.uint8)
    odds = (codes[0] - 5.5) / 2 + 1.5 * np.sin(codes[1])
    if n_classes == 2:
        return variables, codes, (random.logistic(size=n_samples) < odds).astype(int)
    noise = random.gumbel(size=(n_classes, n_samples))
    return variables, codes, (odds * np.arange(n_classes)[:, None] + noise).argmax(0)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_samples", [800, 6500])
def test_factors_of_noise_are_dropped(n_samples, n_classes, monkeypatch):
    random = np.random.default_rng(14)
    variables, codes, labels = noisy_data(random, n_samples + 4000, 20, n_classes)
    train, test = slice(n_samples), slice(n_samples, None)
    fit, selection = select(
        variables, np.ascontiguousarray(codes[:, train]), labels[train], n_classes,
        order=1,
    )  # fmt: skip
    assert {(0,), (1,)} <= set(keys_of(fit))
    assert len(fit.terms) < 20
    steps = [step["step"] for step in selection.monitor.trace]
    assert any(step.startswith("effects of") for step in steps)
    monkeypatch.setattr(factor_selection, "THRESHOLDS", ())
    every, _ = select(
        variables, np.ascontiguousarray(codes[:, train]), labels[train], n_classes,
        order=1,
    )  # fmt: skip
    assert len(every.terms) == 22
    loss, before = (mean_loss(f, codes[:, test], labels[test]) for f in (fit, every))
    assert loss < before + 0.001


@pytest.mark.parametrize("n_samples", [600, 6500])
def test_required_pairs_without_an_effect_are_not_dropped(n_samples):
    variables, codes, labels = noisy_data(np.random.default_rng(15), n_samples, 6)
    fit, _ = select(variables, codes, labels, 2, required=((5, 4),))
    assert (4, 5) in keys_of(fit)


def selection_with_a_pair(strength, n_sweeps):
    """Fits to folds of correlated features, and a pair of features of noise."""
    random = np.random.default_rng(16)
    variables = [make_variable(f"f{j}", 8, ordered=True) for j in range(6)]
    codes = random.integers(0, 8, (6, 400))
    codes[:4] = np.clip(codes[0] + random.integers(-1, 2, (4, 400)), 0, 7)
    labels = (random.logistic(size=400) < codes[0] - 3.5).astype(np.int64)
    selection = FactorSelection(
        make_schema(variables, 2), codes.astype(np.uint8), labels, np.ones(400),
        make_options(6),
    )  # fmt: skip
    best = _Best(
        [selection._start(fold) for fold in split_folds(selection.samples)], np.inf
    )
    for fit in best.fits:
        fit.add([selection.factor((4, 5))], strength)
        fit.sweep(n_sweeps)
    best.loss = strength_path.mean_loss(best.fits)
    return selection, best


def test_a_strength_without_effect_is_not_changed_for_what_sweeps_bring():
    selection, best = selection_with_a_pair(strength=1e9, n_sweeps=1)
    swept = best.copies()
    for fit in swept:
        fit.sweep(2)
    gain = strength_path.SMALL_GAIN
    assert strength_path.falls(strength_path.mean_loss(swept), best.loss, gain)
    selection._rescale(best)
    assert selection._strength[2] == 1.0
    assert {term.strength for fit in best.fits for term in fit.terms[6:]} == {1e9}


def test_the_strength_of_an_interaction_of_noise_rises():
    selection, best = selection_with_a_pair(strength=0.1, n_sweeps=8)
    before = best.loss
    selection._rescale(best)
    assert selection._strength[2] >= RATIO
    assert best.loss < before
    steps = [step["step"] for step in selection.monitor.trace]
    assert set(steps) == {"strength x 3"}


def test_a_strength_that_is_worse_in_most_folds_is_not_tried_in_the_others(monkeypatch):
    selection, best = selection_with_a_pair(strength=1e9, n_sweeps=8)
    losses = iter([(2.0, 1.0), (1.0, 1.0)] * 3)  # of a trial, then at its own strength
    monkeypatch.setattr(FactorFit, "held_out_loss", lambda fit: next(losses))
    assert not selection._rescale_once(best, RATIO)
    assert next(losses, None) is None
    assert len(best.continued) == 3
    assert len(best.fits) == 5


def test_fits_at_the_strength_so_far_take_more_sweeps_once():
    selection, best = selection_with_a_pair(strength=1e9, n_sweeps=1)
    assert not selection._rescale_once(best, RATIO)
    continued = best.continued
    first = list(continued)
    assert not selection._rescale_once(best, 1.0 / RATIO)
    assert all(one is other for one, other in zip(first, continued, strict=False))
