"""Variables that learn of further states, from new rows or another data set."""

from __future__ import annotations

from dataclasses import replace

from tanager.encoding.column_alignment import MISSING_ONLY, check_kind, has_values
from tanager.encoding.table import Table
from tanager.encoding.variable_fitting import occurring_states, sorted_states
from tanager.errors import InputError
from tanager.model.schema import Schema, State, Variable


def joined_variable(known: Variable, states: tuple[State, ...]) -> Variable:
    """A variable with further states.

    Parameters
    ----------
    known : Variable
        The variable so far; a binned one stays as it is.
    states : tuple of str, int, float or bool
        States it is to have as well.

    Returns
    -------
    Variable
        States stay sorted if they were; otherwise new ones come last. Ordered states
        take a new order only if it holds all of the old one.

    Examples
    --------
    >>> joined_variable(Variable("sky", ("blue", "red")), ("green", "red")).states
    ('blue', 'green', 'red')
    """
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
    if known.states == sorted_states(known.states):
        together = sorted_states(together)
    return replace(known, states=together)


def extend_schema(schema: Schema, table: Table) -> Schema:
    """Take the categories of new rows into the variables; bins stay.

    Parameters
    ----------
    schema : Schema
        The features as known so far.
    table : Table
        New rows, the columns in the same order.

    Returns
    -------
    Schema
        The same variables, with what `joined_variable` adds.

    Examples
    --------
    >>> from tanager.encoding import as_table
    >>> known = Schema((Variable("sky", ("blue", "grey")),))
    >>> extend_schema(known, as_table([["red"], ["blue"]]))[0].states
    ('blue', 'grey', 'red')
    """
    variables = []
    for j, variable in enumerate(schema.variables):
        column = table.column(j)
        check_kind(column, variable)
        if variable.cuts is None:
            untyped = variable.states == (MISSING_ONLY,)
            if untyped and column.is_numeric and has_values(column):
                raise InputError(
                    f"Column {variable.name!r} had no value in the first rows, so it "
                    "was taken as categorical, and now it is numeric. Begin with rows "
                    "in which it has values, or give it a numeric type from the start."
                )
            variable = joined_variable(variable, occurring_states(column))
        variables.append(variable)
    return replace(schema, variables=tuple(variables))
