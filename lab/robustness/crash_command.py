"""``python -m lab crash``: kill work at random moments."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

import click

from lab.console import say
from lab.files import write_text
from lab.robustness.crash_process import CrashCounts, crash, refuse_writing
from lab.robustness.crash_tasks import CRASH_TASKS

RESULTS = Path(__file__).parents[1] / "results" / "robustness" / "crash.csv"
HEAD = ("task", "kills", "finished", "absent", "old", "new", "findings")


@click.command("crash", short_help="Kill work at random moments, look at its files.")
@click.argument("names", nargs=-1, metavar="[TASK]...")
@click.option("--times", default=100, show_default=True, help="Kills of each task.")
@click.option(
    "--minutes",
    default=math.inf,
    help="Time for the kills of all tasks.",
)
@click.option("--seed", default=0, show_default=True, help="Seed of the moments.")
@click.option("--write", is_flag=True, help=f"Write the counts to {RESULTS.name}.")
def crash_command(
    names: tuple[str, ...], times: int, minutes: float, seed: int, write: bool
) -> int:
    """Kill work at random moments and look at the files that it leaves.

    Tasks are fit, fit-npz, tune, checkpoint, report, convert, reproduce, export-sql,
    export-c and export-js. Every output must be absent, as before, or whole, and work
    that is resumed must give the same bits. Then the disk is full or the folder
    read-only: the files must stay as they were. The exit code is 1 if anything else is
    found.
    """
    if unknown := sorted(set(names) - set(CRASH_TASKS)):
        raise click.UsageError(
            f"There is no task {', '.join(unknown)}; known are "
            f"{', '.join(CRASH_TASKS)}."
        )
    found = []
    seconds = 60.0 * minutes / len(names or CRASH_TASKS)
    for name in names or CRASH_TASKS:
        task = CRASH_TASKS[name]
        found.append(crash(name, task, times=times, seed=seed, most_seconds=seconds))
        say(describe(found[-1]))
        found.append(refuse_writing(f"{name}, cannot write", task))
        say(describe(found[-1]))
    click.echo(text := counts_csv(found))
    if write:
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        write_text(RESULTS, text)
    return 1 if any(counts.findings for counts in found) else 0


def describe(counts: CrashCounts) -> str:
    """One line for the counts, and one for every finding."""
    line = (
        f"{counts.task}: {counts.kills} killed, {counts.finished} finished; outputs "
        f"absent {counts.absent}, old {counts.old}, new {counts.new}, findings "
        f"{len(counts.findings)}"
    )
    return "\n".join([line, *(f"  {finding}" for finding in counts.findings)])


def counts_csv(found: list[CrashCounts]) -> str:
    """Counts as CSV, one row for every task."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(HEAD)
    for one in found:
        writer.writerow(
            [
                one.task, one.kills, one.finished, one.absent, one.old, one.new,
                len(one.findings),
            ]
        )  # fmt: skip
    return buffer.getvalue()
