"""Datasets with awkward values, whole and in parts, for tests of partitioned data."""

from __future__ import annotations

import itertools

import numpy as np

from tanager.data import ArrayData
from tanager.data.partition_values import LocalPlaced, Placed
from tanager.data.partitioned_data import LocalPartitions
from tanager.model import Schema, Variable


def make_data(
    n_samples: int = 3000,
    *,
    n_features: int = 6,
    n_classes: int = 3,
    missing: float = 0.0,
    unlabelled: float = 0.0,
    weighted: bool = False,
    seed: int = 0,
    ordered: bool = False,
) -> ArrayData:
    """Dependent features with 2 to 5 states, a constant one, and a class."""
    random = np.random.default_rng(seed)
    labels = random.choice(n_classes, n_samples, p=_skewed(n_classes))
    states = [2 + j % 4 for j in range(n_features)]
    columns = []
    before = labels
    for j, r in enumerate(states):
        noise = random.integers(0, r, n_samples)
        use = random.random(n_samples) < 0.55
        columns.append(np.where(use, (labels + before * (j % 2)) % r, noise))
        before = columns[-1]
    codes = np.array(columns, dtype=np.uint8).T
    codes[:, -1] = 0  # constant
    states[-1] = 2
    if missing:
        holes = random.random(codes.shape) < missing
        codes = np.where(holes, np.array(states, dtype=np.uint8), codes)
    labels = labels.astype(np.uint8)
    if unlabelled:
        labels[random.random(n_samples) < unlabelled] = n_classes
    weights = random.integers(1, 4, n_samples) * 0.5 if weighted else None
    variables = [
        Variable(
            f"x{j}",
            tuple(range(r)),
            ordered=ordered,
        )
        for j, r in enumerate(states)
    ]
    schema = Schema(
        (*variables, Variable("class", tuple(range(n_classes)))), target=n_features
    )
    return ArrayData(schema, np.asfortranarray(codes), labels, weights)


def _skewed(n_classes: int) -> np.ndarray:
    sizes = 1.0 / np.arange(1, n_classes + 1)
    return sizes / sizes.sum()


def cut(data: ArrayData, n_parts: int, *, empty: bool = True) -> LocalPartitions:
    """Cut data into parts of different sizes, one of them empty if there are three."""
    random = np.random.default_rng(n_parts)
    borders = np.sort(random.integers(0, data.n_samples, n_parts - 1))
    if empty and n_parts > 2:
        borders[1] = borders[0]
    edges = [0, *borders.tolist(), data.n_samples]
    return LocalPartitions(
        [data.take(np.arange(a, b)) for a, b in itertools.pairwise(edges)]
    )


class ForgetfulPartitions(LocalPartitions):
    """Parts whose values are lost before every call, as those of a worker that dies."""

    def place(self, make, *arguments, each=None):
        return _ForgetfulPlaced(
            lambda: LocalPartitions.place(self, make, *arguments, each=each)
        )


class _ForgetfulPlaced(Placed):
    def __init__(self, make):
        self._make = make
        self._updates = []

    def _values(self) -> LocalPlaced:
        placed = self._make()
        for function, arguments in self._updates:
            placed.update(function, *arguments)
        return placed

    def update(self, function, *arguments):
        self._updates.append((function, arguments))

    def collect(self, function, *arguments, each=None):
        return self._values().collect(function, *arguments, each=each)

    def sum(self, function, *arguments, each=None):
        return self._values().sum(function, *arguments, each=each)

    def fold(self, function, start, *arguments):
        return self._values().fold(function, start, *arguments)
