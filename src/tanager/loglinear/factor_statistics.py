"""`FactorStatistics`: what a fit of factors keeps of its samples, and adds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.special import log_softmax

from tanager.data.coded_data import new_codes
from tanager.errors import CapabilityError
from tanager.loglinear.block_newton import FactorFit, Term
from tanager.loglinear.factor import Factor
from tanager.loglinear.factor_uncertainty import CurvatureSamples
from tanager.loglinear.factors_with_new_states import (
    move_axis,
    move_codes,
    move_columns,
    move_table,
)
from tanager.loglinear.kept_samples import KeptSamples, most_kept
from tanager.model.schema import Schema
from tanager.types import FloatArray, IndexArray

HOW_TO_SHARE = (
    "fit one on some samples, copy it, and let each copy learn its own samples by "
    "partial_fit(..., half_life=0) first."
)
"""How two models come to the same factors without the same samples."""


@dataclass(frozen=True, eq=False)
class TermStatistics:
    """A factor, its table, and the expansion of the loss of all samples around it.

    Parameters
    ----------
    factor : Factor
        The features and their bins.
    strength : float
        Strength of the penalty.
    table : ndarray of float64, shape (n_cells, n_columns)
        Log weights around which the loss is expanded.
    gradient, curvature : ndarray of float64, shape (n_cells, n_columns)
        Gradient of the loss there, and the diagonal of its Hessian.
    counts : ndarray of float64, shape (n_cells, n_classes)
        Total weight of the samples by cell and class.
    """

    factor: Factor
    strength: float
    table: FloatArray
    gradient: FloatArray
    curvature: FloatArray
    counts: FloatArray

    def map(self, change: Callable[[FloatArray], FloatArray]) -> TermStatistics:
        """Change the statistics, but not the table."""
        return replace(
            self,
            gradient=change(self.gradient),
            curvature=change(self.curvature),
            counts=change(self.counts),
        )


@dataclass(frozen=True, eq=False)
class FactorStatistics:
    """The loss of all samples so far, to second order, as a function of the tables.

    Parameters
    ----------
    schema : Schema
        The variables, the class last.
    n_samples : int
        Number of samples; fewer after `forget`.
    n_selected : int
        Number of samples from which the factors were selected.
    log_prior : ndarray of float64, shape (n_columns,)
        Log probabilities of the classes, or the log odds of class 1 of two, to which
        the factors are added.
    terms : tuple of TermStatistics
        The factors.
    kept : KeptSamples
        Samples that stand for all.

    Notes
    -----
    `FactorUpdate` says how a fit goes on from them. All sums are over all samples, and
    add; the samples that are kept stand for them where sums are not enough.
    """

    schema: Schema
    n_samples: int
    n_selected: int
    log_prior: FloatArray
    terms: tuple[TermStatistics, ...]
    kept: KeptSamples

    @classmethod
    def of_fit(cls, schema: Schema, fit: FactorFit) -> FactorStatistics:
        """The statistics of a fit to samples of which none is held out."""
        size = len(fit.samples.labels)
        terms = tuple(expand_terms(fit))
        most = most_kept(len(schema) - 1, schema.n_classes)
        kept = KeptSamples.of(fit.samples, most)
        return cls(schema, size, size, fit.log_prior, terms, kept)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.schema.n_classes

    @property
    def n_weights(self) -> int:
        """Number of log weights of all tables."""
        return sum(term.table.size for term in self.terms)

    @property
    def factors(self) -> list[Factor]:
        """The factors."""
        return [term.factor for term in self.terms]

    def make_terms(self) -> list[Term]:
        """The factors as a fit has them, with copies of the tables."""
        made = []
        for term in self.terms:
            new = Term(term.factor, term.table.shape[1], term.strength)
            new.table = term.table.copy()
            made.append(new)
        return made

    def curvature_samples(self) -> CurvatureSamples:
        """Samples that say where the data are, for the uncertainty of predictions."""
        kept = self.kept
        return CurvatureSamples.of(kept.codes.T, kept.weights, self.n_classes)

    def forget(self, weight: float) -> FactorStatistics:
        """Multiply the weight of all samples so far.

        With 0 the factors, their strengths and tables are all that stays.
        """
        if weight == 1.0:
            return self
        kept = replace(self.kept, weights=weight * self.kept.weights)
        return replace(
            self,
            n_samples=round(weight * self.n_samples),
            terms=tuple(term.map(lambda sums: weight * sums) for term in self.terms),
            kept=kept if weight > 0.0 else kept.take(slice(0)),
        )

    def __add__(self, other: FactorStatistics) -> FactorStatistics:
        """Add the statistics of two sets of samples around the same tables."""
        if not isinstance(other, FactorStatistics):
            return NotImplemented
        terms = [
            replace(
                one,
                # Where two fits have chosen different ones.
                strength=float(np.sqrt(one.strength * two.strength)),
                gradient=one.gradient + two.gradient,
                curvature=one.curvature + two.curvature,
                counts=one.counts + two.counts,
            )
            for one, two in zip(self.terms, other.terms, strict=True)
        ]
        kept = self.kept + other.kept
        return replace(
            self,
            n_samples=self.n_samples + other.n_samples,
            n_selected=max(self.n_selected, other.n_selected),
            terms=tuple(terms),
            kept=kept.thin(most_kept(len(self.schema) - 1, self.n_classes)),
        )

    def move_to(
        self, tables: Sequence[FloatArray], gradients: Sequence[FloatArray]
    ) -> FactorStatistics:
        """Expand the loss around other tables; `gradients` are those there."""
        moved = [
            replace(term, table=table, gradient=gradient)
            for term, table, gradient in zip(self.terms, tables, gradients, strict=True)
        ]
        return replace(self, terms=tuple(moved))

    def match(self, other: FactorStatistics) -> FactorStatistics:
        """Bring another model with the same factors to their order and the same prior.

        The first of its tables makes up for the difference of the priors.
        """
        _check_same(self, other)
        places = {factor.key: place for place, factor in enumerate(other.factors)}
        first, *others = (
            replace(other.terms[places[own.factor.key]], factor=own.factor)
            for own in self.terms
        )
        change = other.log_prior - self.log_prior
        if len(change) > 1:
            change = change - change.mean()
        first = replace(first, table=first.table + change)
        return replace(other, log_prior=self.log_prior, terms=(first, *others))

    def recode(self, schema: Schema) -> FactorStatistics:
        """Move the statistics to a schema whose variables have more states.

        New categories have weights of zero; see `move_axis` for their bins. New classes
        add columns of zeros, and their prior is that of half a sample.
        """
        if schema == self.schema:
            return self
        classes = new_codes(self.schema[-1], schema[-1])
        widened = self
        if schema.n_classes > self.n_classes:
            widened = self._add_classes(classes, schema.n_classes)
        pairs = list(zip(self.schema, schema, strict=True))[:-1]
        positions = [new_codes(old, new) for old, new in pairs]
        terms = []
        for term in widened.terms:
            axes = [
                move_axis(axis, schema[axis.feature], positions[axis.feature])
                for axis in term.factor.axes
            ]
            factor = Factor(tuple(axis for axis, _ in axes))
            move = partial(move_table, factor=factor, bins=[bins for _, bins in axes])
            moved = replace(term, factor=factor, table=move(term.table))
            terms.append(moved.map(move))
        kept = replace(
            widened.kept,
            codes=move_codes(
                widened.kept.codes, positions, [variable for _, variable in pairs]
            ),
        )
        return replace(widened, schema=schema, terms=tuple(terms), kept=kept)

    def _add_classes(self, classes: IndexArray, n_classes: int) -> FactorStatistics:
        """Columns for more classes; `classes` are the new codes of the old ones."""

        def widen(values: FloatArray, signs: tuple[float, ...]) -> FloatArray:
            if len(classes) > 1:
                return move_columns(values, classes, n_classes, signs=signs)
            # With one class nothing was learned, and two have one column.
            return np.zeros((len(values), 1 if n_classes == 2 else n_classes))

        terms = []
        for term in self.terms:
            counts = np.zeros((term.factor.n_cells, n_classes))
            counts[:, classes] = term.counts
            table = widen(term.table, (-0.5, 0.5))
            terms.append(
                TermStatistics(
                    term.factor,
                    # The penalty on a difference is that on two halves.
                    term.strength * (2.0 if len(classes) == 2 else 1.0),
                    table - table.mean(axis=1, keepdims=True),
                    widen(term.gradient, (-1.0, 1.0)),
                    widen(term.curvature, (1.0, 1.0)),
                    counts,
                )
            )
        labels = classes[self.kept.labels].astype(np.min_scalar_type(n_classes))
        kept = replace(self.kept, labels=labels)
        log_prior = np.full(n_classes, np.log(0.5 / max(self.n_samples, 1)))
        log_prior[classes] = log_softmax(
            np.append(0.0, self.log_prior) if len(classes) == 2 else self.log_prior
        )
        if n_classes == 2:
            log_prior = log_prior[1:] - log_prior[:1]
        return replace(
            self, n_selected=0, log_prior=log_prior, terms=tuple(terms), kept=kept
        )


def _check_same(one: FactorStatistics, other: FactorStatistics) -> None:
    """Raise unless the factors have the same features and bins."""
    mine = {factor.key: factor for factor in one.factors}
    theirs = {factor.key: factor for factor in other.factors}
    for key in {**mine, **theirs}:
        names = [one.schema[j].name for j in key]
        if key not in theirs or key not in mine:
            where = "first" if key in mine else "second"
            raise CapabilityError(
                f"Only the {where} of the two models has a factor over {names}. Models "
                f"with the same factors can be merged: {HOW_TO_SHARE}"
            )
        pairs = zip(mine[key].axes, theirs[key].axes, strict=True)
        if not all(np.array_equal(a.bins, b.bins) for a, b in pairs):
            raise CapabilityError(
                f"The factors over {names} of the two models have different bins. "
                f"Models with the same factors can be merged: {HOW_TO_SHARE}"
            )


def expand_terms(fit: FactorFit) -> Iterator[TermStatistics]:
    """Expand the loss of the samples of a fit around its tables."""
    columns = fit.samples.n_columns
    for term, sums in zip(fit.terms, fit.moments(), strict=True):
        yield TermStatistics(
            term.factor,
            term.strength,
            term.table,
            -sums[:, :columns],
            sums[:, columns:].copy(),
            fit.samples.take_class_counts(term.factor),
        )
