"""Fit of factors by histograms over samples and block Newton steps."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tanager.loglinear import numpy_passes as passes
from tanager.loglinear.bootstrap_weights import bootstrap_weights
from tanager.loglinear.certified_objective import (
    FactorLoss,
    FactorObjective,
    stack_tables,
)
from tanager.loglinear.factor import Factor
from tanager.loglinear.factor_certificate import (
    MAX_PASSES,
    Certificate,
    minimise_certified,
)
from tanager.loglinear.factor_layout import FactorLayout, balance_tables
from tanager.loglinear.factor_samples import FactorSamples
from tanager.loglinear.numpy_newton import chain_step, grid_step
from tanager.types import FloatArray, IndexArray, IntArray
from tanager.utils.progress import check_stop
from tanager.utils.threads import map_threads, row_blocks

LANE_SAMPLES = 65_536
"""Samples whose histogram one thread makes. Histograms are added in the order of the
samples, so that results do not depend on the number of threads."""

MANY_FACTORS = 64
"""Factors from which on a whole sweep is one call of a kernel: that saves 16 us for
every factor, and few factors do not wait for the seconds in which it is compiled."""

AT_ONCE_POSTERIORS = 262_144
"""Posteriors up to which a whole sweep is one call. A pass over more takes 1.2 ms and
longer, and the arrays of all factors, which the call needs, may be large."""

MAX_CHANGE = 2.0
"""Largest change of a weight in one step; the curvature holds only nearby."""

STEP_LIMITS = np.array([12.0, 0.05])
"""Steps of conjugate gradient, and reduction of the residual, of one Newton step."""

MAX_RATIO = 3.0
"""Largest ratio by which one update changes the strength of a penalty."""

TINY = 1e-15
"""Least probability in a reported loss."""

NO_FEATURES = np.empty(0, dtype=np.int64)
NO_LOOKUP = np.empty((0, 0), dtype=np.int64)
NO_PROBE = np.empty(0)


class Term:
    """A factor in a fit: its table, the strength of its penalty, and statistics.

    `table` has shape (n_cells, n_columns). `effective` is the effective number of
    parameters at the last step, nan until an update of strengths has estimated it.
    """

    def __init__(self, factor: Factor, n_columns: int, strength: float) -> None:
        self.factor = factor
        self.table = np.zeros((factor.n_cells, n_columns))
        self.strength = strength
        self.effective = np.nan

    def copy(self) -> Term:
        """Copy the table and the numbers; the factor is shared."""
        new = Term.__new__(Term)  # the function copy takes ten times as long
        new.factor, new.table = self.factor, self.table.copy()
        new.strength, new.effective = self.strength, self.effective
        return new


def replace_tables(terms: Sequence[Term], tables: Sequence[FloatArray]) -> list[Term]:
    """Copies of terms with copies of other tables."""
    new = [term.copy() for term in terms]
    for term, table in zip(new, tables, strict=True):
        term.table[...] = table
    return new


class FactorFit:
    """Factors fitted to samples by block Newton steps.

    Parameters
    ----------
    samples : FactorSamples
        The samples.
    log_prior : ndarray of shape (n_columns,)
        Log probabilities of the classes, or the log odds of class 1 if there are two,
        to which the factors are added.

    Attributes
    ----------
    terms : list of Term
        The factors in the model.
    posterior : ndarray of float32, shape (n_samples, n_columns)
        P(c | x) of all samples, or the odds of class 1 if there are two classes.

    Notes
    -----
    The model is ``P(c | x) = softmax_c(log_prior[c] + sum_t w_t[x_t, c])``. With the
    weights v_m of the samples the objective is

    - value: ``f(w) = sum_m -v_m log P(c_m | x_m) + sum_t strength_t / 2 w_t' S_t w_t``,
      the penalty summed over the columns of w_t (see `Factor`);
    - gradient by ``w_t[a, c]``:
      ``sum_{m: x_mt = a} v_m (P(c | x_m) - [c = c_m]) + strength_t (S_t w_t)[a, c]``;
    - curvature of one column: ``diag(sum_{m: x_mt = a} v_m p_m (1 - p_m))
      + strength_t S_t`` with ``p_m = P(c | x_m)``.

    One pass over the samples multiplies the posteriors by the change of one factor and
    sums residuals and curvatures for the next factor, as boosted trees fill histograms.
    With K > 2 classes, whose curvatures are treated as independent, steps are damped by
    (K - 1) / K; two classes have a single column, for which the step is Newton's. With
    more than two, every row of a table sums to zero, as at the optimum. After a sweep,
    constants are moved between the tables to where their penalty is least.

    References
    ----------
    Wood, Fasiolo (2017), A generalized Fellner-Schall method for smoothing parameter
    optimization with application to Tweedie location, scale and shape models, Eq. 6:
    the update of the strengths.
    """

    def __init__(self, samples: FactorSamples, log_prior: FloatArray) -> None:
        self.samples = samples
        self.log_prior = log_prior
        self.terms: list[Term] = []
        self._layouts: list[tuple[FactorLayout, FloatArray]] = []
        start = np.exp(log_prior).astype(np.float32)
        self.posterior = np.tile(start, (len(samples.labels), 1))

    def copy(self) -> FactorFit:
        """Copy what steps change; samples and factors are shared."""
        new = copy(self)
        new.terms = [term.copy() for term in self.terms]
        new.posterior = self.posterior.copy()
        return new

    def add(self, factors: Sequence[Factor], strength: float) -> list[Term]:
        """Add factors with tables of zeros, and return their terms."""
        columns = self.samples.n_columns
        new = [Term(factor, columns, strength) for factor in factors]
        self.terms += new
        return new

    def refit_to(self, samples: FactorSamples) -> FactorFit:
        """Make the fit with the same tables of other samples.

        Its posteriors are those of the tables; those of a fit that has taken many steps
        have gathered rounding in single precision.
        """
        new = FactorFit(samples, self.log_prior)
        new.take_terms([term.copy() for term in self.terms])
        return new

    def make_bag(self, key: IntArray) -> FactorFit:
        """Make the fit with the same tables of a bootstrap sample; see `FactorBags`."""
        weights = bootstrap_weights(self.samples.weights, key)
        return self.refit_to(replace(self.samples, weights=weights))

    def with_tables(self, tables: Sequence[FloatArray]) -> FactorFit:
        """Make the fit with other tables of the same samples."""
        new = FactorFit(self.samples, self.log_prior)
        new.take_terms(replace_tables(self.terms, tables))
        return new

    def take_terms(self, terms: list[Term]) -> None:
        """Replace all terms, and compute the posteriors from their tables."""
        self.terms = terms
        blocks = row_blocks(len(self.samples.labels))
        map_threads(self._refresh, blocks, self.samples.n_jobs)

    def sweep(
        self,
        times: int = 1,
        terms: Sequence[Term] | None = None,
        *,
        bounds: dict[int, tuple[float, float]] | None = None,
    ) -> None:
        """Take a Newton step on every term in turn, `times` times.

        `bounds` of the strengths, by the number of features of a factor, ask for an
        update of every strength after its step; see `Notes`.

        Notes
        -----
        The update is ``strength <- (n - strength tr((H + strength S)^-1 S)) / w' S w``
        with the n cells and the curvature H of this factor alone, summed over the
        columns: the effective number of parameters divided by the penalty.
        """
        swept = self.terms if terms is None else terms
        order = list(swept) * times
        if not order:
            return
        if self.samples.n_classes == 1:  # nothing to learn
            return
        if bounds is None and self._fits_one_call(len(swept)):
            self._sweep_at_once(swept, times)
            return
        sums = self._pass(None, None, order[0].factor)
        for place, term in enumerate(order):
            check_stop()
            change, trace = self._newton_step(term, sums, bounds is not None)
            term.table += change
            if bounds is not None:
                self._update_strength(term, trace, bounds)
            following = order[place + 1].factor if place + 1 < len(order) else None
            sums = self._pass(term.factor, change, following)
            if (place + 1) % len(swept) == 0:
                self._balance(swept)

    def _fits_one_call(self, n_factors: int) -> bool:
        """Whether a sweep over so many factors is one call of a kernel."""
        return (
            not self.samples.is_small
            and n_factors >= MANY_FACTORS
            and len(self.samples.labels) <= LANE_SAMPLES
            and self.posterior.size <= AT_ONCE_POSTERIORS
        )

    def _sweep_at_once(self, terms: Sequence[Term], times: int) -> None:
        """Do what `sweep` does, every sweep in one call of a kernel."""
        from tanager.loglinear import _factor_kernels as kernels

        samples = self.samples
        layout, counts = self._lay_out([term.factor for term in terms])
        tables = np.concatenate([term.table for term in terms])
        for term, table in zip(terms, layout.split(tables), strict=True):
            term.table = table
        strengths = np.array([term.strength for term in terms])
        for _ in range(times):
            check_stop()
            kernels.sweep_factors(
                (
                    self.posterior, samples.labels, samples.weights, samples.codes,
                    (0, len(samples.labels)),
                ),
                layout.arrays, strengths, counts, STEP_LIMITS, MAX_CHANGE, tables,
            )  # fmt: skip

    def _lay_out(self, factors: Sequence[Factor]) -> tuple[FactorLayout, FloatArray]:
        """Arrays of factors, and their class counts; the latest two are kept."""
        for layout, counts in self._layouts:
            if layout.is_of(factors):
                return layout, counts
        counts = np.empty((0, self.samples.n_columns))
        if self.samples.n_classes > 2:
            counts = np.concatenate([self.samples.class_counts(f) for f in factors])
        layout = FactorLayout.of(factors)
        self._layouts = [(layout, counts), *self._layouts[:1]]
        return layout, counts

    def held_out_loss(self) -> tuple[float, float]:
        """Sum ``-log P(c | x)`` over held-out samples, and their weights."""
        held, weights = self.samples.held_out, self.samples.held_out_weights
        losses = self._losses(held)
        return float(weights @ losses), float(weights.sum())

    def gap(self) -> float:
        """Bound how far the objective is above its minimum.

        Notes
        -----
        f is strongly convex with the Hessian of its penalty, ``M = diag(strength S)``,
        as lower bound. With gradient g, in double precision, it exceeds its minimum by
        at most ``g' M^-1 g / 2``.
        """
        objective = FactorObjective(self._loss(), self.terms)
        return objective.gap(objective.evaluate(self._stack_tables())[1])

    def solve(self, tol: float, *, max_passes: int = MAX_PASSES) -> Certificate:
        """Minimise until `gap` is at most `tol` times the objective.

        Newton steps on all tables together, with the strengths as they are; see
        `minimise_certified`. Sweeps before it save passes.
        """
        objective = FactorObjective(self._loss(), self.terms)
        found, certificate = minimise_certified(
            objective,
            self._stack_tables(),
            tol=tol,
            max_passes=max_passes,
        )
        for term, table in zip(self.terms, objective.split(found), strict=True):
            term.table[...] = table
        self.take_terms(self.terms)
        return certificate

    def _loss(self) -> FactorLoss:
        """The loss of the samples in double precision."""
        factors = [term.factor for term in self.terms]
        return FactorLoss(self.samples, self.log_prior, factors)

    def _stack_tables(self) -> FloatArray:
        tables = [term.table for term in self.terms]
        return stack_tables(tables, self.samples.n_columns)

    def moments(self) -> list[FloatArray]:
        """Minus the gradient, then the curvature, of the loss by every table.

        Shape (n_cells, 2 * n_columns) each. It takes as long as a sweep and changes
        nothing.
        """
        return [self._pass(None, None, term.factor) for term in self.terms]

    def _scores(self, start: int, stop: int) -> FloatArray:
        """Log posteriors of a range of samples by the tables, without normalisation.

        Of two classes: the log odds of class 1.
        """
        scores = np.tile(self.log_prior, (stop - start, 1))
        if self.samples.is_small:
            for term in self.terms:
                cells = self.samples.cells(term.factor)[start:stop]
                scores += term.table.take(cells, axis=0)
            return scores
        from tanager.loglinear import _factor_kernels as kernels

        codes = np.ascontiguousarray(self.samples.codes[:, start:stop])
        for term in self.terms:
            features, lookup = _located(term.factor)
            kernels.add_factor(codes, features, lookup, term.table, scores)
        return scores

    def _refresh(self, rows: tuple[int, int]) -> None:
        """Compute the posteriors of a range of samples from the tables."""
        scores = self._scores(*rows)
        if self.samples.n_classes == 2:
            bounds = np.log(passes.LOWEST), np.log(passes.HIGHEST)
            self.posterior[slice(*rows)] = np.exp(np.clip(scores, *bounds))
        else:
            scores = np.exp(scores - scores.max(axis=1, keepdims=True))
            scores /= scores.sum(axis=1, keepdims=True)
            self.posterior[slice(*rows)] = np.maximum(scores, passes.LOWEST)

    def _losses(self, rows: IndexArray) -> FloatArray:
        """Compute ``-log P(c | x)`` of some samples."""
        labels = self.samples.labels[rows]
        if self.samples.n_classes == 2:
            odds = self.posterior[rows, 0].astype(np.float64)
            own = np.where(labels == 1, odds, 1.0) / (1.0 + odds)
        else:
            own = self.posterior[rows, labels].astype(np.float64)
        losses: FloatArray = -np.log(np.maximum(own, TINY))
        return losses

    def _newton_step(
        self, term: Term, sums: FloatArray, wants_trace: bool
    ) -> tuple[FloatArray, float]:
        """The change of a table, and ``tr((H + strength S)^-1 S)`` if wanted."""
        step = self._small_step if self.samples.is_small else self._compiled_step
        change, trace = step(term, sums, wants_trace)
        n_classes = self.samples.n_classes
        if n_classes > 2:
            change *= (n_classes - 1) / n_classes
        np.clip(change, -MAX_CHANGE, MAX_CHANGE, out=change)
        if n_classes > 2:
            # What is common to all classes changes no posterior, only the penalty.
            change -= change.mean(axis=1, keepdims=True)
        return change, trace

    def _small_step(
        self, term: Term, sums: FloatArray, wants_trace: bool
    ) -> tuple[FloatArray, float]:
        """The step of a term that is the solution, and the trace, without a kernel."""
        if len(term.factor.axes) == 1:
            return chain_step(term.factor, sums, term.table, term.strength, wants_trace)
        probe = _probe(term.factor.n_cells) if wants_trace else None
        return grid_step(term.factor, sums, term.table, term.strength, probe)

    def _compiled_step(
        self, term: Term, sums: FloatArray, wants_trace: bool
    ) -> tuple[FloatArray, float]:
        """The step of a term, and the trace, by kernels."""
        from tanager.loglinear import _factor_kernels as kernels

        factor, change = term.factor, np.empty_like(term.table)
        if len(factor.axes) == 1:
            size = factor.n_cells if wants_trace else 0
            trace = kernels.chain_step(
                sums, term.table, factor.diagonal, factor.path,
                int(factor.n_ordered[0]), term.strength, change,
                np.empty((size, change.shape[1])),
            )  # fmt: skip
        else:
            probe = _probe(factor.n_cells) if wants_trace else NO_PROBE
            trace = kernels.grid_step(
                sums, term.table, factor.diagonal, factor.shape, factor.n_ordered,
                term.strength, STEP_LIMITS, probe, change,
            )  # fmt: skip
        return change, trace

    def _balance(self, terms: Sequence[Term]) -> None:
        """Move constants between the tables; see `balance_tables`."""
        balance_tables(
            [term.factor for term in terms],
            [term.table for term in terms],
            np.array([term.strength for term in terms]),
        )

    def _update_strength(
        self, term: Term, trace: float, bounds: dict[int, tuple[float, float]]
    ) -> None:
        term.effective = max(term.table.size - term.strength * trace, 0.0)
        # Of the table after the step: that before it is of the strength before, with
        # which a common strength of categories goes up and down for ever.
        form = term.factor.quadratic_form(term.table)
        if form > 0.0:
            wanted = max(term.effective, 1e-3) / form
            ratio = min(max(wanted / term.strength, 1.0 / MAX_RATIO), MAX_RATIO)
            least, most = bounds[len(term.factor.axes)]
            term.strength = min(max(term.strength * ratio, least), most)

    def _pass(
        self, old: Factor | None, change: FloatArray | None, new: Factor | None
    ) -> FloatArray:
        """Apply the change of one factor, and sum gradient and curvature of the next.

        Returns the sums of all samples, shape (n_cells, 2 * n_columns).
        """
        samples = self.samples
        scale = None if change is None else np.exp(change).astype(np.float32)
        if samples.is_small:
            return self._small_pass(old, scale, new)
        parts = map_threads(
            lambda lane: self._run(lane, old, scale, new),
            row_blocks(len(samples.labels), LANE_SAMPLES) or [(0, 0)],
            samples.n_jobs,
        )
        total = parts[0]
        for part in parts[1:]:
            total += part
        if new is not None and samples.n_classes != 2:
            _subtract_from(samples.class_counts(new), total)
        return total

    def _small_pass(
        self,
        old: Factor | None,
        scale: npt.NDArray[np.float32] | None,
        new: Factor | None,
    ) -> FloatArray:
        """Do what `_pass` does for few samples, without a kernel."""
        samples, two = self.samples, self.samples.n_classes == 2
        if old is not None and scale is not None:
            change = passes.multiply_odds if two else passes.multiply_posterior
            change(self.posterior, samples.cells(old), scale)
        if new is None:
            return np.zeros((1, 2 * samples.n_columns))
        cells = samples.cells(new)
        if two:
            return passes.sum_two_classes(
                self.posterior, samples.labels, samples.weights, cells, new.n_cells
            )
        sums = passes.sum_classes(self.posterior, samples.weights, cells, new.n_cells)
        _subtract_from(samples.class_counts(new), sums)
        return sums

    def _run(
        self,
        lane: tuple[int, int],
        old: Factor | None,
        scale: npt.NDArray[np.float32] | None,
        new: Factor | None,
    ) -> FloatArray:
        """Do what `_pass` does for a range of samples.

        But for two classes the result has the sums of ``w p``, then of
        ``w p^2``; `_subtract_from` makes residuals and curvatures of them.
        """
        from tanager.loglinear import _factor_kernels as kernels

        samples, columns = self.samples, self.samples.n_columns
        if scale is None:
            scale = np.empty((0, columns), dtype=np.float32)
        sums = np.zeros((1 if new is None else new.n_cells, 2 * columns))
        if samples.n_classes == 2:
            kernels.two_class_pass(
                self.posterior, samples.labels, samples.weights, samples.codes, lane,
                _located(old), scale, _located(new), sums,
            )  # fmt: skip
        else:
            kernels.multi_class_pass(
                self.posterior, samples.weights, samples.codes, lane,
                _located(old), scale, _located(new), sums,
            )  # fmt: skip
        return sums


def _subtract_from(counts: FloatArray, sums: FloatArray) -> None:
    """Turn sums of ``w p`` and ``w p^2`` into residuals and curvatures, in place."""
    n_classes = counts.shape[1]
    masses = sums[:, :n_classes].copy()
    sums[:, :n_classes] = counts - masses
    sums[:, n_classes:] = masses - sums[:, n_classes:]


def _located(factor: Factor | None) -> tuple[IntArray, IntArray]:
    """Features and lookup of a factor as kernels read them."""
    if factor is None:
        return NO_FEATURES, NO_LOOKUP
    return factor.features, factor.lookup


def _probe(n_cells: int) -> FloatArray:
    """Random signs, the same for the same number of cells."""
    return np.random.default_rng(n_cells).choice([-1.0, 1.0], n_cells)
