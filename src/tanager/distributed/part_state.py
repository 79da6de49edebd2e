"""What a worker keeps with a part, and how it answers the orders of a round."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from tanager.data.coded_data import ArrayData
from tanager.data.partition_values import add_results, own_entry
from tanager.errors import PartitionError, TanagerError

Call = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function and its arguments, without the value of the part."""


@dataclass(frozen=True)
class Order:
    """What to do with the value of every part.

    The value of placement `token` is to be at `version`, the number of updates made.
    `updates` are those from number `first` on. If `make` is given, a value that is not
    there is made, with the part's entry of `make_each`; otherwise the answer says so.
    `forget` are placements that are over.
    """

    token: str
    version: int
    first: int
    updates: tuple[Call, ...]
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    each: Sequence[Any] | None = None
    make: Call | None = None
    make_each: Sequence[Any] | None = None
    forget: tuple[str, ...] = ()

    def pack(self) -> bytes:
        """The order as bytes that travel."""
        import cloudpickle

        packed: bytes = cloudpickle.dumps(self)
        return packed


@dataclass(frozen=True)
class Answer:
    """The sum of the results of some parts, and the parts without a value."""

    value: Any
    n_bytes: int = 0
    missing: tuple[int, ...] = ()


@dataclass
class _Held:
    value: Any
    version: int = 0


@dataclass
class _Shelf:
    """The values of all placements of one part."""

    lock: Lock = field(default_factory=Lock)
    held: dict[str, _Held] = field(default_factory=dict)


# Values live as long as their part: a part that is released, lost or moved takes them
# along, and they are made again where it is read next.
_SHELVES: WeakKeyDictionary[ArrayData, _Shelf] = WeakKeyDictionary()
_SHELVES_LOCK = Lock()


def _shelf_of(part: ArrayData) -> _Shelf:
    with _SHELVES_LOCK:
        return _SHELVES.setdefault(part, _Shelf())


def answer(part: ArrayData, number: int, n_parts: int, packed: bytes) -> Answer:
    """Carry out an order for one part; runs on a worker."""
    order: Order = pickle.loads(packed)
    shelf = _shelf_of(part)
    with naming_partition(number, n_parts), shelf.lock:
        for token in order.forget:
            shelf.held.pop(token, None)
        held = _bring_up_to_date(shelf, part, number, order)
        if held is None:
            return Answer(None, 0, (number,))
        value = order.function(
            held.value, *own_entry(order.each, number), *order.arguments
        )
    return Answer(value, count_bytes(value))


def _bring_up_to_date(
    shelf: _Shelf, part: ArrayData, number: int, order: Order
) -> _Held | None:
    """The value of an order at its version; None if it cannot be made from it."""
    held = shelf.held.pop(order.token, None)  # put back when nothing has failed
    if held is not None and not order.first <= held.version <= order.version:
        held = None
    if held is None:
        if order.make is None:
            return None
        make, arguments = order.make
        held = _Held(make(part, *own_entry(order.make_each, number), *arguments))
    for update, arguments in order.updates[held.version - order.first :]:
        held.value = update(held.value, *arguments)
        held.version += 1
    shelf.held[order.token] = held
    return held


def combine(answers: Sequence[Answer]) -> Answer:
    """Add answers of neighbouring parts; runs on a worker."""
    missing = tuple(number for one in answers for number in one.missing)
    n_bytes = sum(one.n_bytes for one in answers)
    if missing:
        return Answer(None, n_bytes, missing)
    value = add_results([one.value for one in answers])
    return Answer(value, n_bytes + count_bytes(value))


def hand_on(
    before: Any, part: ArrayData, number: int, n_parts: int, packed: bytes
) -> Any:
    """Carry out an order for one part, given the result of the part before."""
    order: Order = pickle.loads(packed)
    with naming_partition(number, n_parts):
        assert order.make is not None
        make, arguments = order.make
        value = make(part, *own_entry(order.make_each, number), *arguments)
        for update, of_update in order.updates:
            value = update(value, *of_update)
        return order.function(value, before, *order.arguments)


@contextmanager
def naming_partition(number: int, n_parts: int) -> Iterator[None]:
    """Name a partition in the errors of work on it."""
    try:
        yield
    except TanagerError as error:
        # Those of limits, arguments and capabilities say what to do.
        raise type(error)(f"{error} (found in partition {number})") from error
    except Exception as error:
        raise PartitionError(
            f"Partition {number} of {n_parts} failed with {type(error).__name__}: "
            f"{error}"
        ) from error


def count_bytes(value: Any) -> int:
    """Bytes of the numbers in a result."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, tuple | list):
        return sum(map(count_bytes, value))
    if hasattr(value, "__dict__"):
        return sum(map(count_bytes, vars(value).values()))
    return 8
