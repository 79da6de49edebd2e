"""Orders of the pixels of an image (A, B, C), and how far pixels are apart."""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt

import numpy as np

from tanager.errors import InputError, unknown_name
from tanager.types import IntArray
from tanager.utils.validation import check_whole, is_whole


def image_order(name: str, height: int, width: int) -> IntArray:
    """Order the pixels of an image by "rows", "diagonal" or "centre".

    The pixel in row r and column c has the position ``r * width + c``.
    """
    known = name.lower() if isinstance(name, str) else name
    if known not in IMAGE_ORDERS:
        raise unknown_name("order of pixels", name, IMAGE_ORDERS)
    check_whole("height", height, 1)
    check_whole("width", width, 1)
    return IMAGE_ORDERS[known](height, width)


def row_order(height: int, width: int) -> IntArray:
    """Order A: rows from top to bottom, each from left to right.

    Roth, Pernkopf (2020), Differentiable TAN structure learning for Bayesian network
    classifiers, section 4.4, as are the other two.
    """
    return np.arange(height * width, dtype=np.int64)


def diagonal_order(height: int, width: int) -> IntArray:
    """Order B: along the main diagonal.

    The lower triangle with the diagonal, row by row, and after each pixel the one with
    row and column exchanged. The paper has squares only; in other images, pixels of the
    enclosing square that are outside the image are skipped.

    >>> diagonal_order(3, 3).reshape(3, 3)
    array([[0, 3, 1],
           [4, 6, 2],
           [7, 5, 8]])
    """
    row, column = pixels(height, width)
    upper = row < column
    keys = upper, np.minimum(row, column), np.maximum(row, column)
    return np.lexsort(keys).astype(np.int64)


def centre_order(height: int, width: int) -> IntArray:
    """Order C: from the centre outwards.

    Around the region ordered so far come the pixels directly above it and below, each
    from left to right, then those to the left and to the right, each from top to
    bottom, then the corners: left above, right above, left below, right below. The
    first region is the pixel in the centre if the sides are odd, and empty if they are
    even: its corners are the four pixels in the middle.

    The paper has squares only. If one side is odd and the other even, the region is
    longer by one pixel along one side; pixels outside the image are skipped.

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
    keys = part, np.maximum(grown_down, grown_right)
    return np.lexsort(keys).astype(np.int64)


IMAGE_ORDERS: dict[str, Callable[[int, int], IntArray]] = {
    "rows": row_order,
    "diagonal": diagonal_order,
    "centre": centre_order,
}
"""The orders of pixels by name: A, B and C of the paper."""


def pixels(height: int, width: int) -> tuple[IntArray, IntArray]:
    """Row and column of every pixel, each of shape (height * width,)."""
    return np.divmod(np.arange(height * width, dtype=np.int64), width)


def squared_distances(pixel: int, height: int, width: int) -> IntArray:
    """Squared Euclidean distance of every pixel from one of them.

    Whole numbers, so that equal distances are equal.
    """
    row, column = pixels(height, width)
    squared: IntArray = (row - row[pixel]) ** 2 + (column - column[pixel]) ** 2
    return squared


def check_image_shape(image_shape: object, n_features: int) -> tuple[int, int]:
    """Height and width of the image whose pixels, row by row, are the features.

    None is a square. Raises `InputError` if the number of pixels is another one.
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
