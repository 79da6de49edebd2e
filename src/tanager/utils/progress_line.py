"""`ProgressLine`: reports of long work on standard error, with what is left."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite, log
from shutil import get_terminal_size
from threading import Lock
from time import perf_counter
from typing import Any, ClassVar

from tanager.utils.text import escape_controls

LONG = 2.0
"""Seconds that work takes before a line of it stays, and seconds between two lines
where standard error is no terminal."""

FRACTION = 0.1
"""Least time between two such lines, as a fraction of the time so far."""

REDRAW = 0.1
"""Seconds between two changes of the line in a terminal."""

HIDDEN = ("iteration", "seconds")
"""Values that are said in other words."""

ECHO = 3
"""Columns that stay free at the end of the line: the terminal shows Ctrl-C as ^C."""

LEAST_DONE = 0.02
"""Fraction of the work that must be done before the rest is estimated."""


@dataclass(frozen=True)
class Report:
    """One step of some work.

    `total` is the number of all steps, at most so many if `bound`. `goal` says which of
    the `values` falls geometrically, and where it ends. `note` says in words what was
    done, and `values` are numbers by name.
    """

    who: str
    step: int
    total: int | None = None
    unit: str = "step"
    bound: bool = False
    goal: tuple[str, float] | None = None
    note: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """Which step it is."""
        text = f"{self.unit} {self.step:,}"
        if self.total is not None:
            text += f" of {'at most ' if self.bound else ''}{self.total:,}"
        return text

    @property
    def details(self) -> str:
        """What was done, and the values."""
        shown = {k: v for k, v in self.values.items() if k not in HIDDEN}
        numbers = [
            f"{name.replace('_', ' ')} "
            + (f"{value:,}" if isinstance(value, int) else f"{value:.6g}")
            for name, value in shown.items()
            if not isinstance(value, str)
        ]
        return ", ".join([self.note] * bool(self.note) + numbers)

    def text(self, times: str) -> str:
        """The report in words.

        Examples
        --------
        >>> values = {"log_likelihood": -41.25}
        >>> Report("EM", 3, 200, bound=True, values=values).text("2 s")
        'step 3 of at most 200 (2 s): log likelihood -41.25'
        """
        return f"{self.place} ({times})" + (f": {self.details}" if self.details else "")

    def fraction(self, first: Report) -> float:
        """What is done of the work between a first report and the end; 0 is unknown.

        Examples
        --------
        >>> Report("a", 3, 5).fraction(Report("a", 1, 5))
        0.5
        >>> gaps = [{"gap": 1.0}, {"gap": 1e-3}]
        >>> first, last = (Report("a", 1, goal=("gap", 1e-4), values=v) for v in gaps)
        >>> round(last.fraction(first), 3)
        0.75
        """
        done = 0.0
        if self.total is not None and self.total > first.step:
            done = (self.step - first.step) / (self.total - first.step)
        if self.goal is not None:
            name, end = self.goal
            before, now = (r.values.get(name, 0.0) for r in (first, self))
            if 0.0 < end < before and 0.0 < now < before and isfinite(before):
                done = max(done, log(before / now) / log(before / end))
        return min(done, 1.0)


class ProgressLine:
    """Show reports on standard error.

    In a terminal one line is rewritten; work of more than two seconds leaves its last
    report. Elsewhere lines come every two seconds at first, then every tenth of the
    time so far. With `every`, each report is a line of its own.

    Attributes
    ----------
    heading : str
        What the reports belong to; before all of them.
    stage : str
        The stage of a fit; before all of its reports.
    """

    drawn: ClassVar[ProgressLine | None] = None

    def __init__(self, *, every: bool = False) -> None:
        self.heading = self.stage = ""
        self._every = every
        # A stream that the shell has closed is None.
        self._terminal = not every and sys.stderr is not None and sys.stderr.isatty()
        self._began = perf_counter()
        self._next = self._began + (REDRAW if self._terminal else LONG)
        self._first: tuple[float, Report] | None = None
        self._last: tuple[float, Report] | None = None
        self._title = ""
        self._turn = Lock()

    def show(self, report: Report) -> None:
        """Take a report, and show it if it is time."""
        with self._turn:
            now = perf_counter()
            title = self._full_title(report.who)
            if self._first is None or title != self._title:
                self._finish()
                self._title, self._first = title, (now, report)
            self._last = (now, report)
            if self._every:
                self._print(report.text(f"{now - self._began:.2f} s"))
            elif now >= self._next:
                self._draw(title + report.text(self._times(now, report)))
                pause = max(LONG, FRACTION * (now - self._began))
                self._next = now + (REDRAW if self._terminal else pause)

    def announce(self, heading: str) -> None:
        """Begin something else: `heading` comes before all following reports."""
        with self._turn:
            self._finish()
            self.heading = heading
            seconds = f"{perf_counter() - self._began:.0f} s"
            if self._terminal:
                self._draw(f"{heading} ({seconds})")
            else:
                self._print(f"{heading} ({seconds})")

    def close(self) -> None:
        """Show the last report of long work, and leave the line."""
        with self._turn:
            self._finish()
            self.clear()

    def clear(self) -> None:
        """Erase the line, for other text on the terminal."""
        if ProgressLine.drawn is self:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
            ProgressLine.drawn = None

    def _full_title(self, who: str) -> str:
        where = f"{self.heading} | " if self.heading and self._terminal else ""
        return f"{where}{self.stage + ', ' if self.stage else ''}{who}: "

    def _times(self, now: float, report: Report) -> str:
        """The time so far, and an estimate of what is left."""
        assert self._first is not None
        began, first = self._first
        text = f"{now - self._began:.0f} s"
        done = report.fraction(first)
        if done >= LEAST_DONE:
            left = (now - began) * (1.0 - done) / done
            text += f", {'less than' if report.bound else 'about'} {left:.0f} s left"
        return text

    def _finish(self) -> None:
        """Leave the last report of work that took long."""
        if self._first is not None and self._last is not None and not self._every:
            began, (ended, report) = self._first[0], self._last
            self.clear()
            if ended - began >= LONG:
                self._print(self._title + report.text(f"{ended - began:.1f} s"))
        self._first = self._last = None

    def _draw(self, text: str) -> None:
        if not self._terminal:
            self._print(text)
            return
        text = _shorten(escape_controls(text), get_terminal_size().columns - ECHO)
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
        ProgressLine.drawn = self

    def _print(self, text: str) -> None:
        if sys.stderr is not None:
            print(escape_controls(text), file=sys.stderr, flush=True)


def _shorten(text: str, width: int) -> str:
    """Cut a text between words where it exceeds a width.

    Examples
    --------
    >>> _shorten("epoch 7 of at most 11 (13 s)", 27)
    'epoch 7 of at most 11 ...'
    """
    if len(text) <= width:
        return text
    kept = text[: max(width - 3, 0)].rpartition(" ")[0]
    return f"{kept} ..." if kept else text[: max(width, 0)]


def clear_progress_line() -> None:
    """Erase the line of progress in the terminal, if there is one, for other text."""
    if ProgressLine.drawn is not None:
        ProgressLine.drawn.clear()
