"""`Parameters`: one flat vector of log probabilities with its layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tanager.errors import InputError
from tanager.model.layout import FamilyLayout
from tanager.types import FloatArray


@dataclass(frozen=True, eq=False)
class Parameters:
    """Log probabilities of every table of a network.

    Parameters
    ----------
    layout : FamilyLayout
        Where the tables lie.
    log_theta : ndarray of float64, shape (layout.n_cells,)
        Natural logarithms; over its owner's states every row of a table sums to one
        after ``exp``. Kept as a read-only view.

    Notes
    -----
    A variable may own several tables (`FamilyLayout.tables_of`). Then it is the sum of
    their touched cells that is a log probability: over the owner's states the ``exp``
    of these sums adds up to one for every configuration of its parents, while a table
    for itself means nothing. All touched cells of all tables still add up to the log
    joint of a row.
    """

    layout: FamilyLayout
    log_theta: FloatArray

    def __post_init__(self) -> None:
        """Check the length and freeze the vector."""
        if self.log_theta.shape != (self.layout.n_cells,):
            raise InputError(
                f"Expected {self.layout.n_cells} log probabilities, got an array of "
                f"shape {self.log_theta.shape}."
            )
        # A view: the caller's own array, an optimiser's vector say, stays writable.
        frozen = self.log_theta.view()
        frozen.flags.writeable = False
        object.__setattr__(self, "log_theta", frozen)

    def log_table(self, index: int) -> FloatArray:
        """Log probabilities of table `index`, axes in memory order."""
        return self.layout.table(self.log_theta, index)

    def log_family(self, variable: int, family: Sequence[int]) -> FloatArray:
        """Log probabilities of a variable along the axes `family`, all of its own."""
        layout = self.layout
        tables = layout.tables_of(variable)
        if len(tables) == 1 and len(layout.axes[tables[0]]) == len(family):
            order = [layout.axes[tables[0]].index(v) for v in family]
            return self.log_table(tables[0]).transpose(order)
        return layout.added_up(self.log_theta, tables, family)
