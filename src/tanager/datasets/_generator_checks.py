"""Argument checks of the generators, and datasets made of codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from tanager.datasets._dataset import TARGET, Column, Dataset, Nominal, make_frame
from tanager.errors import InputError
from tanager.types import LabelArray

RandomState = int | np.random.Generator | None


def nominal_dataset(
    name: str,
    features: Mapping[str, LabelArray],
    label: LabelArray,
    description: str,
    *,
    n_states: int = 2,
    states: Sequence[str] = (),
    labels: Sequence[str] = ("0", "1"),
    n_train: int | None = None,
    truth: Mapping[str, Any] | None = None,
) -> Dataset:
    states = states or [str(state) for state in range(n_states)]
    columns: dict[str, Column] = {
        feature: Nominal(codes, states) for feature, codes in features.items()
    }
    columns[TARGET] = Nominal(label, labels)
    return Dataset(
        name,
        make_frame(columns),
        TARGET,
        f"{len(label)} rows. {description}",
        "generator",
        n_train,
        None if truth is None else MappingProxyType(dict(truth)),
    )


def check_whole(name: str, value: object, low: int, high: int | None = None) -> None:
    ok = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not ok or value < low or (high is not None and value > high):  # type: ignore[operator]
        span = f"at least {low}" if high is None else f"from {low} to {high}"
        raise InputError(f"`{name}` must be a whole number, {span}; got {value!r}.")
