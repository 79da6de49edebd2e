"""Selection of factors and of the strength of their penalties by held-out loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from tanager.loglinear.block_newton import FactorFit, Term
from tanager.loglinear.factor import (
    Axis,
    Factor,
    make_axes,
    sum_code_weights,
    sum_weights,
)
from tanager.loglinear.factor_candidates import CandidatePool
from tanager.loglinear.factor_certificate import Certificate
from tanager.loglinear.factor_samples import FactorSamples, count_folds, split_folds
from tanager.loglinear.selection_options import SelectionOptions
from tanager.loglinear.strength_path import (
    GAIN,
    RATIO,
    SMALL_GAIN,
    falls,
    follow_path,
    interactions_of,
    mean_loss,
    record_step,
    scale_interactions,
    sweep_new,
)
from tanager.loglinear.weak_factors import THRESHOLDS, WeakFactors
from tanager.model.schema import Schema
from tanager.optim import Monitor
from tanager.types import CodeArray, FloatArray, LabelArray
from tanager.utils.progress import grace, keep_best, time_share
from tanager.utils.text import pluralise

SAMPLES_PER_CELL = 20
"""Samples per cell of a factor over several features, as far as its bins decide it."""

MAX_WEIGHTS = 8_000_000
"""Weights of all interactions together, as far as their bins decide it: many features
and classes have coarser ones."""

PAIR_BINS = (4, 32)
TRIPLE_BINS = (3, 14)
"""Least and largest number of bins along an axis of such factors."""

SPREAD = 1000.0
"""Largest ratio between the strength of a factor and the one common to all."""

SMALLEST_SPREAD = 2_000
"""Samples from which on factors have strengths of their own. With fewer, the curvature
of a factor alone, which ignores correlated ones, makes strengths run away."""

LAST_SWEEPS = 4
"""Sweeps at the end. Datasets with several folds, for which they cost little, have
twice as many."""

STRENGTH_ROUNDS = 3
"""Largest number of rounds in which strengths are updated, of `LAST_SWEEPS` sweeps."""

MAX_STAGES = 4
"""Largest number of stages, each of which adds twice as many interactions as the one
before."""

EARLY_SAMPLES = 100_000
"""Samples that stand for all in the statistics of a fit that has ended early."""

SEARCH_SHARE = 0.85
"""Fraction of a limited time that the search may take; the rest is for the fit to all
samples."""

LEAST_KEPT = 0.5
"""Fraction of the samples that must be in categories of their own, not pooled, for a
feature to be in interactions: identifiers of samples have none of it."""

LEAST_LIMIT = 64
"""Number of interactions that any number of samples may have."""


class Stage(NamedTuple):
    """A number of interactions, over some numbers of features, added together."""

    size: int
    n_axes: tuple[int, ...]


@dataclass
class _Best:
    """The fits with the least held-out loss so far, and the stages that led to them."""

    fits: list[FactorFit]
    loss: float
    single_strengths: list[float] = field(default_factory=list)  # one per feature
    stages: list[Stage] = field(default_factory=list)
    # Number of factors over so many features, where some were dropped.
    n_kept: dict[tuple[int, ...], int] = field(default_factory=dict)
    # The first fits after more sweeps, as far as they were needed.
    continued: list[FactorFit] = field(default_factory=list)
    # The terms of the only fit, when it makes room for that to all samples.
    found: list[Term] = field(default_factory=list)

    def copies(self) -> list[FactorFit]:
        return [fit.copy() for fit in self.fits]

    def take_found(self) -> list[Term]:
        """The terms of the only fit, which is dropped; copies of them are kept."""
        if self.fits:
            self.found = [term.copy() for term in self.fits[0].terms]
            self.fits.clear()
        return [term.copy() for term in self.found]


class FactorSelection:
    """Select factors for a dataset, and fit them.

    Parameters
    ----------
    schema : Schema
        The variables, the class last.
    codes : ndarray of unsigned int, shape (n_features, n_samples), C order
        Codes of the features.
    labels : ndarray of int, shape (n_samples,)
        Codes of the class, all of them known.
    weights : ndarray of float64, shape (n_samples,), or None
        Sample weights, all positive; None means all one.
    options : SelectionOptions
        What the selection may do.
    n_jobs : int or None, default=None
        Number of threads. The result does not depend on it.

    Attributes
    ----------
    monitor : Monitor
        One record for every step that was kept, with the held-out loss.
    certificate : Certificate or None
        How far the fit to all samples is from the optimum; None without `tol`.

    Notes
    -----
    The model starts with one factor per feature. Their common strength is the one with
    the least held-out loss along a path from strong to weak penalties. Then every
    factor gets its own strength by evidence (`FactorFit.sweep`), which is kept if the
    held-out loss falls. Interactions are added in stages: the pairs, and the triples
    with a pair of the model, that have the largest score tests (`CandidatePool`), twice
    as many in each stage as before, until the held-out loss stops falling. Large
    datasets then go on with triples alone. At the end factors whose effect vanishes
    are dropped, single features and interactions apart, up to the largest threshold at
    which the held-out loss does not rise (`WeakFactors`). The interactions that are
    left are tried with stronger, then with weaker penalties; fits to folds are compared
    with those at the strength so far after the same number of sweeps.

    Small datasets have several folds. Each fold selects its own factors from its own
    training samples: a selection that had seen the held-out samples would make their
    loss too small. The pairs of a stage are then a forest: with few samples many pairs
    of the same few features have about the same score, and bring little together. Only
    the number of factors and the strengths are common to the folds, and the factors are
    selected again from all samples. Large datasets have one validation set; the factors
    selected without it are fitted to all samples.
    """

    def __init__(
        self,
        schema: Schema,
        codes: CodeArray,
        labels: LabelArray,
        weights: FloatArray | None,
        options: SelectionOptions,
        n_jobs: int | None = None,
    ) -> None:
        self.samples = FactorSamples.of(
            codes, labels, weights, schema.n_classes, n_jobs=n_jobs
        )
        features = [schema[j] for j in range(len(schema) - 1)]
        self._prepare(
            schema,
            options,
            len(labels),
            sum_weights(features, codes, weights),
            sum_code_weights(labels, weights, schema.n_classes),
        )

    def _prepare(
        self,
        schema: Schema,
        options: SelectionOptions,
        n_samples: int,
        totals: Sequence[FloatArray],
        class_weights: FloatArray,
    ) -> None:
        """Make the axes of factors, from the weights of all states and classes."""
        self.options = options
        self.n_features = len(schema) - 1
        self.n_classes = schema.n_classes
        self.n_samples = n_samples
        self.monitor = Monitor("FactorSearch", unit="step")
        self._n_folds = count_folds(n_samples)
        features = [schema[j] for j in range(self.n_features)]
        most = max(self._max_interactions() * self.n_classes, 1)
        per_axis = min(n_samples / SAMPLES_PER_CELL, MAX_WEIGHTS / most)
        self._axes: dict[int, list[Axis]] = {
            1: [
                Axis.of(j, v, np.ones(v.n_states), None) for j, v in enumerate(features)
            ],
            2: make_axes(features, totals, int(np.clip(per_axis**0.5, *PAIR_BINS))),
            3: make_axes(features, totals, int(np.clip(per_axis**0.333, *TRIPLE_BINS))),
        }
        counts = class_weights + 0.5
        log_prior = np.log(counts / counts.sum())
        self.log_prior = (
            log_prior[1:] - log_prior[:1] if schema.n_classes == 2 else log_prior
        )
        self._joins = np.array(
            [
                # A constant feature takes no part.
                np.count_nonzero(total) > 1
                and _kept_fraction(axis, total) >= LEAST_KEPT
                for axis, total in zip(self._axes[2], totals, strict=True)
            ]
        )
        self._factors: dict[tuple[int, ...], Factor] = {}
        self._required = {self.factor(pair).key for pair in options.required}
        self._strength = {1: 1.0, 2: 1.0}  # of single features, of interactions
        self._patience = 1 if self._n_folds == 1 else 2
        self.certificate: Certificate | None = None

    def run(self) -> FactorFit:
        """Select and fit; the result is fitted to all samples."""
        fits = [self._start(fold) for fold in self._split()]
        best = _Best(fits, np.inf)
        del fits  # `_fit_all` drops them, too
        fit: FactorFit | None = None
        steps = self.monitor.trace
        with keep_best(self.monitor.who, lambda: pluralise(len(steps), "step")):
            with time_share(SEARCH_SHARE):
                if best.fits:  # otherwise nothing can be held out
                    self._search(best)
            fit = self._fit_all(best)
        if fit is None:
            fit = self._fit_early(best)
        if self.options.tol is not None:
            self.certificate = fit.solve(self.options.tol)
        return fit

    def _fit_early(self, best: _Best) -> FactorFit:
        """Fit what was selected so far, as well as a moment allows."""
        fit: FactorFit | None = None
        with grace():
            # Copies: what is left of the search may have to do.
            whole = replace(best, fits=best.copies())
            fit = self._fit_all(whole)
        if fit is None:
            fit = best.fits[0] if best.fits else self._start(self.samples)
            if best.found:
                fit.terms = best.take_found()
            fit.add(self._missing_factors(fit.terms), self._strength[2])
            # Tables may be ahead of the posteriors, and all samples take too long.
            fit = fit.refit_to(fit.samples.thin(EARLY_SAMPLES))
            self.samples = fit.samples
        return fit

    def _split(self) -> list[FactorSamples]:
        """The samples of every fold."""
        return split_folds(self.samples)

    def _search(self, best: _Best) -> None:
        """Improve the fits step by step; `best` is complete after each of them."""
        self._fit_single_features(best)
        if self.options.order > 1 and self.n_features > 1:
            if self.options.required:
                self._add_required(best)
            self._grow(best)
        self._drop_weak(best)
        self._rescale(best)

    def factor(self, features: Sequence[int]) -> Factor:
        """Make the factor over some features, with bins that depend on their number.

        Folds have the same factors in common, and what is computed from them.
        """
        key = tuple(sorted(features))
        if key not in self._factors:
            axes = self._axes[len(key)]
            self._factors[key] = Factor(tuple(axes[j] for j in key))
        return self._factors[key]

    def _start(self, samples: FactorSamples) -> FactorFit:
        """A fit with a factor for every feature."""
        fit = FactorFit(samples, self.log_prior)
        singles = [self.factor((j,)) for j in range(self.n_features)]
        fit.add(singles, self._strength[1])
        return fit

    def _bounds(self) -> dict[int, tuple[float, float]]:
        return {1: (self._strength[1] / SPREAD, self._strength[1] * SPREAD)}

    def _fit_single_features(self, best: _Best) -> None:
        """Fit one factor per feature, with a common strength, then one for each."""
        best.fits, best.loss, self._strength[1] = follow_path(
            best.fits, 0, self._patience, self.monitor
        )
        best.single_strengths = [self._strength[1]] * self.n_features
        if self.n_samples < SMALLEST_SPREAD:
            return
        for _ in range(STRENGTH_ROUNDS):
            fits = best.copies()
            for fit in fits:
                fit.sweep(self._patience * LAST_SWEEPS, bounds=self._bounds())
            loss = mean_loss(fits)
            if not falls(loss, best.loss, SMALL_GAIN):
                break
            best.fits, best.loss = fits, loss
            best.single_strengths = _mean_strengths(fits)
            record_step(self.monitor, "strength of every factor", fits, loss)

    def _add_required(self, best: _Best) -> None:
        """Add the pairs that are required, whatever they bring."""
        fits, first = best.copies(), len(best.fits[0].terms)
        for fit in fits:
            fit.add([self.factor(pair) for pair in self.options.required], 1.0)
        best.fits, best.loss, self._strength[2] = follow_path(
            fits, first, self._patience, self.monitor
        )

    def _grow(self, best: _Best) -> None:
        """Add interactions in stages."""
        pools = [self._make_pool() for _ in best.fits]
        limit, size, added = self._max_interactions(), self._first_size(), 0
        if self.options.max_factors is not None:
            limit = min(limit, self.options.max_factors - len(self.options.required))
        n_axes = tuple(range(2, self.options.order + 1))
        while added < limit:
            size = min(size, limit - added)
            fits, found = best.copies(), 0
            for fit, pool in zip(fits, pools, strict=True):
                keys = pool.pick(fit, size, self._strength[2], n_axes)
                fit.add([self.factor(key) for key in keys], self._strength[2])
                found = max(found, len(keys))
            loss = np.inf
            if found:
                fits, loss = self._fit_stage(fits, best, len(best.fits[0].terms))
            if falls(loss, best.loss, GAIN):
                added += size
                best.fits, best.loss = fits, loss
                best.stages = [*best.stages, Stage(size, n_axes)]
                record_step(self.monitor, f"{size} interactions", fits, loss)
                size *= 2
            elif n_axes == (2, 3) and added and self._n_folds == 1:
                # Pairs may have nothing to add any more, but triples of those chosen;
                # few samples do not support a second attempt.
                n_axes, size = (3,), max(size // 2, self._first_size())
            else:
                break
            del fits  # before there are others

    def _fit_stage(
        self, fits: list[FactorFit], best: _Best, first: int
    ) -> tuple[list[FactorFit], float]:
        """Fit the terms from number `first` on, and all; returns the held-out loss."""
        if not best.stages and not self.options.required:
            fits, loss, self._strength[2] = follow_path(
                fits, first, self._patience, self.monitor
            )
            return fits, loss
        for fit in fits:
            sweep_new(fit, first)
        loss = mean_loss(fits)
        # More interactions may need a stronger penalty on all of them.
        if not falls(loss, best.loss, GAIN):
            scale_interactions(fits, RATIO)
            loss = mean_loss(fits)
            if falls(loss, best.loss, GAIN):
                self._strength[2] *= RATIO
        return fits, loss

    def _first_size(self) -> int:
        """Number of interactions of the first stage."""
        if self._n_folds > 1:
            return max(2, self.n_features - 1)
        return max(2, self.n_features // 2)

    def _max_interactions(self) -> int:
        """Number of interactions of all stages; few samples do not support many."""
        stages = self._first_size() * int(2**MAX_STAGES - 1)
        return min(stages, max(self.n_samples, LEAST_LIMIT))

    def _make_pool(self) -> CandidatePool:
        allowed = self.options.allowed & np.outer(self._joins, self._joins)
        return CandidatePool(
            self._axes, allowed, self.options.order, forest=self._n_folds > 1
        )

    def _drop_weak(self, best: _Best) -> None:
        """Drop factors with small effects, unless the held-out loss rises.

        Single features come first: those without an effect of their own may have a
        larger one than an interaction that matters.
        """
        limit = best.loss
        for n_axes in ((1,), (2, 3)):
            weak = [
                WeakFactors(fit, n_axes, required=self._required) for fit in best.fits
            ]
            for threshold in THRESHOLDS:
                for fold in weak:
                    fold.select(threshold)
                if not any(fold.dropped for fold in weak):
                    break
                loss = mean_loss(weak)
                if falls(loss, limit, -SMALL_GAIN):
                    for fold in weak:
                        fold.drop()
                    best.loss = loss
                    best.n_kept[n_axes] = max(_count(f, n_axes) for f in best.fits)
                    step = f"effects of {threshold:g} and more"
                    record_step(self.monitor, step, best.fits, loss)
                    break

    def _rescale(self, best: _Best) -> None:
        """Try the interactions with stronger and weaker penalties."""
        if not any(map(interactions_of, best.fits)):
            return
        for ratio in (RATIO, 1.0 / RATIO):
            moved = False
            while self._rescale_once(best, ratio):
                moved = True
            if moved:
                return

    def _rescale_once(self, best: _Best, ratio: float) -> bool:
        """Try the interactions with another strength; returns whether it is better.

        Fits to folds are far from the optimum, so that sweeps alone make their loss
        fall: they are compared with those that take as many at the strength so far. A
        strength that is worse in each of most folds is not tried in the others.
        """
        fits: list[FactorFit] = []
        n_better = 0
        for fit in best.fits:
            if len(fits) == len(best.continued):
                best.continued.append(self._continue(fit))
            fits.append(fit.copy())
            scale_interactions(fits[-1:], ratio, self._patience)
            own = best.continued[len(fits) - 1]
            n_better += mean_loss(fits[-1:]) < mean_loss([own])
            if not n_better and 2 * len(fits) > len(best.fits):
                return False
        loss = mean_loss(fits)
        if self._n_folds > 1:
            best.loss = mean_loss(best.continued)
        if not falls(loss, best.loss, SMALL_GAIN):
            return False
        best.fits, best.loss, best.continued = fits, loss, []
        self._strength[2] *= ratio
        record_step(self.monitor, f"strength x {ratio:.2g}", fits, loss)
        return True

    def _continue(self, fit: FactorFit) -> FactorFit:
        """The fit of a fold after more sweeps; that of a validation set as it is."""
        if self._n_folds == 1:
            return fit
        more = fit.copy()
        more.sweep(self._patience)
        return more

    def _fit_all(self, best: _Best) -> FactorFit:
        """Fit to all samples what was selected on some of them, and drop the latter."""
        if len(best.fits) == 1 or best.found:
            return self._fit_found(best.take_found())
        fit = self._start(self.samples)
        for term, strength in zip(fit.terms, best.single_strengths, strict=False):
            term.strength = strength  # an interrupted search may not have found any
        fit.sweep(self._patience * LAST_SWEEPS)
        if self.options.required and self.options.order > 1:
            pairs = [self.factor(pair) for pair in self.options.required]
            fit.sweep(1, fit.add(pairs, self._strength[2]))
        pool, strength = self._make_pool(), self._strength[2]
        for stage in best.stages:
            keys = pool.pick(fit, stage.size, strength, stage.n_axes)
            fit.sweep(1, fit.add([self.factor(key) for key in keys], strength))
            fit.sweep(1)
        fit.sweep(self._patience * LAST_SWEEPS)
        for n_axes, n_kept in best.n_kept.items():
            weak = WeakFactors(fit, n_axes, required=self._required)
            weak.select(np.inf, n_kept)
            weak.drop()
        if best.n_kept:
            fit.sweep(LAST_SWEEPS)
        return fit

    def _fit_found(self, terms: list[Term]) -> FactorFit:
        """Fit the factors found by the search on one part of the samples to all."""
        fit = FactorFit(self.samples, self.log_prior)
        fit.take_terms(terms)
        fit.add(self._missing_factors(terms), self._strength[2])
        fit.sweep(LAST_SWEEPS)
        return fit

    def _missing_factors(self, terms: Sequence[Term]) -> list[Factor]:
        """Required factors that an interrupted search has not come to."""
        there = {term.factor.key for term in terms}
        required = [self.factor(pair) for pair in self.options.required]
        return [factor for factor in required if factor.key not in there]


def _count(fit: FactorFit, n_axes: tuple[int, ...]) -> int:
    """Number of factors over so many features."""
    return sum(len(term.factor.axes) in n_axes for term in fit.terms)


def _mean_strengths(fits: Sequence[FactorFit]) -> list[float]:
    """Geometric means over the folds of the strengths of all terms."""
    strengths = [[term.strength for term in fit.terms] for fit in fits]
    means: list[float] = np.exp(np.log(strengths).mean(axis=0)).tolist()
    return means


def _kept_fraction(axis: Axis, totals: FloatArray) -> float:
    """Fraction of the samples in bins of one state, for categories; 1 for bins.

    `totals`, shape (n_states + 1,), are the weights of the states.
    """
    if axis.n_ordered:
        return 1.0
    alone = np.bincount(axis.bins)[axis.bins] == 1
    return float(totals @ alone / totals.sum())
