"""The sets of Roth and Pernkopf (2020), section 4.1, as codes."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tanager.datasets import load
from tanager.experiments.measurements.coded import (
    DIGITS,
    SEED,
    Part,
    binned,
    coded,
    halved,
    small_digits,
)

SIDE = 14
"""Pixels of a side of the small images of digits."""

MARGIN = 4
"""Pixels around the box of 20 x 20 into which the digits of MNIST are fitted."""

MOST_FOLDS = 5


@lru_cache(maxsize=MOST_FOLDS)
def image_part(data: str, fold: int = 1, *, inner: bool = False) -> Part:
    """Training and test rows of a fold, in memory for the next cell.

    The splits are the published ones, apart from those of the digits of MNIST: two
    thirds of the 70,000 images, drawn at random, are for training.

    Parameters
    ----------
    data : str
        Name of the set; its features are discrete, apart from those of the digits.
    fold : int, default=1
        Which one, the first being 1.
    inner : bool, default=False
        Whether digits are made smaller without their margins.
    """
    if data == DIGITS:
        return drawn_digits(inner=inner)
    found = load(data, fold=fold)
    rows = np.arange(found.n_rows)
    return coded(found, rows[: found.n_train], rows[found.n_train :], "categorical")


def drawn_digits(*, inner: bool) -> Part:
    """All images of MNIST made smaller, in bins by MDL of the training part."""
    pixels, labels, _ = small_digits(inner_pixels if inner else halved)
    rows = np.random.default_rng(SEED).permutation(len(labels))
    n_train = round(len(rows) * 2 / 3)
    return binned(pixels, labels, rows[:n_train], rows[n_train:])


def inner_pixels(images: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
    """Images without their margins, made smaller by linear interpolation.

    The weight of a pixel falls linearly with its distance from the middle of the new
    one, to zero at the width of a new one.

    Examples
    --------
    >>> images = np.full((1, 28, 28), 7, dtype=np.uint8)
    >>> inner_pixels(images).shape
    (1, 14, 14)
    """
    size = images.shape[1] - 2 * MARGIN
    scale = size / SIDE
    middles = (np.arange(SIDE) + 0.5) * scale - 0.5
    distances = np.abs(np.arange(size) - middles[:, None])
    weights = np.maximum(1.0 - distances / scale, 0.0)
    weights /= weights.sum(axis=1, keepdims=True)
    inside = images[:, MARGIN:-MARGIN, MARGIN:-MARGIN]
    smaller: npt.NDArray[np.float64] = weights @ inside @ weights.T
    return smaller
