"""Threads over blocks of rows or tables, with results in a fixed order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from numbers import Integral
from threading import Lock, Thread
from typing import Any, TypeVar, cast

from tanager.errors import InputError
from tanager.utils.progress import Watch, check_stop, current_watch, report

Item = TypeVar("Item")
Result = TypeVar("Result")

BLOCK_ROWS = 8192
"""Rows in a block: a block's codes and its log joint stay in the second-level cache."""


def n_threads(n_jobs: int | None) -> int:
    """Number of threads meant by scikit-learn's `n_jobs`.

    ``None`` is 1, ``-1`` every core, ``-2`` all but one, and so on.
    """
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise InputError(
            f"n_jobs must be None, a positive number or a negative one counting from "
            f"all cores, got {n_jobs!r}."
        )
    if n_jobs > 0:
        return int(n_jobs)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    return max(1, (cores or os.cpu_count() or 1) + 1 + int(n_jobs))


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep the linear algebra inside to one thread.

    The vectors of an optimiser are short: threads of a BLAS library cost more than they
    bring, and many times more where our own threads keep the cores busy.
    """
    with _blas_controller().limit(limits=1, user_api="blas"):
        yield


@cache
def _blas_controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def map_threads(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    n_jobs: int | None,
    *,
    what: str = "",
    unit: str = "block",
) -> list[Result]:
    """Apply `function` to every item; the results are in the order of the items.

    The calling thread works, too, and the others live for this call only: nothing is
    left behind for a later fork. Of several errors that of the first item is raised.
    Where the work must end (`check_stop`, Ctrl-C) no further item begins, and the
    other threads end before the error is raised. With `what`, every item that is done
    is reported, as a `unit` of it.
    """
    work: Sequence[Item] = list(items)
    threads = min(n_threads(n_jobs), len(work))
    if threads <= 1:
        results = []
        for item in work:
            check_stop()
            results.append(function(item))
            if what:
                report(what, len(results), len(work), unit=unit, ends=False)
        return results
    found: list[Result | None] = [None] * len(work)
    errors: dict[int, BaseException] = {}
    numbers = iter(range(len(work)))
    turn = Lock()
    helping = (current_watch() or Watch()).helper()

    def run() -> None:
        while not errors:
            with turn:
                number = None if helping.cancel.on else next(numbers, None)
            if number is None:
                return
            try:
                check_stop()
                found[number] = function(work[number])
                if what:
                    report(what, number + 1, len(work), unit=unit, ends=False)
            except BaseException as error:  # raised below, in the calling thread
                errors[number] = error
                helping.cancel.on |= isinstance(error, KeyboardInterrupt)

    helpers = [Thread(target=helping.join(run)) for _ in range(threads - 1)]
    try:
        for helper in helpers:
            helper.start()
        run()
        for helper in helpers:
            helper.join()
    finally:
        # Ctrl-C may come at any moment, and only to this thread.
        helping.cancel.on = True
        for helper in helpers:
            if helper.ident is not None:
                helper.join()
    if errors:
        # What Ctrl-C has made of the work of others is no error of theirs.
        asked = [e for e in errors.values() if isinstance(e, KeyboardInterrupt)]
        raise asked[0] if asked else errors[min(errors)]
    return cast("list[Result]", found)


def row_blocks(n_rows: int, size: int = BLOCK_ROWS) -> list[tuple[int, int]]:
    """Cut rows into consecutive (start, stop) ranges that do not depend on threads."""
    return [(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
