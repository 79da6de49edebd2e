"""`Placed`: values that are kept where the samples are, and sums over them."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from tanager.utils.threads import map_threads

State = TypeVar("State")
Result = TypeVar("Result")


class Placed(Generic[State], metaclass=ABCMeta):
    """One value for every part of a dataset, kept where the samples of the part are.

    Functions are called with the value of a part first; they, their arguments and their
    results may travel to other processes, the values never do. A value that is lost is
    made again: by the function that made it, then by all updates in order. So functions
    must be importable (no lambdas), and must not depend on anything else.
    """

    @abstractmethod
    def collect(
        self,
        function: Callable[..., Result],
        *arguments: Any,
        each: Sequence[Any] | None = None,
    ) -> list[Result]:
        """Call ``function(value, *arguments)`` for every part, in their order.

        If `each` is given, the part's own entry comes before the arguments. The
        function must not change the value, other than to cache what it can compute.
        """

    @abstractmethod
    def sum(
        self,
        function: Callable[..., Result],
        *arguments: Any,
        each: Sequence[Any] | None = None,
    ) -> Result:
        """Add the results of all parts, in an order that depends on their number only.

        Results are numbers, arrays, values that add, or tuples of these.
        """

    @abstractmethod
    def update(self, function: Callable[..., State], *arguments: Any) -> None:
        """Replace every value by ``function(value, *arguments)``, before other calls.

        The function may change the value and return it.
        """

    @abstractmethod
    def fold(
        self, function: Callable[..., Result], start: Result, *arguments: Any
    ) -> Result:
        """Hand a result from part to part: ``function(value, result, *arguments)``."""


class LocalPlaced(Placed[State]):
    """Values in the memory of this process; see `Placed`."""

    def __init__(self, states: list[State], n_jobs: int | None = None) -> None:
        self.states = states
        self.n_jobs = n_jobs

    def collect(
        self,
        function: Callable[..., Result],
        *arguments: Any,
        each: Sequence[Any] | None = None,
    ) -> list[Result]:
        """Call a function for every part; see `Placed.collect`."""
        return map_threads(
            lambda number: function(
                self.states[number], *own_entry(each, number), *arguments
            ),
            range(len(self.states)),
            self.n_jobs,
        )

    def sum(
        self,
        function: Callable[..., Result],
        *arguments: Any,
        each: Sequence[Any] | None = None,
    ) -> Result:
        """Add the results of all parts; see `Placed.sum`."""
        return add_in_tree(self.collect(function, *arguments, each=each))

    def update(self, function: Callable[..., State], *arguments: Any) -> None:
        """Replace every value; see `Placed.update`."""
        self.states = self.collect(function, *arguments)

    def fold(
        self, function: Callable[..., Result], start: Result, *arguments: Any
    ) -> Result:
        """Hand a result from part to part; see `Placed.fold`."""
        for state in self.states:
            start = function(state, start, *arguments)
        return start


def own_entry(each: Sequence[Any] | None, number: int) -> tuple[Any, ...]:
    """The argument of one part, if there is one."""
    return () if each is None else (each[number],)


FAN_IN = 8
"""Results that are added at a time."""


def add_in_tree(results: Sequence[Result]) -> Result:
    """Add results in neighbouring groups of `FAN_IN`, then the sums of these.

    Examples
    --------
    >>> add_in_tree([(1, 0.5), (2, 0.25)])
    (3, 0.75)
    """
    while len(results) > 1:
        results = [
            add_results(results[first : first + FAN_IN])
            for first in range(0, len(results), FAN_IN)
        ]
    return results[0]


def add_results(results: Sequence[Result]) -> Result:
    """Add results one after the other; tuples are added entry by entry."""
    total: Any = results[0]
    for result in results[1:]:
        total = _add(total, result)
    return total  # type: ignore[no-any-return]


def _add(one: Any, other: Any) -> Any:
    if isinstance(one, tuple):
        return tuple(map(_add, one, other))
    return one + other
