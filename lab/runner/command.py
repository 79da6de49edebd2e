"""``tanager reproduce``."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import click

from tanager.cli._options import progress_option, quiet_option

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lab.runner import Cell, CellCache, Experiment, Outcome, Results
    from lab.runner.cache import Record
    from tanager.cli._output import Progress

FOLDER = "tanager-results"


@click.command(short_help="Measure the tables and figures of papers again.")
@click.argument("names", nargs=-1, metavar="[PAPER[/TABLE]]...")
@click.option("--list", "listed", is_flag=True, help="List all tables and figures.")
@click.option("--quick", is_flag=True, help="A small part of every table, in minutes.")
@click.option(
    "-o",
    "--output",
    default=FOLDER,
    show_default=True,
    metavar="FOLDER",
    help="Folder for tables (CSV, Markdown) and figures (SVG, PNG).",
)
@click.option(
    "--jobs",
    type=int,
    default=-1,
    show_default=True,
    metavar="N",
    help="Processes; -1 means all cores. Times are always measured in one.",
)
@click.option(
    "--cache",
    metavar="FOLDER",
    help="Folder that keeps what is measured.  [default: TANAGER_CACHE or the user's]",
)
@click.option(
    "--any-version",
    is_flag=True,
    help="Also take what other versions of the code have measured.",
)
@click.option(
    "--known",
    is_flag=True,
    help="Measure nothing: make tables and figures from what is measured so far.",
)
@click.option(
    "--saved",
    is_flag=True,
    help="Measure nothing: make tables and figures from the cells in --output.",
)
@click.option(
    "--document",
    metavar="FILE",
    help="Measure nothing: make one page in Markdown from the cells in --output.",
)
@progress_option
@quiet_option
def reproduce(
    names: tuple[str, ...],
    listed: bool,
    quick: bool,
    output: str,
    jobs: int,
    cache: str | None,
    any_version: bool,
    known: bool,
    saved: bool,
    document: str | None,
    progress: bool,
    quiet: bool,
) -> int:
    """Measure tables and figures of papers again, beside what was published.

    Every number is kept as soon as it is there: after Ctrl-C or a kill the same command
    goes on. A number that cannot be measured does not stop the others; the exit code
    is then 1.

    \b
    tanager reproduce --list
    tanager reproduce su2008/table1 --quick
    tanager reproduce su2008 greiner2005/table2
    tanager reproduce --document results.md
    """  # noqa: D301
    import os
    from pathlib import Path

    from lab.runner import CellCache, Results, experiments, find
    from lab.runner.output import check_folder, read_saved
    from lab.runner.pool import Work
    from lab.runner.pool import known as known_of
    from tanager.cli._output import Progress, progress_shown, say

    if listed:
        click.echo(_overview(list(experiments().values())))
        return 0
    if document is not None:
        _write_page(Path(document), Path(output), names, quiet)
        return 0
    if not names:
        raise click.UsageError(
            "Which table? Name a paper or a table, such as su2008/table1; --list "
            "names all."
        )
    if jobs == 0 or jobs < -1:
        raise click.UsageError(
            f"--jobs must be at least 1, or -1 for all cores, got {jobs}."
        )
    chosen = find(names)
    folder = Path(output)
    if saved:
        for experiment in chosen:
            results = read_saved(folder, experiment)
            _show(experiment, results, folder, quiet)
        return 0
    check_folder(folder)
    kept = CellCache(cache, any_code=any_version)
    work = Work.of(chosen, kept, quick=quick)
    say(work.told, quiet=quiet)
    if known:
        for experiment in chosen:
            cells = experiment.cells(quick=quick)
            results = Results.of(cells, known_of(cells, kept))
            _show(experiment, results, folder, quiet, kept)
        return 0
    with Progress(work.n_left, progress_shown(quiet, progress)) as shown:
        watch = _TimeLeft(shown, work.n_left)
        outcome = work.run(jobs if jobs > 0 else os.cpu_count() or 1, watch.told)
    for experiment in chosen:
        results = Results.of(experiment.cells(quick=quick), outcome.numbers)
        _show(experiment, results, folder, quiet, kept)
    return _told(outcome)


def _write_page(file: Path, folder: Path, names: Sequence[str], quiet: bool) -> None:
    """Write what is known of all experiments, or of some, as one page."""
    from lab.runner import papers
    from lab.runner.document import page
    from tanager.cli._output import say
    from tanager.utils.atomic_write import write_text

    write_text(file, page(folder, names or papers(), file.parent))
    say(f"Wrote {file}.", quiet=quiet)


def _overview(every: Sequence[Experiment]) -> str:
    from tanager.cli._output import list_text

    return list_text([(one.full_name, one.title) for one in every])


def _show(
    experiment: Experiment,
    results: Results,
    folder: Path,
    quiet: bool,
    cache: CellCache | None = None,
) -> None:
    """Print an experiment and write its files; nothing if nothing is measured.

    Without the cache that the cells come from, they were read from the folder.
    """
    from lab.runner.output import text, write_all
    from lab.views import view_of
    from tanager.cli._output import say

    if not len(results):
        say(f"{experiment.full_name}: nothing is measured.", quiet=quiet)
        return
    view = view_of(experiment, results)
    click.echo(text(experiment, view) + "\n")
    codes = [] if cache is None else cache.codes(results.cells)
    files = write_all(
        folder, experiment, results, view, measured=cache is not None, codes=codes
    )
    say("Wrote " + ", ".join(map(str, files)) + ".", quiet=quiet)


def _told(outcome: Outcome) -> int:
    """Say what is not there, and why; the exit code."""
    from tanager.cli._output import counted, one_line, say

    if outcome.skipped:
        names = sorted({name for cell in outcome.skipped for name in cell.data})
        listed = ", ".join(names[:5]) + (" and others" if len(names) > 5 else "")
        n_cells = counted(len(outcome.skipped), "cell")
        why = next(iter(outcome.skipped.values()))  # the others differ by the set alone
        say(f"Skipped {n_cells} on {listed}: {one_line(why)}")
    for cell, why in outcome.failed.items():
        say(f"Failed: {cell.text}: {one_line(why)}")
    if outcome.failed:
        say(
            f"{counted(len(outcome.failed), 'cell')} could not be measured; the same "
            "command tries them again."
        )
    return 1 if outcome.failed or not outcome.numbers else 0


class _TimeLeft:
    """Tells of every cell, and guesses how long the others will take."""

    def __init__(self, progress: Progress, n_cells: int) -> None:
        self._progress = progress
        self._left = n_cells
        self._done = 0
        self._started = perf_counter()

    def told(self, cell: Cell, record: Record) -> None:
        """Show a cell that was measured or failed."""
        self._done += 1
        self._left -= 1
        seconds = (perf_counter() - self._started) / self._done * self._left
        what = ", ".join(str(value) for value in list(cell.parameters.values())[-3:])
        state = "" if record.error is None else " failed"
        self._progress.step(f"{what}{state}, about {duration(seconds)} left")


def duration(seconds: float) -> str:
    """Seconds, minutes or hours, whichever is short.

    Examples
    --------
    >>> duration(42), duration(150), duration(9000)
    ('42 s', '2 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
