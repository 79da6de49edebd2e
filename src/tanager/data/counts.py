"""`Counts`: weighted counts of families, a value that adds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tanager.errors import InputError
from tanager.model.layout import FamilyLayout
from tanager.types import FloatArray, IndexArray


@dataclass(frozen=True, eq=False)
class Counts:
    """Weighted counts of every table of a layout.

    Parameters
    ----------
    layout : FamilyLayout
        The tables.
    values : ndarray of float64, shape (layout.n_cells,)
        The counts, one table after the other.

    Examples
    --------
    >>> layout = FamilyLayout.of_families((2,), ((0,),), None)
    >>> one = Counts(layout, np.array([3.0, 1.0]))
    >>> (one + one).values.tolist()
    [6.0, 2.0]
    """

    layout: FamilyLayout
    values: FloatArray

    def __add__(self, other: Counts) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        if self.layout != other.layout:
            raise InputError(
                "Only counts of the same families over the same states can be added; "
                "bring both to one schema first."
            )
        return Counts(self.layout, self.values + other.values)

    def table(self, index: int) -> FloatArray:
        """Counts of table `index`, axes in memory order."""
        return self.layout.table(self.values, index)

    def recoded(
        self, n_states: Sequence[int], positions: Sequence[IndexArray]
    ) -> Counts:
        """Move the counts to a schema with more states.

        Parameters
        ----------
        n_states : sequence of int
            New number of states of every variable.
        positions : sequence of int arrays
            For every variable the new code of each of its old states, -1 for a state
            that is dropped.
        """
        old = self.layout
        layout = FamilyLayout(
            tuple(int(r) for r in n_states), old.axes, old.owners, old.target
        )
        moved = Counts(layout, np.zeros(layout.n_cells))
        for index, axes in enumerate(layout.axes):
            move_cells(
                self.table(index), moved.table(index), [positions[v] for v in axes]
            )
        return moved


def move_cells(
    source: npt.NDArray[Any],
    target: npt.NDArray[Any],
    positions: Sequence[IndexArray],
) -> None:
    """Copy a table into a larger one; `positions` as in `Counts.recoded`, per axis."""
    kept = [np.flatnonzero(position >= 0) for position in positions]
    new = [position[old] for position, old in zip(positions, kept, strict=True)]
    target[np.ix_(*new)] = source[np.ix_(*kept)]
