"""`FactorLayout`: the arrays of several factors, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tanager.loglinear.factor import Factor
from tanager.types import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class FactorLayout:
    """Where a kernel finds the parts of every factor in arrays for all of them.

    Parameters
    ----------
    factors : tuple of Factor
        The factors.
    starts : ndarray of int64, shape (n_factors + 1, 3)
        First axis, first entry of `lookup` and first cell of every factor; the last
        row has the totals.
    features, shape, n_ordered : ndarray of int64, shape (n_axes,)
        Of every axis, its feature, its number of bins and of ordered bins.
    lookup : ndarray of int64, shape (n_entries,)
        The arrays `Factor.lookup`, row by row.
    diagonal : ndarray of float64, shape (n_cells,)
        The ridge of every cell.
    paths : ndarray of float64, shape (n_factors,)
        The weights of the squared first differences.

    Examples
    --------
    >>> from tanager.loglinear.factor import Axis
    >>> one, two = Axis(0, np.array([0, 1, 2]), 0), Axis(1, np.array([0, 1]), 0)
    >>> layout = FactorLayout.of([Factor((one,)), Factor((one, two))])
    >>> layout.starts.tolist()
    [[0, 0, 0], [1, 3, 3], [3, 9, 9]]
    """

    factors: tuple[Factor, ...]
    starts: IntArray
    features: IntArray
    shape: IntArray
    n_ordered: IntArray
    lookup: IntArray
    diagonal: FloatArray
    paths: FloatArray

    @classmethod
    def of(cls, factors: Sequence[Factor]) -> FactorLayout:
        """Join the arrays of at least one factor."""
        sizes = [(len(f.axes), f.lookup.size, f.n_cells) for f in factors]
        return cls(
            tuple(factors),
            np.cumsum([(0, 0, 0), *sizes], axis=0, dtype=np.int64),
            np.concatenate([factor.features for factor in factors]),
            np.concatenate([factor.shape for factor in factors]),
            np.concatenate([factor.n_ordered for factor in factors]),
            np.concatenate([factor.lookup.ravel() for factor in factors]),
            np.concatenate([factor.diagonal for factor in factors]),
            np.array([factor.path for factor in factors]),
        )

    @property
    def arrays(self) -> tuple[IntArray | FloatArray, ...]:
        """All arrays, as kernels take them."""
        return (
            self.starts, self.features, self.shape, self.n_ordered, self.lookup,
            self.diagonal, self.paths,
        )  # fmt: skip

    def is_of(self, factors: Sequence[Factor]) -> bool:
        """Whether these are its factors, in this order."""
        return self.factors == tuple(factors)  # factors are compared by identity

    def split(self, cells: FloatArray) -> list[FloatArray]:
        """Views of the rows of every factor; `cells` has one row for every cell."""
        # The function split takes ten times as long.
        return [cells[i:j] for i, j in pairwise(self.starts[:, 2].tolist())]


def balance_tables(
    factors: Sequence[Factor], tables: Sequence[FloatArray], strengths: FloatArray
) -> None:
    """Move constants between tables to where their penalty is least, in place.

    Constants a_t with ``sum_t a_t = 0`` added to the tables change no posterior.
    Newton steps on one table after the other would take many sweeps to move them.

    Parameters
    ----------
    factors : sequence of Factor
        The factors.
    tables : sequence of ndarray of float64, shape (n_cells, n_columns) each
        Their tables.
    strengths : ndarray of float64, shape (n_factors,)
        The strengths of their penalties.

    Notes
    -----
    First differences of a constant are zero, so with the ridge d_t of a factor
    ``strength_t (d_t' w_t + a_t sum(d_t))`` must be the same for all t.
    """
    if len(factors) < 2:
        return
    ridges = [factor.diagonal[:, np.newaxis] for factor in factors]
    totals = np.concatenate([np.add.reduceat(ridge, [0]) for ridge in ridges])
    pairs = zip(ridges, tables, strict=True)
    sums = np.concatenate([np.add.reduceat(d * w, [0]) for d, w in pairs])
    means = sums / totals
    inverse = 1.0 / (strengths[:, np.newaxis] * totals)
    constants = inverse * (means.sum(axis=0) / inverse.sum()) - means
    for table, constant in zip(tables, constants, strict=True):
        table += constant
