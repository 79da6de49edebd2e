"""Checks of single arguments, worded alike: what was expected and what was got."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Sequence
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np

from tanager.errors import InputError, unknown_name
from tanager.types import FloatArray

RELATIVE_TOLERANCE = 1e-6
"""Weights whose sum is so close to one are relative: see `check_weights`."""


MAX_TOTAL = 1e15
"""Largest sum of weights: counts up to it are exact to a tenth."""

MAX_WHOLE = 2**63 - 1
"""Largest whole number of an argument: kernels have integers of 64 bits."""


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

    The bounds `above` and `below` are excluded; `none` allows None; `why` ends the
    message. Bools are no numbers here.

    Examples
    --------
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

    `none` and `why` as in `check_number`. Bools are no numbers here, nor are floats
    whole ones, and the largest is that of 64 bits.
    """
    if (value is None and none) or (is_whole(value) and least <= value <= MAX_WHOLE):
        return
    kind = "None or a whole number" if none else "a whole number"
    bounds = f"of at least {least}"
    if is_whole(value) and value > MAX_WHOLE:
        bounds += f" and at most {MAX_WHOLE}"
    raise InputError(f"{name} must be {kind} {bounds}, got {value!r}{why}.")


def is_word(value: object, word: str) -> bool:
    """Whether an argument is this word; arrays are not, and are not compared."""
    return isinstance(value, str) and value == word


def check_flag(name: str, value: Any) -> None:
    """Raise `InputError` unless an argument is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name} must be True or False, got {value!r}.")


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise `InputError` unless an argument is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        listed = " or ".join(repr(choice) for choice in choices)
        raise InputError(f"{name} must be {listed}, got {value!r}.")


def check_known(what: str, name: object, known: Collection[str]) -> None:
    """Raise `InputError` unless an argument is a known name; arrays are none."""
    if not isinstance(name, str) or name not in known:
        raise unknown_name(what, name, known)


def is_iterable(value: object) -> bool:
    """Whether the items of a value can be read; arrays without dimensions have none."""
    return isinstance(value, Iterable) and getattr(value, "ndim", 1) > 0


def random_generator(random_state: Any) -> np.random.Generator:
    """Make a numpy Generator from a seed, Generator, RandomState or None."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise InputError(
            "random_state must be None, a whole number of at least 0, a numpy "
            f"Generator or a RandomState, got {random_state!r}."
        ) from None


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


def check_weights(weights: object, n_rows: int) -> FloatArray | None:
    """Validate sample weights: one finite, non-negative number for every sample.

    Returns them as float64 (n_rows,); None means one each. Weights are frequencies:
    smoothing and the MDL criterion depend on their total. Weights of several samples
    that sum to one, such as those of AdaBoost, are relative. They are multiplied by the
    number of samples with a positive weight, so that equal weights become one each.

    Examples
    --------
    >>> check_weights([0.25, 0.5, 0.25, 0.0], 4)
    array([0.75, 1.5 , 0.75, 0.  ])
    """
    array = read_weights(weights, n_rows)
    if array is None:
        return None
    if not array.any():
        raise InputError(
            "sample_weight is zero for every sample; nothing to learn from."
        )
    with np.errstate(over="ignore"):
        total = float(array.sum())
    scale = weight_scale(total, int(np.count_nonzero(array)))
    if scale == 1.0:
        return array
    positive = array[array > 0]
    if (positive == positive[0]).all():  # exactly one each, without rounding
        return (array > 0).astype(np.float64)
    return array * scale


def read_weights(weights: object, n_rows: int) -> FloatArray | None:
    """Read the sample weights of a batch: finite, non-negative, one for every sample.

    Returns them as float64 (n_rows,); None means one each.
    """
    if weights is None:
        return None
    given = np.asarray(weights)
    if given.dtype.kind not in "biufO":
        raise InputError(
            f"sample_weight must hold numbers, got {given.dtype}; convert it to float."
        )
    try:
        array: FloatArray = given.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"sample_weight must hold numbers; {error}. Convert it to float."
        ) from None
    if array.ndim == 0:
        array = np.full(n_rows, array)
    if array.ndim != 1:
        raise InputError(
            f"Sample weights must be 1D array or scalar, got {array.ndim} dimensions."
        )
    if len(array) != n_rows:
        raise InputError(
            f"sample_weight has {len(array)} entries for {n_rows} samples; give one "
            "each."
        )
    if not np.isfinite(array).all() or (array < 0).any():
        raise InputError(
            "sample_weight must be finite and not negative; to leave a sample out, "
            "give it weight 0."
        )
    return array


def weight_scale(total: float, n_weighted: int) -> float:
    """Factor of the weights of `n_weighted` samples that sum to `total`.

    See `check_weights`; weights of so small a sum that it must be a mistake are warned
    of.
    """
    if total > MAX_TOTAL:
        raise InputError(
            f"sample_weight sums to {total:.3g}; expected at most {MAX_TOTAL:g}, since "
            "weights are frequencies. Divide the weights by a constant."
        )
    if n_weighted > 1 and abs(total - 1.0) <= RELATIVE_TOLERANCE:
        return n_weighted / total
    if total < 2 <= n_weighted:
        warnings.warn(
            f"sample_weight sums to {total:.3g}, so {n_weighted} samples count as if "
            "there were fewer than 2: too few for cut points, and smoothing dominates. "
            "Multiply the weights by the number of samples.",
            UserWarning,
            stacklevel=4,
        )
    return 1.0
