"""Effects of a factor: log odds or log weights by bin, with similar bins merged."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tanager.loglinear.factor import Axis
from tanager.loglinear.fitted_factors import FactorTable
from tanager.model.schema import Schema, Variable
from tanager.types import FloatArray

TOLERANCE = 0.02
"""Fraction of the range of all values that counts as no difference in a long axis."""


@dataclass(frozen=True, eq=False)
class Effects:
    """What a factor adds to the log odds, or to the log weights of some classes.

    Parameters
    ----------
    variables : tuple of Variable
        The features, one for every axis.
    states : tuple of tuples of tuples of int
        For every axis and bin the codes of its states; the code `n_states` stands for
        values that are not observed.
    classes : tuple of int
        The classes of the values: the second one alone, or the strongest ones first.
    values : ndarray of float64, shape (bins of every axis..., n_values)
        Log odds of the second of two classes, or log weights of `classes`; of merged
        bins the mean over their training samples.
    low, high : ndarray of float64, same shape
        Least and greatest value among merged cells, those without training samples
        left out; inf and -inf if there are no others.
    support : ndarray of float64, shape (bins of every axis...)
        Total weight of the training samples.
    """

    variables: tuple[Variable, ...]
    states: tuple[tuple[tuple[int, ...], ...], ...]
    classes: tuple[int, ...]
    values: FloatArray
    low: FloatArray
    high: FloatArray
    support: FloatArray

    @property
    def spread(self) -> float:
        """Largest difference of two values that were merged."""
        return float(np.maximum(self.high - self.low, 0.0).max())

    def transpose(self, order: list[int]) -> Effects:
        """The same effects with the features in another order."""
        axes = (*order, len(order))
        return replace(
            self,
            variables=tuple(self.variables[k] for k in order),
            states=tuple(self.states[k] for k in order),
            values=self.values.transpose(axes),
            low=self.low.transpose(axes),
            high=self.high.transpose(axes),
            support=self.support.transpose(order),
        )

    def n_values(self, place: int) -> int:
        """Number of bins along an axis that hold values: not missing ones."""
        limit = self.variables[place].n_values
        return sum(codes[0] < limit for codes in self.states[place])

    def sort_categories(self, place: int) -> Effects:
        """Put the bins of an axis without an order next to similar ones."""
        n_values, ordered = self.n_values(place), self.variables[place].ordered
        if ordered or n_values < 2:
            return self
        rows = np.moveaxis(self.values, place, 0)[:n_values].reshape(n_values, -1)
        # The first singular vector orders the rows of a matrix by similarity; of a
        # single column it is the column itself.
        left, scale, right = np.linalg.svd(rows, full_matrices=False)
        position = left[:, 0] * np.sign(right[0, np.abs(right[0]).argmax()])
        order = np.argsort(position, kind="stable") if scale[0] > 0 else range(n_values)
        return self._gather(place, [[int(k)] for k in order])

    def merge(self, place: int, max_bins: int) -> Effects:
        """Merge neighbouring bins of an axis with similar values, if it is long.

        With more than `max_bins` bins, the two neighbours whose values then differ
        least are merged, until at most `max_bins` are left and the next difference is
        above `TOLERANCE`. Bins of missing values are not merged.
        """
        n_values = self.n_values(place)
        limit = max(max_bins - (len(self.states[place]) - n_values), 1)
        groups = [[k] for k in range(n_values)]
        if n_values <= limit:
            return self
        low, high = (
            np.moveaxis(bound, place, 0)[:n_values].reshape(n_values, -1)
            for bound in (self.low, self.high)
        )
        small = TOLERANCE * max(float(high.max() - low.min()), 0.0)
        while len(groups) > 1:
            joined_low = np.minimum(low[1:], low[:-1])
            joined_high = np.maximum(high[1:], high[:-1])
            spread = (joined_high - joined_low).max(axis=1)
            best = int(spread.argmin())
            if len(groups) <= limit and spread[best] > small:
                break
            groups[best : best + 2] = [groups[best] + groups[best + 1]]
            low, high = np.delete(low, best, 0), np.delete(high, best, 0)
            low[best], high[best] = joined_low[best], joined_high[best]
        return self._gather(place, groups)

    def _gather(self, place: int, groups: list[list[int]]) -> Effects:
        """Merge the bins of every group; bins in no group follow."""
        count = len(self.states[place])
        given = {k for group in groups for k in group}
        groups = [*groups, *([k] for k in range(count) if k not in given)]
        weights = np.moveaxis(self.support, place, 0)[..., None]
        if not self.variables[place].ordered:
            # Frequent categories are named first.
            totals = weights.reshape(count, -1).sum(axis=1)
            groups = [sorted(group, key=lambda k: -totals[k]) for group in groups]
        values, low, high = (
            np.moveaxis(part, place, 0) for part in (self.values, self.low, self.high)
        )
        means = [_mean(values[group], weights[group]) for group in groups]
        return replace(
            self,
            states=tuple(
                tuple(sum((states[k] for k in group), ()) for group in groups)
                if axis == place
                else states
                for axis, states in enumerate(self.states)
            ),
            values=np.moveaxis(np.stack(means), 0, place),
            low=np.moveaxis(np.stack([low[g].min(axis=0) for g in groups]), 0, place),
            high=np.moveaxis(np.stack([high[g].max(axis=0) for g in groups]), 0, place),
            support=np.moveaxis(
                np.stack([weights[g, ..., 0].sum(axis=0) for g in groups]), 0, place
            ),
        )


def make_effects(
    table: FactorTable, schema: Schema, max_classes: int | None = None
) -> Effects:
    """Effects of a factor on the strongest classes, None for all, nothing merged.

    "Not observed" has a bin only if some training samples were without a value.
    """
    axes = table.factor.axes
    support = table.support.reshape(table.factor.shape)
    weights = table.weights.reshape(*table.factor.shape, -1)
    for place in range(len(axes)):
        if not np.moveaxis(support, place, 0)[-1].any():
            keep = range(support.shape[place] - 1)
            support, weights = support.take(keep, place), weights.take(keep, place)
    classes: tuple[int, ...]
    if schema.n_classes == 2:
        classes, values = (1,), weights[..., 1:] - weights[..., :1]
    else:
        classes = strongest_classes(table)[:max_classes]
        values = weights[..., classes]
    has_samples = (support > 0)[..., None]
    return Effects(
        tuple(schema[axis.feature] for axis in axes),
        tuple(
            _states_of_bins(axis)[:size]
            for axis, size in zip(axes, support.shape, strict=True)
        ),
        classes,
        values,
        np.where(has_samples, values, np.inf),
        np.where(has_samples, values, -np.inf),
        support,
    )


def strongest_classes(table: FactorTable) -> tuple[int, ...]:
    """All classes, those first whose weight varies most over the training samples."""
    total = max(float(table.support.sum()), 1.0)
    centred = table.weights - table.support @ table.weights / total
    squares = table.support @ np.square(centred)
    return tuple(np.argsort(-squares, kind="stable").tolist())


def effect_range(table: FactorTable, code: int) -> tuple[float, float]:
    """Least and greatest effect on a class in cells with training samples.

    Of two classes these are log odds, otherwise log weights.
    """
    effects = table.weights[:, code]
    if table.weights.shape[1] == 2:
        effects = effects - table.weights[:, 1 - code]
    effects = effects[table.support > 0]
    return (float(effects.min()), float(effects.max())) if len(effects) else (0.0, 0.0)


def _mean(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Weighted mean over the first axis; the plain one where all weights are zero."""
    weights = weights + (weights.sum(axis=0) == 0)
    mean: FloatArray = (values * weights).sum(axis=0) / weights.sum(axis=0)
    return mean


def _states_of_bins(axis: Axis) -> tuple[tuple[int, ...], ...]:
    """The codes in every bin of an axis."""
    return tuple(
        tuple(np.flatnonzero(axis.bins == k).tolist()) for k in range(axis.n_bins)
    )
