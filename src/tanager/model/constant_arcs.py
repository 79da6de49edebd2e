"""Arcs of variables with a single state, which say nothing: dropped and restored."""

from __future__ import annotations

from collections.abc import Sequence, Set

import numpy as np

from tanager.model.layout import FamilyLayout, Parameters
from tanager.model.structure import Structure


def drop_constant_arcs(
    structure: Structure,
    parameters: Parameters,
    given: Set[tuple[int, int]] = frozenset(),
) -> tuple[Structure, Parameters]:
    """Remove the arcs from and to variables with one state; the joint stays the same.

    Parameters
    ----------
    structure : Structure
        The structure.
    parameters : Parameters
        Its CPTs, or the factors they are sums of.
    given : set of (parent, child), default=frozenset()
        Arcs to keep.

    Returns
    -------
    Structure, Parameters
        Without these arcs; the arguments themselves if there are none.

    Notes
    -----
    An axis of length one does not change where the cells of a table are, so only the
    table of a variable with one state becomes another: a single probability of one.

    Examples
    --------
    >>> tan = Structure(((2, 1), (2,), ()), target=2)
    >>> layout = FamilyLayout.of_families((3, 1, 2), tan.families, 2)
    >>> cpts = Parameters(layout, np.log([*[1 / 3] * 6, 1, 1, 0.5, 0.5]))
    >>> drop_constant_arcs(tan, cpts)[0].parents
    ((2,), (), ())
    """
    layout = parameters.layout
    constant = {v for v, n_states in enumerate(layout.n_states) if n_states == 1}
    dropped = {
        (parent, child)
        for parent, child in structure.arcs
        if (parent in constant or child in constant) and (parent, child) not in given
    }
    if not dropped:
        return structure, parameters
    parents = tuple(
        tuple(parent for parent in of if (parent, child) not in dropped)
        for child, of in enumerate(structure.parents)
    )
    axes: list[tuple[int, ...]] = []
    owners: list[int] = []
    cells = []
    for index, (own, owner) in enumerate(zip(layout.axes, layout.owners, strict=True)):
        if owner in constant and not parents[owner]:
            if owner not in owners:
                axes.append((owner,))
                owners.append(owner)
                cells.append(np.zeros(1))
            continue
        left = tuple(v for v in own if (v, owner) not in dropped)
        if not left:  # a factor over constants alone: its owner's only other axes
            return structure, parameters
        axes.append(left)
        owners.append(owner)
        cells.append(parameters.log_table(index).ravel())
    pruned = FamilyLayout(layout.n_states, tuple(axes), tuple(owners), layout.target)
    return (
        Structure(parents, structure.target),
        Parameters(pruned, np.concatenate(cells)),
    )


def restore_constant_arcs(structure: Structure, parameters: Parameters) -> Parameters:
    """CPTs of a structure from those without the arcs of variables with one state.

    Parameters
    ----------
    structure : Structure
        The structure with all arcs.
    parameters : Parameters
        One CPT for every family, as `drop_constant_arcs` leaves them.

    Returns
    -------
    object of class Parameters
        One CPT for every family of `structure`.

    Examples
    --------
    >>> nb = Structure(((1,), ()), target=1)
    >>> cpts = Parameters(
    ...     FamilyLayout.of_families((1, 2), nb.families, 1), np.log([1, 1, 0.3, 0.7])
    ... )
    >>> pruned = drop_constant_arcs(nb, cpts)[1]
    >>> np.exp(restore_constant_arcs(nb, pruned).log_theta)
    array([1. , 1. , 0.3, 0.7])
    """
    layout = FamilyLayout.of_families(
        parameters.layout.n_states, structure.families, structure.target
    )
    log_theta = np.zeros(layout.n_cells)
    for v in range(layout.n_tables):
        if layout.n_states[v] > 1:  # the logarithm of one is zero
            cpt = layout.table(log_theta, v)
            cpt[...] = parameters.log_table(v).reshape(cpt.shape)
    return Parameters(layout, log_theta)


def varying_parents(structure: Structure, n_states: Sequence[int]) -> list[list[int]]:
    """Parents of every variable with several states that have several, too.

    Examples
    --------
    >>> varying_parents(Structure(((2, 1), (2,), ()), target=2), (3, 1, 2))
    [[2], [], []]
    """
    return [
        [parent for parent in of if n_states[parent] > 1 and n_states[child] > 1]
        for child, of in enumerate(structure.parents)
    ]
