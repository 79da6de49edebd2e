"""`categorical_features` and `ordinal_features` resolved to one role per column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tanager.encoding.array_columns import plain_state
from tanager.encoding.table import Table
from tanager.encoding.variable_fitting import Role
from tanager.errors import InputError, unknown_name
from tanager.model.schema import State


def resolve_roles(table: Table, categorical: Any, ordinal: Any) -> list[Role]:
    """Say for every column what the user's two arguments make of it.

    Parameters
    ----------
    table : Table
        Has the names.
    categorical : None, "all", or names, indices or a mask
        Columns that are categorical even if numeric.
    ordinal : None, "all", names, indices or a mask, or a mapping
        Columns with ordered categories; a mapping also gives these.

    Returns
    -------
    list of Role
        One for every column.
    """
    chosen = set(select_columns(table, categorical, "categorical_features"))
    lists: dict[int, tuple[State, ...]] = {}
    if isinstance(ordinal, Mapping):
        positions = select_columns(table, list(ordinal), "ordinal_features")
        for j, categories in zip(positions, ordinal.values(), strict=True):
            if categories is not None:
                lists[j] = _given_categories(table.names[j], categories)
        ordered = set(positions)
    else:
        ordered = set(select_columns(table, ordinal, "ordinal_features"))
    return [
        Role(j in chosen or j in ordered, j in ordered, lists.get(j))
        for j in range(table.n_columns)
    ]


def _given_categories(name: str, categories: Any) -> tuple[State, ...]:
    if isinstance(categories, str) or not isinstance(categories, Iterable):
        raise InputError(
            f"ordinal_features[{name!r}] must list the categories in order, got "
            f"{categories!r}."
        )
    states = tuple(plain_state(category) for category in categories)
    if not states or len(set(states)) < len(states):
        raise InputError(
            f"ordinal_features[{name!r}] must list different categories, at least one, "
            f"got {list(states)}."
        )
    return states


def select_columns(table: Table, chosen: Any, argument: str) -> list[int]:
    """Positions of the columns a user names.

    Parameters
    ----------
    table : Table
        Has the names.
    chosen : None, "all", names, indices or a mask
        Negative indices count from the end.
    argument : str
        Name of the argument, for errors.

    Returns
    -------
    list of int
        In the order given.
    """
    n_columns = table.n_columns
    if chosen is None:
        return []
    if isinstance(chosen, str):
        if chosen == "all":
            return list(range(n_columns))
        raise InputError(
            f"{argument} must be None, 'all', or a list of names, indices or a mask, "
            f"got {chosen!r}. For a single column, write [{chosen!r}]."
        )
    try:
        items = list(chosen)
    except TypeError:
        raise InputError(
            f"{argument} must be None, 'all', or a list of names, indices or a mask, "
            f"got {chosen!r}."
        ) from None
    if items and all(isinstance(item, (bool, np.bool_)) for item in items):
        if len(items) != n_columns:
            raise InputError(
                f"{argument} is a mask of {len(items)} entries for {n_columns} columns."
            )
        return [j for j, item in enumerate(items) if item]
    return [_position(table, item, argument) for item in items]


def _position(table: Table, item: Any, argument: str) -> int:
    if isinstance(item, str):
        if item not in table.names:
            raise unknown_name(f"column in {argument}", item, table.names)
        return table.names.index(item)
    if isinstance(item, (int, np.integer)) and not isinstance(item, bool):
        if not -table.n_columns <= item < table.n_columns:
            raise InputError(
                f"{argument} names column {item}, but there are {table.n_columns}."
            )
        return int(item) % table.n_columns
    raise InputError(f"{argument} must hold names, indices or a mask, got {item!r}.")
