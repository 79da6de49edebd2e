"""Orders of the pixels of an image (A, B, C), and how far pixels are apart."""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt

import numpy as np
import numpy.typing as npt

from tanager.errors import InputError, unknown_name
from tanager.types import IntArray
from tanager.utils.validation import check_whole, is_whole


def image_order(name: str, height: int, width: int) -> IntArray:
    """Order of the pixels of an image, by name.

    Parameters
    ----------
    name : {"rows", "diagonal", "centre"}
        See `row_order`, `diagonal_order` and `centre_order`.
    height, width : int
        Rows and columns of the image, at least 1.

    Returns
    -------
    ndarray of int64, shape (height * width,)
        Positions of the pixels, the first one first; the pixel in row r and column c
        has the position ``r * width + c``.

    Raises
    ------
    InputError
        For another name, and for a height or width below 1.

    Examples
    --------
    >>> image_order("diagonal", 2, 2)
    array([0, 2, 1, 3])
    """
    known = name.lower() if isinstance(name, str) else name
    if known not in IMAGE_ORDERS:
        raise unknown_name("order of pixels", name, IMAGE_ORDERS)
    check_whole("height", height, 1)
    check_whole("width", width, 1)
    return IMAGE_ORDERS[known](height, width)


def row_order(height: int, width: int) -> IntArray:
    """Order A: rows from top to bottom, each from left to right.

    Notes
    -----
    Roth, Pernkopf (2020), Differentiable TAN structure learning for Bayesian network
    classifiers, section 4.4, as are the other two.

    Examples
    --------
    >>> row_order(2, 3)
    array([0, 1, 2, 3, 4, 5])
    """
    return np.arange(height * width, dtype=np.int64)


def diagonal_order(height: int, width: int) -> IntArray:
    """Order B: along the main diagonal.

    Notes
    -----
    The lower triangle with the diagonal, row by row, and after each pixel the one with
    row and column exchanged. The paper has squares only. In an image that is none, the
    pixels of the square around it that are outside the image are passed over.

    Examples
    --------
    >>> diagonal_order(3, 3).reshape(3, 3)
    array([[0, 3, 1],
           [4, 6, 2],
           [7, 5, 8]])
    """
    row, column = pixels(height, width)
    upper = row < column
    return _sort_by(np.maximum(row, column), np.minimum(row, column), upper)


def centre_order(height: int, width: int) -> IntArray:
    """Order C: from the centre outwards.

    Notes
    -----
    Around a region that has been ordered come the pixels directly above it and those
    directly below, each from left to right, then those directly to the left and those
    to the right, each from top to bottom, then the corners left above, right above,
    left below and right below. The first region is the pixel in the centre where the
    sides are odd, and empty where they are even: its corners are the four pixels in the
    middle.

    The paper has squares only. In other images the region is as much wider than high as
    an odd width and an even height ask for, or the other way round, that is, by one;
    where it has reached the border, pixels outside the image are passed over.

    Examples
    --------
    The place of every pixel in the order:

    >>> np.argsort(centre_order(4, 4)).reshape(4, 4)
    array([[12,  4,  5, 13],
           [ 8,  0,  1, 10],
           [ 9,  2,  3, 11],
           [14,  6,  7, 15]])
    """
    row, column = pixels(height, width)
    # Twice the distance from the centre, which is between pixels where a side is even,
    # and from it how many times the region must grow to hold the pixel.
    down, right = 2 * row - (height - 1), 2 * column - (width - 1)
    grown_down, grown_right = (np.abs(down) + 1) // 2, (np.abs(right) + 1) // 2
    part = np.where(
        grown_down == grown_right,
        4 + 2 * (down > 0) + (right > 0),
        np.where(grown_down > grown_right, down > 0, 2 + (right > 0)),
    )
    # Along one side, the position grows from left to right and from top to bottom.
    return _sort_by(np.maximum(grown_down, grown_right), part)


IMAGE_ORDERS: dict[str, Callable[[int, int], IntArray]] = {
    "rows": row_order,
    "diagonal": diagonal_order,
    "centre": centre_order,
}
"""The orders of pixels by name: A, B and C of the paper."""


def pixels(height: int, width: int) -> tuple[IntArray, IntArray]:
    """Row and column of every pixel, each of shape (height * width,)."""
    positions = np.arange(height * width, dtype=np.int64)
    return positions // width, positions % width


def squared_distances(pixel: int, height: int, width: int) -> IntArray:
    """Squared Euclidean distance of every pixel from one of them.

    Whole numbers, so that equal distances are equal.

    Examples
    --------
    >>> squared_distances(0, 2, 3)
    array([0, 1, 4, 1, 2, 5])
    """
    row, column = pixels(height, width)
    squared: IntArray = (row - row[pixel]) ** 2 + (column - column[pixel]) ** 2
    return squared


def check_image_shape(image_shape: object, n_features: int) -> tuple[int, int]:
    """Height and width of the image that the features are the pixels of.

    Parameters
    ----------
    image_shape : (int, int) or None
        Height and width; None is a square.
    n_features : int
        Number of features: the pixels, row by row.

    Returns
    -------
    tuple of (int, int)

    Raises
    ------
    InputError
        If it is no pair of whole numbers whose product is the number of features, or
        None where that number is not a square.

    Examples
    --------
    >>> check_image_shape(None, 256)
    (16, 16)
    """
    if image_shape is None:
        side = isqrt(n_features)
        if side * side != n_features:
            raise InputError(
                f"{n_features} features are not the pixels of a square image; give "
                "image_shape=(height, width)."
            )
        return side, side
    sides = list(image_shape) if isinstance(image_shape, (tuple, list)) else []
    if len(sides) != 2 or not all(is_whole(side) and side >= 1 for side in sides):
        raise InputError(
            "image_shape must be None or (height, width), two whole numbers of at "
            f"least 1, got {image_shape!r}."
        )
    height, width = int(sides[0]), int(sides[1])
    if height * width != n_features:
        raise InputError(
            f"image_shape=({height}, {width}) is an image of {height * width} pixels, "
            f"but there are {n_features} features; every feature must be one pixel, "
            "row by row."
        )
    return height, width


def _sort_by(*keys: npt.NDArray[np.generic]) -> IntArray:
    """Positions by the first key, then by the second, ..., then by position."""
    return np.lexsort(keys[::-1]).astype(np.int64)
