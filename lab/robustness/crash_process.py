"""Processes that are killed at random moments, or cannot write."""

from __future__ import annotations

import io
import math
import os
import resource
import signal
import stat
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random

from lab.robustness.crash_tasks import CrashTask, is_whole
from tanager import TanagerError

NOBODY = 65534
"""User without rights, for folders that root could write to."""

FEW_BYTES = 2000
"""Size at which files of a "full disk" end."""


MAX_ATTEMPTS = 4
"""Runs for each kill: some end before the moment at which they would be killed."""

TRACEBACK = 70
"""Exit status of a process that ended by an error that is not the library's."""


@dataclass
class CrashCounts:
    """What killed processes left: numbers of files absent, old and new."""

    task: str
    kills: int = 0
    finished: int = 0
    absent: int = 0
    old: int = 0
    new: int = 0
    findings: list[str] = field(default_factory=list)


def crash(
    name: str,
    task: CrashTask,
    *,
    times: int,
    seed: int,
    most_seconds: float = math.inf,
) -> CrashCounts:
    """Kill the work of a task so many times, and look at what it left each time.

    At the end the work is done undisturbed: its files must equal those of a run that
    was never disturbed, bit by bit, and nothing else may be left in the folder.
    """
    counts = CrashCounts(name)
    random = Random(f"{seed}-{name}")
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        expected, folder = Path(one), Path(other)
        for place in (expected, folder):
            task.prepare(place)
        former = _read(task, folder)
        warm_up(task)
        seconds = _run_whole(task, expected, counts)
        new = _read(task, expected)
        end = time.monotonic() + most_seconds
        for _ in range(MAX_ATTEMPTS * times):
            if counts.kills == times or time.monotonic() > end:
                break
            process = _start(lambda: task.run(folder))
            time.sleep(random.uniform(0.0, seconds))
            if _kill(process):
                counts.kills += 1
            else:
                counts.finished += 1
            _check(task, folder, former, new, counts)
            if _read(task, folder) == new:  # begin again
                for output in task.outputs:
                    (folder / output).unlink()
                task.prepare(folder)
        _run_whole(task, folder, counts)
        if _read(task, folder) != new:
            counts.findings.append("the resumed work has other results")
        left = _names(folder) - _names(expected)
        if left:
            counts.findings.append(f"left behind: {', '.join(sorted(left))}")
    return counts


def refuse_writing(name: str, task: CrashTask) -> CrashCounts:
    """Do the work on a full disk and in a folder that is read-only.

    Both must end in an error, with the files as they were.
    """
    counts = CrashCounts(name)
    warm_up(task)
    for prevent in (_fill_disk, _lose_rights):
        with tempfile.TemporaryDirectory() as f:
            folder = Path(f)
            task.prepare(folder)
            former = _read(task, folder)
            names = _names(folder)
            _make_readable(folder)
            status = _wait(_start(partial(_run_prevented, task, folder, prevent)))
            counts.finished += 1
            if status == 0:
                counts.findings.append(f"{prevent.__name__}: no error")
            if not os.WIFEXITED(status) or os.WEXITSTATUS(status) == TRACEBACK:
                counts.findings.append(f"{prevent.__name__}: ended by {status}")
            found = _read(task, folder)
            if found != former:
                counts.findings.append(f"{prevent.__name__}: a file has changed")
            left = {n for n in _names(folder) - names if n.endswith(".tmp")}
            if left:
                counts.findings.append(f"{prevent.__name__}: left {sorted(left)}")
    return counts


def _run_prevented(task: CrashTask, folder: Path, prevent: Callable[[], None]) -> None:
    prevent()
    task.run(folder)


def warm_up(task: CrashTask) -> None:
    """Do the work once in this process: copies of it then have all modules."""
    nowhere = io.StringIO()
    with (
        tempfile.TemporaryDirectory() as name,
        redirect_stdout(nowhere),
        redirect_stderr(nowhere),
        suppress(SystemExit),
    ):
        task.prepare(Path(name))
        task.run(Path(name))


def _start(run: Callable[[], object]) -> int:
    """Run a function in a copy of this process; returns its number."""
    sys.stdout.flush()
    sys.stderr.flush()
    process = os.fork()
    if process:
        return process
    status = TRACEBACK
    try:
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        run()
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except TanagerError:
        status = 1
    finally:
        os._exit(status)


def _wait(process: int) -> int:
    return os.waitpid(process, 0)[1]


def _kill(process: int) -> bool:
    """Kill a process and those it started; False if it had ended before."""
    ended, _ = os.waitpid(process, os.WNOHANG)
    if ended:
        return False
    try:
        os.killpg(process, signal.SIGKILL)
    except ProcessLookupError:  # it is not yet the leader of its group
        os.kill(process, signal.SIGKILL)
    return os.WIFSIGNALED(_wait(process))


def _run_whole(task: CrashTask, folder: Path, counts: CrashCounts) -> float:
    """Do the work undisturbed; returns its time in seconds."""
    started = time.monotonic()
    status = _wait(_start(lambda: task.run(folder)))
    if status != 0:
        counts.findings.append(f"undisturbed work ended by {status}")
    return time.monotonic() - started


def _read(task: CrashTask, folder: Path) -> dict[str, bytes | None]:
    """Content of the outputs; None where there is none."""
    paths = {name: folder / name for name in task.outputs}
    return {n: p.read_bytes() if p.exists() else None for n, p in paths.items()}


def _check(
    task: CrashTask,
    folder: Path,
    former: dict[str, bytes | None],
    new: dict[str, bytes | None],
    counts: CrashCounts,
) -> None:
    """Count what the outputs are; anything but absent, old or new is a finding."""
    for name, content in _read(task, folder).items():
        if content is None and former[name] is None:
            counts.absent += 1
        elif content == new[name]:
            counts.new += 1
        elif content is not None and content == former[name]:
            counts.old += 1
        else:
            counts.findings.append(f"{name} is neither old nor new")
            continue
        if content is not None:
            try:
                whole = is_whole(folder / name)
            except TanagerError as error:
                counts.findings.append(f"{name} cannot be read: {error}")
                continue
            if not whole:
                counts.findings.append(f"{name} is empty")


def _names(folder: Path) -> set[str]:
    """Names of all files in a folder, but for measured cells, which have a version."""
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file()
    }


def _make_readable(folder: Path) -> None:
    """Let everybody read a folder of temporary files, and only its owner write."""
    folder.chmod(0o755)
    for path in folder.rglob("*"):
        path.chmod(path.stat().st_mode | stat.S_IROTH)


def _fill_disk() -> None:
    """Let no file grow beyond some bytes, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (FEW_BYTES, FEW_BYTES))


def _lose_rights() -> None:
    """Become a user who may not write to the folder."""
    if os.geteuid() == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
