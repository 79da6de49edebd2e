"""Candidates for interactions against scores of all of them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from tanager.loglinear import factor_candidates
from tanager.loglinear.block_newton import FactorFit
from tanager.loglinear.factor import Axis, Factor
from tanager.loglinear.factor_candidates import CandidatePool, _close_no_cycle
from tanager.loglinear.factor_samples import FactorSamples
from tanager.loglinear.score_test import JoinedAxes, ScoreTest


def make_fit(formula, n_samples=3000, n_features=6, seed=0):
    """A model of single binary features, of a class that `formula` computes."""
    random = np.random.default_rng(seed)
    codes = random.integers(0, 2, (n_features, n_samples)).astype(np.uint8)
    labels = formula(codes.astype(int), random).astype(np.int64)
    samples = FactorSamples.of(codes, labels, np.ones(n_samples), 2)
    # Two states, and a bin of values that are not observed.
    axes = {n: [Axis(j, np.arange(3), 0) for j in range(n_features)] for n in (1, 2, 3)}
    fit = FactorFit(samples, np.zeros(1))
    add(fit, axes, [(j,) for j in range(n_features)])
    fit.sweep(3)
    return fit, axes


def make_pool(axes, order=3, *, allowed=None, forest=False):
    n_features = len(axes[1])
    if allowed is None:
        allowed = ~np.eye(n_features, dtype=bool)
    return CandidatePool(axes, allowed, order, forest=forest)


def two_pairs(x, random):
    return (x[0] ^ x[1]) & (x[2] ^ x[3]) ^ (random.random(x.shape[1]) < 0.05)


def parity_of_three(x, random):
    # The pair (0, 1) has an effect of its own, so that it can be found first.
    return np.where(random.random(x.shape[1]) < 0.3, x[0] ^ x[1], x[0] ^ x[1] ^ x[2])


def add(fit, axes, keys):
    """Add the factors over some features."""
    factors = [Factor(tuple(axes[len(key)][j] for j in key)) for key in keys]
    return fit.add(factors, 1.0)


def test_the_best_pairs_of_all_are_picked():
    fit, axes = make_fit(two_pairs)
    pairs = np.array(list(combinations(range(6), 2)))
    scores = ScoreTest(fit, np.arange(3000)).scores(JoinedAxes.of(axes[2]), pairs, 0.5)
    expected = [tuple(pairs[i]) for i in np.argsort(-scores)[:4]]
    assert set(expected[:2]) == {(0, 1), (2, 3)}
    assert make_pool(axes, order=2).pick(fit, 4, 1.0) == expected


def test_triples_follow_a_pair_of_the_model():
    fit, axes = make_fit(parity_of_three)
    pool = make_pool(axes)
    first = pool.pick(fit, 1, 1.0)
    assert first == [(0, 1)]
    fit.sweep(3, add(fit, axes, first))
    assert pool.pick(fit, 1, 1.0) == [(0, 1, 2)]


def test_a_triple_is_not_credited_with_what_its_pairs_explain():
    fit, axes = make_fit(two_pairs)
    pool = make_pool(axes)
    fit.sweep(3, add(fit, axes, pool.pick(fit, 1, 1.0)))
    # A triple with both features of the second pair has at least the score of it.
    second = {(0, 1), (2, 3)} - {fit.terms[-1].factor.key}
    assert set(pool.pick(fit, 1, 1.0)) == second


def test_picked_factors_are_not_picked_again_and_the_pool_ends():
    fit, axes = make_fit(two_pairs)
    pool = make_pool(axes, order=2)
    seen = []
    while keys := pool.pick(fit, 4, 1.0):
        seen += keys
        add(fit, axes, keys)
    assert sorted(seen) == list(combinations(range(6), 2))


def test_triples_are_candidates_once():
    fit, axes = make_fit(two_pairs, n_features=4)
    pool, seen = make_pool(axes), []
    while keys := pool.pick(fit, 3, 1.0):
        seen += keys
        add(fit, axes, keys)
    expected = [*combinations(range(4), 2), *combinations(range(4), 3)]
    assert sorted(seen) == sorted(expected)


def test_pairs_of_the_model_are_no_candidates_but_their_triples_are():
    fit, axes = make_fit(parity_of_three)
    pool = make_pool(axes)
    fit.sweep(3, add(fit, axes, [(0, 1)]))
    picked = pool.pick(fit, 100, 1.0)
    assert (0, 1) not in picked
    assert picked[0] == (0, 1, 2)


def test_forbidden_pairs_are_in_no_candidate():
    allowed = ~np.eye(6, dtype=bool)
    allowed[0, 2] = allowed[2, 0] = False
    fit, axes = make_fit(parity_of_three)
    pool = make_pool(axes, allowed=allowed)
    for _ in range(4):
        keys = pool.pick(fit, 10, 1.0)
        assert not any({0, 2} <= set(key) for key in keys)
        add(fit, axes, keys)


@pytest.mark.parametrize("n_screened", [100, 5000])
def test_screening_on_few_samples_finds_strong_pairs(n_screened, monkeypatch):
    monkeypatch.setattr(factor_candidates, "SCREENED_SAMPLES", n_screened)
    monkeypatch.setattr(factor_candidates, "RESCORED", (2, 5))
    fit, axes = make_fit(two_pairs)
    assert set(make_pool(axes).pick(fit, 2, 1.0)) == {(0, 1), (2, 3)}


def test_only_features_with_large_effects_have_pairs_if_there_are_many(monkeypatch):
    monkeypatch.setattr(factor_candidates, "MAX_PAIRS", 8)
    fit, axes = make_fit(lambda x, random: x[1] | x[4])
    pool = make_pool(axes, order=2)
    used = {j for key in pool.pick(fit, 50, 1.0) for j in key}
    assert {1, 4} <= used
    assert len(used) == 4


def test_pairs_that_close_a_cycle_are_dropped():
    pairs = [(0, 1, -1), (1, 2, -1), (0, 2, -1), (3, 4, -1), (2, 4, -1), (0, 3, -1)]
    features = np.array([*pairs[:4], (0, 1, 2), *pairs[4:]])
    assert _close_no_cycle(features, 5).tolist() == [0, 1, 3, 4, 5]
