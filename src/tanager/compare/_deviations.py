"""Standard deviations of the scores on one dataset."""

from __future__ import annotations

import numpy as np

from tanager.errors import InputError
from tanager.types import FloatArray
from tanager.utils.validation import check_whole


def of_folds(values: FloatArray) -> FloatArray:
    """Of the values of the folds, for every method; NaN for a single value."""
    if values.shape[1] == 1:
        return np.full(len(values), np.nan)
    return np.asarray(values.std(axis=1, ddof=1))


def of_split(dataset: str, values: FloatArray, test_rows: int) -> FloatArray:
    """Of accuracies on the test rows of a single split: sqrt(p (1 - p) / n)."""
    check_whole(f"test_rows of dataset {dataset!r}", test_rows, 1)
    if values.shape[1] != 1:
        raise InputError(
            f"Dataset {dataset!r} has {values.shape[1]} values; test_rows is for a "
            "single split. Leave it out for cross-validation."
        )
    p = values[:, 0]
    outside = p[(p < 0) | (p > 1)]
    if len(outside):
        raise InputError(
            "The deviation of a single split is for fractions from 0 to 1, but dataset "
            f"{dataset!r} has {outside[0]:g}; divide percentages by 100."
        )
    return np.asarray(np.sqrt(p * (1.0 - p) / test_rows))
