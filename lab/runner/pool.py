"""Cells measured in several processes; what is measured is kept at once."""

from __future__ import annotations

import multiprocessing
import os
import signal
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import cached_property
from threading import Thread
from time import perf_counter

from lab.runner.cache import CellCache, Record
from lab.runner.cell import Cell, Numbers
from lab.runner.experiment import Experiment
from lab.runner.versions import code_version, data_version
from tanager import InputError

DIED = (
    "the process that measured it died: it was killed, or there was not enough memory"
)

Report = Callable[[Cell, Record], None]
Measure = Callable[[Cell], Record]


@dataclass
class Outcome:
    """What is known after a run.

    Parameters
    ----------
    numbers : dict from Cell to Numbers
        Of the cells that are measured, now or before.
    failed : dict from Cell to str
        Why cells could not be measured.
    skipped : dict from Cell to str
        Cells whose data are not there, and where to get them.
    """

    numbers: dict[Cell, Numbers] = field(default_factory=dict)
    failed: dict[Cell, str] = field(default_factory=dict)
    skipped: dict[Cell, str] = field(default_factory=dict)


def with_data(cells: Iterable[Cell]) -> tuple[list[Cell], dict[Cell, str]]:
    """Cells whose data are there, and the others with the reason."""
    there, skipped = [], {}
    for cell in cells:
        try:
            for name in cell.data:
                data_version(name)
        except InputError as error:
            skipped[cell] = str(error)
        else:
            there.append(cell)
    return there, skipped


def known_numbers(cells: Iterable[Cell], cache: CellCache) -> dict[Cell, Numbers]:
    """Numbers of those cells that have been measured before."""
    found = {}
    for cell in cells:
        record = cache.get(cell)
        if record is not None and record.numbers is not None:
            found[cell] = record.numbers
    return found


def known_failures(
    cells: Iterable[Cell], cache: CellCache, kept: Callable[[Record], bool]
) -> dict[Cell, str]:
    """Why cells have failed before, where that is to stand."""
    records = ((cell, cache.get(cell)) for cell in cells)
    return {
        cell: record.error
        for cell, record in records
        if record is not None and record.error is not None and kept(record)
    }


def run(
    cells: Sequence[Cell],
    cache: CellCache,
    *,
    jobs: int = 1,
    report: Report | None = None,
    measure: Measure | None = None,
    kept: Callable[[Record], bool] | None = None,
) -> Outcome:
    """Measure what is not yet known.

    A cell that fails is kept with its error, the others go on, and it is tried again
    in the next run. After Ctrl-C or a kill, whatever was measured is in the cache.

    Parameters
    ----------
    cells : sequence of Cell
        What to measure.
    cache : CellCache
        Where numbers are looked up and kept.
    jobs : int, default=1
        Processes, each of one thread.
    report : callable or None, default=None
        Called with every cell that was measured or failed.
    measure : callable or None, default=None
        What makes a record of a cell, in another process; None means `measure_cell`.
    kept : callable or None, default=None
        Which records of failures stand, so that their cells are not tried again; None
        means none of them.

    Returns
    -------
    Outcome
        Everything that is known of the cells.
    """
    there, skipped = with_data(cells)
    outcome = Outcome(known_numbers(there, cache), {}, skipped)
    if kept is not None:
        outcome.failed |= known_failures(there, cache, kept)
    done = outcome.numbers.keys() | outcome.failed.keys()
    left = [cell for cell in there if cell not in done]
    if not left:
        return outcome
    cache.check()
    for cell, record in _in_processes(left, jobs, measure or measure_cell):
        cache.put(cell, record)
        if record.numbers is None:
            outcome.failed[cell] = record.error or ""
        else:
            outcome.numbers[cell] = record.numbers
        if report is not None:
            report(cell, record)
    return outcome


