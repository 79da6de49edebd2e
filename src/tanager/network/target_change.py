"""The same tables for another target or another order of variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from tanager.model.layout import FamilyLayout, Parameters, along
from tanager.model.structure import Structure


def scopes_of(
    layout: FamilyLayout, variables: Iterable[int]
) -> list[list[tuple[int, ...]]]:
    """The axes of each table, for every one of `variables`."""
    return [[layout.axes[t] for t in layout.tables_of(v)] for v in variables]


def retarget(
    parameters: Parameters, structure: Structure, target: int | None
) -> Parameters:
    """Lay the tables of a network out for another target, last and fastest in each.

    Examples
    --------
    >>> structure = Structure(((), (0,)), target=0)
    >>> layout = FamilyLayout.of_families((2, 3), structure.families, 0)
    >>> parameters = Parameters(layout, np.arange(8.0))
    >>> parameters.layout.axes, parameters.log_table(1).tolist()
    (((0,), (1, 0)), [[2.0, 3.0], [4.0, 5.0], [6.0, 7.0]])
    >>> other = retarget(parameters, structure, 1)
    >>> other.layout.axes, other.log_table(1).tolist()
    (((0,), (0, 1)), [[2.0, 4.0, 6.0], [3.0, 5.0, 7.0]])
    """
    if target == parameters.layout.target:
        return parameters
    order = range(structure.n_variables)
    other = Structure(structure.parents, target)
    return move_variables(parameters, other, order, {v: v for v in order})


def move_variables(
    parameters: Parameters,
    structure: Structure,
    order: Sequence[int],
    place: Mapping[int, int],
) -> Parameters:
    """Renumber the variables of all tables, without changing a value.

    `structure` has the new numbers, `order` the old number of every new variable, and
    `place` the new number of every old one.
    """
    own = parameters.layout
    scopes = [
        [[place[u] for u in axes] for axes in tables]
        for tables in scopes_of(own, order)
    ]
    states = [own.n_states[v] for v in order]
    layout = FamilyLayout.of_sums(states, structure, scopes)
    log_theta = np.empty(layout.n_cells)
    old = [t for v in order for t in own.tables_of(v)]
    for new, t in enumerate(old):
        axes = [place[u] for u in own.axes[t]]
        table = along(parameters.log_table(t), axes, layout.axes[new])
        layout.table(log_theta, new)[...] = table
    return Parameters(layout, log_theta)
