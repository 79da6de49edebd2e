"""The sets of Roth and Pernkopf (2020), section 4.1, as codes."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import train_test_split

from lab.measurements.coded_datasets import (
    DIGITS,
    SEED,
    Part,
    Smaller,
    coded,
    in_bins,
    small_digits,
)
from tanager.datasets import load
from tanager.types import FloatArray, IndexArray

MOST_FOLDS = 5

BLOCK = 4096
"""Images that are made smaller at once."""


@lru_cache(maxsize=MOST_FOLDS)
def image_part(data: str, fold: int = 1) -> Part:
    """Training and test samples of a fold, in memory for the next cell.

    The splits are the published ones, apart from that of the digits of MNIST, which is
    not published; see `drawn_digits`.

    Parameters
    ----------
    data : str
        Name of the dataset; its features are discrete, apart from those of the digits.
    fold : int, default=1
        Which one, the first being 1.
    """
    if data == DIGITS:
        return drawn_digits()
    found = load(data, fold=fold)
    rows = np.arange(found.n_rows)
    return coded(found, rows[: found.n_train], rows[found.n_train :], "categorical")


def drawn_digits() -> Part:
    """All images of MNIST made smaller, two thirds of them for training.

    The paper's images are not public, but information of their pixels is. It comes
    out, but for a few pixels and for what random seeds of samples differ by, if images
    are made smaller by `cubic`, pixels run column by column, and MDL cut points come
    from the first 60,000 images; see docs/gradient.md. So the bins have seen most of
    the test samples, as they must have in the paper. Orders of pixels by samples run
    along columns, too, as in the published code.
    """
    pixels, labels, n_first = small_digits(by_columns(cubic))
    data = in_bins(pixels, labels, np.arange(n_first))
    train, test = drawn_rows(labels, SEED)
    return Part(data.take(train), data.take(test))


def drawn_rows(
    labels: npt.NDArray[np.uint8], seed: int
) -> tuple[IndexArray, IndexArray]:
    """Two thirds of the samples of every class, drawn at random, and the others.

    The published splits of letter and usps have as much of every class, too.

    Examples
    --------
    >>> labels = np.repeat([0, 1], 6).astype(np.uint8)
    >>> train, test = drawn_rows(labels, 0)
    >>> np.bincount(labels[train]), np.bincount(labels[test])
    (array([4, 4]), array([2, 2]))
    """
    rows = np.arange(len(labels))
    train, test = train_test_split(
        rows, train_size=2 / 3, stratify=labels, random_state=seed
    )
    return train, test


def by_columns(smaller: Smaller) -> Smaller:
    """Make images smaller in some way, with pixels that run column by column.

    Examples
    --------
    >>> image = np.arange(16, dtype=np.uint8).reshape(1, 4, 4)
    >>> by_columns(lambda images: images[:, ::2, ::2].astype(float))(image)
    array([[[ 0.,  8.],
            [ 2., 10.]]])
    """
    return lambda images: smaller(images).transpose(0, 2, 1)


def cubic(images: npt.NDArray[np.uint8]) -> FloatArray:
    """Images of half the size by the cubic convolution of Keys (1981).

    Its kernel is twice as wide as for images of the same size. At some distance from
    the middle it is negative, so that strokes have faint rims of negative values; they
    are neither cut off nor rounded. Outside an image all is zero.

    Examples
    --------
    >>> images = np.zeros((1, 28, 28), dtype=np.uint8)
    >>> images[0, 10:, :] = 128
    >>> cubic(images)[0, 3:7, 6].tolist()
    [-1.5, 8.5, 119.5, 129.5]
    """
    return weighed(images, _cubic_weights(images.shape[1]))


def weighed(images: npt.NDArray[np.uint8], weights: FloatArray) -> FloatArray:
    """Images of other sizes: weighted sums of pixels along both sides.

    Parameters
    ----------
    images : ndarray of shape (n, size, size)
        Grey values.
    weights : ndarray of shape (new size, size)
        Of old pixels in new ones.
    """
    smaller = np.empty((len(images), *weights.shape[:1] * 2))
    for first in range(0, len(images), BLOCK):  # for the sake of memory
        block = slice(first, first + BLOCK)
        smaller[block] = weights @ images[block] @ weights.T
    return smaller


def _cubic_weights(size: int) -> FloatArray:
    """Weights of old pixels in new ones, of which there are half as many.

    They are multiples of 1/256, so sums are exact: equal strokes have equal values,
    between which no bin can end.
    """
    middles = 2 * np.arange(size // 2) + 0.5
    d = np.abs(np.arange(size) - middles[:, None]) / 2
    near = 1.5 * d**3 - 2.5 * d**2 + 1
    far = -0.5 * d**3 + 2.5 * d**2 - 4 * d + 2
    weights: FloatArray = np.where(d <= 1, near, np.where(d < 2, far, 0.0))
    return weights / 2
