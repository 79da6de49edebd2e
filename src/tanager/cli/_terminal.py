"""Output of the commands: results on standard output, the rest on standard error."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Sequence
from shutil import get_terminal_size
from time import perf_counter

import click
from click.formatting import wrap_text

from tanager.utils.text import TEXT_WIDTH, escape_controls


def say(message: str, *, quiet: bool = False) -> None:
    """Print a line on standard error."""
    if not quiet:
        click.echo(escape_controls(message), err=True)


def print_text(text: str) -> None:
    """Print a result for people on standard output."""
    click.echo(escape_controls(text))


def terminal_width() -> int | None:
    """Width of the terminal, at most 120; None if standard output is none."""
    # A stream that the shell has closed is None.
    if sys.stdout is None or not sys.stdout.isatty():
        return None
    return min(get_terminal_size().columns, 120)


def line_width() -> int:
    """Width of the terminal, or 80."""
    return terminal_width() or TEXT_WIDTH


def list_text(rows: Sequence[tuple[str, str]]) -> str:
    """Lay out names and descriptions, wrapped to the width of the terminal."""
    indent = max(len(name) for name, _ in rows) + 2
    width = line_width()
    return "\n".join(
        wrap_text(text, width, name.ljust(indent), " " * indent) for name, text in rows
    )


class Progress:
    """A line on standard error that reports the progress of long work.

    On a terminal the line is rewritten in place. Elsewhere nothing is shown unless
    `show` is True, and then every step is a line of its own.

    Ctrl-C ends the whole work at the next step. Without this, a learner that searches
    would end its own search only and return the best model so far.
    """

    def __init__(self, show: bool | None = None) -> None:
        self._terminal = sys.stderr is not None and sys.stderr.isatty()
        self._show = self._terminal if show is None else show
        self._started = perf_counter()
        self._length = 0
        self._watches = False
        self._interrupted = False

    def report(self, done: int, total: int, what: str) -> None:
        """Report a step; raise KeyboardInterrupt if a learner has handled Ctrl-C."""
        if self._interrupted:
            raise KeyboardInterrupt
        if not self._show:
            return
        seconds = perf_counter() - self._started
        text = escape_controls(f"[{done}/{total}] {what} ({seconds:.0f} s)")
        if self._terminal:
            click.echo("\r" + text.ljust(self._length), err=True, nl=False)
            self._length = len(text)
        else:
            click.echo(text, err=True)

    def __enter__(self) -> Progress:
        # Only Python's own way to deal with Ctrl-C is replaced, and only where it can.
        if (
            threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        ):
            signal.signal(signal.SIGINT, self._interrupt)
            self._watches = True
        return self

    def _interrupt(self, *_: object) -> None:
        self._interrupted = True
        raise KeyboardInterrupt

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._watches:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if self._show and self._terminal and self._length:
            click.echo("\r" + " " * self._length + "\r", err=True, nl=False)
        if self._interrupted and kind is None:
            raise KeyboardInterrupt


def progress_shown(quiet: bool, progress: bool) -> bool | None:
    """The argument `show` of `Progress` from ``--quiet`` and ``--progress``."""
    if quiet:
        return False
    return True if progress else None
