"""`FactorSum`: the sum over factors of one table cell each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tanager.loglinear.factor import Factor
from tanager.types import CodeArray, FloatArray, IntArray
from tanager.utils.jit import SMALL_WORK


@dataclass(frozen=True, eq=False)
class FactorSum:
    """Tables of factors, of which every sample adds one cell each.

    Parameters
    ----------
    factors : sequence of Factor
        The features and their bins.
    tables : sequence of ndarray of float64, shape (n_cells, n_columns)
        A table for each factor.

    Examples
    --------
    >>> from tanager.loglinear.factor import Axis
    >>> factor = Factor((Axis(0, np.array([0, 1, 2]), 0),))
    >>> total = FactorSum([factor, factor], [np.eye(3), np.ones((3, 3))])
    >>> total.add_to(np.zeros((1, 3)), np.array([[2], [0]], dtype=np.uint8))
    array([[1., 1., 2.],
           [2., 1., 1.]])
    """

    factors: Sequence[Factor]
    tables: Sequence[FloatArray]

    def add_to(self, start: FloatArray, codes: CodeArray) -> FloatArray:
        """Add the cells of every sample to `start`, shape (1, n_columns).

        `codes` have shape (n_samples, n_features), in Fortran order. The result has
        shape (n_samples, n_columns).
        """
        if len(codes) == 1 and self.factors:
            return self._joined.add_to(start, codes[0])
        columns = codes.T
        out = np.tile(start, (len(codes), 1))
        if len(codes) * len(self.factors) > SMALL_WORK:
            from tanager.loglinear._factor_kernels import add_factor

            for factor, table in zip(self.factors, self.tables, strict=True):
                add_factor(columns, factor.features, factor.lookup, table, out)
        else:
            for factor, table in zip(self.factors, self.tables, strict=True):
                out += table.take(factor.cells(columns), axis=0)
        return out

    @cached_property
    def _joined(self) -> JoinedTables:
        return JoinedTables.of(self.factors, self.tables)


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
        cells = self.lookup.take(self.places + row.take(self.features))
        if len(self.first_axes) < len(cells):
            cells = np.add.reduceat(cells, self.first_axes)
        weights = np.concatenate([start, self.weights.take(cells, axis=0)])
        # In the order of the factors, as for many samples: along the first axis of
        # several columns reduce adds so, but of a single one it adds pairs.
        if weights.shape[1] > 1:
            return np.add.reduce(weights, axis=0, keepdims=True)
        return np.add.accumulate(weights)[-1:]
