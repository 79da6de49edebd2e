"""Tables to start from, also where nothing was observed that could be counted."""

from __future__ import annotations

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.data.counts import Counts
from tanager.model.layout import along
from tanager.model.structure import Structure
from tanager.parameters.frequency import Frequency
from tanager.types import FloatArray

SPREAD = 0.3
"""Standard deviation of what sets the states of a hidden variable apart."""


def first_tables(
    structure: Structure,
    data: CodedData,
    alpha: float,
    random: np.random.Generator,
    counts: Counts | None = None,
) -> FloatArray:
    """Frequencies that tell the states of hidden variables apart.

    Parameters
    ----------
    structure : Structure
        The families.
    data : CodedData
        The rows.
    alpha : float
        Pseudo-count of every cell.
    random : numpy Generator
        Read only if some family with parents was never observed whole.
    counts : Counts or None, default=None
        Those of the families, if they are known.

    Returns
    -------
    ndarray of float64, shape (n_cells,)
        Logarithms of normalised tables, as laid out by `data.count`.

    Notes
    -----
    A family that is observed whole in some row has its frequencies. If a variable is
    never observed, those of its children are the same for all of its states, and no
    gradient or expectation would ever tell the states apart. The table of a family with
    a parent that is never observed, or whose members are never observed in one row, is
    therefore ``theta[x | h] = p(x | g) exp(z[x, h])``, normalised, with g those parents
    in h that are observed (none of them, if not in one row with x), p frequencies, and
    z independent and normal.

    A hidden variable's own table, if its parents are observed, is uniform: what its
    children say is enough.
    """
    if counts is None:
        counts = data.count(structure.families)
    layout = counts.layout
    log_theta = Frequency(alpha=alpha).log_tables(counts)
    blank = [
        t
        for t, parents in enumerate(structure.parents)
        if parents and not counts.table(t).any()
    ]
    if not blank:
        return log_theta
    singles = data.count([(v,) for v in range(structure.n_variables)])
    seen = [bool(singles.table(v).any()) for v in range(structure.n_variables)]
    noise = random.normal(scale=SPREAD, size=layout.n_cells)
    for t in blank:
        parents = structure.parents[t]
        if not seen[t] and all(seen[v] for v in parents):
            continue
        table = layout.table(log_theta, t)
        if seen[t]:
            known = data.count([[*(v for v in parents if seen[v]), t], [t]])
            likely = 0 if known.table(0).any() else 1
            logs = Frequency(alpha=alpha).log_tables(known)
            part = known.layout.table(logs, likely)
            table[...] = along(part, known.layout.axes[likely], layout.axes[t])
        table += layout.table(noise, t)
        axis = layout.owner_axis(t)
        table -= np.logaddexp.reduce(table, axis=axis, keepdims=True)
    return log_theta
