"""The same tables for another target: laid out anew, or with the variables moved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from tanager.model.layout import FamilyLayout, Parameters
from tanager.model.structure import Structure


def scopes_of(
    layout: FamilyLayout, variables: Iterable[int]
) -> list[list[tuple[int, ...]]]:
    """For every one of `variables` the axes of each of its tables."""
    return [[layout.axes[t] for t in layout.tables_of(v)] for v in variables]


def retargeted(
    parameters: Parameters, structure: Structure, target: int | None
) -> Parameters:
    """Tables of a network laid out for another target; no variable moves.

    Parameters
    ----------
    parameters : Parameters
        The tables.
    structure : Structure
        Parents of every variable.
    target : int or None
        The variable to come last and fastest in every table that has it.

    Examples
    --------
    >>> structure = Structure(((), (0,)), target=0)
    >>> layout = FamilyLayout.of_families((2, 3), structure.families, 0)
    >>> parameters = Parameters(layout, np.arange(8.0))
    >>> parameters.layout.axes, parameters.log_table(1).tolist()
    (((0,), (1, 0)), [[2.0, 3.0], [4.0, 5.0], [6.0, 7.0]])
    >>> other = retargeted(parameters, structure, 1)
    >>> other.layout.axes, other.log_table(1).tolist()
    (((0,), (0, 1)), [[2.0, 4.0, 6.0], [3.0, 5.0, 7.0]])
    """
    if target == parameters.layout.target:
        return parameters
    order = range(structure.n_variables)
    other = Structure(structure.parents, target)
    return moved(parameters, other, order, {v: v for v in order})


def moved(
    parameters: Parameters,
    structure: Structure,
    order: Sequence[int],
    place: Mapping[int, int],
) -> Parameters:
    """Tables of all variables under other numbers; not a bit of them changes.

    Parameters
    ----------
    parameters : Parameters
        The tables.
    structure : Structure
        Parents of every variable under the new numbers.
    order : sequence of int
        The old number of every new variable.
    place : mapping from int to int
        The new number of every old variable.
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
        turned = [axes.index(u) for u in layout.axes[new]]
        table = parameters.log_table(t).transpose(turned)
        layout.table(log_theta, new)[...] = table
    return Parameters(layout, log_theta)
