"""Updates of factors against dense matrices, and their statistics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tanager import Schema, Variable
from tanager.errors import CapabilityError
from tanager.loglinear.block_newton import FactorFit
from tanager.loglinear.factor import Axis
from tanager.loglinear.factor_samples import FactorSamples
from tanager.loglinear.factor_statistics import FactorStatistics
from tanager.loglinear.factor_update import merge_factors, no_samples, update_factors
from tanager.loglinear.factors_with_new_states import move_axis
from tests.loglinear.factor_makers import (
    make_codes,
    make_factor,
    make_labels,
    make_log_prior,
    make_variable,
)
from tests.reference import factor_stream as reference
from tests.reference.factors import log_posterior

VARIABLES = [
    make_variable("size", 4, ordered=True),
    make_variable("sky", 3, ordered=False, missing_state=True),
    make_variable("same", 1, ordered=False),
]


def make_batch(seed, n_classes, n_samples=120):
    random = np.random.default_rng(seed)
    codes = make_codes(random, VARIABLES, n_samples)
    labels = make_labels(random, codes, n_classes)
    return codes, labels.astype(np.uint8), random.integers(1, 4, n_samples) / 2


def samples_of(batch, n_classes):
    return FactorSamples.of(*batch, n_classes)


def first_fit(n_classes, n_sweeps=60):
    batch = make_batch(0, n_classes)
    fit = FactorFit(samples_of(batch, n_classes), make_log_prior(*batch[1:], n_classes))
    for features, strength in (((0,), 0.5), ((1,), 2.0), ((2,), 1.0), ((0, 1), 1.5)):
        max_bins = 3 if features[1:] else None
        fit.add([make_factor(VARIABLES, features, max_bins)], strength)
    fit.sweep(n_sweeps)
    target = Variable("class", tuple(range(n_classes)))
    return FactorStatistics.of_fit(Schema((*VARIABLES, target), target=3), fit)


def stacked(statistics, name):
    return np.concatenate([getattr(term, name) for term in statistics.terms])


def posteriors(statistics, codes):
    tables = [term.table for term in statistics.terms]
    return log_posterior(codes, statistics.log_prior, statistics.factors, tables)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_kept", [None, 6])
def test_update_minimises_the_dense_objective(n_classes, n_kept):
    former = first_fit(n_classes)
    if n_kept is not None:
        # Without the pair, whose table can do the work of two others: sweeps move such
        # weights slowly.
        few = former.kept.thin(n_kept)
        former = replace(former, kept=few, terms=former.terms[:-1])
    batch, kept = make_batch(1, n_classes), former.kept
    found = update_factors(former, samples_of(batch, n_classes), 300)
    soft = np.exp(posteriors(former, kept.codes))
    p = soft[:, 1:] if n_classes == 2 else soft
    phi = reference.one_hot(former.factors, kept.codes)
    own = phi.T @ (kept.weights[:, None] * p * (1 - p))
    h = stacked(former, "curvature")
    rest = np.where(own < 0.5 * h, h - own, 0.0)
    assert rest.any() == (n_kept is not None)
    expected = reference.minimise(
        (
            np.hstack([batch[0], kept.codes]),
            np.vstack([np.eye(n_classes)[batch[1]], soft]),
            np.concatenate([batch[2], kept.weights]),
        ),
        former.log_prior,
        former.factors,
        [term.strength for term in former.terms],
        stacked(former, "table"),
        stacked(former, "gradient"),
        rest,
    )
    ends = np.cumsum([f.n_cells for f in former.factors])[:-1]
    tables = np.split(expected, ends)
    log_p = log_posterior(batch[0], former.log_prior, former.factors, tables)
    assert np.abs(posteriors(found, batch[0]) - log_p).max() < 1e-4


@pytest.mark.parametrize("n_classes", [2, 3])
def test_with_all_samples_kept_an_update_is_a_fit_to_all(n_classes):
    former = first_fit(n_classes, n_sweeps=3)
    found = former
    every = [(former.kept.codes, former.kept.labels, former.kept.weights)]
    for seed in (1, 2):
        every.append(make_batch(seed, n_classes))
        found = update_factors(found, samples_of(every[-1], n_classes), 150)
    parts = zip(*every, strict=True)
    codes, labels, weights = (np.concatenate(part, axis=-1) for part in parts)
    whole = FactorFit(
        FactorSamples.of(np.ascontiguousarray(codes), labels, weights, n_classes),
        former.log_prior,
    )
    whole.take_terms(former.make_terms())
    whole.sweep(150)
    expected = FactorStatistics.of_fit(former.schema, whole)
    assert np.abs(posteriors(found, codes) - posteriors(expected, codes)).max() < 1e-3
    for name in ("counts", "gradient"):
        one, two = stacked(found, name), stacked(expected, name)
        assert np.allclose(one, two, atol=2e-2)
    assert found.n_samples == expected.n_samples


@pytest.mark.parametrize("n_classes", [2, 3])
def test_an_empty_batch_changes_nothing(n_classes):
    former = first_fit(n_classes)
    found = update_factors(former, no_samples(former))
    codes = former.kept.codes
    assert found.n_samples == former.n_samples
    assert np.allclose(posteriors(found, codes), posteriors(former, codes), atol=1e-3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_merged_factors_are_those_of_both_samples(n_classes):
    one = first_fit(n_classes)
    batch = samples_of(make_batch(5, n_classes), n_classes)
    other = update_factors(one.forget(0.0), batch, 60)
    order = tuple(other.terms[t] for t in (2, 0, 3, 1))
    other = replace(other, terms=order)
    codes = make_batch(7, n_classes)[0]
    both = merge_factors(one, other)
    assert both.n_samples == one.n_samples + other.n_samples
    together = update_factors(one, batch, 100)
    p, q = np.exp(posteriors(both, codes)), np.exp(posteriors(together, codes))
    assert np.abs(p - q).max() < 0.01
    turned = np.exp(posteriors(merge_factors(other, one), codes))
    assert np.abs(p - turned).max() < 0.01


def test_merged_priors():
    one = first_fit(3)
    shifted = replace(one, log_prior=one.log_prior + np.array([0.0, 1.0, -0.5]))
    assert np.allclose(
        posteriors(one.match(shifted), one.kept.codes),
        posteriors(shifted, one.kept.codes),
    )


def test_different_factors_do_not_add():
    one = first_fit(2)
    other = replace(one, terms=one.terms[:-1])
    with pytest.raises(CapabilityError, match=r"first .* over \['size', 'sky'\]"):
        merge_factors(one, other)
    with pytest.raises(CapabilityError, match="Only the second"):
        merge_factors(other, one)
    finer = replace(one.terms[-1], factor=make_factor(VARIABLES, (0, 1)))
    with pytest.raises(CapabilityError, match="different bins"):
        merge_factors(one, replace(one, terms=(*one.terms[:-1], finer)))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_new_states_and_classes_change_no_prediction(n_classes):
    former = first_fit(n_classes)
    sky = Variable("sky", ("more", "s0", "s1", "s2")).with_missing_state()
    same = make_variable("same", 1, ordered=False).with_missing_state()
    target = Variable("class", tuple(range(-1, n_classes)))
    schema = Schema((VARIABLES[0], sky, same, target), target=3)
    moved = former.recode(schema)
    codes = former.kept.codes
    before, after = posteriors(former, codes), posteriors(moved, moved.kept.codes)
    assert after.shape[1] == n_classes + 1
    shares = after[:, 1:] - np.logaddexp.reduce(after[:, 1:], axis=1, keepdims=True)
    assert np.allclose(shares, before, atol=1e-9)
    assert np.exp(after[:, 0]).max() < 0.05
    assert moved.n_selected == 0
    for old, new in zip(former.terms, moved.terms, strict=True):
        assert np.isclose(old.counts.sum(), new.counts.sum())
        n_columns = 2 if n_classes == 2 else 1
        assert np.isclose(n_columns * old.curvature.sum(), new.curvature.sum())
        form = new.strength * new.factor.quadratic_form(new.table)
        assert np.isclose(form, old.strength * old.factor.quadratic_form(old.table))


def test_merged_bins_take_new_states():
    grey = Variable("sky", ("a", "b", "c", "d", "e"))
    pooled = Axis(0, np.array([0, 1, 1, 2]), 0)  # b and c are rare
    moved, bins = move_axis(pooled, grey, np.array([0, 1, 2]))
    assert moved.bins.tolist() == [0, 1, 1, 1, 1, 2]
    assert bins.tolist() == [0, 1, 2]
    ordered = Variable("size", ("a", "b", "c", "d", "e"), ordered=True)
    merged = Axis(0, np.array([0, 0, 1, 2]), 2)
    moved, bins = move_axis(merged, ordered, np.array([1, 2, 4]))
    assert moved.bins.tolist() == [0, 0, 0, 0, 1, 2]
    assert (moved.n_ordered, bins.tolist()) == (2, [0, 1, 2])


def test_forgetting_scales_all_statistics():
    former = first_fit(3)
    half = former.forget(0.5)
    for name in ("gradient", "curvature", "counts"):
        assert np.array_equal(stacked(half, name), 0.5 * stacked(former, name))
    assert np.array_equal(stacked(half, "table"), stacked(former, "table"))
    assert half.kept.weights.sum() == 0.5 * former.kept.weights.sum()
    assert len(former.forget(0.0).kept.weights) == 0
    assert former.forget(1.0) is former


def test_thinned_samples_have_the_weight_of_all():
    kept = first_fit(2).kept
    few = kept.thin(17)
    assert len(few.weights) <= 17
    assert np.isclose(few.weights.sum(), kept.weights.sum())
    assert not few.complete
    assert kept.thin(1000) is kept


@pytest.mark.parametrize("block", [1, 7, 1000])
def test_systematic_samples_are_those_of_all_sums(monkeypatch, block):
    """Sums of the weights are made block by block, and are the same."""
    from tanager.loglinear import kept_samples

    weights = np.random.default_rng(2).gamma(1.0, size=200)
    ends = np.cumsum(weights)
    step = ends[-1] / 60
    marks = (np.arange(60) + 0.5) * step
    expected, times = np.unique(np.searchsorted(ends, marks), return_counts=True)
    monkeypatch.setattr(kept_samples, "COUNT_ROWS", block)
    rows, kept = kept_samples.systematic_sample(weights, 60)
    assert (rows == expected).all()
    assert (kept == times * step).all()
