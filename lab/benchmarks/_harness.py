"""Timing, memory of a fresh process, and rows of the results table."""

from __future__ import annotations

import gc
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

SLOW = 30.0
"""Seconds from which on one run is enough: the first one counts, no other is made."""

Action = Callable[[], object]


class Skip(Exception):  # noqa: N818 - nothing went wrong
    """Raised by a benchmark that cannot run here; the message says what is missing."""


@dataclass(frozen=True)
class Options:
    """What the command line asked for.

    Parameters
    ----------
    quick : bool
        Small sizes and few repeats: shows that everything runs, proves nothing.
    rows : int or None
        Number of rows of benchmarks whose size can be chosen.
    """

    quick: bool = False
    rows: int | None = None

    def pick(self, full: int, quick: int) -> int:
        """The size for this kind of run."""
        return quick if self.quick else full


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Parameters
    ----------
    what : str
        What was measured.
    ours, other : str
        The two measurements as text; `other` may be empty.
    ratio : str
        How they compare.
    required : str
        What was asked for; empty where the number is only reported.
    passed : bool or None
        Whether it was reached; None where nothing was asked for.
    """

    what: str
    ours: str
    other: str = ""
    ratio: str = ""
    required: str = ""
    passed: bool | None = None

    @property
    def verdict(self) -> str:
        """In one word."""
        return {True: "ok", False: "MISSED", None: ""}[self.passed]


def faster(
    what: str, ours: float, other: float, *, name: str, at_least: float | None = None
) -> Row:
    """A row that says how many times faster ours is than the other.

    Parameters
    ----------
    what : str
        What was measured.
    ours, other : float
        Seconds.
    name : str
        Who the other is.
    at_least : float or None, default=None
        Required ratio.
    """
    ratio = other / ours
    return Row(
        what,
        seconds(ours),
        f"{seconds(other)} ({name})",
        f"{ratio:.3g}x faster",
        "" if at_least is None else f"at least {at_least:g}x faster",
        None if at_least is None else ratio >= at_least,
    )


def cost(
    what: str,
    ours: float,
    other: float,
    *,
    name: str,
    at_most: float | None = None,
    shown: Callable[[float], str] | None = None,
) -> Row:
    """A row that says how many times as much ours costs as the other.

    Parameters
    ----------
    what : str
        What was measured.
    ours, other : float
        Two amounts of the same kind, seconds by default.
    name : str
        Who the other is.
    at_most : float or None, default=None
        Required ratio.
    shown : callable or None, default=None
        Turns an amount into text.
    """
    shown = shown or seconds
    ratio = ours / other
    return Row(
        what,
        shown(ours),
        f"{shown(other)} ({name})",
        f"{ratio:.2f}x the cost",
        "" if at_most is None else f"at most {at_most:g}x",
        None if at_most is None else ratio <= at_most,
    )


def limit(what: str, ours: float, at_most: float | None = None) -> Row:
    """A row with a time in seconds and perhaps an upper limit for it."""
    return Row(
        what,
        seconds(ours),
        required="" if at_most is None else f"at most {seconds(at_most)}",
        passed=None if at_most is None else ours <= at_most,
    )


def seconds(value: float) -> str:
    """A time in a readable unit.

    Examples
    --------
    >>> seconds(1.5), seconds(0.0021), seconds(0.0000042)
    ('1.50 s', '2.1 ms', '4.2 us')
    """
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}" if value < 1 else f"{value:.2f} s"
    return f"{value * 1e6:.3g} us"


def megabytes(value: float) -> str:
    """Bytes as megabytes."""
    return f"{value / 1e6:.1f} MB"


def best_of(actions: Mapping[str, Action], repeats: int) -> dict[str, float]:
    """Least time of every action, all of them taking turns.

    Taking turns spreads whatever else the machine does over all of them.

    Parameters
    ----------
    actions : mapping from name to callable
        What to time. Each runs once before, so that nothing is compiled in between.
    repeats : int
        How often each is timed.

    Returns
    -------
    dict from name to float
        Seconds.
    """
    times = _timed(actions, repeats)
    return {name: min(taken) for name, taken in times.items()}


def _timed(actions: Mapping[str, Action], repeats: int) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {}
    for name, action in actions.items():
        started = perf_counter()
        action()
        taken = perf_counter() - started
        times[name] = [taken] if taken > SLOW else []
    for _ in range(repeats):
        for name, action in actions.items():
            if times[name] and times[name][0] > SLOW:
                continue
            gc.collect()
            started = perf_counter()
            action()
            times[name].append(perf_counter() - started)
    return times


def per_call(action: Action, *, calls: int, repeats: int) -> float:
    """Seconds of one call, the least mean over several runs of many calls."""
    action()

    def many() -> None:
        for _ in range(calls):
            action()

    return best_of({"": many}, repeats)[""] / calls


def process_times(
    scripts: Mapping[str, str], arguments: Sequence[str], repeats: int
) -> dict[str, float]:
    """Median processor time of fresh Python processes, taking turns.

    Parameters
    ----------
    scripts : mapping from name to str
        Programs. Each runs once before, to fill caches.
    arguments : sequence of str
        Their command line arguments.
    repeats : int
        How often each is timed.

    Returns
    -------
    dict from name to float
        Processor seconds from start to exit.
    """
    for script in scripts.values():
        run_python(script, arguments)
    times: dict[str, list[float]] = {name: [] for name in scripts}
    for _ in range(repeats):
        for name, script in scripts.items():
            started = _child_seconds()
            run_python(script, arguments)
            times[name].append(_child_seconds() - started)
    return {name: statistics.median(taken) for name, taken in times.items()}


def _child_seconds() -> float:
    """Processor seconds of all processes that this one has started and waited for."""
    spent = os.times()
    return spent.children_user + spent.children_system


def installed_environment() -> dict[str, str]:
    """The environment variables, but with bytecode kept, as of installed packages."""
    dropped = "PYTHONDONTWRITEBYTECODE"
    return {name: value for name, value in os.environ.items() if name != dropped}


def run_python(script: str, arguments: Sequence[str] = ()) -> str:
    """Run a program in a fresh Python process from the root of the checkout."""
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=ROOT,
        env=installed_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"A measured process failed:\n{done.stderr}")
    return done.stdout


def peak_memory(function: str, *arguments: object) -> float:
    """Bytes that a call needs above what its process held before, in a fresh process.

    Parameters
    ----------
    function : str
        Such as ``"lab.benchmarks.scaling:measured"``: takes the arguments, prepares
        everything and returns the call to measure.
    *arguments
        Anything that JSON can carry.

    Returns
    -------
    float
        Bytes, by the resident set size.
    """
    script = (
        "import sys; from lab.benchmarks._harness import report; report(*sys.argv[1:])"
    )
    text = run_python(script, [function, json.dumps(arguments)])
    return float(text.strip().splitlines()[-1])


def report(function: str, arguments: str) -> None:
    """Print how much memory a call needs; runs in the process of `peak_memory`."""
    from importlib import import_module

    module, _, name = function.partition(":")
    call = getattr(import_module(module), name)(*json.loads(arguments))
    gc.collect()
    before = resident_bytes()
    forget_peak()
    call()
    print(peak_resident_bytes() - before)


def resident_bytes() -> float:
    """Bytes of memory held now; the peak so far where there is no /proc."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return peak_resident_bytes()
    return pages * os.sysconf("SC_PAGE_SIZE")


def peak_resident_bytes() -> float:
    """Most bytes of memory this process has held."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return float(peak if sys.platform == "darwin" else peak * 1024)
    line = next(x for x in status.splitlines() if x.startswith("VmHWM"))
    return float(line.split()[1]) * 1024


def forget_peak() -> None:
    """Start the peak again from what is held now, where the system can do that."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def table(groups: Mapping[str, Sequence[Row]]) -> str:
    """All rows as one Markdown table, aligned so that it can be read as text.

    Parameters
    ----------
    groups : mapping from the name of a benchmark to its rows
        In the order to print.
    """
    lines: list[tuple[str, ...]] = [
        ("benchmark", "what", "ours", "other", "ratio", "required", "verdict")
    ]
    for name, rows in groups.items():
        for row in rows:
            cells = (row.what, row.ours, row.other, row.ratio, row.required)
            lines.append((name, *cells, row.verdict))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = ["| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in lines]
    text.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(text)


def shape_text(array: Any) -> str:
    """Rows and columns of an array, such as "13342 x 16"."""
    return " x ".join(str(size) for size in array.shape)
