"""``python -m lab scoreboard``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

from lab.console import Progress, count_noun, say
from lab.data_folder import VARIABLE, data_folder
from lab.files import make_folder
from lab.runner.cache import CellCache, Record
from lab.runner.catalogue import paper
from lab.runner.cell import Cell
from lab.runner.command import ANY_VERSION, CACHE, QUICK
from lab.runner.limits import LimitedMeasure
from lab.runner.output import (
    RESULTS,
    cells_file,
    made_by_of,
    read_saved,
    text,
    write_all,
)
from lab.runner.pool import Outcome, known_failures, known_numbers, run
from lab.runner.results import Results, read, write
from lab.runner.versions import PACKAGES, versions
from lab.scoreboard.plan import NOT_YET, PRELOAD, Plan, RivalMeasure, cell_version
from lab.scoreboard.rivals import RIVALS, find_rival
from lab.views import view_of

STUDY = "scoreboard"
"""Name of the study whose tables and figures are made."""


@click.command(short_help="Compare all rivals on all tables of a data folder.")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help=f"Folder of tables.  [default: that in {VARIABLE}]",
)
@click.option("--list", "listed", is_flag=True, help="List tables and rivals.")
@click.option(
    "--table", "tables", multiple=True, metavar="NAME", help="Only this table; repeat."
)
@click.option(
    "--rival", "rivals", multiple=True, metavar="NAME", help="Only this rival; repeat."
)
@click.option("--folds", default=3, show_default=True, help="Stratified folds.")
@click.option(
    "--slow-folds",
    default=1,
    show_default=True,
    help="Folds in which slow rivals are measured: EBM, CatBoost and tuned ones.",
)
@click.option(
    "--seconds",
    default=150.0,
    show_default=True,
    help="Processor seconds that a rival may take in a fold.",
)
@click.option(
    "--memory", default=4096, show_default=True, help="Megabytes that it may take."
)
@click.option("--jobs", default=1, show_default=True, help="Processes.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Folder for cells and tables (CSV) and figures (SVG).  [default: lab/results; "
    f"{QUICK} with --data, --table or --rival]",
)
@CACHE
@ANY_VERSION
@click.option("--saved", is_flag=True, help="Also take the cells that --output has.")
@click.option("--again", is_flag=True, help="Measure cells that have failed again.")
@click.option("--known", is_flag=True, help="Measure nothing: show what is known.")
@click.option("--progress", is_flag=True, help="Show progress also without a terminal.")
@click.option("-q", "--quiet", is_flag=True, help="Print only results and errors.")
def scoreboard(
    data: Path | None,
    listed: bool,
    tables: tuple[str, ...],
    rivals: tuple[str, ...],
    folds: int,
    slow_folds: int,
    seconds: float,
    memory: int,
    jobs: int,
    output: Path | None,
    cache: str | None,
    any_version: bool,
    saved: bool,
    again: bool,
    known: bool,
    progress: bool,
    quiet: bool,
) -> int:
    """Compare this library and its rivals on all tables of a folder, by fixed splits.

    Each rival is fitted in a process of its own, with one thread and limits of time and
    memory; a failure or a limit is reported in the place of the numbers. Every cell is
    kept at once: after Ctrl-C or a kill the same command continues, and --saved
    continues from the files of another machine.

    \b
    python -m lab scoreboard --list
    python -m lab scoreboard --table uci25/vehicle --rival tanager --rival LightGBM
    python -m lab scoreboard
    """  # noqa: D301
    if data is not None:
        os.environ[VARIABLE] = str(data)
    _check_options(rivals, folds, slow_folds, seconds, jobs)
    plan = Plan.of(
        data_folder(),
        n_folds=folds,
        n_slow_folds=slow_folds,
        rivals=rivals,
        tables=tables,
    )
    if listed:
        click.echo(_listing(plan))
        return 0
    folder = output or (QUICK if data or tables or rivals else RESULTS)
    make_folder(folder, option="--output")
    kept = CellCache(cache, any_code=any_version, code=cell_version)
    measure = RivalMeasure(LimitedMeasure(seconds, memory, PRELOAD), str(kept.folder))
    stands = None if again else measure.stands
    for name in plan.rivals:
        if find_rival(name).version is None:
            say(f"{name} is not installed; pip install tanager[bench].", quiet=quiet)
    before = _saved_outcome(folder, measure) if saved else Outcome()
    outcome = _known(plan, before, kept, measure)
    n_left = len(_left(plan, outcome, again=again))
    say(
        f"{count_noun(len(plan.cells), 'cell')}, {n_left:,} of them to be measured; "
        f"limit {seconds:g} processor seconds.",
        quiet=quiet,
    )
    if not known:
        shown = Progress(n_left, False if quiet else progress or None)

        def report(cell: Cell, record: Record) -> None:
            what = f"{cell.parameters['data']}, {cell.parameters['rival']}"
            shown.step(what if record.error is None else f"{what}: {record.error}")

        left = _left(plan, outcome, again=again)
        found = run(left, kept, jobs=jobs, report=report, measure=measure, kept=stands)
        outcome.numbers |= found.numbers
        outcome.failed |= found.failed
    reasons = dict.fromkeys(plan.cells, NOT_YET) | outcome.failed
    results = Results.of(plan.cells, outcome.numbers, reasons)
    made_by = _made_by(results, kept)
    if saved and before.numbers:
        made_by = "; ".join(dict.fromkeys([*_versions_of(folder), made_by]))
    _write(results, folder, made_by, quiet)
    n_unknown = sum(reason == NOT_YET for reason in results.missing.values())
    n_failed = len(results.missing) - n_unknown
    say(
        f"{len(results):,} of {count_noun(len(plan.cells), 'cell')} measured, "
        f"{n_failed:,} failed or reached a limit, {n_unknown:,} not measured yet.",
        quiet=quiet,
    )
    return 0 if len(results) else 1


def _known(
    plan: Plan, before: Outcome, kept: CellCache, measure: RivalMeasure
) -> Outcome:
    """What the cache and a former run know of a plan."""
    numbers = before.numbers | known_numbers(plan.cells, kept)
    failed = before.failed | known_failures(plan.cells, kept, measure.stands)
    return Outcome(
        {cell: numbers[cell] for cell in plan.cells if cell in numbers},
        {cell: why for cell, why in failed.items() if cell not in numbers},
    )


def _left(plan: Plan, outcome: Outcome, *, again: bool) -> list[Cell]:
    """Cells of rivals that are installed, of which nothing is known."""
    done = outcome.numbers.keys() | (set() if again else outcome.failed.keys())
    there = {name for name in plan.rivals if find_rival(name).version is not None}
    return [
        cell
        for cell in plan.cells
        if cell not in done and cell.parameters["rival"] in there
    ]


def _saved_outcome(folder: Path, measure: RivalMeasure) -> Outcome:
    """What the files of a former run say; nothing if there are none."""
    first = paper(STUDY).experiments[0]
    if not cells_file(folder, first).is_file():
        return Outcome()
    found = read_saved(folder, first)
    failed = {
        cell: why
        for cell, why in found.missing.items()
        if why != NOT_YET and measure.stands(Record(None, why, 0.0, ""))
    }
    return Outcome(dict(found), failed)


def _versions_of(folder: Path) -> list[str]:
    """What measured the cells of a former run."""
    return made_by_of(folder, paper(STUDY).experiments[0]).split("; ")


def _check_options(
    rivals: Sequence[str], folds: int, slow_folds: int, seconds: float, jobs: int
) -> None:
    for name in rivals:
        find_rival(name)
    for option, value, least in (
        ("--folds", folds, 2),
        ("--slow-folds", slow_folds, 1),
        ("--jobs", jobs, 1),
    ):
        if value < least:
            raise click.UsageError(f"{option} must be at least {least}, got {value}.")
    if not seconds > 0:
        raise click.UsageError(f"--seconds must be above 0, got {seconds:g}.")


def _listing(plan: Plan) -> str:
    """Tables with their sizes, those that are left out, and rivals."""
    width = max(len(name) for name in (*plan.left_out, *(t.name for t in plan.tables)))
    lines = ["tables, from the cheapest one:"]
    lines += [
        f"  {t.name:{width}} {t.n_samples:>7,} samples {t.n_features:>3} features "
        f"{t.n_classes:>3} classes"
        for t in plan.tables
    ]
    if plan.left_out:
        lines += ["left out:"]
        lines += [f"  {name:{width}} {why}" for name, why in plan.left_out.items()]
    lines += ["rivals:"]
    lines += [
        f"  {n:{width}} {r.version or 'not installed'}" for n, r in RIVALS.items()
    ]
    return "\n".join(lines)


def _made_by(results: Results, kept: CellCache) -> str:
    """The versions of this library and of all others."""
    rivals = {name: find_rival(str(name)) for name in results.levels("rival")}
    ours = [
        cell
        for cell in results.cells
        if rivals[cell.parameters["rival"]].package == "tanager"
    ]
    others = {
        str(rival.version)
        for rival in rivals.values()
        if rival.package not in ("tanager", *PACKAGES)
    }
    return ", ".join([versions(kept.codes(ours)), *sorted(others)])


def _write(results: Results, folder: Path, made_by: str, quiet: bool) -> None:
    """Write cells, tables and figures, and print the tables."""
    experiments = paper(STUDY).experiments
    cells = cells_file(folder, experiments[0])
    make_folder(cells.parent, option="--output")
    write(cells, results, made_by)
    # With the digits of the file, from which pages are made later.
    results = read(cells)
    for experiment in experiments:
        view = view_of(experiment, results)
        click.echo(text(experiment, view) + "\n")
        files = write_all(folder, experiment, results, view, measured=False)
        say("Wrote " + ", ".join(map(str, files)) + ".", quiet=quiet)
