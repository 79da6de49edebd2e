"""Bagging of fitted factors into one set of tables."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tanager.loglinear.block_newton import FactorFit
from tanager.loglinear.bootstrap_weights import draw_key
from tanager.types import FloatArray

BAG_SWEEPS = 4
"""Sweeps over a bag, from the tables of the fit to all samples."""


class FactorBags:
    """Mean and standard deviation of tables fitted to bootstrap samples.

    Every bag has the factors and strengths of one fit, whose tables are its start.

    Parameters
    ----------
    fit : FactorFit or PartitionedFit
        The fit to all samples. It is not changed.

    Notes
    -----
    Every sample is in a bag as often as its Poisson number with mean 1 says; see
    `bootstrap_counts`. These depend on the random state and the positions of the
    samples among those with labels, not on how the samples are split into parts.
    """

    def __init__(self, fit: FactorFit) -> None:
        self.fit = fit
        zeros = [np.zeros_like(term.table) for term in fit.terms]
        self._found = _Moments(0, zeros, zeros)

    @property
    def n_bags(self) -> int:
        """Number of bags so far."""
        return self._found.n_bags

    def draw(self, random: np.random.Generator) -> None:
        """Add a bag with random counts of the samples."""
        self.add(self.fit.make_bag(draw_key(random)))

    def add(self, bag: FactorFit) -> None:
        """Fit a bag, which has the tables of the fit, and add its tables."""
        bag.sweep(BAG_SWEEPS)
        # One assignment: Ctrl-C finds a bag in all moments or in none.
        self._found = self._found.add([term.table for term in bag.terms])

    def mean(self) -> FactorFit:
        """The fit with the means of all tables, and its posteriors."""
        return self.fit.with_tables(self._found.means)

    def deviations(self) -> list[FloatArray]:
        """Standard deviations of all tables, shape (n_cells, n_columns) each.

        At least two bags are needed.
        """
        return [np.sqrt(squares / (self.n_bags - 1)) for squares in self._found.squares]


class _Moments(NamedTuple):
    """Means, and sums of squared deviations from them, of `n_bags` lists of tables."""

    n_bags: int
    means: list[FloatArray]
    squares: list[FloatArray]

    def add(self, tables: list[FloatArray]) -> _Moments:
        n_bags, means, squares = self.n_bags + 1, [], []
        for table, mean, square in zip(tables, self.means, self.squares, strict=True):
            change = table - mean
            means.append(mean + change / n_bags)
            squares.append(square + change * (table - means[-1]))
        return _Moments(n_bags, means, squares)
