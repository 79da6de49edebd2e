"""Structures on digits, by what Pernkopf and Bilmes (2010) do not say of the data."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from types import MappingProxyType

import numpy as np

from lab.measurements.coded_datasets import (
    DIGITS,
    Part,
    Smaller,
    digits,
    every_second,
    halved,
    part_of,
)
from lab.measurements.search_accuracy import on_part
from lab.runner.cell import Numbers
from tanager import InputError
from tanager.data import ArrayData

SMALLER: Mapping[str, Smaller] = MappingProxyType(
    {
        "every second pixel": every_second,
        "every second pixel from the first": partial(every_second, first=0),
        "means of four pixels": halved,
    }
)
"""How images of MNIST are made smaller, by name."""


def digit_accuracy(
    *,
    data: str,
    method: str,
    smaller: str = "every second pixel",
    n_train: int | None = None,
    repeat: int = 1,
) -> Numbers:
    """Accuracy of a structure on images of digits.

    Parameters
    ----------
    data : str
        Name of the dataset.
    method : str
        Names of a structure and of a parameter learner, such as ``TAN-OMI-CR-ML``.
    smaller : str, default="every second pixel"
        How images of MNIST are made smaller: a name of `SMALLER`.
    n_train : int or None, default=None
        If given, so many of all samples are drawn for training, and the others are
        tested; None is the published split. Bins are those of the latter in any case.
    repeat : int, default=1
        The seed of the draw.
    """
    part = digits_part(data, smaller)
    if n_train is not None:
        n_rows = sum(one.n_samples for one in part)
        if n_train >= n_rows:
            raise InputError(
                f"{data!r} has {n_rows} samples; n_train={n_train} leaves none to test."
            )
        part = drawn_anew(part, n_train, repeat)
    structure, _, parameters = method.rpartition("-")
    found = on_part(part, structure, [parameters])
    return {
        "accuracy": found[f"right_{parameters}"] / found["rows"],
        "test_rows": found["rows"],
        "free_parameters": found["free_parameters"],
    }


@lru_cache(maxsize=1)
def digits_part(data: str, smaller: str) -> Part:
    """Training and test samples, in memory for the next cell."""
    if smaller not in SMALLER:
        known = ", ".join(map(repr, SMALLER))
        raise InputError(f"smaller={smaller!r} is none of {known}.")
    return digits(SMALLER[smaller]) if data == DIGITS else part_of(data)


def drawn_anew(part: Part, n_train: int, seed: int) -> Part:
    """All samples of a dataset, split at random.

    Examples
    --------
    >>> train, test = drawn_anew(part_of("sklearn/iris", 1), 100, seed=0)
    >>> train.n_samples, test.n_samples
    (100, 50)
    """
    codes = np.concatenate([one.codes for one in part])
    labels = np.concatenate([one.labels for one in part])
    rows = np.random.default_rng(seed).permutation(len(labels))
    return Part(
        *(
            ArrayData(part.train.schema, np.asfortranarray(codes[of]), labels[of])
            for of in (rows[:n_train], rows[n_train:])
        )
    )
