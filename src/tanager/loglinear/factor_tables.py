"""`FactorTables`: fitted factors as a value that scores samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tanager.errors import InputError
from tanager.loglinear.block_newton import FactorFit, Term
from tanager.loglinear.factor import Factor
from tanager.loglinear.factor_uncertainty import (
    effective_parameters,
    free_fraction,
    round_errors,
    table_variances,
)
from tanager.types import CodeArray, FloatArray, IntArray
from tanager.utils.jit import SMALL_WORK
from tanager.utils.threads import map_threads, one_blas_thread, row_blocks

SUMMED_SAMPLES = 65_536
"""Samples whose cells are found at a time."""


@dataclass(frozen=True, eq=False)
class FactorTable:
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
class FactorTables:
    """The factors of a log-linear model of the class, fitted.

    Parameters
    ----------
    log_prior : ndarray of float64, shape (n_classes,)
        Log weights of the classes without any feature.
    tables : tuple of FactorTable
        The factors.

    Notes
    -----
    The log joint of a sample x and class c, up to a constant that is the same for all
    classes, is ``log_prior[c] + sum_t w_t[x_t, c]``. A factor with a feature that is
    not observed adds nothing, unless training samples lacked it, too: then it has
    learned what that means.
    """

    log_prior: FloatArray
    tables: tuple[FactorTable, ...]

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
        weights = samples.weights.astype(np.float64)
        n_classes = samples.n_classes

        def make_table(
            found: tuple[Term, FloatArray, FloatArray | None],
        ) -> FactorTable:
            term, curvature, errors = found
            variances = table_variances(term.factor, curvature, term.strength)
            if errors is None:
                errors = np.sqrt(variances * free_fraction(n_classes))
            if n_classes == 2:
                errors = np.repeat(0.5 * errors, 2, axis=1)
            return FactorTable(
                term.factor,
                _all_classes(term.table),
                _sum_by_cell(term.factor, samples.codes, weights),
                term.strength,
                effective_parameters(curvature, variances, n_classes),
                round_errors(errors),
            )

        known = [None] * len(fit.terms) if deviations is None else deviations
        found = list(zip(fit.terms, fit.curvatures(), known, strict=True))
        with one_blas_thread():
            tables = map_threads(make_table, found, samples.n_jobs)
        return cls(_all_classes(fit.log_prior[None])[0], tuple(tables))

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
        if len(codes) == 1 and self.tables:
            return self._every_class(self._joined.add_to(self._start, codes[0]))
        columns = codes.T
        out = np.tile(self._start, (len(codes), 1))
        if len(codes) * len(self.tables) > SMALL_WORK:
            from tanager.loglinear._factor_kernels import add_factor

            for table, weights in zip(self.tables, self._columns, strict=True):
                factor = table.factor
                add_factor(columns, factor.features, factor.lookup, weights, out)
        else:
            for table, weights in zip(self.tables, self._columns, strict=True):
                out += weights[table.factor.cells(columns)]
        return self._every_class(out)

    def _every_class(self, sums: FloatArray) -> FloatArray:
        """Add a column of zeros if only the difference of two classes was summed."""
        if len(self.log_prior) > 2:
            return sums
        return np.concatenate([np.zeros_like(sums), sums], axis=1)

    @cached_property
    def _joined(self) -> JoinedTables:
        return JoinedTables.of([t.factor for t in self.tables], self._columns)

    @cached_property
    def _start(self) -> FloatArray:
        """Sums without any factor, shape (1, n_columns)."""
        if len(self.log_prior) > 2:
            return self.log_prior[None]
        return self.log_prior[None, 1:] - self.log_prior[None, :1]

    @cached_property
    def _columns(self) -> list[FloatArray]:
        """Weights of every class, or the differences of two classes."""
        if len(self.log_prior) > 2:
            return [table.weights for table in self.tables]
        return [table.weights[:, 1:] - table.weights[:, :1] for table in self.tables]


@dataclass(frozen=True, eq=False)
class JoinedTables:
    """The tables of all factors in one array, from which a single sample is scored.

    The axes of the factors follow each other. Code i of axis a adds
    ``lookup[places[a] + i]`` to the row of its factor in `weights`; the axes of factor
    t begin at ``first_axes[t]``.
    """

    features: IntArray
    places: IntArray
    lookup: IntArray
    first_axes: IntArray
    weights: FloatArray

    @classmethod
    def of(
        cls, factors: Sequence[Factor], weights: Sequence[FloatArray]
    ) -> JoinedTables:
        """Join the weights of factors, each of shape (n_cells, n_columns)."""
        lookups = []
        n_rows = 0
        for factor in factors:
            first, *others = factor.lookup
            lookups += [first + n_rows, *others]
            n_rows += factor.n_cells
        lengths = [len(lookup) for lookup in lookups]
        n_axes = [len(factor.axes) for factor in factors]
        return cls(
            np.concatenate([factor.features for factor in factors]),
            np.cumsum([0, *lengths[:-1]]),
            np.concatenate(lookups),
            np.cumsum([0, *n_axes[:-1]]),
            np.concatenate(weights),
        )

    def add_to(self, start: FloatArray, row: CodeArray) -> FloatArray:
        """Add the weights of one sample to `start`, shape (1, n_columns)."""
        steps = self.lookup[self.places + row[self.features]]
        cells = np.add.reduceat(steps, self.first_axes)
        # accumulate, unlike sum, adds in the order of the factors, as for many samples.
        return np.add.accumulate(np.concatenate([start, self.weights[cells]]))[-1:]


def _sum_by_cell(factor: Factor, codes: CodeArray, weights: FloatArray) -> FloatArray:
    """Total weight of the samples in every cell."""
    sums = np.zeros(factor.n_cells)
    # In blocks: the cells of all samples would be the largest array of a fit.
    for start, stop in row_blocks(len(weights), SUMMED_SAMPLES):
        cells = factor.cells(codes[:, start:stop])
        sums += np.bincount(cells, weights[start:stop], factor.n_cells)
    return sums


def _all_classes(table: FloatArray) -> FloatArray:
    """Weights of all classes that sum to zero, from log odds or from all classes."""
    if table.shape[1] == 1:
        return np.concatenate([-0.5 * table, 0.5 * table], axis=1)
    centred: FloatArray = table - table.mean(axis=1, keepdims=True)
    return centred
