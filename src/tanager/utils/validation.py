"""Checks of single arguments, worded alike: what was expected and what was got."""

from __future__ import annotations

from math import isfinite
from numbers import Real
from typing import Any

import numpy as np

from tanager.errors import InputError


def check_number(
    name: str,
    value: Any,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    below: float | None = None,
    none: bool = False,
    why: str = "",
) -> None:
    """Raise `InputError` unless an argument is a finite number within bounds.

    Parameters
    ----------
    name : str
        Name of the argument.
    value : object
        What was given; bools are no numbers here.
    least, above, most, below : float or None, default=None
        Bounds, those of `above` and `below` excluded.
    none : bool, default=False
        Whether None will do, too.
    why : str, default=""
        Further words, for instance a reason.

    Examples
    --------
    >>> check_number("alpha", 0.5, least=0)
    >>> check_number("tol", "a", above=0)
    Traceback (most recent call last):
        ...
    tanager.errors.InputError: tol must be a finite number above 0, got 'a'.
    """
    if value is None and none:
        return
    if (
        is_number(value)
        and (least is None or value >= least)
        and (above is None or value > above)
        and (most is None or value <= most)
        and (below is None or value < below)
    ):
        return
    bounds = " and ".join(
        f"{words} {bound:g}"
        for words, bound in (
            ("of at least", least),
            ("above", above),
            ("at most", most),
            ("below", below),
        )
        if bound is not None
    )
    kind = "None or a finite number" if none else "a finite number"
    expected = f"{kind} {bounds}" if bounds else kind
    raise InputError(f"{name} must be {expected}, got {value!r}{why}.")


def check_whole(
    name: str, value: Any, least: int, *, none: bool = False, why: str = ""
) -> None:
    """Raise `InputError` unless an argument is a whole number of at least `least`.

    Parameters
    ----------
    name : str
        Name of the argument.
    value : object
        What was given; bools are no numbers here, nor are floats whole ones.
    least : int
        The smallest that will do.
    none : bool, default=False
        Whether None will do, too.
    why : str, default=""
        Further words, for instance a reason.

    Examples
    --------
    >>> check_whole("folds", None, 2, none=True)
    >>> check_whole("passes", True, 1)
    Traceback (most recent call last):
        ...
    tanager.errors.InputError: passes must be a whole number of at least 1, got \
True.
    """
    if (value is None and none) or (is_whole(value) and value >= least):
        return
    kind = "None or a whole number" if none else "a whole number"
    raise InputError(f"{name} must be {kind} of at least {least}, got {value!r}{why}.")


def check_flag(name: str, value: Any) -> None:
    """Raise `InputError` unless an argument is True or False.

    Examples
    --------
    >>> check_flag("shuffle", True)
    >>> check_flag("shuffle", "no")
    Traceback (most recent call last):
        ...
    tanager.errors.InputError: shuffle must be True or False, got 'no'.
    """
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name} must be True or False, got {value!r}.")


def is_number(value: Any) -> bool:
    """Whether something is a finite real number; bools are none."""
    if not isinstance(value, Real) or isinstance(value, (bool, np.bool_)):
        return False
    try:
        return isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def is_whole(value: Any) -> bool:
    """Whether something is a whole number by its type; bools are none."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)
