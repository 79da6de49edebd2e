"""Checks of arguments: features and their costs, and numbers of samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from tanager.errors import InputError, unknown_name
from tanager.model.schema import Schema
from tanager.types import BoolArray, CodeArray, FloatArray
from tanager.utils.validation import check_number


def feature_costs(
    schema: Schema, costs: Mapping[str, float] | None, *, zero: bool = True
) -> FloatArray:
    """Costs of all features, shape (n_features,); those not given cost 1.

    Unknown names, negative costs and, unless `zero`, costs of zero are errors.
    """
    found = np.ones(len(schema) - 1)
    if costs is None:
        return found
    if not isinstance(costs, Mapping):
        raise InputError(
            "costs must be a mapping from names of features to numbers, got "
            f"{type(costs).__name__}."
        )
    for name, cost in costs.items():
        what = f"The cost of {name!r}"
        check_number(what, cost, least=0, above=None if zero else 0)
        found[feature_position(schema, name)] = cost
    return found


def feature_mask(schema: Schema, names: Iterable[str], argument: str) -> BoolArray:
    """Which features are named, shape (n_features,)."""
    if isinstance(names, str):
        raise InputError(
            f"{argument} must be a list of names, got the string {names!r}; write "
            f"[{names!r}]."
        )
    found = np.zeros(len(schema) - 1, dtype=np.bool_)
    for name in names:
        found[feature_position(schema, name)] = True
    return found


def feature_position(schema: Schema, name: object) -> int:
    """Position of a feature by name; other names, that of the class too, are errors."""
    position = schema.position.get(name) if isinstance(name, str) else None
    if position is None or position == len(schema) - 1:
        raise unknown_name("feature", name, schema.names[:-1])
    return position


def single_row(codes: CodeArray) -> CodeArray:
    """The codes of one sample, shape (n_features,), from those of exactly one."""
    if len(codes) != 1:
        raise InputError(
            f"Expected one sample, got {len(codes):,}; give a data frame or array with "
            "one row, such as X[:1]."
        )
    row: CodeArray = codes[0]
    return row


def check_not_empty(codes: CodeArray, name: str) -> None:
    """Check that there is a sample for what is named."""
    if not len(codes):
        raise InputError(f"{name} needs at least one sample, got none.")


def missing_features(schema: Schema, row: CodeArray) -> BoolArray:
    """Which features of a sample have no value: not observed, or a missing state."""
    limits = np.array([v.n_values for v in schema.variables[:-1]])
    return np.asarray(row[: len(limits)] >= limits)
