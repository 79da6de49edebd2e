"""Fingerprints of settings and data, and the differences between two of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from types import FunctionType
from typing import Any

import numpy as np
import numpy.typing as npt

from tanager.errors import InputError

SHOWN = 40
"""Characters of a value that are shown in a message."""


def checksum(*arrays: npt.NDArray[Any] | None) -> str:
    """Return a hash of the values, types and shapes of numeric arrays.

    The memory layout does not matter; arrays in Fortran order are not copied.

    Examples
    --------
    >>> codes = np.array([[0, 1], [2, 3]], dtype=np.uint8)
    >>> checksum(codes, None) == checksum(np.asfortranarray(codes), None)
    True
    >>> checksum(codes) == checksum(codes.T), len(checksum(codes))
    (False, 32)
    """
    total = blake2b(digest_size=16)
    for array in arrays:
        if array is None:
            total.update(b"none;")
            continue
        plain = check_numeric(array, "checksum")
        little = plain.astype(plain.dtype.newbyteorder("<"), copy=False)
        total.update(f"{little.dtype.str}{little.shape};".encode())
        total.update(np.ascontiguousarray(little.T).data)
    return total.hexdigest()


def describe(value: Any) -> Any:
    """Convert a setting to JSON values that are the same in every process.

    Objects become their class and attributes, sets sorted lists, functions their names,
    and objects without attributes their `repr`.
    """
    if value is None or isinstance(value, (str, bool, int, float, np.generic)):
        return value
    if isinstance(value, np.ndarray):
        return checksum(value) if value.dtype.kind in "biufc" else value.tolist()
    if isinstance(value, Mapping):
        return {str(key): describe(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(map(describe, value), key=repr)
    if isinstance(value, Iterable) and not isinstance(value, Iterator):
        return [describe(item) for item in value]
    if isinstance(value, FunctionType):
        return f"{value.__module__}.{value.__qualname__}"
    attributes = getattr(value, "__dict__", {})
    if not attributes and getattr(type(value), "__repr__", None) is not object.__repr__:
        return repr(value)
    return {"class": type(value).__qualname__, **describe(attributes)}


def to_json(value: Any) -> str:
    """JSON text of plain values, NumPy scalars and arrays."""

    def convert(item: Any) -> Any:
        if isinstance(item, (np.generic, np.ndarray)):
            return item.tolist()
        raise InputError(
            f"A checkpoint holds plain values only: text, numbers, Booleans, None, "
            f"lists and mappings; got a {type(item).__name__}, {shorten(item)}."
        )

    return json.dumps(value, default=convert)


def check_numeric(array: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    """The array, if it holds numbers or Booleans."""
    found = np.asarray(array)
    if found.dtype.kind not in "biufc":
        raise InputError(
            f"Array {name!r} is of type {found.dtype}; expected numbers or Booleans, "
            "which can be read back without executing code."
        )
    return found


def find_differences(saved: Any, current: Any, at: str = "") -> Iterator[str]:
    """Describe how two fingerprints, as JSON values, differ."""
    if isinstance(saved, dict) and isinstance(current, dict):
        for key in {**saved, **current}:
            inner = f"{at}.{key}" if at else key
            if key not in current:
                yield f"{inner} was {shorten(saved[key])} and is not given now"
            elif key not in saved:
                yield f"{inner} was not given and is {shorten(current[key])} now"
            else:
                yield from find_differences(saved[key], current[key], inner)
    # Compared as text, too, because NaN differs from NaN.
    elif saved != current and json.dumps(saved) != json.dumps(current):
        if _is_checksum(saved) and _is_checksum(current):
            yield f"{at} differ" if at[-1:] == "s" else f"{at} differs"
        else:
            yield f"{at} was {shorten(saved)} and is {shorten(current)} now"


def check_same_run(path: str, saved: Any, current: Any, advice: str) -> None:
    """Raise `InputError` if the checkpoint `path` has another fingerprint.

    The first differences are listed; `advice` says what else to do.
    """
    differences = list(find_differences(saved, current))
    if not differences:
        return
    more = f"; and {len(differences) - 3} more" if differences[3:] else ""
    raise InputError(
        f"The checkpoint '{path}' is of another run: "
        f"{'; '.join(differences[:3])}{more}. Resume with the data and settings it was "
        f"made with, or {advice}"
    )


def _is_checksum(value: Any) -> bool:
    return isinstance(value, str) and bool(re.fullmatch(r"[0-9a-f]{32,}", value))


def shorten(value: Any) -> str:
    """A value as text of bounded length."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."
