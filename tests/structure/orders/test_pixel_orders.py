from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tanager import InputError
from tanager.structure.orders.pixel_orders import (
    IMAGE_ORDERS,
    check_image_shape,
    image_order,
    squared_distances,
)
from tests.reference import pixel_orders as reference

SIDES = st.integers(1, 9)


@pytest.mark.parametrize("name", IMAGE_ORDERS)
@pytest.mark.parametrize("side", [1, 2, 3, 4, 5, 14, 16])
def test_squares_equal_the_text_of_the_paper(name, side):
    expected = getattr(reference, name)(side)
    found = image_order(name, side, side)
    assert found.dtype == np.int64
    assert found.tolist() == [r * side + c for r, c in expected]


@given(name=st.sampled_from(list(IMAGE_ORDERS)), height=SIDES, width=SIDES)
def test_every_pixel_comes_once(name, height, width):
    order = image_order(name, height, width)
    assert sorted(order.tolist()) == list(range(height * width))


@given(name=st.sampled_from(["rows", "diagonal"]), height=SIDES, width=SIDES)
def test_a_rectangle_is_a_square_without_the_pixels_outside(name, height, width):
    square = getattr(reference, name)(max(height, width))
    inside = [(r, c) for r, c in square if r < height and c < width]
    found = image_order(name, height, width)
    assert found.tolist() == [r * width + c for r, c in inside]


@given(height=SIDES, width=SIDES, more=st.integers(0, 3))
def test_the_centre_does_not_depend_on_what_is_around(height, width, more):
    # A border of the same width on two opposite sides adds pixels, and moves none.
    small = image_order("centre", height, width)
    taller = image_order("centre", height + 2 * more, width)
    row, column = taller // width - more, taller % width
    kept = (row >= 0) & (row < height)
    np.testing.assert_array_equal((row * width + column)[kept], small)


def test_the_centre_of_sides_even_and_odd():
    # First above and below the empty region, which is one pixel wide, then corners.
    places = np.argsort(image_order("centre", 4, 3)).reshape(4, 3)
    expected = [[6, 7, 8], [2, 0, 3], [4, 1, 5], [9, 10, 11]]
    np.testing.assert_array_equal(places, expected)


@given(height=SIDES, width=SIDES, data=st.data())
def test_distances_are_those_of_points(height, width, data):
    pixel = data.draw(st.integers(0, height * width - 1))
    found = squared_distances(pixel, height, width).reshape(height, width)
    r, c = divmod(pixel, width)
    expected = [
        [(r - a) ** 2 + (c - b) ** 2 for b in range(width)] for a in range(height)
    ]
    np.testing.assert_array_equal(found, expected)


def test_names_may_have_capitals():
    np.testing.assert_array_equal(
        image_order("Centre", 3, 3), image_order("centre", 3, 3)
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("center", 3, 3), "Did you mean 'centre'"),
        ((None, 3, 3), "Unknown order of pixels None"),
        (("rows", 0, 3), "height must be a whole number of at least 1, got 0"),
        (("rows", 3, 2.0), r"width must be a whole number of at least 1, got 2\.0"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        image_order(*arguments)


def test_shapes():
    assert check_image_shape(None, 196) == (14, 14)
    assert check_image_shape((3, 4), 12) == (3, 4)
    assert check_image_shape([np.int64(3), 4], 12) == (3, 4)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (None, r"12 features are not the pixels of a square.*image_shape=\(height"),
        ((3, 5), r"\(3, 5\) is an image of 15 pixels, but there are 12 features"),
        ((-3, -4), r"two whole numbers of at least 1, got \(-3, -4\)"),
        ((3.0, 4.0), "two whole numbers"),
        ((12,), "two whole numbers"),
        ("34", "two whole numbers"),
        (12, "two whole numbers"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(shape, message):
    with pytest.raises(InputError, match=message):
        check_image_shape(shape, 12)
