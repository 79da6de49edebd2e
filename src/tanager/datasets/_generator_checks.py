"""Argument checks of the generators, and datasets made of codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tanager.datasets._dataset import TARGET, Column, Dataset, Nominal, make_frame
from tanager.types import LabelArray
from tanager.utils.validation import check_whole

RandomState = int | np.random.Generator | None


def nominal_dataset(
    name: str,
    features: Mapping[str, LabelArray],
    label: LabelArray,
    description: str,
    *,
    states: Sequence[str] = ("0", "1"),
    labels: Sequence[str] = ("0", "1"),
    n_train: int | None = None,
) -> Dataset:
    """A generated dataset whose features all have the same states."""
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
    )


def check_sizes(**sizes: Any) -> None:
    """Raise `InputError` unless all arguments are whole numbers of at least 1."""
    for name, value in sizes.items():
        check_whole(name, value, 1)
