"""`CompileNotice`: how long kernels have been compiled, and a line that says so."""

# mypy: allow-untyped-calls

from __future__ import annotations

import sys
from time import perf_counter
from typing import Any

from numba.core import event

from tanager.utils.progress_line import clear_progress_line

PATIENCE = 1.0
"""Seconds of compiling after which a line on standard error gives the reason."""


class CompileNotice(event.Listener):
    """Listens to numba: counts kernels of this package, and seconds of compiling.

    After `PATIENCE` seconds it writes one line to standard error, once in a process. A
    kernel that is loaded from the cache takes no notice.

    Attributes
    ----------
    n_kernels : int
        Kernels compiled so far in this process.
    seconds : float
        The time that took, together.
    quiet : bool
        Whether to write no line.
    """

    def __init__(self) -> None:
        self.n_kernels = 0
        self.seconds = 0.0
        self.quiet = False
        self._depth = 0
        self._start = 0.0

    def on_start(self, event: Any) -> None:
        """Note when the outermost kernel begins; it compiles those that it calls."""
        if _is_ours(event):
            if self._depth == 0:
                self._start = perf_counter()
            self._depth += 1

    def on_end(self, event: Any) -> None:
        """Add the time of the outermost kernel, and write the line."""
        if not _is_ours(event):
            return
        self._depth -= 1
        self.n_kernels += 1
        if self._depth == 0:
            self.seconds += perf_counter() - self._start
            if self.seconds > PATIENCE and not self.quiet:
                self.quiet = True
                self._write()

    def _write(self) -> None:
        if sys.stderr is not None:
            clear_progress_line()
            sys.stderr.write(
                "tanager is compiling kernels for larger data; later runs load them "
                "from a cache ('tanager warmup' compiles all).\n"
            )
            sys.stderr.flush()


def _is_ours(event: Any) -> bool:
    module: str = event.data["dispatcher"].py_func.__module__
    return module.partition(".")[0] == "tanager"


NOTICE = CompileNotice()
event.register("numba:compile", NOTICE)
