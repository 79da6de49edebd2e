from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tanager import InputError
from tanager.utils.validation import check_flag, check_number, check_whole

NO_NUMBERS = [None, "1", True, np.True_, np.nan, np.inf, 1j, [1.0], 10**400]


@pytest.mark.parametrize("value", [1, 0.5, np.float32(0.5), np.int8(1), Fraction(1, 2)])
def test_numbers(value):
    check_number("alpha", value)
    check_number("alpha", value, least=0, above=0, most=1, below=2)


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_no_numbers(value):
    with pytest.raises(InputError, match="alpha must be a finite number, got"):
        check_number("alpha", value)


@pytest.mark.parametrize(
    ("bounds", "value", "words"),
    [
        ({"least": 0}, -1, "of at least 0"),
        ({"above": 0}, 0, "above 0"),
        ({"above": 0, "most": 0.5}, 0.6, "above 0 and at most 0.5"),
        ({"above": 0, "below": 1}, 1, "above 0 and below 1"),
    ],
)
def test_bounds(bounds, value, words):
    with pytest.raises(InputError) as raised:
        check_number("rate", value, **bounds)
    assert str(raised.value) == f"rate must be a finite number {words}, got {value}."


def test_none_and_reasons():
    check_number("share", None, none=True)
    check_whole("folds", None, 2, none=True)
    with pytest.raises(InputError, match=r"None or a finite number, got 'a': why\."):
        check_number("share", "a", none=True, why=": why")
    with pytest.raises(InputError, match=r"None or a whole .* at least 2, got 1: why"):
        check_whole("folds", 1, 2, none=True, why=": why")


@pytest.mark.parametrize("value", [*NO_NUMBERS[:-1], 2.0, 0])
def test_no_whole_numbers(value):
    with pytest.raises(InputError, match="passes must be a whole number of at least 1"):
        check_whole("passes", value, 1)


@pytest.mark.parametrize("value", [1, np.int64(3), np.uint8(1), 2**63 - 1])
def test_whole_numbers(value):
    check_whole("passes", value, 1)


def test_flags():
    check_flag("shuffle", False)
    check_flag("shuffle", np.True_)
    for value in ("no", 0, 1, None):
        with pytest.raises(InputError, match="shuffle must be True or False, got"):
            check_flag("shuffle", value)
