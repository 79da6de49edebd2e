"""What an L2 penalty is put on: the weights themselves, or their differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tanager.core.layout import FamilyLayout

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Coordinates of log-linear weights in which the penalty is a sum of squares.

    Parameters
    ----------
    layout : FamilyLayout
        The tables.
    ordered : tuple of bool
        For every variable, whether its states are ordered and neighbours are tied: the
        weights are then running sums along its axis, ``w[x] = sum_{t <= x} u[t]``, and
        the penalty falls on the differences u.

    Examples
    --------
    >>> layout = FamilyLayout.of_families((3, 2), ((1, 0), (1,)), 1)
    >>> smooth = Coordinates(layout, (True, False))
    >>> smooth.weights(np.array([1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 5.0, 5.0]))
    array([1., 0., 3., 0., 6., 0., 5., 5.])
    """

    layout: FamilyLayout
    ordered: tuple[bool, ...]

    @cached_property
    def _sums(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """Tables with ordered axes, and which these are."""
        found = []
        for t, axes in enumerate(self.layout.axes):
            places = tuple(
                place
                for place, v in enumerate(axes)
                if v != self.layout.target and self.ordered[v]
            )
            if places:
                found.append((t, places))
        return tuple(found)

    def weights(self, coordinates: FloatArray) -> FloatArray:
        """The weights at given coordinates."""
        weights = coordinates.copy()
        for t, places in self._sums:
            table = self.layout.table(weights, t)
            for place in places:
                np.cumsum(table, axis=place, out=table)
        return weights

    def gradient(self, by_weights: FloatArray) -> FloatArray:
        """Gradient by the coordinates from that by the weights."""
        gradient = by_weights.copy()
        for t, places in self._sums:
            table = self.layout.table(gradient, t)
            for place in places:
                backwards = np.flip(table, axis=place)
                backwards[...] = np.cumsum(backwards, axis=place)
        return gradient

    def of_weights(self, weights: FloatArray) -> FloatArray:
        """The coordinates of given weights."""
        coordinates = weights.copy()
        for t, places in self._sums:
            table = self.layout.table(coordinates, t)
            for place in places:
                table[...] = np.diff(table, axis=place, prepend=0.0)
        return coordinates

    @cached_property
    def penalised(self) -> FloatArray:
        """1 for every coordinate that is penalised, 0 for those of the class table."""
        mask = np.ones(self.layout.n_cells)
        for t, axes in enumerate(self.layout.axes):
            if axes == (self.layout.target,):
                self.layout.table(mask, t)[...] = 0.0
        return mask


def plain(layout: FamilyLayout) -> Coordinates:
    """The weights themselves."""
    return Coordinates(layout, (False,) * len(layout.n_states))


def smooth(layout: FamilyLayout, ordered: Sequence[bool]) -> Coordinates:
    """Differences along the axes of ordered variables."""
    return Coordinates(layout, tuple(bool(flag) for flag in ordered))
