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
        rows = cumulative[given] if given else cumulative[None, :]
        # The first state whose cumulative probability exceeds the draw; the last row
        # entry may fall short of one by rounding, so scale the draw to it.
        draw = random.random(n_rows)[:, None] * rows[:, -1:]
        codes[:, variable] = (rows <= draw).sum(axis=1)
    return codes
