"""``python -m lab fuzz``: inputs that nobody would write, by the thousand."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path

import click

from lab.console import say
from lab.files import write_text
from lab.robustness.coverage_process import fuzz_by_coverage, has_atheris
from lab.robustness.fuzz_process import MAX_SECONDS, Counts, fuzz, make_runner

KINDS = (
    "json", "npz", "bif", "xmlbif", "csv", "parquet", "arrow", "checkpoint", "tables",
    "settings",
)  # fmt: skip
COVERAGE_KINDS = ("json", "bif", "xmlbif", "csv", "parquet", "arrow", "checkpoint")
"""Kinds that are one file; npz files go with a document."""

RESULTS = Path(__file__).parents[1] / "results" / "robustness" / "fuzz.csv"
COVERAGE_RESULTS = RESULTS.with_name("fuzz-coverage.csv")
HEAD = (
    "kind", "seed", "inputs", "results", "refused", "findings", "slowest_s", "peak_mb",
)  # fmt: skip


@click.command("fuzz", short_help="Try changed files, odd tables and odd settings.")
@click.argument("kinds", nargs=-1, metavar="[KIND]...")
@click.option(
    "--minutes", default=2.0, show_default=True, help="Time for all kinds together."
)
@click.option("--seed", default=0, show_default=True, help="Seed of the inputs.")
@click.option("--inputs", default=10**9, help="Largest number of inputs of each kind.")
@click.option(
    "--input",
    "index",
    type=click.IntRange(min=0),
    help="Use this input of one KIND alone, in this process, with its traceback.",
)
@click.option(
    "--coverage",
    is_flag=True,
    help="Let atheris, where it is installed, choose changes by the lines they reach.",
)
@click.option("--write", is_flag=True, help=f"Add the counts to {RESULTS.name}.")
def fuzz_command(
    kinds: tuple[str, ...],
    minutes: float,
    seed: int,
    inputs: int,
    index: int | None,
    coverage: bool,
    write: bool,
) -> int:
    """Use inputs that nobody would write, and count what becomes of them.

    Kinds are json, npz, bif, xmlbif, csv, parquet, arrow and checkpoint (valid files,
    changed at random), tables and settings. An input ends well if it gives a result or
    an error of the library. Anything else, more than two seconds of processor time or
    a gigabyte of memory is a finding, and the exit code is 1.
    """
    if unknown := sorted(set(kinds) - set(KINDS)):
        raise click.UsageError(
            f"There is no kind {', '.join(unknown)}; known are {', '.join(KINDS)}."
        )
    if coverage and not has_atheris():
        raise click.UsageError(
            "--coverage needs atheris; install it with pip install atheris."
        )
    known = COVERAGE_KINDS if coverage else KINDS
    chosen = [kind for kind in kinds or known if kind in known]
    if not chosen:
        raise click.UsageError(f"--coverage goes with {', '.join(COVERAGE_KINDS)}.")
    if index is not None:
        if len(chosen) != 1:
            raise click.UsageError("--input goes with one KIND.")
        with tempfile.TemporaryDirectory() as folder:
            make_runner(chosen[0], seed, Path(folder))(index)
        return 0
    found = []
    for kind in chosen:
        seconds = 60.0 * minutes / len(chosen)
        if coverage:
            found.append(fuzz_by_coverage(kind, seed, seconds=seconds))
        else:
            found.append(fuzz(kind, seed, count=inputs, seconds=seconds))
        say(describe(found[-1]))
    click.echo(text := counts_csv(found))
    if write:
        results = COVERAGE_RESULTS if coverage else RESULTS
        results.parent.mkdir(parents=True, exist_ok=True)
        former = results.read_text("utf-8") if results.exists() else ""
        write_text(results, add_rows(former, text))
    return 1 if any(counts.findings for counts in found) else 0


def describe(counts: Counts) -> str:
    """One line for the counts, and one for every finding."""
    lines = [
        f"{counts.kind}: {counts.inputs:,} inputs, {counts.results:,} results, "
        f"{counts.refused:,} refused, {sum(n for _, n in counts.findings.values())} "
        f"findings; slowest {counts.slowest:.2f} s, {counts.peak_megabytes:.0f} MB more"
    ]
    for cause, (index, number) in counts.findings.items():
        shown = f"above {MAX_SECONDS:g} s" if cause == "slow" else cause
        lines.append(
            f"  {number} x {shown}\n    python -m lab fuzz {counts.kind} "
            f"--seed {counts.seed} --input {index}"
        )
    return "\n".join(lines)


def add_rows(former: str, text: str) -> str:
    """Rows of earlier runs and new ones, sorted; a run of the same seed is replaced."""
    rows = {
        (KINDS.index(row["kind"]), int(row["seed"])): row
        for table in (former, text)
        for row in csv.DictReader(io.StringIO(table))
    }
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, HEAD, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows[key] for key in sorted(rows))
    return buffer.getvalue()


def counts_csv(found: list[Counts]) -> str:
    """Counts as CSV, one row for every kind."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(HEAD)
    for one in found:
        n_findings = sum(number for _, number in one.findings.values())
        writer.writerow(
            [
                one.kind, one.seed, one.inputs, one.results, one.refused, n_findings,
                f"{one.slowest:.3f}", f"{one.peak_megabytes:.0f}",
            ]
        )  # fmt: skip
    return buffer.getvalue()
