"""The roles of columns: what the arguments of `TableEncoder` say about each."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tanager.encoding.column_facts import (
    ColumnFacts,
    column_facts,
    feature_kind,
    is_key,
)
from tanager.encoding.frame import Frame, plain_state
from tanager.encoding.numeric_encoders import MAX_EXACT
from tanager.errors import DataWarning, InputError, listed, unknown_name
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
    left_out : bool, default=False
        Whether the column takes no part in the model.
    """

    categorical: bool = False
    ordered: bool = False
    categories: tuple[State, ...] | None = None
    left_out: bool = False


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


def infer_roles(
    frame: Frame, roles: Sequence[Role], *, keep: bool = False
) -> list[Role]:
    """Complete given roles by what the columns look like, and warn where it matters.

    Parameters
    ----------
    frame : Frame
        The training data.
    roles : sequence of Role
        What the arguments say of every column; a column that they make categorical
        stays.
    keep : bool, default=False
        Whether identifiers stay.

    Returns
    -------
    list of Role
        The same roles, but identifiers are left out, and integers that floats do not
        separate are categories.
    """
    if _is_plain(frame):
        return list(roles)
    known = [column_facts(frame.column(j)) for j in range(len(roles))]
    return complete_roles(known, roles, keep=keep)


def complete_roles(
    known: Sequence[ColumnFacts], roles: Sequence[Role], *, keep: bool = False
) -> list[Role]:
    """Complete roles as `infer_roles` does, from what is known of the columns."""
    found = []
    identifiers, inexact, spelled = [], [], []
    for facts, role in zip(known, roles, strict=True):
        if facts.looks_misread and not role.categorical:
            spelled.append(facts)
        if feature_kind(facts) == "identifier" and not (keep or role.categorical):
            identifiers.append(facts)
            role = replace(role, left_out=True)
        elif not facts.exact and not role.categorical:
            inexact.append(facts)
            role = replace(role, categorical=True)
        found.append(role)
    for facts in spelled:
        _warn(spelling_text(facts, left_out=facts in identifiers))
    others = [facts for facts in identifiers if facts not in spelled]
    if others:
        several = len(others) > 1
        _warn(
            f"Column{'s' * several} {listed([facts.name for facts in others])} "
            f"{'are' if several else 'is'} left out: almost every value is different, "
            f"so {'they identify' if several else 'it identifies'} samples. Drop "
            f"{'them' if several else 'it'}, or keep {'them' if several else 'it'}: "
            'set_params(encoder__identifiers="keep"), --categorical in a command.'
        )
    if inexact:
        _warn(
            f"The integers in {listed([facts.name for facts in inexact])} are beyond "
            "2^53, where floats do not separate all of them, so every value is a "
            "category. Subtract a constant if they are quantities."
        )
    return found


def _is_plain(frame: Frame) -> bool:
    """Whether a matrix has neither names of keys nor integers beyond 2^53."""
    matrix = frame.matrix
    if matrix is None or (frame.has_names and any(map(is_key, frame.names))):
        return False
    return matrix.dtype.kind == "f" or (
        matrix.dtype.itemsize < 8
        or max(-int(matrix.min()), int(matrix.max())) <= MAX_EXACT
    )


def spelling_text(facts: ColumnFacts, *, left_out: bool = False) -> str:
    """Say that texts spell numbers or dates, and how to convert them."""
    besides = "" if facts.odd is None else f" besides text such as {facts.odd!r}"
    so = "its values are categories"
    if left_out:
        so = "it is left out, since almost every value is different"
    remedy = "pandas.to_numeric(column, errors='coerce')"
    if facts.spelling == "dates":
        remedy = "pandas.to_datetime(column, errors='coerce')"
    elif facts.spelling == "numbers with thousands separators":
        remedy = "column.str.replace(',', '').astype(float)"
    elif facts.spelling == "numbers with decimal commas":
        remedy = "the argument decimal=',' of pandas.read_csv"
    return (
        f"Column {facts.name!r} holds {facts.spelling} as text{besides}, so {so}. "
        f"Convert it, for instance with {remedy}."
    )


def _warn(message: str) -> None:
    warnings.warn(message, DataWarning, stacklevel=2)


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
