"""Bagging of fitted factors into one set of tables."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tanager.loglinear.block_newton import FactorFit
from tanager.types import FloatArray, IntArray

BAG_SWEEPS = 4
"""Sweeps over a bag, from the tables of the fit to all samples."""


class FactorBags:
    """Mean and standard deviation of tables fitted to bootstrap samples.

    Every bag has the factors and strengths of one fit, whose tables are its start.

    Parameters
    ----------
    fit : FactorFit
        The fit to all samples. It is not changed.

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
        """Add a bootstrap sample: as many samples, drawn with replacement."""
        n_samples = len(self.fit.samples.labels)
        drawn = random.integers(n_samples, size=n_samples)
        self.add(np.bincount(drawn, minlength=n_samples))

    def add(self, counts: IntArray) -> None:
        """Add a bag with the given count of every sample, shape (n_samples,)."""
        samples = self.fit.samples
        weights = (samples.weights * counts).astype(np.float32)
        bag = self.fit.refit_to(replace(samples, weights=weights))
        bag.sweep(BAG_SWEEPS)
        # One assignment: Ctrl-C finds a bag in all moments or in none.
        self._found = self._found.add([term.table for term in bag.terms])

    def mean(self) -> FactorFit:
        """The fit with the means of all tables, and its posteriors."""
        fit = self.fit.copy()
        for term, mean in zip(fit.terms, self._found.means, strict=True):
            term.table = mean.copy()
        return fit.refit_to(fit.samples)

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
