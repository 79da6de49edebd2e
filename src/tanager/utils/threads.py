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
    function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None
) -> list[Result]:
    """Apply `function` to every item; the results are in the order of the items.

    The calling thread works, too, and the others live for this call only: nothing is
    left behind for a later fork. Of several errors that of the first item is raised.
    """
    work: Sequence[Item] = list(items)
    threads = min(n_threads(n_jobs), len(work))
    if threads <= 1:
        return [function(item) for item in work]
    results: list[Result | None] = [None] * len(work)
    errors: dict[int, BaseException] = {}
    numbers = iter(range(len(work)))
    turn = Lock()

    def run() -> None:
        while not errors:
            with turn:
                number = next(numbers, None)
            if number is None:
                return
            try:
                results[number] = function(work[number])
            except BaseException as error:  # raised below, in the calling thread
                errors[number] = error

    helpers = [Thread(target=run) for _ in range(threads - 1)]
    for helper in helpers:
        helper.start()
    run()
    for helper in helpers:
        helper.join()
    if errors:
        raise errors[min(errors)]
    return cast("list[Result]", results)


def row_blocks(n_rows: int, size: int = BLOCK_ROWS) -> list[tuple[int, int]]:
    """Cut rows into consecutive (start, stop) ranges that do not depend on threads."""
    return [(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
