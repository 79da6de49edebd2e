"""Messages and progress on the terminal, and the group of commands."""

from __future__ import annotations

import sys
from time import perf_counter
from typing import Any

import click

from tanager import TanagerError


def say(message: str, *, quiet: bool = False) -> None:
    """Print a message on standard error."""
    if not quiet:
        click.echo(message, err=True)


def join_lines(text: str) -> str:
    """Put a text on one line."""
    return " ".join(text.split())


def count_noun(number: int, noun: str) -> str:
    """Number and noun, in the plural where it belongs.

    Examples
    --------
    >>> count_noun(1, "cell"), count_noun(1500, "cell")
    ('1 cell', '1,500 cells')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def format_duration(seconds: float) -> str:
    """Seconds, minutes or hours, whichever is short.

    Examples
    --------
    >>> format_duration(42), format_duration(150), format_duration(9000)
    ('42 s', '2 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


class Progress:
    """A line on standard error with the number of steps done and the time left.

    Parameters
    ----------
    total : int
        Number of steps.
    show : bool or None, default=None
        Whether to show it; None means only on a terminal.
    """

    def __init__(self, total: int, show: bool | None = None) -> None:
        self._total = total
        self._done = 0
        self._terminal = sys.stderr.isatty()
        self._show = self._terminal if show is None else show
        self._started = perf_counter()

    def step(self, what: str) -> None:
        """Report a step that is done."""
        self._done += 1
        if not self._show:
            return
        seconds = perf_counter() - self._started
        left = format_duration(seconds / self._done * (self._total - self._done))
        text = f"[{self._done}/{self._total}] {what}, about {left} left"
        # "\033[K" clears what a longer line has left behind.
        click.echo(f"\r{text}\033[K" if self._terminal else text, err=True, nl=False)
        if not self._terminal or self._done == self._total:
            click.echo("", err=True)


class CommandGroup(click.Group):
    """Commands whose expected errors are one line, never a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; its result is the exit code."""
        try:
            code = super().invoke(ctx)
        except TanagerError as error:
            raise click.ClickException(join_lines(str(error))) from None
        ctx.exit(code if isinstance(code, int) else 0)
