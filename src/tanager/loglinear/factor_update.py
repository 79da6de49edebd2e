"""Factors updated by further samples, from the statistics of those before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tanager.loglinear.block_newton import FactorFit, Term
from tanager.loglinear.factor import Factor
from tanager.loglinear.factor_samples import FactorSamples
from tanager.loglinear.factor_statistics import FactorStatistics, expand_terms
from tanager.loglinear.kept_samples import KeptSamples, most_kept
from tanager.types import FloatArray

UPDATE_SWEEPS = 2
"""Sweeps over a batch, from the tables so far: those of a fit start from zero."""

LEAST_PART = 0.5
"""Part of the curvature of a cell that kept samples must have to stand for all."""


@dataclass(frozen=True, eq=False)
class SoftSamples(FactorSamples):
    """A batch, and samples whose labels are the probabilities of all classes.

    Parameters
    ----------
    n_hard : int
        Number of samples with a label, which come first.
    soft : ndarray of float64, shape (n_soft, n_columns)
        Probabilities of the classes of the others; of two classes that of class 1.
    """

    n_hard: int = 0
    soft: FloatArray | None = None

    def class_counts(self, factor: Factor) -> FloatArray:
        """Count by cell and class; a sample counts for every class in part."""
        if factor not in self._counts:
            from tanager.loglinear import _factor_kernels as kernels

            assert self.soft is not None
            located = (factor.features, factor.lookup)
            counts = np.zeros((factor.n_cells, self.n_classes))
            kernels.count_classes(
                self.labels, self.weights, self.codes, (0, self.n_hard), located,
                counts,
            )  # fmt: skip
            codes = np.ascontiguousarray(self.codes[:, self.n_hard :])
            weights = self.weights[self.n_hard :, np.newaxis]
            kernels.add_to_cells(codes, *located, weights * self.soft, counts)
            self._counts[factor] = counts
        return self._counts[factor]


class FactorUpdate(FactorFit):
    """Factors fitted to a batch of samples, and to the statistics of those before.

    Parameters
    ----------
    former : FactorStatistics
        The samples so far.
    batch : FactorSamples
        Further samples; there may be none. Its classes are those of the statistics.

    Notes
    -----
    Let a be the tables so far, g the gradient at a of the loss of all samples so far,
    and ``p_m(w)`` the posterior of sample m. The loss of these samples is

        Q(w) = g' (w - a) + sum_m v_m KL(p_m(a) | p_m(w)),

    exactly and up to a constant: the divergence is what a log loss has beyond its
    tangent. Of many samples those that are kept, with weights u, stand for the sum.
    Cells whose curvature h (the sum of ``v_m p_m (1 - p_m)`` of all samples) is not
    half among them get the rest of it as a quadratic, r:

        Q(w) = g' (w - a) + sum_kept u_m KL(p_m(a) | p_m(w)) + (w - a)' r (w - a) / 2.

    The objective is the loss of the batch, plus Q, plus the penalty of `FactorFit`, and
    so are the steps, without moves of constants: a kept sample is one with soft labels
    ``p_m(a)``. Without samples left out its minimum is that of a fit of these factors
    to all samples. For small changes Q is Laplace's method: the posterior so far is a
    Gaussian prior with the precision of its Hessian.

    After the last step the sum of all gradients, at the new tables, is the g of the
    next batch: tangents and divergences of Q at two points differ by nothing else.

    References
    ----------
    Jordan, Lee, Yang (2019), Communication-efficient distributed statistical inference,
    Eq. 4: an exact gradient, and some samples for what is beyond.
    """

    def __init__(self, former: FactorStatistics, batch: FactorSamples) -> None:
        self.former, self.batch = former, batch
        kept = former.kept
        past = FactorFit(kept.as_samples(former.n_classes), former.log_prior)
        past.take_terms(former.make_terms())
        p = past.posterior.astype(np.float64)
        labels = np.concatenate([batch.labels, kept.labels])
        if former.n_classes == 2:
            p /= 1.0 + p
            labels = np.concatenate([batch.labels, p[:, 0]]).astype(np.float32)
        samples = SoftSamples(
            np.ascontiguousarray(np.hstack([batch.codes, kept.codes])),
            labels,
            np.concatenate([batch.weights, kept.weights]).astype(np.float32),
            batch.held_out,
            batch.held_out_weights,
            former.n_classes,
            batch.n_jobs,
            by_kernels=True,
            n_hard=len(batch.labels),
            soft=p,
        )
        super().__init__(samples, former.log_prior)
        self.take_terms(former.make_terms())
        self._places = {id(term.factor): t for t, term in enumerate(self.terms)}
        columns = samples.n_columns
        pairs = zip(former.terms, past.moments(), strict=True)
        self._rest = [
            _missing_curvature(term.curvature, sums[:, columns:])
            for term, sums in pairs
        ]

    def statistics(self) -> FactorStatistics:
        """The statistics of all samples, the batch included."""
        former, batch = self.former, self.batch
        columns = self.samples.n_columns
        own = FactorFit(batch, self.log_prior)
        own.take_terms(self.terms)
        terms = [
            replace(
                new,
                gradient=-sums[:, :columns],
                curvature=old.curvature + new.curvature,
                counts=old.counts + new.counts,
            )
            for old, new, sums in zip(
                former.terms, expand_terms(own), self.moments(), strict=True
            )
        ]
        kept = former.kept + KeptSamples.of(batch)
        return replace(
            former,
            n_samples=former.n_samples + len(batch.labels),
            terms=tuple(terms),
            kept=kept.thin(most_kept(len(batch.codes), former.n_classes)),
        )

    def _fits_one_call(self, n_factors: int) -> bool:  # noqa: ARG002
        return False

    def _pass(
        self, old: Factor | None, change: FloatArray | None, new: Factor | None
    ) -> FloatArray:
        sums = super()._pass(old, change, new)
        if new is not None:
            place, columns = self._places[id(new)], self.samples.n_columns
            former, rest = self.former.terms[place], self._rest[place]
            pull = rest * (self.terms[place].table - former.table)
            if columns > 1:  # what is common to all classes changes no posterior
                pull -= pull.mean(axis=1, keepdims=True)
            sums[:, :columns] -= former.gradient + pull
            sums[:, columns:] += rest
        return sums

    def _balance(self, terms: Sequence[Term]) -> None:
        """Leave the constants: those of the tables so far are where they should be."""


def update_factors(
    former: FactorStatistics, batch: FactorSamples, n_sweeps: int = UPDATE_SWEEPS
) -> FactorStatistics:
    """Fit the factors to a batch and to the samples before; returns all statistics."""
    update = FactorUpdate(former, batch)
    update.sweep(n_sweeps)
    return update.statistics()


def merge_factors(one: FactorStatistics, other: FactorStatistics) -> FactorStatistics:
    """Fit the factors of two models with the same factors to the samples of both.

    The start are the means of both tables, weighted by the curvature of every cell.
    """
    theirs = one.match(other)
    tables = [
        _weighted_mean(mine.curvature, mine.table, their.curvature, their.table)
        for mine, their in zip(one.terms, theirs.terms, strict=True)
    ]
    both = one.move_to(tables, _gradients_at(one, tables)) + theirs.move_to(
        tables, _gradients_at(theirs, tables)
    )
    return update_factors(both, no_samples(both), 2 * UPDATE_SWEEPS)


def no_samples(former: FactorStatistics, n_jobs: int | None = None) -> FactorSamples:
    """An empty batch."""
    return replace(
        former.kept.take(slice(0)).as_samples(former.n_classes), n_jobs=n_jobs
    )


def _gradients_at(
    statistics: FactorStatistics, tables: Sequence[FloatArray]
) -> list[FloatArray]:
    """Gradients of Q at other tables."""
    update = FactorUpdate(statistics, no_samples(statistics))
    for term, table in zip(update.terms, tables, strict=True):
        term.table = table.copy()
    update.take_terms(update.terms)
    columns = update.samples.n_columns
    return [-sums[:, :columns] for sums in update.moments()]


def _missing_curvature(exact: FloatArray, kept: FloatArray) -> FloatArray:
    """What the samples that are kept lack of the curvature, in cells that lack most."""
    return np.where(kept < LEAST_PART * exact, exact - kept, 0.0)


def _weighted_mean(
    one_weight: FloatArray, one: FloatArray, other_weight: FloatArray, other: FloatArray
) -> FloatArray:
    total = one_weight + other_weight
    equal = np.full_like(total, 0.5)
    part = np.divide(one_weight, total, where=total > 0.0, out=equal)
    mean: FloatArray = part * one + (1.0 - part) * other
    if mean.shape[1] > 1:
        mean -= mean.mean(axis=1, keepdims=True)
    return mean
