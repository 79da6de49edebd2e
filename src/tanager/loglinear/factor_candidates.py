"""`CandidatePool`: the interactions that may join a model, ranked by score tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tanager.loglinear.block_newton import FactorFit
from tanager.loglinear.factor import Axis
from tanager.loglinear.score_test import JoinedAxes, ScoreTest
from tanager.types import BoolArray, IndexArray, IntArray

MAX_PAIRS = 20_000
"""Pairs that are scored: those of the features with the largest effects."""

MAX_TRIPLES = 4_000
"""New triples that are scored before a stage."""

SCREENED_SAMPLES = 5_000
"""Samples of the first score test of a candidate, if there are many of them."""

SCORED_SAMPLES = 40_000
"""Samples of the score tests that decide."""

RESCORED = (2, 64)
"""Candidates whose score is up to date when some are picked: so many for each one that
is wanted, and at least so many."""

NO_FEATURE = -1


class CandidatePool:
    """Pairs, and triples that contain a pair of the model, with their latest scores.

    Parameters
    ----------
    axes : dict of int to list of Axis
        The axis of every feature, by the number of features of a factor.
    allowed : ndarray of bool, shape (n_features, n_features)
        The pairs that factors may have; symmetric.
    order : int
        Largest number of features of a factor.
    forest : bool
        Whether the pairs that are picked together must not close a cycle.

    Notes
    -----
    All candidates are scored once, on few samples if there are many candidates. Scores
    fall when the model learns what a candidate would explain, so that the best ones are
    scored again, on more samples, before some are picked. The others keep the score
    that they had: the search is greedy and lazy.

    A triple can explain what its pairs can, too. It is ranked by its score minus those
    of its pairs that are not in the model.
    """

    def __init__(
        self,
        axes: dict[int, list[Axis]],
        allowed: BoolArray,
        order: int,
        *,
        forest: bool,
    ) -> None:
        self._joined = {n: JoinedAxes.of(axes[n]) for n in range(2, order + 1)}
        self._allowed = allowed
        self._forest = forest
        # Features of the candidates, with NO_FEATURE in the last column of pairs.
        self._features = np.empty((0, 3), dtype=np.int64)
        self._scores = np.empty(0)
        # Of pairs outside the model, 0 where there is no such candidate.
        self._pair_scores = np.zeros(allowed.shape)
        self._has_pairs = False
        self._n_extended = 0  # first pairs of the model, whose triples are candidates

    def pick(
        self, fit: FactorFit, size: int, strength: float, n_axes: Sequence[int] = (2, 3)
    ) -> list[tuple[int, ...]]:
        """Pick the `size` best candidates for a model, or fewer, best first.

        Returns the features of every one of them, by increasing position.
        `strength` is that of the penalty that the new factors will have, `n_axes` the
        numbers of features that they may have.
        """
        training = np.flatnonzero(fit.samples.weights)
        few = training[:: max(len(training) // SCREENED_SAMPLES, 1)]
        many = training[:: max(-(-len(training) // SCORED_SAMPLES), 1)]
        n_rescored = max(RESCORED[0] * size, RESCORED[1])
        self._drop(fit)
        new = self._add_new(fit)
        screened = len(new) > n_rescored and len(few) < len(many)
        self._score(fit, new, few if screened else many, strength)
        stale = self._best(n_rescored, n_axes)
        if not screened:
            stale = np.setdiff1d(stale, new)
        self._score(fit, stale, many, strength)
        best = self._best(n_rescored, n_axes)
        if self._forest:
            best = best[_close_no_cycle(self._features[best], len(self._allowed))]
        found = self._features[best[:size]].tolist()
        return [tuple(j for j in row if j != NO_FEATURE) for row in found]

    def _best(self, size: int, n_axes: Sequence[int]) -> IndexArray:
        """Positions of the candidates that would add most, best first."""
        i, j, k = self._features.T
        gains = self._scores.copy()
        triples = np.flatnonzero(k != NO_FEATURE)
        for one, other in ((i, j), (i, k), (j, k)):
            gains[triples] -= self._pair_scores[one[triples], other[triples]]
        some = np.flatnonzero(np.isin(np.where(k == NO_FEATURE, 2, 3), n_axes))
        return some[np.argsort(-gains[some], kind="stable")[:size]]

    def _score(
        self, fit: FactorFit, candidates: IndexArray, rows: IndexArray, strength: float
    ) -> None:
        """Score candidates on some samples, as if on all of them."""
        fraction = len(rows) / max(int(np.count_nonzero(fit.samples.weights)), 1)
        n_axes = np.where(self._features[:, 2] == NO_FEATURE, 2, 3)
        test = ScoreTest(fit, rows) if len(candidates) else None
        for n in self._joined:
            some = candidates[n_axes[candidates] == n]
            if test is None or not len(some):
                continue
            features = np.ascontiguousarray(self._features[some, :n])
            ridge = 0.5 * strength * fraction
            self._scores[some] = (
                test.scores(self._joined[n], features, ridge) / fraction
            )
        pairs = candidates[n_axes[candidates] == 2]
        i, j, _ = self._features[pairs].T
        self._pair_scores[i, j] = np.maximum(self._scores[pairs], 0.0)

    def _add_new(self, fit: FactorFit) -> IndexArray:
        """Add what has become a candidate; returns the positions."""
        n_old = len(self._features)
        pairs, triples = (_keys_of(fit, n) for n in (2, 3))
        if not self._has_pairs:
            self._has_pairs = True
            self._add(self._pairs(fit, pairs))
        if 3 in self._joined:
            self._add(self._triples(pairs[self._n_extended :], triples))
            self._n_extended = len(pairs)
        return np.arange(n_old, len(self._features))

    def _drop(self, fit: FactorFit) -> None:
        """Drop the candidates that are in the model by now."""
        pairs, triples = _keys_of(fit, 2), _keys_of(fit, 3)
        self._pair_scores[pairs[:, 0], pairs[:, 1]] = 0.0
        pairs = np.column_stack([pairs, np.full(len(pairs), NO_FEATURE)])
        there = np.concatenate([pairs, triples])
        kept = ~np.isin(self._codes(self._features), self._codes(there))
        self._features, self._scores = self._features[kept], self._scores[kept]

    def _codes(self, features: IntArray) -> IntArray:
        """One number for every row of features."""
        codes: IntArray = (features + 1) @ (len(self._allowed) + 1) ** np.arange(3)
        return codes

    def _add(self, features: IntArray) -> None:
        self._features = np.concatenate([self._features, features])
        self._scores = np.append(self._scores, np.zeros(len(features)))

    def _pairs(self, fit: FactorFit, there: IntArray) -> IntArray:
        """All pairs of the features with the largest effects, but those `there`."""
        allowed = np.triu(self._allowed, 1)
        allowed[there[:, 0], there[:, 1]] = False
        n_kept = int((2 * MAX_PAIRS) ** 0.5)
        features = np.flatnonzero(self._allowed.any(axis=0))
        if len(features) > n_kept:
            effects = [np.ptp(fit.terms[j].table, axis=0).max() for j in features]
            left_out = features[np.argsort(effects, kind="stable")[:-n_kept]]
            allowed[left_out] = allowed[:, left_out] = False
        pairs = np.argwhere(allowed)
        return np.column_stack([pairs, np.full(len(pairs), NO_FEATURE)])

    def _triples(self, pairs: IntArray, there: IntArray) -> IntArray:
        """Triples of `pairs` and any third feature, but those `there` and known."""
        allowed = self._allowed[pairs[:, 0]] & self._allowed[pairs[:, 1]]
        rows = np.arange(len(pairs))
        allowed[rows, pairs[:, 0]] = allowed[rows, pairs[:, 1]] = False
        which, third = np.nonzero(allowed)
        found = np.sort(np.column_stack([pairs[which], third]), axis=1)
        known = self._codes(np.concatenate([self._features, there]))
        new, first = np.unique(self._codes(found), return_index=True)
        found = found[first[~np.isin(new, known)]]
        return found[:: max(-(-len(found) // MAX_TRIPLES), 1)]


def _keys_of(fit: FactorFit, n_axes: int) -> IntArray:
    """Features of the factors over `n_axes` features, in the order of the model."""
    keys = [term.factor.key for term in fit.terms if len(term.factor.key) == n_axes]
    return np.array(keys, dtype=np.int64).reshape(-1, n_axes)


def _close_no_cycle(features: IntArray, n_features: int) -> IndexArray:
    """Positions of the rows but of pairs that close a cycle with the pairs before."""
    tree = np.arange(n_features)  # of every feature, the name of its tree
    kept = []
    for place, (i, j, k) in enumerate(features.tolist()):
        if k == NO_FEATURE:
            if tree[i] == tree[j]:
                continue
            tree[tree == tree[j]] = tree[i]
        kept.append(place)
    return np.array(kept, dtype=np.intp)
