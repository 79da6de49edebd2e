"""`FactorTables`: fitted factors as a value that scores samples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tanager.loglinear.block_newton import FactorFit
from tanager.loglinear.factor import Factor
from tanager.types import CodeArray, FloatArray
from tanager.utils.jit import SMALL_WORK


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

    @classmethod
    def of_fit(cls, fit: FactorFit) -> FactorTables:
        """Take over the tables of a fit."""
        samples = fit.samples
        weights = samples.weights.astype(np.float64)
        return cls(
            _all_classes(fit.log_prior[None])[0],
            tuple(
                FactorTable(
                    term.factor,
                    _all_classes(term.table),
                    _sum_by_cell(term.factor, samples.codes, weights),
                    term.strength,
                )
                for term in fit.terms
            ),
        )

    @cached_property
    def n_cells(self) -> int:
        """Number of log weights in all tables."""
        return sum(table.weights.size for table in self.tables)

    def log_joint_block(self, codes: CodeArray) -> FloatArray:
        """Sum the log weights of every sample and class.

        `codes` have shape (n_samples, n_features), in Fortran order. The result has
        shape (n_samples, n_classes).
        """
        two = len(self.log_prior) == 2
        columns = codes.T
        start = self.log_prior[1:] - self.log_prior[:1] if two else self.log_prior
        out = np.tile(start, (len(codes), 1))
        if len(codes) * len(self.tables) > SMALL_WORK:
            from tanager.loglinear._factor_kernels import add_factor

            for table, weights in zip(self.tables, self._columns, strict=True):
                factor = table.factor
                add_factor(columns, factor.features, factor.lookup, weights, out)
        else:
            for table, weights in zip(self.tables, self._columns, strict=True):
                out += weights[table.factor.cells(columns)]
        # Of two classes only the difference was summed.
        return np.concatenate([np.zeros_like(out), out], axis=1) if two else out

    @cached_property
    def _columns(self) -> list[FloatArray]:
        """Weights of every class, or the differences of two classes."""
        if len(self.log_prior) > 2:
            return [table.weights for table in self.tables]
        return [table.weights[:, 1:] - table.weights[:, :1] for table in self.tables]


def _sum_by_cell(factor: Factor, codes: CodeArray, weights: FloatArray) -> FloatArray:
    """Total weight of the samples in every cell."""
    sums = np.bincount(factor.cells(codes), weights, factor.n_cells)
    return sums.astype(np.float64, copy=False)


def _all_classes(table: FloatArray) -> FloatArray:
    """Weights of all classes that sum to zero, from log odds or from all classes."""
    if table.shape[1] == 1:
        return np.concatenate([-0.5 * table, 0.5 * table], axis=1)
    centred: FloatArray = table - table.mean(axis=1, keepdims=True)
    return centred
