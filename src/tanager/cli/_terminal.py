"""Output of the commands: results on standard output, the rest on standard error."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from shutil import get_terminal_size
from typing import TYPE_CHECKING

import click
from click.formatting import wrap_text

from tanager.utils.progress_line import clear_progress_line
from tanager.utils.text import TEXT_WIDTH, escape_controls

if TYPE_CHECKING:
    from tanager.utils.progress import Watch


def say(message: str, *, quiet: bool = False) -> None:
    """Print a line on standard error."""
    if not quiet:
        clear_progress_line()
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


def watch_work(
    what: str, *, quiet: bool, progress: bool
) -> AbstractContextManager[Watch]:
    """Show the progress of long work, on a terminal or if it was asked for.

    Ctrl-C ends the whole work, also where a learner has a best model so far.
    """
    from tanager.utils.progress import watch

    return watch(what, verbose=progress_shown(quiet, progress), keeps=False)


def progress_shown(quiet: bool, progress: bool) -> bool:
    """Whether to show progress, from ``--quiet`` and ``--progress``."""
    terminal = sys.stderr is not None and sys.stderr.isatty()
    return not quiet and (progress or terminal)
