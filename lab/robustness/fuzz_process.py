"""Inputs for fuzzing in a child process with limits of time and memory."""

from __future__ import annotations

import json
import mmap
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random

from lab.files import write_text
from lab.runner.limits import limit_memory
from tanager import TanagerError

MAX_SECONDS = 2.0
"""Processor time of one input."""

MAX_MEMORY = 2**30
"""Bytes that a process may have more than when it began."""

HANG_SECONDS = 60.0
"""Processor time after which a process that is still at the same input is killed."""

WAITS = 10
"""Times as long it may take on a busy machine, or when it waits without computing."""

SETUP_SECONDS = 900.0
"""The same before its first input, when kernels may have to be compiled."""

SETUP = bytes(8 * [255])
"""What a process has in place of the number of an input before the first one."""

CHECKED_SECONDS = 0.5
"""Time between two reports of a process to its parent."""


@dataclass
class Counts:
    """What became of the inputs of one kind.

    `findings` has the first input with every cause, and their number.
    """

    kind: str
    seed: int
    inputs: int = 0
    results: int = 0
    refused: int = 0
    slowest: float = 0.0
    peak_megabytes: float = 0.0
    findings: dict[str, list[int]] = field(default_factory=dict)

    def add_finding(self, cause: str, index: int) -> None:
        """Count an input that is neither a result nor an error of the library."""
        self.findings.setdefault(cause, [index, 0])[1] += 1

    def add(self, other: Counts) -> None:
        """Add the counts of later inputs."""
        self.inputs += other.inputs
        self.results += other.results
        self.refused += other.refused
        self.slowest = max(self.slowest, other.slowest)
        self.peak_megabytes = max(self.peak_megabytes, other.peak_megabytes)
        for cause, (index, number) in other.findings.items():
            self.findings.setdefault(cause, [index, 0])[1] += number


def make_runner(kind: str, seed: int, folder: Path) -> Callable[[int], object]:
    """A function that makes the input of a number and uses it."""
    # Imported in the child only: the parent starts many of them.
    from lab.robustness.fuzz_files import FILE_KINDS, make_seeds
    from lab.robustness.fuzz_tables import TABLE_KINDS

    if kind in TABLE_KINDS:
        return lambda index: TABLE_KINDS[kind](Random(f"{seed}-{kind}-{index}"))
    chosen, seeds = FILE_KINDS[kind], make_seeds(folder)

    def run(index: int) -> object:
        path = chosen.write(Random(f"{seed}-{kind}-{index}"), folder, seeds)
        return chosen.use(path)

    return run


def run_inputs(
    kind: str,
    seed: int,
    first: int,
    *,
    count: int,
    seconds: float,
    folder: Path,
    report: Callable[[Counts], object] = lambda _: None,
    begin: Callable[[int], object] = lambda _: None,
) -> Counts:
    """Use inputs one after the other, in this process."""
    run = make_runner(kind, seed, folder)
    counts = Counts(kind, seed)
    before = _peak_megabytes()
    end = time.monotonic() + seconds
    reported = time.monotonic()
    for index in range(first, first + count):
        if time.monotonic() > end:
            break
        begin(index)
        outcome = _use(run, index)
        if outcome == "slow":  # perhaps a kernel was compiled
            outcome = _use(run, index)
        counts.inputs += 1
        if isinstance(outcome, float):
            counts.results += 1
            counts.slowest = max(counts.slowest, outcome)
        elif outcome == "refused":
            counts.refused += 1
        else:
            counts.add_finding(outcome, index)
        counts.peak_megabytes = _peak_megabytes() - before
        if time.monotonic() - reported > CHECKED_SECONDS:
            report(counts)
            reported = time.monotonic()
    report(counts)
    return counts


