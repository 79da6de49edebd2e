"""`Parameters`: one flat vector of log probabilities with its layout."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tanager.core.errors import InputError
from tanager.core.layout import FamilyLayout


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
    """

    layout: FamilyLayout
    log_theta: npt.NDArray[np.float64]

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

    def log_table(self, index: int) -> npt.NDArray[np.float64]:
        """Log probabilities of table `index`, axes in memory order."""
        return self.layout.table(self.log_theta, index)
