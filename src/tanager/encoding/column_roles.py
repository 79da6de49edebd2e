"""The roles of columns: what the arguments of `TableEncoder` say about each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tanager.encoding.frame import plain_state
from tanager.errors import InputError, unknown_name
from tanager.model.schema import State


@dataclass(frozen=True)
class Role:
    """What the arguments of an encoder say about one column.

    Parameters
    ----------
    categorical : bool, default=False
        Whether the values are categories even if they are numbers.
    ordered : bool, default=False
        Whether the categories are ordered.
    categories : tuple of str, int, float or bool, or None
        The categories in order, if they are given.
    """

    categorical: bool = False
    ordered: bool = False
    categories: tuple[State, ...] | None = None


def resolve_roles(names: Sequence[str], categorical: Any, ordinal: Any) -> list[Role]:
    """Roles of the columns from `categorical_features` and `ordinal_features`."""
    chosen = set(_select_columns(names, categorical, "categorical_features"))
    lists: dict[int, tuple[State, ...]] = {}
    if isinstance(ordinal, Mapping):
        positions = _select_columns(names, list(ordinal), "ordinal_features")
        for j, categories in zip(positions, ordinal.values(), strict=True):
            if categories is not None:
                lists[j] = _given_categories(names[j], categories)
        ordered = set(positions)
    else:
        ordered = set(_select_columns(names, ordinal, "ordinal_features"))
    return [
        Role(j in chosen or j in ordered, j in ordered, lists.get(j))
        for j in range(len(names))
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


def _select_columns(names: Sequence[str], chosen: Any, argument: str) -> list[int]:
    """Positions, in the order given, of the columns that an argument selects."""
    n_columns = len(names)
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
    return [_position(names, item, argument) for item in items]


def _position(names: Sequence[str], item: Any, argument: str) -> int:
    if isinstance(item, str):
        if item not in names:
            raise unknown_name(f"column in {argument}", item, names)
        return list(names).index(item)
    if isinstance(item, (int, np.integer)) and not isinstance(item, bool):
        if not -len(names) <= item < len(names):
            raise InputError(
                f"{argument} names column {item}, but there are {len(names)}."
            )
        return int(item) % len(names)
    raise InputError(f"{argument} must hold names, indices or a mask, got {item!r}.")
