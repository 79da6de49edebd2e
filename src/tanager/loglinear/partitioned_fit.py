"""Fit of factors to samples in parts: several factors in every round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tanager.data.coded_data import ArrayData, CodedData
from tanager.loglinear.block_newton import FactorFit, Term, replace_tables
from tanager.loglinear.bootstrap_weights import bootstrap_weights
from tanager.loglinear.certified_objective import (
    FactorObjective,
    SummedFactorLoss,
    stack_tables,
)
from tanager.loglinear.factor import Factor
from tanager.loglinear.factor_certificate import (
    MAX_PASSES,
    Certificate,
    minimise_certified,
)
from tanager.loglinear.factor_layout import balance_tables
from tanager.loglinear.factor_samples import FactorSamples
from tanager.types import FloatArray, IntArray
from tanager.utils.threads import row_blocks

GROUPS = 32
"""Rounds of one sweep, at most: with more factors, several are in one round."""

STEP_GRID = 2.0**-40
"""Changes of weights are multiples of it. Sums over parts, whose rounding depends on
their number, then almost never lead to other posteriors."""

LEAST_LENGTH = 0.1
"""Least length of a joint step, as a fraction of the steps of the factors alone."""


class PartFit:
    """The posteriors of the samples of one part, and changes that are yet to be made.

    `factors` are those of the model; methods take their numbers.
    """

    def __init__(self, fit: FactorFit, factors: Sequence[Factor]) -> None:
        self.fit = fit
        self.factors = factors
        self._pending: list[tuple[Factor, FloatArray]] = []

    @classmethod
    def of(
        cls,
        part: ArrayData,
        first: int,
        log_prior: FloatArray,
        factors: Sequence[Factor],
        tables: Sequence[FloatArray],
        key: IntArray | None,
    ) -> PartFit:
        """Compute the posteriors of the labelled samples under some tables.

        `first` of them are in the parts before. `key` is that of a bootstrap sample,
        None for all samples once.
        """
        samples = FactorSamples.of_part(part)
        if key is not None:
            weights = bootstrap_weights(samples.weights, key, first)
            samples = replace(samples, weights=weights)
        fit = FactorFit(samples, log_prior)
        terms = [Term(factor, table.shape[1], 1.0) for factor, table in zip(
            factors, tables, strict=True
        )]  # fmt: skip
        for term, table in zip(terms, tables, strict=True):
            term.table[...] = table
        fit.take_terms(terms)
        return cls(fit, factors)

    def replace_tables(self, tables: Sequence[FloatArray]) -> PartFit:
        """Compute the posteriors under other tables of the same factors."""
        self._pending = []
        self.fit.take_terms(replace_tables(self.fit.terms, tables))
        return self

    def change(self, numbers: Sequence[int], changes: Sequence[FloatArray]) -> PartFit:
        """Note changes of some factors; the next pass makes them."""
        self._make_changes()
        own = [self.factors[number] for number in numbers]
        self._pending = list(zip(own, changes, strict=True))
        return self

    def sums(self, numbers: Sequence[int]) -> tuple[FloatArray, ...]:
        """Residuals and curvatures by cell of some factors; see `FactorFit`."""
        last = self._make_changes(keep_last=True)
        found = []
        for number in numbers:
            found.append(self.fit._pass(*last, self.factors[number]))
            last = (None, None)
        return tuple(found)

    def class_counts(self, numbers: Sequence[int]) -> tuple[FloatArray, ...]:
        """Weights of the samples by cell and class, of some factors."""
        samples = self.fit.samples
        return tuple(samples.take_class_counts(self.factors[n]) for n in numbers)

    def _make_changes(
        self, *, keep_last: bool = False
    ) -> tuple[Factor | None, FloatArray | None]:
        """Make the changes noted; the last one may be left to the next pass."""
        pending, self._pending = self._pending, []
        last: tuple[Factor | None, FloatArray | None] = (None, None)
        if keep_last and pending:
            *pending, last = pending
        for factor, change in pending:
            self.fit._pass(factor, change, None)
        return last


class PartitionedFit:
    """Factors fitted to samples in parts by block Newton steps; see `FactorFit`.

    Parameters
    ----------
    data : CodedData
        The samples.
    some : FactorFit
        The same factors on a subsample in memory, with the tables to start from. Steps
        are made there, too.
    total : float
        Weight of all samples.
    starts : sequence of int
        For every part, how many labelled samples are in the parts before.
    key : ndarray of int64, shape (2,), or None, default=None
        The bootstrap sample to fit to; see `bootstrap_counts`. None is all samples.

    Notes
    -----
    A round sums residuals and curvatures of a group of factors over all samples. Their
    Newton steps d, each for its factor alone, are made together, times
    ``-g' d / d' H d``, at most one, which is the minimum along d of the second-order
    approximation. The gradient g is that of all samples, and the curvature of the loss
    in H is that along d in the subsample, times the ratio of the weights.
    With one factor in a group the steps are those of `FactorFit`.
    """

    def __init__(
        self,
        data: CodedData,
        some: FactorFit,
        total: float,
        starts: Sequence[int],
        key: IntArray | None = None,
    ) -> None:
        self.terms = some.terms
        self.log_prior = some.log_prior
        self.samples = some.samples
        self._data = data
        self._some = some
        self._total = total
        self._starts = starts
        self._ratio = total / float(some.samples.weights.sum(dtype=np.float64))
        self._parts = data.place(
            PartFit.of,
            some.log_prior,
            [term.factor for term in self.terms],
            [term.table.copy() for term in self.terms],
            key,
            each=starts,
        )

    def make_bag(self, key: IntArray) -> PartitionedFit:
        """Make the fit with the same tables of a bootstrap sample; see `FactorBags`.

        Step lengths have the curvature of the subsample without bootstrap.
        """
        some = self._some.copy()
        return PartitionedFit(self._data, some, self._total, self._starts, key)

    def with_tables(self, tables: Sequence[FloatArray]) -> PartitionedFit:
        """Make the fit with other tables of the same samples."""
        some = self._some.with_tables(tables)
        return PartitionedFit(self._data, some, self._total, self._starts)

    def sweep(self, times: int) -> None:
        """Take a step on every factor, `times` times."""
        n_terms = len(self.terms)
        if not n_terms or self.samples.n_classes == 1:
            return
        n_groups = min(n_terms, GROUPS)
        # Neighbours in the list, such as pairs found together, are in other groups.
        groups = [list(range(k, n_terms, n_groups)) for k in range(n_groups)]
        for _ in range(times):
            for numbers in groups:
                sums = self._parts.sum(PartFit.sums, numbers)
                self._step(numbers, sums)
            balance_tables(
                [term.factor for term in self.terms],
                [term.table for term in self.terms],
                np.array([term.strength for term in self.terms]),
            )

    def solve(self, tol: float) -> Certificate:
        """Minimise until the optimality gap is small; see `FactorFit.solve`."""
        factors = [term.factor for term in self.terms]
        loss = SummedFactorLoss(self._data, self.log_prior, factors)
        objective = FactorObjective(loss, self.terms)
        tables = [term.table for term in self.terms]
        found, certificate = minimise_certified(
            objective,
            stack_tables(tables, self.samples.n_columns),
            tol=tol,
            max_passes=MAX_PASSES,
        )
        for term, table in zip(self.terms, objective.split(found), strict=True):
            term.table[...] = table
        self._some.take_terms(self.terms)
        tables = [term.table.copy() for term in self.terms]  # as they are now
        self._parts.update(PartFit.replace_tables, tables)
        return certificate

    def moments(self) -> list[FloatArray]:
        """Minus the gradient, then the curvature, of the loss; see `FactorFit`."""
        numbers = list(range(len(self.terms)))
        return list(self._parts.sum(PartFit.sums, numbers))

    def count_classes(self) -> None:
        """Give the subsample the class counts of all samples, for `FactorTables`."""
        numbers = list(range(len(self.terms)))
        counts = self._parts.sum(PartFit.class_counts, numbers)
        for term, count in zip(self.terms, counts, strict=True):
            self.samples._counts[term.factor] = count

    def _step(self, numbers: Sequence[int], sums: Sequence[FloatArray]) -> None:
        """Change the tables of a group, here and in all parts."""
        terms = [self.terms[number] for number in numbers]
        changes = [
            self._some._newton_step(term, own, wants_trace=False)[0]
            for term, own in zip(terms, sums, strict=True)
        ]
        length = self._length(terms, changes, sums) if len(terms) > 1 else 1.0
        changes = [np.rint(length / STEP_GRID * c) * STEP_GRID for c in changes]
        for term, change in zip(terms, changes, strict=True):
            term.table += change
            self._some._pass(term.factor, change, None)
        self._parts.update(PartFit.change, list(numbers), changes)

    def _length(
        self,
        terms: Sequence[Term],
        changes: Sequence[FloatArray],
        sums: Sequence[FloatArray],
    ) -> float:
        """Length of the joint step of several factors; see `Notes`."""
        columns = self.samples.n_columns
        slope = curvature = 0.0
        for term, change, own in zip(terms, changes, sums, strict=True):
            factor = term.factor
            along = factor.quadratic_form(change)
            both = factor.quadratic_form(term.table + change)
            cross = 0.5 * (both - factor.quadratic_form(term.table) - along)
            slope += term.strength * cross - float(np.sum(own[:, :columns] * change))
            curvature += term.strength * along
        curvature += self._ratio * self._curvature_along(terms, changes)
        if not curvature > 0.0:
            return 1.0
        return min(1.0, max(-slope / curvature, LEAST_LENGTH))

    def _curvature_along(
        self, terms: Sequence[Term], changes: Sequence[FloatArray]
    ) -> float:
        """Second derivative of the loss of the subsample along a joint step."""
        from tanager.loglinear import _factor_kernels as kernels

        samples = self.samples
        total = 0.0
        for rows in row_blocks(len(samples.labels)):
            codes = np.ascontiguousarray(samples.codes[:, slice(*rows)])
            along = np.zeros((codes.shape[1], samples.n_columns))
            for term, change in zip(terms, changes, strict=True):
                factor = term.factor
                kernels.add_factor(codes, factor.features, factor.lookup, change, along)
            p = self._some.posterior[slice(*rows)].astype(np.float64)
            if samples.n_classes == 2:
                p /= 1.0 + p
            mean = np.einsum("mc,mc->m", p, along)
            spread = np.einsum("mc,mc->m", p, np.square(along)) - np.square(mean)
            total += float(samples.weights[slice(*rows)] @ spread)
        return total
