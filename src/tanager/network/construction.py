"""Schema, structure and parameters of a network from names and CPTs, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tanager.errors import InputError, unknown_name
from tanager.model.layout import FamilyLayout, Parameters, along
from tanager.model.schema import Schema, State, Variable
from tanager.model.structure import Structure, find_cycle
from tanager.types import FloatArray

SUM_TOLERANCE = 1e-6
"""Allowed deviation of a row of probabilities from one; rows are then normalised."""


def make_schema(variables: Mapping[str, Sequence[State]], target: str | None) -> Schema:
    """Make a schema from lists of states."""
    made = tuple(
        Variable(name, tuple(s.item() if isinstance(s, np.generic) else s for s in of))
        for name, of in variables.items()
    )
    if not made:
        raise InputError("A network needs at least one variable.")
    names = [variable.name for variable in made]
    if target is not None and target not in names:
        raise unknown_name("target", target, names)
    return Schema(made, None if target is None else names.index(target))


def make_parameters(
    schema: Schema, tables: Mapping[str, Any]
) -> tuple[Structure, Parameters]:
    """Make structure and parameters from CPTs; see `Network.build`."""
    for name in tables:
        schema.index(name)
    parents: list[tuple[int, ...]] = []
    given: list[Any] = []
    for variable in schema:
        if variable.name not in tables:
            raise InputError(f"There is no CPT for {variable.name!r}; add one.")
        names, values = _split(tables[variable.name])
        parents.append(tuple(schema.index(name) for name in names))
        given.append(values)
    cycle = find_cycle(parents)
    if cycle:
        names = " -> ".join(schema[v].name for v in cycle)
        raise InputError(f"The arcs form a cycle: {names}. Remove one of them.")
    structure = Structure(tuple(parents), schema.target)
    layout = FamilyLayout.of_structure(schema, structure)
    log_theta = np.empty(layout.n_cells)
    for index, family in enumerate(structure.families):
        rows = _check_rows(schema, family, given[index])
        rows = along(rows, family, layout.axes[index])
        with np.errstate(divide="ignore"):
            layout.table(log_theta, index)[...] = np.log(rows)
    return structure, Parameters(layout, log_theta)


def _split(table: Any) -> tuple[Sequence[str], Any]:
    """Parents and values of a CPT given as an array or as (parents, array)."""
    if (
        isinstance(table, tuple)
        and len(table) == 2
        and isinstance(table[0], (str, list, tuple))
        and all(isinstance(name, str) for name in table[0])
    ):
        names = [table[0]] if isinstance(table[0], str) else table[0]
        return names, table[1]
    return (), table


def _check_rows(schema: Schema, family: tuple[int, ...], values: Any) -> FloatArray:
    """Check the probabilities of a family, and normalise them exactly."""
    name = schema[family[-1]].name
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"The CPT of {name!r} is not an array of numbers, or a pair (parents, "
            f"array): {str(error).rstrip('.')}."
        ) from None
    shape = tuple(schema[v].n_states for v in family)
    if array.shape != shape:
        axes = [schema[v].name for v in family]
        raise InputError(
            f"The CPT of {name!r} has shape {array.shape}; expected {shape}, the "
            f"states of {axes} in this order."
        )
    if not np.isfinite(array).all() or (array < 0).any():
        raise InputError(
            f"The CPT of {name!r} has entries that are negative, infinite or not "
            "numbers; expected probabilities."
        )
    total = array.sum(axis=-1, keepdims=True)
    odd = float(total.ravel()[np.abs(total - 1.0).argmax()])
    if abs(odd - 1.0) > SUM_TOLERANCE:
        raise InputError(
            f"A row of the CPT of {name!r} sums to {odd:.6g}; every row (last axis) "
            "must sum to 1."
        )
    rows: FloatArray = array / total
    return rows