def _use(run: Callable[[int], object], index: int) -> float | str:
    """Processor time of an input, "refused", or why it is a finding."""
    started = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run(index)
    except TanagerError:
        if time.process_time() - started > MAX_SECONDS:
            return "slow"
        return "refused"
    except Exception as error:
        return _cause(error)
    seconds = time.process_time() - started
    return "slow" if seconds > MAX_SECONDS else seconds


def _cause(error: BaseException) -> str:
    """Type of an error and the last line of the library that it passed."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "tanager" in Path(frame.filename).parts]
    last = (own or frames)[-1]
    text = re.sub(r"\d+", "0", " ".join(str(error).split()))[:80]
    return f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}: {text}"


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def fuzz(kind: str, seed: int, *, count: int, seconds: float) -> Counts:
    """Use inputs in child processes; a process that dies is a finding.

    Parameters
    ----------
    kind : str
        Kind of input.
    seed : int
        Seed of the random numbers; input `i` is always the same for a seed.
    count : int
        Largest number of inputs.
    seconds : float
        Time after which no other input begins.

    Returns
    -------
    Counts
        Numbers of inputs, results and errors, and the findings.
    """
    total = Counts(kind, seed)
    end = time.monotonic() + seconds
    first = 0
    while first < count and time.monotonic() < end:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            place, counted = folder / "place", folder / "counts.json"
            place.write_bytes(SETUP)
            left = str(max(end - time.monotonic(), 0.1))
            arguments = [kind, str(seed), str(first), str(count - first), left, name]
            with open(folder / "errors.txt", "w+") as errors:
                child = subprocess.Popen(
                    [sys.executable, "-m", "lab.robustness.fuzz_process", *arguments],
                    stderr=errors,
                )
                hung = _wait(child, place)
                errors.seek(0)
                last_words = " ".join(errors.read().split())[-120:]
            if counted.exists():
                total.add(Counts(**json.loads(counted.read_text())))
            at = place.read_bytes()
            reached = first if at == SETUP else int.from_bytes(at, "little")
            if child.returncode == 0:
                break
            why = f"no end after {HANG_SECONDS:.0f} s" if hung else last_words
            total.inputs += 1
            total.add_finding(f"process ended by {child.returncode}: {why}", reached)
            first = reached + 1
    return total


def _wait(child: subprocess.Popen[bytes], place: Path) -> bool:
    """Wait for a process; kill it, and return True, if it stays at one input."""
    seen, since, used = b"", time.monotonic(), 0.0
    while True:
        try:
            child.wait(timeout=CHECKED_SECONDS)
            return False
        except subprocess.TimeoutExpired:
            now = place.read_bytes()
        limit = SETUP_SECONDS if now == SETUP else HANG_SECONDS
        if now != seen:
            seen, since, used = now, time.monotonic(), _processor_seconds(child.pid)
        elif (
            _processor_seconds(child.pid) - used > limit
            or time.monotonic() - since > WAITS * limit
        ):
            child.kill()
            child.wait()
            return True


def _processor_seconds(process: int) -> float:
    """Processor time of a process so far; 0 where the system does not say it."""
    try:
        words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def main(arguments: list[str]) -> None:
    """Run inputs in this process and write their counts to the folder."""
    kind, seed, first, count, seconds, name = arguments
    folder = Path(name)
    inside = folder / "inputs"
    inside.mkdir()
    with open(folder / "place", "r+b") as file, mmap.mmap(file.fileno(), 8) as place:

        def begin(index: int) -> None:
            place[:] = index.to_bytes(8, "little")

        # Kernels and libraries are loaded before the memory is limited.
        run_inputs(kind, -1, 0, count=20, seconds=60.0, folder=inside)
        limit_memory(MAX_MEMORY)
        run_inputs(
            kind,
            int(seed),
            int(first),
            count=int(count),
            seconds=float(seconds),
            folder=inside,
            begin=begin,
            report=lambda counts: write_text(
                folder / "counts.json", json.dumps(asdict(counts))
            ),
        )


if __name__ == "__main__":
    main(sys.argv[1:])
