"""Samples of a dataset as a paper prepares them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tanager.datasets import load

DECLARED_FIRST = {
    "weka33/vowel": ("hid", "hId"),
    "weka33/segment": ("brickface", "sky"),
}
"""Classes that the source of a dataset declares before others of the same size."""


@lru_cache(maxsize=4)
def rows_of(
    data: str, n_classes: int | None = None, missing_as: str | None = None
) -> tuple[Any, npt.NDArray[Any]]:
    """Features and classes of a dataset, in memory for the next cell.

    Parameters
    ----------
    data : str
        Name of the dataset.
    n_classes : int or None, default=None
        Keep only samples of the largest classes, of those tied the first: as
        `DECLARED_FIRST` says, else by name.
    missing_as : str or None, default=None
        See `tanager.datasets.load`.
    """
    found = load(data, missing_as=missing_as)
    X, y = found.X, np.asarray(found.y).astype(str)
    if n_classes is not None:
        classes, counts = np.unique(y, return_counts=True)
        later = ~np.isin(classes, DECLARED_FIRST.get(data, ()))
        largest = classes[np.lexsort((later, -counts))[:n_classes]]
        kept = np.isin(y, largest)
        X, y = X[kept].reset_index(drop=True), y[kept]
    return X, y


def filled(train: Any, test: Any) -> tuple[Any, Any]:
    """Missing cells replaced by the mean or the mode of the training samples.

    Numbers without any training value become 0; a nominal column stays as it is.
    """
    values = {}
    for name, column in train.items():
        known = column.dropna()
        if known.dtype.kind in "iuf":
            values[name] = known.mean() if len(known) else 0.0
        elif len(known):
            values[name] = known.mode().iloc[0]
    return train.fillna(values), test.fillna(values)
