"""``python -m lab reproduce``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

from lab.console import Progress, count_noun, join_lines, say
from lab.files import make_folder, write_text
from lab.runner.cache import CellCache, Record
from lab.runner.catalogue import experiments, find, papers
from lab.runner.cell import Cell
from lab.runner.document import page
from lab.runner.embedded_tables import refresh_figures, refresh_tables
from lab.runner.experiment import Experiment
from lab.runner.output import RESULTS, cells_file, read_saved, text, write_all
from lab.runner.pool import Outcome, Work, known_numbers
from lab.runner.results import Results
from lab.runner.versions import versions
from lab.views import view_of

CACHE = click.option(
    "--cache",
    metavar="FOLDER",
    help="Folder that keeps measured cells.  [default: TANAGER_CACHE or the user's]",
)
ANY_VERSION = click.option(
    "--any-version",
    is_flag=True,
    help="Also use cells that other versions of the code have measured.",
)
"""Options of all commands that measure cells."""

QUICK = Path("lab-quick")
"""Default output folder of a quick run."""


@click.command(short_help="Measure tables and figures of papers and studies.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--list", "listed", is_flag=True, help="List the names of all tables and figures."
)
@click.option("--quick", is_flag=True, help="A small part of every table, in minutes.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Folder for cells and tables (CSV) and figures (SVG).  [default: "
    f"lab/results; {QUICK} with --quick]",
)
@click.option(
    "--jobs",
    type=int,
    default=-1,
    show_default=True,
    metavar="N",
    help="Processes; -1 means all cores. Times are always measured in one.",
)
@CACHE
@ANY_VERSION
@click.option(
    "--known",
    is_flag=True,
    help="Measure nothing: make tables and figures from the cells in the cache.",
)
@click.option(
    "--saved",
    is_flag=True,
    help="Measure nothing: make tables and figures from the cells in --output.",
)
@click.option(
    "--document",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Measure nothing: make one page in Markdown from the cells in --output.",
)
@click.option("--progress", is_flag=True, help="Show progress also without a terminal.")
@click.option("-q", "--quiet", is_flag=True, help="Print only results and errors.")
def reproduce(
    names: tuple[str, ...],
    listed: bool,
    quick: bool,
    output: Path | None,
    jobs: int,
    cache: str | None,
    any_version: bool,
    known: bool,
    saved: bool,
    document: Path | None,
    progress: bool,
    quiet: bool,
) -> int:
    """Measure tables and figures again and compare them with the published ones.

    NAME is a paper or a study (su2008, parameters), or one of its tables or figures
    (su2008/table1). --saved shows the results that are kept with the lab.

    Every measured cell is kept at once: after Ctrl-C or a kill the same command
    continues. A cell that cannot be measured does not stop the others; the exit code
    is then 1.

    \b
    python -m lab reproduce --list
    python -m lab reproduce su2008/table1 --saved
    python -m lab reproduce su2008/table1 --quick
    python -m lab reproduce su2008 greiner2005/table2
    python -m lab reproduce --document docs/results.md
    """  # noqa: D301
    folder = output or (QUICK if quick else RESULTS)
    if listed:
        click.echo(_overview(list(experiments().values())))
        return 0
    if document is not None:
        write_text(document, page(folder, names or papers(), document.parent))
        say(f"Wrote {document}.", quiet=quiet)
        return 0
    if not names:
        raise click.UsageError(
            "Which table? Name a paper or a table, such as su2008/table1; --list "
            "shows all."
        )
    if jobs == 0 or jobs < -1:
        raise click.UsageError(
            f"--jobs must be at least 1, or -1 for all cores, got {jobs}."
        )
    chosen = find(names)
    if saved:
        for experiment in chosen:
            # One of many may have no cells yet; the only one that is asked for must.
            if len(chosen) > 1 and not cells_file(folder, experiment).is_file():
                say(f"{experiment.full_name} is not measured yet.", quiet=quiet)
                continue
            _show(experiment, read_saved(folder, experiment), folder, quiet)
        return 0
    for experiment in chosen:
        if experiment.command:
            raise click.UsageError(
                f"{experiment.full_name} is measured by `{experiment.command}`; "
                "--saved shows what is known."
            )
    make_folder(folder, option="--output")
    kept = CellCache(cache, any_code=any_version)
    work = Work.of(chosen, kept, quick=quick)
    say(work.summary, quiet=quiet)
    if known:
        outcome = Outcome(known_numbers(work.cells, kept))
    else:
        shown = Progress(work.n_left, False if quiet else progress or None)

        def report(cell: Cell, record: Record) -> None:
            what = ", ".join(map(str, list(cell.parameters.values())[-3:]))
            shown.step(what if record.error is None else f"{what} failed")

        outcome = work.run(jobs if jobs > 0 else os.cpu_count() or 1, report)
    for experiment in chosen:
        results = Results.of(experiment.cells(quick=quick), outcome.numbers)
        _show(experiment, results, folder, quiet, kept)
    return 0 if known else _report_missing(outcome)


def _overview(every: Sequence[Experiment]) -> str:
    """Names and titles of experiments, in two columns."""
    indent = max(len(one.full_name) for one in every) + 2
    lines = [
        click.wrap_text(one.title, 88, one.full_name.ljust(indent), " " * indent)
        for one in every
    ]
    return "\n".join(lines)


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
    if not len(results):
        say(
            f"{experiment.full_name}: nothing is measured yet; run it without --known, "
            "or with --saved for the results that are kept with the lab.",
            quiet=quiet,
        )
        return
    view = view_of(experiment, results)
    click.echo(text(experiment, view) + "\n")
    made_by = versions([] if cache is None else cache.codes(results.cells))
    files = write_all(
        folder, experiment, results, view, measured=cache is not None, made_by=made_by
    )
    say("Wrote " + ", ".join(map(str, files)) + ".", quiet=quiet)


def _report_missing(outcome: Outcome) -> int:
    """Report cells that were skipped or failed; the exit code."""
    if outcome.skipped:
        names = sorted({name for cell in outcome.skipped for name in cell.data})
        listed = ", ".join(names[:5]) + (" and others" if len(names) > 5 else "")
        n_cells = count_noun(len(outcome.skipped), "cell")
        why = next(iter(outcome.skipped.values()))  # the others differ by the dataset
        say(f"Skipped {n_cells} on {listed}: {join_lines(why)}")
    for cell, why in outcome.failed.items():
        say(f"Failed: {cell.text}: {join_lines(why)}")
    if outcome.failed:
        say(
            f"{count_noun(len(outcome.failed), 'cell')} could not be measured; the "
            "same command tries them again."
        )
    return 1 if outcome.failed or not outcome.numbers else 0


@click.command(short_help="Refresh the tables of experiments in Markdown pages.")
@click.argument(
    "pages",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
def tables(pages: tuple[Path, ...]) -> int:
    """Make the marked tables and figures of pages again from the saved results.

    A comment in the line before a table marks it: <!-- lab: parameters/copies -->
    """
    for page_file in pages:
        before = page_file.read_text("utf-8")
        after = refresh_tables(before)
        if after != before:
            write_text(page_file, after)
            say(f"Wrote {page_file}.")
        for figure in refresh_figures(page_file):
            say(f"Wrote {figure}.")
    return 0
