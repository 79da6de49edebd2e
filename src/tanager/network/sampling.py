"""Drawing rows from a network."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tanager.core.parameters import Parameters
from tanager.core.structure import Structure


def sample_codes(
    structure: Structure,
    parameters: Parameters,
    n_rows: int,
    random: np.random.Generator,
) -> npt.NDArray[np.int64]:
    """Draw codes variable by variable, parents first.

    Returns
    -------
    ndarray of int64, shape (n_rows, n_variables), Fortran order
    """
    layout = parameters.layout
    codes = np.zeros((n_rows, structure.n_variables), dtype=np.int64, order="F")
    for variable in structure.topological_order:
        axes = layout.axes[variable]
        own = axes.index(variable)
        table = np.moveaxis(np.exp(parameters.log_table(variable)), own, -1)
        cumulative = np.cumsum(table, axis=-1)
        given = tuple(codes[:, v] for v in axes if v != variable)
        # All cumulative rows in one increasing line: row h lies between h and h + 1.
        flat = cumulative.reshape(-1, cumulative.shape[-1])
        line = (flat / flat[:, -1:] + np.arange(len(flat))[:, None]).ravel()
        row = (
            np.ravel_multi_index(given, cumulative.shape[:-1])
            if given
            else np.zeros(n_rows, dtype=np.int64)
        )
        found = np.searchsorted(line, row + random.random(n_rows), side="right")
        # Rounding may land a draw on the end of its row.
        own_states = cumulative.shape[-1]
        codes[:, variable] = np.minimum(found - row * own_states, own_states - 1)
    return codes
