"""`FactorTables`: fitted factors as a value that scores samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil

import numpy as np
import numpy.typing as npt

from tanager.errors import InputError
from tanager.loglinear.block_newton import FactorFit
from tanager.loglinear.factor import Factor
from tanager.loglinear.factor_statistics import TermStatistics, expand_terms
from tanager.loglinear.factor_sum import FactorSum
from tanager.loglinear.factor_uncertainty import (
    effective_parameters,
    free_fraction,
    round_errors,
    table_variances,
)
from tanager.loglinear.missing_features import (
    HIDDEN_SAMPLES,
    average_errors,
    average_weights,
    balance_averages,
    hide_values,
    missing_variances,
    never_missing,
    select_scale,
    shrink_scores,
)
from tanager.types import BoolArray, CodeArray, FloatArray, IntArray
from tanager.utils.stored_fields import StoredFields
from tanager.utils.threads import map_threads, one_blas_thread


@dataclass(frozen=True, eq=False)
class FactorTable(StoredFields):
    """A factor with its fitted log weights.

    Parameters
    ----------
    factor : Factor
        The features and their bins.
    weights : ndarray of float64, shape (n_cells, n_classes)
        Log weights; the sum over the classes is zero.
    support : ndarray of float64, shape (n_cells,)
        Total weight of the training samples in every cell.
    strength : float
        Strength of the penalty.
    effective : float or None, default=None
        Effective number of parameters; see `effective_parameters`.
    errors : ndarray of float64, shape (n_cells, n_classes), or None, default=None
        Standard errors of the weights, rounded to 4 significant digits. That of the
        log odds of two classes is the sum of both.

    Notes
    -----
    Standard errors are those of the Gaussian posterior, the other factors held fixed
    (`table_variances`): correlated features make the true ones larger. With more than
    two classes, whose columns are treated as independent, variances are multiplied by
    (K - 1) / K, since the weights of a cell sum to zero. With bags
    (``FactorSearch(n_bags=...)``) they are the standard deviations of the weights over
    bootstrap samples instead.

    Examples
    --------
    >>> from tanager.loglinear.factor import Axis
    >>> axis = Axis(0, np.array([0, 1, 2]), 0)
    >>> table = FactorTable(
    ...     Factor((axis,)),
    ...     np.array([[1.0, -1.0], [-1.0, 1.0], [0.0, 0.0]]),
    ...     np.array([3.0, 1.0, 0.0]),
    ...     1.0,
    ... )
    >>> table.importance
    1.0
    """

    factor: Factor
    weights: FloatArray
    support: FloatArray
    strength: float
    effective: float | None = None
    errors: FloatArray | None = None

    @cached_property
    def importance(self) -> float:
        """Root mean square of the log weights over training samples and classes."""
        squares = np.square(self.weights).mean(axis=1)
        total = self.support.sum()
        return float(np.sqrt(self.support @ squares / total)) if total > 0 else 0.0


@dataclass(frozen=True, eq=False)
class FactorTables(StoredFields):
    """The factors of a log-linear model of the class, fitted.

    Parameters
    ----------
    log_prior : ndarray of float64, shape (n_classes,)
        Log weights of the classes without any feature.
    tables : tuple of FactorTable
        The factors.
    variance_scale : float, default=0.0
        By how much the scores of samples without a feature that was never missing in
        training are shrunk towards the prior; see `Notes`.

    Notes
    -----
    The log joint of a sample x and class c, up to a constant that is the same for all
    classes, is ``log_prior[c] + sum_t w_t[x_t, c]``. A factor with a feature that is
    not observed has a weight for that, too. If training samples lacked the feature, the
    weight has been learned. Otherwise it is the mean over the training samples of the
    class (`average_weights`), and the scores of the sample are shrunk by the variance
    over all training samples (`shrink_scores`). Models of early versions have weights
    of zero there, and shrink nothing.
    """

    log_prior: FloatArray
    tables: tuple[FactorTable, ...]
    variance_scale: float = 0.0

    has_zeros = False
    """No sample has probability zero."""

    def __post_init__(self) -> None:
        """Check that all tables have standard errors, or none."""
        known = {t is not None for f in self.tables for t in (f.errors, f.effective)}
        if len(known) > 1:
            raise InputError(
                "Some factors have errors or an effective number of parameters and "
                "some have not; give all factors both, or neither."
            )

    @classmethod
    def of_fit(
        cls, fit: FactorFit, deviations: Sequence[FloatArray] | None = None
    ) -> FactorTables:
        """Take over the tables of a fit, with their standard errors.

        `deviations` are standard deviations of the tables, shape (n_cells, n_columns)
        each, in place of those of the posterior.
        """
        samples = fit.samples
        model = cls.of_terms(
            tuple(expand_terms(fit)), fit.log_prior, samples.n_classes, deviations
        )
        return model.select_scale(samples.codes, samples.labels, samples.weights)

    @classmethod
    def of_terms(
        cls,
        terms: Sequence[TermStatistics],
        log_prior: FloatArray,
        n_classes: int,
        deviations: Sequence[FloatArray] | None = None,
        *,
        n_jobs: int | None = None,
    ) -> FactorTables:
        """Do the first part of `of_fit`; `select_scale` is the second."""

        def make_table(
            found: tuple[TermStatistics, FloatArray | None],
        ) -> FactorTable:
            term, errors = found
            variances = table_variances(term.factor, term.curvature, term.strength)
            if errors is None:
                errors = np.sqrt(variances * free_fraction(n_classes))
            if n_classes == 2:
                errors = np.repeat(0.5 * errors, 2, axis=1)
            support = term.counts.sum(axis=1)
            weights = _all_classes(term.table, n_classes)
            errors = average_errors(term.factor, errors, support)
            return FactorTable(
                term.factor,
                average_weights(term.factor, weights, term.counts),
                support,
                term.strength,
                effective_parameters(term.curvature, variances, n_classes),
                round_errors(errors),
            )

        known = [None] * len(terms) if deviations is None else deviations
        with one_blas_thread():
            tables = map_threads(make_table, zip(terms, known, strict=True), n_jobs)
        weights = balance_averages(
            [table.factor for table in tables],
            [table.weights for table in tables],
            [table.support for table in tables],
        )
        averaged = [replace(t, weights=w) for t, w in zip(tables, weights, strict=True)]
        return cls(_all_classes(log_prior[None], n_classes)[0], tuple(averaged))

    def select_scale(
        self, codes: CodeArray, labels: CodeArray, weights: npt.NDArray[np.floating]
    ) -> FactorTables:
        """Select `variance_scale` on training samples with hidden values.

        `codes` have shape (n_features, n_samples), the others shape (n_samples,).
        """
        rows = slice(None, None, max(1, ceil(len(labels) / HIDDEN_SAMPLES)))
        hidden = hide_values(codes[:, rows], *self._averaged_features).T
        scale = select_scale(
            self._scores.add_to(self._start, hidden),
            self._start,
            self._variances.add_to(np.zeros_like(self._start), hidden),
            labels[rows],
            weights[rows].astype(np.float64),
        )
        return replace(self, variance_scale=scale)

    @cached_property
    def n_cells(self) -> int:
        """Number of log weights in all tables."""
        return sum(table.weights.size for table in self.tables)

    @property
    def has_errors(self) -> bool:
        """Whether the tables have standard errors."""
        return any(table.errors is not None for table in self.tables)

    def log_joint_block(self, codes: CodeArray) -> FloatArray:
        """Sum the log weights of every sample and class.

        `codes` have shape (n_samples, n_features), in Fortran order. The result has
        shape (n_samples, n_classes).
        """
        scores = self._scores.add_to(self._start, codes)
        if self.variance_scale > 0.0:
            rows = np.flatnonzero(self._lacks_values(codes))
            if len(rows):
                some = codes if len(rows) == len(codes) else codes[rows]
                none = np.zeros_like(self._start)
                variances = self._variances.add_to(none, np.asfortranarray(some))
                scores[rows] = shrink_scores(
                    scores[rows], self._start, variances, self.variance_scale
                )
        return self._every_class(scores)

    def shrinkage(self, codes: CodeArray) -> tuple[IntArray, FloatArray]:
        """Find the samples whose scores are shrunk, and by what.

        Parameters
        ----------
        codes : ndarray of unsigned int, shape (n_samples, n_features), Fortran order
            The samples.

        Returns
        -------
        rows : ndarray of int64, shape (n_rows,)
            Samples that lack a feature that was never missing in training.
        divisors : ndarray of float64, shape (n_rows, n_columns)
            What `shrink_scores` divides the sums of their factors by; there is one
            column for two classes.
        """
        rows = np.zeros(0, dtype=np.int64)
        if self.variance_scale > 0.0:
            rows = np.flatnonzero(self._lacks_values(codes)).astype(np.int64)
        none = np.zeros_like(self._start)
        if not len(rows):
            return rows, none[:0]
        variances = self._variances.add_to(none, np.asfortranarray(codes[rows]))
        return rows, np.sqrt(1.0 + self.variance_scale * variances)

    def _lacks_values(self, codes: CodeArray) -> BoolArray:
        """Whether samples lack a feature that is averaged, shape (n_samples,)."""
        features, missing = self._averaged_features
        # No code of a feature is larger, so that most columns are looked at only once.
        found = np.maximum.reduce(codes, axis=0, initial=0)[features] == missing
        if not found.any():
            return np.zeros(len(codes), dtype=np.bool_)
        return np.asarray((codes[:, features[found]] == missing[found]).any(axis=1))

    def _every_class(self, sums: FloatArray) -> FloatArray:
        """Add a column of zeros if only the difference of two classes was summed."""
        if len(self.log_prior) != 2:
            return sums
        return np.concatenate([np.zeros_like(sums), sums], axis=1)

    @cached_property
    def _start(self) -> FloatArray:
        """Sums without any factor, shape (1, n_columns)."""
        if len(self.log_prior) != 2:
            return self.log_prior[None]
        return self.log_prior[None, 1:] - self.log_prior[None, :1]

    @cached_property
    def _scores(self) -> FactorSum:
        return FactorSum([table.factor for table in self.tables], self._columns)

    @cached_property
    def _variances(self) -> FactorSum:
        """Variances of the weights over features that are not observed."""
        every = zip(self.tables, self._columns, strict=True)
        return FactorSum(
            [table.factor for table in self.tables],
            [missing_variances(t.factor, own, t.support) for t, own in every],
        )

    @cached_property
    def _averaged_features(self) -> tuple[IntArray, IntArray]:
        """Features that were never missing in training, and their codes for that."""
        found = {
            axis.feature: len(axis.bins) - 1
            for table in self.tables
            for axis, never in zip(
                table.factor.axes,
                never_missing(table.factor, table.support),
                strict=True,
            )
            if never
        }
        return (
            np.array(list(found), dtype=np.int64),
            np.array(list(found.values()), dtype=np.int64),
        )

    @cached_property
    def _columns(self) -> list[FloatArray]:
        """Weights of every class, or the differences of two classes."""
        if len(self.log_prior) != 2:
            return [table.weights for table in self.tables]
        return [table.weights[:, 1:] - table.weights[:, :1] for table in self.tables]


def _all_classes(table: FloatArray, n_classes: int) -> FloatArray:
    """Weights of all classes that sum to zero, from log odds or from all classes."""
    if n_classes == 2:
        return np.concatenate([-0.5 * table, 0.5 * table], axis=1)
    centred: FloatArray = table - table.mean(axis=1, keepdims=True)
    return centred
