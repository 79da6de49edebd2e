"""The states of features: found in columns, extended by further data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from tanager.encoding.column_roles import Role
from tanager.encoding.encoding_plan import MISSING_ONLY, check_kind, infinite
from tanager.encoding.frame import Column, Frame
from tanager.encoding.numeric_encoders import MAX_EXACT
from tanager.errors import InputError
from tanager.model.schema import Schema, State, Variable


def occurring_states(column: Column) -> tuple[State, ...]:
    """Categories that occur in a column, sorted; all declared ones, in their order.

    Whole numbers stored as floats, as in a column of integers with missing values,
    become integers. Empty if every cell is missing.
    """
    if not column.is_numeric:
        if column.declared:
            return column.categories
        return sort_states(used_categories(column))
    values = column.data
    if values.dtype.kind == "f":
        values = values[~np.isnan(values)]
    found = np.unique(values)
    if found.dtype.kind == "f":
        found = found.astype(np.float64)
        if np.isinf(found).any():
            raise infinite(column.name)
        if (found == np.trunc(found)).all() and (np.abs(found) <= MAX_EXACT).all():
            found = found.astype(np.int64)
    return tuple(found.tolist())


def used_categories(column: Column) -> list[State]:
    """Categories that occur in a categorical column, in its order."""
    codes = column.data
    counts = np.bincount(codes[codes >= 0], minlength=len(column.categories))
    return [column.categories[i] for i in np.flatnonzero(counts)]


def sort_states(states: Iterable[State]) -> tuple[State, ...]:
    """Sort categories: numbers by value, then strings by code point."""
    found = list(states)
    numbers = sorted(state for state in found if not isinstance(state, str))
    return *numbers, *sorted(state for state in found if isinstance(state, str))


def categorical_variable(
    name: str,
    role: Role,
    found: tuple[State, ...],
    *,
    used: Iterable[State],
    ordered: bool,
) -> Variable:
    """The variable of a categorical column.

    `found` are the states that occur, or those that the source declares, and `ordered`
    says whether it declares their order; `used` are those that occur.
    """
    states = found
    if role.categories is not None:
        known = set(role.categories)
        other = [state for state in used if state not in known]
        if other:
            raise InputError(
                f"Column {name!r} holds {other[0]!r}, which is not among the "
                f"categories given in ordinal_features: {list(role.categories)}."
            )
        states = role.categories
    return Variable(name, states or (MISSING_ONLY,), ordered=ordered or role.ordered)


def extend_schema(
    schema: Schema, frame: Frame, *, missing_state: bool = False
) -> Schema:
    """Add the categories of new data to the variables; bins stay.

    Parameters
    ----------
    schema : Schema
        The features so far.
    frame : Frame
        New data, the columns in the same order.
    missing_state : bool, default=False
        Whether columns with missing values get a state for them.

    Returns
    -------
    Schema
        The same variables, extended as by `extend_variable`.

    Examples
    --------
    >>> from tanager.encoding import read_frame
    >>> known = Schema((Variable("sky", ("blue", "grey")),))
    >>> extend_schema(known, read_frame([["red"], ["blue"]]))[0].states
    ('blue', 'grey', 'red')
    """
    variables = []
    for j, variable in enumerate(schema.variables):
        column = frame.column(j)
        check_kind(column, variable)
        if variable.cuts is None:
            untyped = variable.states == (MISSING_ONLY,)
            if untyped and column.is_numeric and column.is_observed().any():
                raise InputError(
                    f"Column {variable.name!r} had no value in the first batch, so it "
                    "was taken as categorical, and now it is numeric. Begin with a "
                    "batch in which it has values, or give it a numeric type from the "
                    "start."
                )
            variable = extend_variable(variable, occurring_states(column))
        if missing_state and column.is_incomplete():
            variable = variable.with_missing_state()
        variables.append(variable)
    return replace(schema, variables=tuple(variables))


def extend_variable(known: Variable, states: tuple[State, ...]) -> Variable:
    """Add states to a categorical variable; a discretised one stays as it is.

    Sorted states stay sorted; otherwise new ones come last, but before the state of a
    missing value. Ordered states take a new order only if it contains the old one.
    """
    if known.missing_state:
        values = replace(known, states=known.value_states, missing_state=False)
        return extend_variable(values, states).with_missing_state()
    if known.cuts is not None or states in ((), (MISSING_ONLY,)):
        return known
    if known.states == (MISSING_ONLY,):
        return replace(known, states=states)
    fresh = [state for state in states if state not in known.code_by_state]
    if not fresh:
        return known
    if known.ordered:
        if tuple(s for s in states if s in known.code_by_state) == known.states:
            return replace(known, states=states)
        raise InputError(
            f"The states of {known.name!r} are ordered, {list(known.states)}, and "
            f"{fresh[0]!r} has no place among them. Declare all categories in order "
            "from the start."
        )
    together = (*known.states, *fresh)
    if known.states == sort_states(known.states):
        together = sort_states(together)
    return replace(known, states=together)
