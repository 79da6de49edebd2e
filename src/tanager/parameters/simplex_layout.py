"""`SimplexLayout`: CPTs as their own parameters, confined to distributions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tanager.model.layout import FamilyLayout
from tanager.types import FloatArray

FLOOR = 1e-6
"""Smallest probability: the gamma of Greiner et al. (2005), equation 6."""


@dataclass(frozen=True, eq=False)
class SimplexLayout:
    """CPTs whose parameters are the probabilities theta themselves.

    Every distribution ``theta[. | h]`` stays in the simplex ``sum_x theta[x | h] = 1``,
    ``theta >= FLOOR``. With g the derivative by log theta, that by theta is
    ``g / theta``; minus its mean over the owner's states it is the derivative within
    the simplex.

    Notes
    -----
    Binder, Koller, Russell, Kanazawa (1997), section 4, project gradients in this way
    (APN_theta of Greiner et al., 2005, section 5). That of the conditional likelihood,
    ``[P(d, f | e, c) - P(d, f | e)] / theta[d | f]``, is in the latter's proof of
    Theorem 1.

    Examples
    --------
    >>> layout = SimplexLayout(FamilyLayout.of_families((2, 2), ((1, 0), (1,)), 1))
    >>> layout.project(np.array([0.8, 0.5, 0.6, 0.5, 0.2, 1.4]))
    array([6.00000e-01, 5.00000e-01, 4.00000e-01, 5.00000e-01, 1.00000e-06,
           9.99999e-01])
    """

    layout: FamilyLayout

    def start(self, log_theta: FloatArray) -> FloatArray:
        """Return the probabilities, those below `FLOOR` raised to it."""
        return self.project(np.exp(log_theta))

    def cpts(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return theta and its logarithm, both of shape (layout.n_cells,)."""
        return theta, np.log(theta)

    def gradient(self, by_log_theta: FloatArray, theta: FloatArray) -> FloatArray:
        """Compute the derivative by theta within the simplex from that by log theta."""
        return self._by_distribution(
            by_log_theta / theta, lambda slopes: slopes - slopes.mean(axis=0)
        )

    def project(self, theta: FloatArray) -> FloatArray:
        """Return the nearest CPTs, shape (layout.n_cells,)."""
        return self._by_distribution(theta, _project)

    def _by_distribution(
        self, values: FloatArray, change: Callable[[FloatArray], FloatArray]
    ) -> FloatArray:
        """Change CPTs, the owner's states first and all configurations in columns."""
        out = np.empty_like(values)
        layout = self.layout
        for t in range(layout.n_tables):
            axis = layout.owner_axis(t)
            table = np.moveaxis(layout.table(values, t), axis, 0)
            changed = change(table.reshape(len(table), -1)).reshape(table.shape)
            layout.table(out, t)[...] = np.moveaxis(changed, 0, axis)
        return out


def _project(columns: FloatArray) -> FloatArray:
    """Return the nearest distribution to every column, in Euclidean distance.

    It is ``max(v - shift, FLOOR)`` for the shift with which it sums to one: that of the
    largest values that stay above the floor, found by sorting.
    """
    n_states = len(columns)
    free = columns - FLOOR
    falling = -np.sort(-free, axis=0)
    number = np.arange(1, n_states + 1)[:, np.newaxis]
    shifts = (np.cumsum(falling, axis=0) - (1.0 - n_states * FLOOR)) / number
    n_above = (falling > shifts).sum(axis=0)
    shift = np.take_along_axis(shifts, n_above[np.newaxis] - 1, axis=0)
    return FLOOR + np.maximum(free - shift, 0.0)