@dataclass(frozen=True)
class Work:
    """Cells of several experiments, each once.

    Parameters
    ----------
    together : list of Cell
        Cells that may be measured at the same time.
    alone : list of Cell
        Cells whose times are compared: one after the other, at the end.
    cache : CellCache
        Where numbers are looked up and kept.
    """

    together: list[Cell]
    alone: list[Cell]
    cache: CellCache

    @classmethod
    def of(
        cls, chosen: Sequence[Experiment], cache: CellCache, *, quick: bool = False
    ) -> Work:
        """The cells of some experiments."""
        kinds: dict[bool, dict[Cell, None]] = {False: {}, True: {}}
        for one in chosen:
            kinds[one.one_at_a_time] |= dict.fromkeys(one.cells(quick=quick))
        together = [cell for cell in kinds[False] if cell not in kinds[True]]
        return cls(together, list(kinds[True]), cache)

    @property
    def cells(self) -> list[Cell]:
        """All cells."""
        return [*self.together, *self.alone]

    @cached_property
    def n_left(self) -> int:
        """Cells that can be measured and are not."""
        there, _ = with_data(self.cells)
        return len(there) - len(known_numbers(there, self.cache))

    @property
    def summary(self) -> str:
        """How much there is to do, in a line."""
        return f"{len(self.cells):,} cells, {self.n_left:,} of them to be measured."

    def run(self, jobs: int, report: Report | None = None) -> Outcome:
        """Measure what is not yet known; see `run`."""
        outcome = run(self.together, self.cache, jobs=jobs, report=report)
        last = run(self.alone, self.cache, jobs=1, report=report)
        outcome.numbers |= last.numbers
        outcome.failed |= last.failed
        outcome.skipped |= last.skipped
        return outcome


def _in_processes(
    cells: Sequence[Cell], jobs: int, measure: Measure
) -> Iterator[tuple[Cell, Record]]:
    """Cells as they are done; a process that dies takes no other cell with it."""
    waiting = list(reversed(cells))
    while waiting:
        suspects: list[Cell] = []
        with _Pool(min(jobs, len(waiting)), measure) as pool:
            under_way: dict[Future[Record], Cell] = {}
            try:
                while waiting or under_way:
                    while waiting and len(under_way) < pool.size:
                        # A pool that has broken takes no more: the cell stays.
                        under_way[pool.submit(waiting[-1])] = waiting[-1]
                        waiting.pop()
                    done, _ = wait(under_way, return_when=FIRST_COMPLETED)
                    for future in done:
                        record = future.result()
                        yield under_way.pop(future), record
            except BrokenProcessPool:
                # One of them is to blame; nobody says which.
                suspects = list(under_way.values())
        for cell in suspects:
            yield cell, _alone(cell, measure)


def _alone(cell: Cell, measure: Measure) -> Record:
    """Measure a cell in a process of its own, which may die."""
    with _Pool(1, measure) as pool:
        try:
            return pool.submit(cell).result()
        except BrokenProcessPool:
            return Record(None, DIED, 0.0, code_version())


class _Pool:
    """Processes that measure, ended at once when something goes wrong."""

    def __init__(self, size: int, measure: Measure) -> None:
        self.size = size
        self._measure = measure
        # A fresh interpreter: forked processes inherit threads of numba in any state.
        self._pool = ProcessPoolExecutor(
            size, multiprocessing.get_context("spawn"), initializer=_start_worker
        )

    def submit(self, cell: Cell) -> Future[Record]:
        return self._pool.submit(self._measure, cell)

    def __enter__(self) -> _Pool:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            for process in list((self._pool._processes or {}).values()):
                process.terminate()
        self._pool.shutdown(wait=True, cancel_futures=True)


def _start_worker() -> None:
    """Use one thread, and leave Ctrl-C to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=exit_with_parent, daemon=True).start()
    from threadpoolctl import threadpool_limits

    # Limits do not reach libraries that are loaded later.
    import lab.measurements  # noqa: F401

    threadpool_limits(1)


def exit_with_parent() -> None:
    """End this process when its parent has been killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def measure_cell(cell: Cell) -> Record:
    """Measure a cell here and now; an error is part of the record."""
    from lab.measurements import MEASUREMENTS

    begin = perf_counter()
    try:
        numbers = MEASUREMENTS[cell.measurement](**cell.parameters)
        check_finite(numbers)
    except Exception as error:
        message = error_text(error)
        return Record(None, message, perf_counter() - begin, code_version())
    return Record(numbers, None, perf_counter() - begin, code_version())


def error_text(error: Exception) -> str:
    r"""Type and message of an error, in one line.

    Without a traceback within the message, as scikit-learn writes it for parallel fits:
    it names the files of one machine.

    Examples
    --------
    >>> error_text(ValueError("no fit:\n  Traceback (most recent call last): ..."))
    'ValueError: no fit:'
    """
    text = " ".join("".join(traceback.format_exception_only(error)).split())
    return text.partition(" Traceback (most recent call last)")[0]


def check_finite(numbers: Mapping[str, object]) -> None:
    """Make sure that a measurement gives finite numbers or series of them."""
    import numpy as np

    for name, value in numbers.items():
        array = np.asarray(value, dtype=np.float64)
        if array.ndim > 1 or not np.isfinite(array).all():
            raise ValueError(f"{name} is {value!r}, not finite numbers")
