"""Initial CPTs of iterative learners, also for variables that are never observed."""

from __future__ import annotations

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.data.counts import Counts
from tanager.errors import unknown_name
from tanager.model.layout import FamilyLayout, along
from tanager.model.structure import Structure
from tanager.parameters.frequency import Frequency
from tanager.parameters.softmax_objective import SoftmaxLayout
from tanager.types import FloatArray

STARTS = ("frequency", "random")
"""Names of initial CPTs: relative frequencies, or small random softmax parameters."""

RANDOM_RANGE = 0.1
"""Random softmax parameters are uniform between minus this and this."""

SPREAD = 0.3
"""Standard deviation of the noise that separates states of a hidden variable."""


def check_start(name: object) -> None:
    """Raise `InputError` for an unknown name of initial CPTs."""
    if not isinstance(name, str) or name not in STARTS:
        raise unknown_name("start", name, STARTS)


def make_random_cpts(layout: FamilyLayout, random: np.random.Generator) -> FloatArray:
    """Compute CPTs from small random softmax parameters.

    Returns their logarithms, shape (n_cells,).
    """
    beta = random.uniform(-RANDOM_RANGE, RANDOM_RANGE, layout.n_cells)
    return SoftmaxLayout(layout).cpts(beta)[1]


def make_initial_cpts(
    structure: Structure,
    data: CodedData,
    frequency: Frequency,
    random: np.random.Generator,
    counts: Counts | None = None,
) -> FloatArray:
    """Compute frequencies in which the states of hidden variables differ.

    `frequency` is their smoothing; `counts` are those of the families, if they are
    known. Returns the logarithms of CPTs, shape (n_cells,), as laid out by
    `data.count`; `random` is used only if some family with parents was never observed
    completely.

    A family that is observed completely in some sample has its frequencies. The CPT of
    a family with a parent that is never observed, or whose members are never observed
    in one sample, is ``theta[x | h] = p(x | g) exp(z[x, h])``, normalised, with g those
    parents in h that are observed (none of them, if not in one sample with x), p
    frequencies, and z independent and normal: see `EM`. A hidden variable's own CPT, if
    its parents are observed, is uniform: the CPTs of its children are enough.
    """
    if counts is None:
        counts = data.count(structure.families)
    layout = counts.layout
    log_theta = frequency.log_tables(counts)
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
            logs = frequency.log_tables(known)
            part = known.layout.table(logs, likely)
            table[...] = along(part, known.layout.axes[likely], layout.axes[t])
        table += layout.table(noise, t)
        axis = layout.owner_axis(t)
        table -= np.logaddexp.reduce(table, axis=axis, keepdims=True)
    return log_theta
