"""Columns at predict time against those at fit: number, names, order, kind."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from tanager.encoding.table import Column, Table
from tanager.errors import InputError, unknown_name
from tanager.model.schema import Schema, State, Variable

MISSING_ONLY = "(missing)"
"""The one state of a categorical column that had no value at fit."""


def check_features(estimator: Any, table: Table, *, reset: bool) -> None:
    """Store, or compare with those stored, the number and names of the columns.

    This is scikit-learn's check with its words, for every kind of table alike.

    Parameters
    ----------
    estimator : object
        Has or gets `n_features_in_` and, for named tables, `feature_names_in_`.
    table : Table
        The columns that came.
    reset : bool
        True in `fit`, False afterwards.
    """
    if reset:
        estimator.n_features_in_ = table.n_columns
        if table.has_names:
            estimator.feature_names_in_ = np.array(table.names, dtype=object)
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
        return
    who = type(estimator).__name__
    fitted = getattr(estimator, "feature_names_in_", None)
    if fitted is not None and table.has_names:
        check_names(table.names, tuple(fitted))
    elif table.has_names:
        warnings.warn(
            f"X has feature names, but {who} was fitted without feature names",
            UserWarning,
            stacklevel=3,
        )
    elif fitted is not None:
        warnings.warn(
            f"X does not have valid feature names, but {who} was fitted with feature "
            "names",
            UserWarning,
            stacklevel=3,
        )
    if table.n_columns != estimator.n_features_in_:
        raise InputError(
            f"X has {table.n_columns} features, but {who} is expecting "
            f"{estimator.n_features_in_} features as input."
        )


def check_names(names: Sequence[str], fitted: Sequence[str]) -> None:
    """Refuse columns that are not those of fit in the order of fit.

    Parameters
    ----------
    names : sequence of str
        Names that came.
    fitted : sequence of str
        Names at fit.
    """
    if tuple(names) == tuple(fitted):
        return
    unexpected = sorted(set(names) - set(fitted))
    absent = sorted(set(fitted) - set(names))
    message = "The feature names should match those that were passed during fit.\n"
    if unexpected:
        message += f"Feature names unseen at fit time:\n{_listed(unexpected)}"
    if absent:
        message += (
            f"Feature names seen at fit time, yet now missing:\n{_listed(absent)}"
        )
    if not unexpected and not absent:
        message += "Feature names must be in the same order as they were in fit.\n"
    raise InputError(message)


def matched_by_name(table: Table, schema: Schema) -> Table:
    """The columns of a named table in the order of a network's features.

    Parameters
    ----------
    table : Table
        What came, with names. Its columns may stand in any order, and that of the
        target is left out.
    schema : Schema
        The variables of the network, the target last.

    Returns
    -------
    Table
        One column for every feature; one that did not come is missing in every row.

    Examples
    --------
    >>> from tanager.encoding import as_table
    >>> schema = Schema(tuple(Variable(n, ("0", "1")) for n in "abc"), target=2)
    >>> found = matched_by_name(as_table({"c": ["1"], "b": ["0"]}), schema)
    >>> found.names, found.column(0).values, found.column(1).categories
    (('a', 'b'), array([nan]), ('0',))
    """
    features = schema.names[:-1]
    if table.names == features:
        return table
    for name in table.names:
        if name not in schema.position:
            raise InputError(
                f"{unknown_name('column', name, schema.names)} Columns are matched by "
                "name with the variables of the network; rename or leave out this one."
            )
    positions = {name: j for j, name in enumerate(table.names)}
    nothing = np.full(table.n_rows, np.nan)
    columns = tuple(
        table.column(positions[name])
        if name in positions
        else Column(name, values=nothing)
        for name in features
    )
    return Table(features, table.n_rows, columns, None, True)


def _listed(names: Sequence[str]) -> str:
    more = "- ...\n" if len(names) > 5 else ""
    return "".join(f"- {name}\n" for name in names[:5]) + more


def check_kind(column: Column, variable: Variable) -> None:
    """Refuse text where numbers are expected, and numbers where text is.

    A column without a single value fits everything. Numbers fit a categorical variable
    that has numbers among its states.

    Parameters
    ----------
    column : Column
        The column that came.
    variable : Variable
        What it was at fit.
    """
    if variable.states == (MISSING_ONLY,):
        return
    if variable.cuts is not None:
        if column.is_numeric or not has_values(column):
            return
        shown = ", ".join(map(repr, column.categories[:3]))
        raise InputError(
            f"Column {variable.name!r} was numeric at fit and now holds categories "
            f"({shown}); expected numbers. Convert the column, or fit it as a "
            "category with categorical_features."
        )
    textual = all(isinstance(state, str) for state in variable.states)
    if column.is_numeric:
        if textual and has_values(column):
            raise InputError(
                f"Column {variable.name!r} was categorical at fit, with states such as "
                f"{variable.states[0]!r}, and is now numeric ({column.data.dtype}); "
                "expected the same categories. Convert the column to strings."
            )
        return
    numeric = not any(isinstance(state, str) for state in variable.states)
    if (
        numeric
        and all(isinstance(state, str) for state in column.categories)
        and has_values(column)
    ):
        raise InputError(
            f"Column {variable.name!r} had numbers as categories at fit, such as "
            f"{variable.states[0]!r}, and now holds text, such as "
            f"{column.categories[0]!r}; expected numbers. Convert the column."
        )


def warn_of_near_misses(table: Table, variables: Sequence[Variable]) -> None:
    """Warn where all values of a column are unknown and one is nearly a state.

    Such as True where a state is the text 'True', or 'Yes' where one is 'yes'. A new
    category is no mistake, but a column in which nothing is known and something looks
    known almost surely is. Only categories are compared; rows are looked at where one
    of them is a near miss, since not all categories need occur.

    Parameters
    ----------
    table : Table
        The columns that came, in the order of `variables`.
    variables : sequence of Variable
        What they are to be.
    """
    if table.columns is None:  # numbers
        return
    found = [
        (variable.name, *miss)
        for column, variable in zip(table.columns, variables, strict=True)
        if variable.cuts is None
        and not column.is_numeric
        and (miss := _near_miss(column, variable)) is not None
    ]
    if found:
        name, value, state = found[0]
        more = f" The same holds for {len(found) - 1} more column(s)."
        warnings.warn(
            f"No value of column {name!r} is a state of its variable, but {value!r} "
            f"(of type {type(value).__name__}) is almost the state {state!r} (of type "
            f"{type(state).__name__}). All its values count as missing; write them as "
            f"the states are written.{more if found[1:] else ''}",
            UserWarning,
            stacklevel=3,
        )


def _near_miss(column: Column, variable: Variable) -> tuple[State, State] | None:
    """A value and the state it was meant to be, if no value is a state."""
    known = variable.code_by_state
    if any(category in known for category in column.categories):
        return None
    texts = {str(state).casefold(): state for state in reversed(variable.states)}
    for code, category in enumerate(column.categories):
        state = texts.get(str(category).casefold())
        if state is not None and (column.data == code).any():
            return category, state
    return None


def has_values(column: Column) -> bool:
    """Whether any cell of a column is there."""
    if column.is_numeric:
        return not bool(np.isnan(column.data).all())
    return bool(column.categories) and bool((column.data >= 0).any())
