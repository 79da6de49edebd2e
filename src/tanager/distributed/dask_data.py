"""`DaskData`: coded samples that stay on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from time import monotonic
from typing import Any, TypeVar
from uuid import uuid4
from weakref import finalize

from tanager.data.partition_values import FAN_IN, Placed
from tanager.data.partitioned_data import PartitionedData
from tanager.distributed.part_state import Answer, Call, Order, answer, combine, hand_on
from tanager.errors import PartitionError, TanagerError
from tanager.model.schema import Schema

State = TypeVar("State")
Result = TypeVar("Result")

INLINE_BYTES = 20_000
"""Orders up to this size are part of every task. Larger ones are a task of their own,
which goes to the scheduler once, and from worker to worker."""

ATTEMPTS = 20
"""Rounds after which a fit gives up, if workers die in every one of them."""

LOOK_SECONDS = 1.0
"""Time between two looks for workers that have joined or died."""


@dataclass
class Traffic:
    """What has travelled: rounds, and bytes to and from the parts.

    Bytes to the parts count every order once for every part; those from them are the
    numbers in all results and partial sums. Values of `repeated_parts` were made again,
    and `repeated_rounds` were begun again, after the death of a worker.
    """

    rounds: int = 0
    bytes_to_parts: int = 0
    bytes_from_parts: int = 0
    largest_order: int = 0
    repeated_parts: int = 0
    repeated_rounds: int = 0

    def report(self, n_parts: int) -> dict[str, Any]:
        """The totals and means per round, for `trace_`."""
        rounds = max(self.rounds, 1)
        return {
            "partitions": n_parts,
            "rounds": self.rounds,
            "bytes_to_parts": self.bytes_to_parts,
            "bytes_from_parts": self.bytes_from_parts,
            "bytes_per_round": round(
                (self.bytes_to_parts + self.bytes_from_parts) / rounds
            ),
            "largest_order": self.largest_order,
            "recomputed_parts": self.repeated_parts,
            "repeated_rounds": self.repeated_rounds,
        }


class DaskData(PartitionedData):
    """Coded samples on the workers of a Dask cluster; a `CodedData`.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    schema : Schema
        The variables, the class last.
    tasks : sequence of Delayed
        What makes the parts, each an `ArrayData`. They are computed once and stay on
        the workers; those of a worker that dies are computed again.
    n_jobs : int or None, default=None
        Number of threads for work in this process.
    """

    def __init__(
        self,
        client: Any,
        schema: Schema,
        tasks: Sequence[Any],
        n_jobs: int | None = None,
    ) -> None:
        self.client = client
        self.schema = schema
        self.n_jobs = n_jobs
        self.traffic = Traffic()
        self._tasks = list(tasks)
        self.futures: list[Any] = []
        self._over: list[str] = []  # placements that are no longer used
        self._lock = Lock()
        self.places: list[str] = []  # the worker of every part
        self._workers: set[str] = set()
        self._looked = -LOOK_SECONDS
        self.start()

    def start(self) -> None:
        """Compute the parts, or those that were given up, on the workers."""
        check_open(self.client)
        given_up, self.futures = self.futures, []
        if given_up:
            self.client.cancel(given_up, force=True)
        self.futures = self.client.compute(self._tasks)
        self._workers = set()

    def close(self) -> None:
        """Release the parts on the workers."""
        futures, self.futures = self.futures, []
        if self.client.status == "running":
            for future in futures:
                future.release()

    def __enter__(self) -> DaskData:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def place(
        self,
        make: Callable[..., State],
        *arguments: Any,
        each: Sequence[Any] | None = None,
    ) -> Placed[State]:
        """Keep a value with every part; see `CodedData.place`."""
        return DaskPlaced(self, (make, arguments), each)

    def forget(self, token: str) -> None:
        """Note that a placement is over; workers learn it with the next order."""
        self._over.append(token)

    def take_forgotten(self) -> tuple[str, ...]:
        """Placements that are over since the last call."""
        with self._lock:
            over, self._over = self._over, []
        return tuple(over)

    def look_for_workers(self) -> None:
        """Assign the parts again if workers have joined or died, now and then."""
        if monotonic() - self._looked >= LOOK_SECONDS:
            self.assign_parts()

    def assign_parts(self) -> bool:
        """Assign every part to a worker, about as many to each.

        Parts stay where they are as far as possible; values are kept with them. Returns
        whether a worker has died.
        """
        from distributed import wait as wait_for_parts

        self._looked = monotonic()
        workers = set(self.client.nthreads())
        died = not self._workers <= workers
        if workers == self._workers or not workers:
            return died
        wait_for_parts(self.futures)  # type: ignore[no-untyped-call]
        places = self.client.who_has(self.futures)
        held = dict.fromkeys(sorted(self.client.nthreads()), 0)
        most = -(-len(self.futures) // len(held)) if held else 0
        self.places = [""] * len(self.futures)
        for later in (False, True):
            for number, future in enumerate(self.futures):
                if self.places[number]:
                    continue
                own = places.get(future.key, ())
                near = [w for w in held if w in own and held[w] < most]
                if near or (later and held):
                    worker = min(near or held, key=lambda w: held[w])
                    self.places[number] = worker
                    held[worker] += 1
        self._workers = set(held)
        return died


class DaskPlaced(Placed[State]):
    """Values with the parts of a `DaskData`; see `Placed`."""

    def __init__(
        self, data: DaskData, make: Call, each: Sequence[Any] | None = None
    ) -> None:
        self._data = data
        self._make = make
        self._make_each = each
        self._token = uuid4().hex
        self._history: list[Call] = []
        self._done = -1  # version that the parts have; -1: no value has been made
        finalize(self, data.forget, self._token)

    def update(self, function: Callable[..., State], *arguments: Any) -> None:
        """Replace every value before the next call; see `Placed.update`."""
        self._history.append((function, arguments))

    def collect(
        self,
        function: Callable[..., Result],
        *arguments: Any,
        each: Sequence[Any] | None = None,
    ) -> list[Result]:
        """Call a function for every part; see `Placed.collect`."""
        with self._round() as run:
            found = run.gather(run.ask(function, arguments, each))
            return [one.value for one in found]

    def sum(
        self,
        function: Callable[..., Result],
        *arguments: Any,
        each: Sequence[Any] | None = None,
    ) -> Result:
        """Add the results of all parts; see `Placed.sum`."""
        with self._round() as run:
            found = run.gather_sum(run.ask(function, arguments, each))
            return found.value  # type: ignore[no-any-return]

    def fold(
        self, function: Callable[..., Result], start: Result, *arguments: Any
    ) -> Result:
        """Hand a result from part to part; see `Placed.fold`."""
        with self._round() as run:
            return run.chain(function, start, arguments)  # type: ignore[no-any-return]

    @contextmanager
    def _round(self) -> Iterator[_Round]:
        data = self._data
        check_open(data.client)
        data.traffic.rounds += 1
        data.look_for_workers()
        run = _Round(self)
        try:
            yield run
        except BaseException:
            run.cancel()
            raise
        self._done = run.version

    def order(
        self,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        each: Sequence[Any] | None,
        *,
        whole: bool,
    ) -> Order:
        """Make an order; `whole` has all that is needed to make lost values again."""
        first = 0 if whole else self._done
        return Order(
            self._token,
            len(self._history),
            first,
            tuple(self._history[first:]),
            function,
            arguments,
            each,
            self._make if whole else None,
            self._make_each if whole else None,
            self._data.take_forgotten(),
        )

    @property
    def data(self) -> DaskData:
        """The data whose parts have the values."""
        return self._data

    @property
    def is_new(self) -> bool:
        """Whether no value has been made yet."""
        return self._done < 0

    @property
    def version(self) -> int:
        """Number of updates so far."""
        return len(self._history)


class _Round:
    """The tasks of one round."""

    def __init__(self, placed: DaskPlaced[Any]) -> None:
        self._placed = placed
        self._data = placed.data
        self.version = placed.version
        self._futures: list[Any] = []

    def ask(
        self,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        each: Sequence[Any] | None,
    ) -> Callable[[Sequence[int], bool], list[Any]]:
        """A function that submits the tasks of some parts."""

        def submit(numbers: Sequence[int], whole: bool) -> list[Any]:
            order = self._placed.order(function, arguments, each, whole=whole)
            packed = self._send(order, len(numbers))
            futures, places = self._data.futures, self._data.places
            return [
                self._submit(
                    answer, futures[n], n, len(futures), packed, worker=places[n]
                )
                for n in numbers
            ]

        return submit

    def gather(
        self, submit: Callable[[Sequence[int], bool], list[Any]]
    ) -> list[Answer]:
        """Answers of all parts; values that are missing are made again."""
        numbers = list(range(len(self._data.futures)))
        found: list[Answer] = [Answer(None)] * len(numbers)
        whole = self._placed.is_new
        for _ in self._attempts():
            tasks = submit(numbers, whole)
            answers = self._results(tasks)
            if answers is None:
                whole = True
                continue
            for number, one in zip(numbers, answers, strict=True):
                found[number] = one
                self._data.traffic.bytes_from_parts += one.n_bytes
            numbers = [number for one in answers for number in one.missing]
            if not numbers:
                return found
            self._data.traffic.repeated_parts += len(numbers)
            whole = True
        raise AssertionError  # the last attempt raises

    def gather_sum(self, submit: Callable[[Sequence[int], bool], list[Any]]) -> Answer:
        """The sum of the answers of all parts, added on the workers."""
        numbers = list(range(len(self._data.futures)))
        tasks = [None] * len(numbers)
        whole = self._placed.is_new
        for _ in self._attempts():
            for number, task in zip(numbers, submit(numbers, whole), strict=True):
                tasks[number] = task
            level: list[Any] = list(tasks)
            while len(level) > 1:
                level = [
                    self._submit(combine, level[first : first + FAN_IN])
                    for first in range(0, len(level), FAN_IN)
                ]
            total = self._results(level)
            whole = True
            if total is None:
                numbers = list(range(len(tasks)))
                continue
            self._data.traffic.bytes_from_parts += total[0].n_bytes
            if not total[0].missing:
                found: Answer = total[0]
                return found
            numbers = list(total[0].missing)
            self._data.traffic.repeated_parts += len(numbers)
        raise AssertionError  # the last attempt raises

    def chain(
        self, function: Callable[..., Any], start: Any, arguments: tuple[Any, ...]
    ) -> Any:
        """Hand a result from part to part."""
        for _ in self._attempts():
            order = self._placed.order(function, arguments, None, whole=True)
            futures = self._data.futures
            packed = self._send(order, len(futures))
            found = start
            for number, future in enumerate(futures):
                found = self._submit(
                    hand_on, found, future, number, len(futures), packed
                )
            results = self._results([found])
            if results is not None:
                return results[0]
        raise AssertionError  # the last attempt raises

    def cancel(self) -> None:
        """Cancel all tasks of the round."""
        if self._data.client.status == "running":
            self._data.client.cancel(self._futures, force=True)

    def _submit(
        self, function: Callable[..., Any], *arguments: Any, worker: str = ""
    ) -> Any:
        future = self._data.client.submit(
            function, *arguments, pure=False, workers=[worker] if worker else None
        )
        self._futures.append(future)
        return future

    def _send(self, order: Order, n_parts: int) -> Any:
        packed = order.pack()
        traffic = self._data.traffic
        traffic.bytes_to_parts += len(packed) * n_parts
        traffic.largest_order = max(traffic.largest_order, len(packed))
        if len(packed) <= INLINE_BYTES:
            return packed
        return self._submit(bytes, packed)

    def _attempts(self) -> Iterator[int]:
        """Count attempts; Dask gives a task up after some of its workers have died."""
        yield from range(ATTEMPTS)
        raise PartitionError(
            f"Workers died in {ATTEMPTS} attempts at one round; see their logs. Use "
            "smaller partitions, or workers with more memory."
        )

    def _results(self, tasks: Sequence[Any]) -> list[Any] | None:
        """Wait for tasks; None if workers died, so that all has to be repeated."""
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        client = self._data.client
        try:
            with ThreadPoolExecutor(1) as pool:
                gathered = pool.submit(client.gather, list(tasks))
                try:
                    while not wait([gathered], LOOK_SECONDS).done:
                        # Tasks of a worker that has died wait for it to come back,
                        # even those whose results were there before.
                        check_open(client)
                        if self._data.assign_parts():
                            self.cancel()
                            self._futures = []
                            self._data.traffic.repeated_rounds += 1
                            return None
                except BaseException:
                    self.cancel()  # ends the other thread
                    raise
            found: list[Any] = gathered.result()
        except KilledWorker:
            self._data.start()
            self._data.traffic.repeated_rounds += 1
            return None
        except FutureCancelledError as error:
            check_open(self._data.client)
            raise PartitionError(
                f"A task of the fit was cancelled: {error}. Was the data released, or "
                "another client restarted the cluster? Fit again."
            ) from error
        except Exception as error:
            name_partition(self._data.futures, error)
            raise
        return found


def name_partition(futures: Sequence[Any], error: Exception) -> None:
    """Raise with the number of the partition that could not be computed, if any."""
    if isinstance(error, TanagerError):
        return  # it says so itself
    for number, future in enumerate(futures):
        if future.status == "error":
            raise PartitionError(
                f"Partition {number} of {len(futures)} could not be read: "
                f"{type(error).__name__}: {error}"
            ) from error


def workers_died_error() -> PartitionError:
    """Make the error for work whose workers died in every attempt."""
    return PartitionError(
        f"Workers died in {ATTEMPTS} attempts at one round; see their logs. Use "
        "smaller partitions, or workers with more memory."
    )


def check_open(client: Any) -> None:
    """Raise if a client is closed."""
    if client.status != "running":
        raise PartitionError(
            f"The Dask client is {client.status}. Make a new one, "
            "`client = distributed.Client(...)`, and fit again."
        )
