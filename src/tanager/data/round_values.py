"""Results of rounds as bytes, and back, without executing code from them."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

import numpy as np

from tanager.errors import FileFormatError
from tanager.utils.generator_state import generator_state, restore_generator

PACKAGE = "tanager."
"""Package whose dataclasses can be results."""

_LENGTH = struct.Struct("<Q")


def pack_value(value: Any) -> bytes:
    """Write a result of numbers, arrays, collections and dataclasses as bytes.

    Examples
    --------
    >>> unpack_value(pack_value(({(0, 1): np.float64(0.5)}, [None, True, "x"])))
    ({(0, 1): np.float64(0.5)}, [None, True, 'x'])
    """
    arrays: list[bytes] = []
    text = json.dumps(_describe(value, arrays)).encode()
    return b"".join([_LENGTH.pack(len(text)), text, *arrays])


def unpack_value(content: bytes) -> Any:
    """Read what `pack_value` wrote.

    Types, shapes, memory layouts and all bits are those of the value. Dataclasses
    must belong to this library; their constructors are not called.

    Raises
    ------
    FileFormatError
        If the bytes are no such value.
    """
    try:
        (length,) = _LENGTH.unpack_from(content)
        start = _LENGTH.size + length
        text = json.loads(content[_LENGTH.size : start])
        return _Reader(memoryview(content)[start:]).read(text)
    except FileFormatError:
        raise
    except (
        AttributeError, ImportError, IndexError, KeyError, RecursionError, TypeError,
        UnicodeDecodeError, ValueError, struct.error,
    ) as error:  # fmt: skip
        raise FileFormatError(
            f"A result in a checkpoint cannot be read: {type(error).__name__}, {error}."
        ) from error


def _describe(value: Any, arrays: list[bytes]) -> Any:
    """JSON values for a value; the bytes of its arrays are appended to `arrays`."""
    if value is None or isinstance(value, (bool, str)) or type(value) in (int, float):
        return value
    if isinstance(value, np.ndarray):
        return _describe_array("array", value, arrays)
    if isinstance(value, np.generic):
        return _describe_array("scalar", np.asarray(value), arrays)
    if isinstance(value, np.random.Generator):
        return ["generator", generator_state(value)]
    if type(value) in (tuple, list):
        kind = type(value).__name__
        return [kind, *(_describe(item, arrays) for item in value)]
    if type(value) in (set, frozenset):
        items = [_describe(item, arrays) for item in sorted(value)]
        return [type(value).__name__, *items]
    if type(value) is dict:
        pairs = [
            [_describe(key, arrays), _describe(item, arrays)]
            for key, item in value.items()
        ]
        return ["dict", *pairs]
    of = type(value)
    if is_dataclass(of) and of.__module__.startswith(PACKAGE):
        named = {f.name: _describe(getattr(value, f.name), arrays) for f in fields(of)}
        return ["dataclass", of.__module__, of.__qualname__, named]
    raise TypeError(
        f"{of.__module__}.{of.__qualname__} cannot be written to a checkpoint; "
        "results of rounds are numbers, arrays, collections and dataclasses."
    )


def _describe_array(kind: str, array: Any, arrays: list[bytes]) -> list[Any]:
    if array.dtype.kind not in "biufc":
        raise TypeError(f"An array of type {array.dtype} cannot be written.")
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    content = array.tobytes(order=order)
    arrays.append(content)
    return [kind, array.dtype.str, list(array.shape), order, len(content)]


class _Reader:
    """Reads described values; arrays lie one after the other in `content`."""

    def __init__(self, content: memoryview) -> None:
        self._content = content
        self._kinds: dict[str, Callable[..., Any]] = {
            "array": self._array,
            "scalar": lambda *about: self._array(*about)[()],
            "generator": _generator,
            "tuple": lambda *items: tuple(map(self.read, items)),
            "list": lambda *items: list(map(self.read, items)),
            "set": lambda *items: set(map(self.read, items)),
            "frozenset": lambda *items: frozenset(map(self.read, items)),
            "dict": lambda *pairs: {self.read(k): self.read(v) for k, v in pairs},
            "dataclass": self._dataclass,
        }

    def read(self, described: Any) -> Any:
        """The value that a description stands for."""
        if not isinstance(described, list):
            return described
        kind, *about = described
        return self._kinds[kind](*about)

    def _array(self, dtype: str, shape: list[int], order: Any, length: int) -> Any:
        kind = np.dtype(dtype)
        if kind.kind not in "biufc":
            raise FileFormatError(f"A checkpoint holds an array of type {dtype!r}.")
        taken, self._content = self._content[:length], self._content[length:]
        # A copy, because learners change results in place.
        flat = np.frombuffer(taken, kind).copy()
        return flat.reshape(shape, order=order)

    def _dataclass(self, module: str, name: str, items: dict[str, Any]) -> Any:
        kind = getattr(import_module(module), name) if _is_ours(module) else None
        if not (isinstance(kind, type) and is_dataclass(kind)) or set(items) != {
            field.name for field in fields(kind)
        }:
            raise FileFormatError(
                f"A checkpoint holds a {module}.{name}, which is no result of a round."
            )
        value = object.__new__(kind)
        for field, item in items.items():
            object.__setattr__(value, field, self.read(item))
        return value


def _is_ours(module: str) -> bool:
    return module.startswith(PACKAGE)


def _generator(state: dict[str, Any]) -> np.random.Generator:
    bits = getattr(np.random, str(state["bit_generator"]))
    if not issubclass(bits, np.random.BitGenerator):
        raise FileFormatError(f"{bits!r} is no generator of random numbers.")
    random = np.random.Generator(bits())
    restore_generator(random, state)
    return random
