"""``python -m lab bench``: measure, print one table, and write it if asked to."""

from __future__ import annotations

import os
import platform
import sys
import traceback
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import click

from lab.benchmarks._harness import Options, Row, Skip, table

NAMES = (
    "naive_bayes",
    "tan_counts",
    "tan_peers",
    "missing",
    "scaling",
    "discretization",
    "startup",
    "single_row",
    "explanations",
    "scoring_throughput",
    "hybrid_epoch",
    "gumbel_epoch",
    "dfe",
    "conditional",
    "orders",
    "structure_search",
    "posteriors",
    "hill_climbing",
    "bif",
    "default_model",
    "default_scale",
    "many_categories",
    "scale",
    "cluster",
)
PACKAGES = (
    "numpy", "numba", "scikit-learn", "pandas", "pyagrum", "pgmpy", "torch", "lightgbm",
    "tanager",
)  # fmt: skip
RESULTS = Path(__file__).with_name("results.md")


@click.command(short_help="Measure speed and memory against other libraries.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--list", "listed", is_flag=True, help="List the names and stop.")
@click.option("--quick", is_flag=True, help="Small sizes: a trial run.")
@click.option(
    "--rows",
    type=click.IntRange(min=1),
    help="Number of rows of 'scale' and 'cluster'.",
)
@click.option("--write", is_flag=True, help=f"Write {RESULTS.name}.")
def bench(
    names: tuple[str, ...], listed: bool, quick: bool, rows: int | None, write: bool
) -> int:
    """Measure speed and memory against other libraries and plain versions.

    Without a NAME all benchmarks run. The exit code is 1 if a requirement is missed.
    """
    if listed:
        for name in NAMES:
            click.echo(f"{name:16} {_about(name)}")
        return 0
    if unknown := sorted(set(names) - set(NAMES)):
        raise click.UsageError(
            f"There is no benchmark {', '.join(unknown)}; --list shows all names."
        )
    if write and (quick or names):
        raise click.UsageError(
            "--write is for a full run: leave out --quick and names."
        )
    options = Options(quick=quick, rows=rows)
    groups: dict[str, list[Row]] = {}
    for name in NAMES:
        if names and name not in names:
            continue
        print(f"{name}: {_about(name)}", file=sys.stderr, flush=True)
        try:
            groups[name] = import_module(f"lab.benchmarks.{name}").run(options)
        except Skip as reason:
            groups[name] = [Row(f"skipped: {reason}", "")]
        except Exception as error:
            # The others have taken minutes: their rows are still worth printing.
            traceback.print_exc()
            groups[name] = [Row(f"failed: {type(error).__name__}", "", passed=False)]
    text = table(groups)
    print(text)
    missed = [row for rows in groups.values() for row in rows if row.passed is False]
    if options.quick:
        print("\nA trial run with small sizes: the verdicts do not count.")
        return 1 if any(row.what.startswith("failed") for row in missed) else 0
    if write:
        RESULTS.write_text(_document(text), encoding="utf-8")
        print(f"\nWritten to {RESULTS.name}.")
    return 1 if missed else 0


def _about(name: str) -> str:
    """First line of a benchmark's docstring."""
    doc = import_module(f"lab.benchmarks.{name}").__doc__ or ""
    return doc.partition("\n")[0]


def _document(text: str) -> str:
    """The results with what is needed to understand them."""
    facts = [
        f"Python {platform.python_version()}",
        *(f"{name} {_version(name)}" for name in PACKAGES),
        f"{_processor()}, {os.cpu_count()} cores, {platform.system()}",
    ]
    return (
        "# Benchmarks\n\n"
        f"Measured on {datetime.now(UTC):%Y-%m-%d} with `python -m lab bench`.\n\n"
        "Ours and the other are measured in turn in one run, the least of several "
        "times each\n(of fresh processes the median), so it is the ratios that count. "
        "`make bench` prints\nthis table again.\n\n"
        + "".join(f"- {fact}\n" for fact in facts)
        + f"\n{text}\n"
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"


def _processor() -> str:
    """Model of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    for line in lines:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
