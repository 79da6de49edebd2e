"""Tables laid out for another target or another order of variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from tanager.model.layout import FamilyLayout, Parameters, along
from tanager.model.schema import Schema
from tanager.model.structure import Structure
from tanager.types import FloatArray

Table = tuple[Sequence[int], FloatArray]
"""The variables of a log table in the order of its axes, and its values."""


def tables_by_owner(
    parameters: Parameters, variables: Iterable[int]
) -> dict[int, list[Table]]:
    """The log tables that each of `variables` owns."""
    layout = parameters.layout
    return {
        v: [(layout.axes[t], parameters.log_table(t)) for t in layout.tables_of(v)]
        for v in variables
    }


def retarget(
    parameters: Parameters, structure: Structure, target: int | None
) -> Parameters:
    """Lay the tables of a network out for another target, last and fastest in each."""
    if target == parameters.layout.target:
        return parameters
    other = Structure(structure.parents, target)
    tables = tables_by_owner(parameters, range(structure.n_variables))
    layout = FamilyLayout.of_sums(parameters.layout.n_states, other, _scopes(tables))
    return _fill(layout, tables)


def renumber(
    schema: Schema,
    parents: Mapping[int, Sequence[int]],
    tables: Mapping[int, Sequence[Table]],
    target: int,
) -> tuple[Schema, Structure, Parameters]:
    """The parts of a network over the variables of `tables`, in their order.

    Variables are given by their numbers in `schema`; raises `TableSizeError` before
    anything is allocated if the tables are too large.
    """
    place = {v: new for new, v in enumerate(tables)}
    schema = Schema(tuple(schema[v] for v in tables), place[target])
    structure = Structure(
        tuple(tuple(place[p] for p in parents[v]) for v in tables), schema.target
    )
    moved = {
        place[v]: [([place[u] for u in axes], values) for axes, values in own]
        for v, own in tables.items()
    }
    states = schema.n_states.tolist()
    layout = FamilyLayout.of_sums(states, structure, _scopes(moved))
    layout.check_size(schema)
    return schema, structure, _fill(layout, moved)


def _scopes(tables: Mapping[int, Sequence[Table]]) -> list[list[Sequence[int]]]:
    return [[axes for axes, _ in own] for own in tables.values()]


def _fill(layout: FamilyLayout, tables: Mapping[int, Sequence[Table]]) -> Parameters:
    """Copy the values of all tables, by owner, into a layout."""
    log_theta = np.empty(layout.n_cells)
    every = (table for own in tables.values() for table in own)
    for index, (axes, values) in enumerate(every):
        layout.table(log_theta, index)[...] = along(values, axes, layout.axes[index])
    return Parameters(layout, log_theta)
