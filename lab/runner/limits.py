"""Cells measured in a process each, with limits of processor time and memory."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import resource
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from time import perf_counter

from lab.runner.cache import Record
from lab.runner.cell import Cell
from lab.runner.pool import exit_with_parent, measure_cell
from lab.runner.versions import code_version

TIME_LIMIT = "time limit"
MEMORY_LIMIT = "memory limit"
"""How the reasons begin why a cell that reached a limit has no numbers."""

OUT_OF_MEMORY = ("MemoryError", "bad_alloc")
"""What errors say, of Python and of C++, when there is no more memory."""

MEGABYTE = 2**20

WALL_FACTOR = 20.0
"""Times the processor seconds after which a process that waits is killed, too."""

ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMBA_NUM_THREADS",
        "LOKY_MAX_CPU_COUNT",
    ),
    "1",
)
"""Environment in which libraries use one thread."""


@dataclass(frozen=True)
class LimitedMeasure:
    """What makes a record of a cell, in a fresh process that may die.

    Parameters
    ----------
    seconds : float
        Processor seconds that a cell may take.
    megabytes : float
        Memory that it may take beyond what the process has when it begins.
    preload : sequence of str, default=()
        Modules that are imported once, for all of these processes.
    """

    seconds: float
    megabytes: float
    preload: Sequence[str] = ()

    def __call__(self, cell: Cell) -> Record:
        """Measure a cell; a limit that was reached, or a death, is its error."""
        os.environ |= ONE_THREAD  # before the first process, which the others copy
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(list(self.preload))
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_measure, args=(sender, cell, self))
        begin = perf_counter()
        process.start()
        sender.close()
        try:
            in_time = receiver.poll(self.seconds * WALL_FACTOR)
            if in_time:
                record: Record = receiver.recv()
                return record
            waited = f" or {self.seconds * WALL_FACTOR:g} seconds in all"
            why = self.time_limit + waited
        except EOFError:
            process.join()
            why = self._reason(process.exitcode or 0)
        finally:
            _end(process)
            receiver.close()
        return Record(None, why, perf_counter() - begin, code_version())

    @property
    def time_limit(self) -> str:
        """The reason of a cell that reached the limit of time."""
        return f"{TIME_LIMIT}: more than {self.seconds:g} processor seconds"

    @property
    def memory_limit(self) -> str:
        """The reason of a cell that reached the limit of memory."""
        return f"{MEMORY_LIMIT}: more than {self.megabytes:,.0f} MB"

    def _reason(self, exit_code: int) -> str:
        """Why a process ended without a record."""
        if exit_code == -signal.SIGXCPU:
            return self.time_limit
        if exit_code < 0:
            name = signal.Signals(-exit_code).name
            return f"the process was ended by {name}"
        return f"the process ended with exit code {exit_code}"


def _measure(sender: Connection, cell: Cell, limits: LimitedMeasure) -> None:
    """Measure a cell in this process, and send the record."""
    os.setsid()  # so that what it starts can be ended with it
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=exit_with_parent, daemon=True).start()
    limit_memory(int(limits.megabytes * MEGABYTE))
    _limit_processor_time(limits.seconds)
    record = measure_cell(cell)
    if record.error is not None and any(o in record.error for o in OUT_OF_MEMORY):
        record = Record(None, limits.memory_limit, record.seconds, record.code)
    sender.send(record)
    sender.close()


def _limit_processor_time(seconds: float) -> None:
    """Let this process, and each that it starts, use so many processor seconds."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    most = ceil(used.ru_utime + used.ru_stime + seconds)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (most, most + 5))


def limit_memory(more: int) -> None:
    """Let this process allocate so many bytes more than it has now."""
    statm = Path("/proc/self/statm")
    if statm.exists():  # elsewhere the memory is not limited
        size = int(statm.read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + more, size + more))


def _end(process: multiprocessing.process.BaseProcess) -> None:
    """End a process and all that it has started."""
    process.join(timeout=1.0)
    process.kill()
    if process.pid is not None:
        with contextlib.suppress(ProcessLookupError):  # all of them have ended
            os.killpg(process.pid, signal.SIGKILL)
    process.join()
