"""``python -m lab``: reproduce the papers, run benchmarks, look for faults."""

from __future__ import annotations

import click

from lab.benchmarks.command import bench
from lab.cluster.command import cluster
from lab.console import CommandGroup
from lab.illustrations.command import illustrate
from lab.robustness.crash_command import crash_command
from lab.robustness.fuzz_command import fuzz_command
from lab.robustness.worker_failure import faults
from lab.runner.command import reproduce, tables
from lab.scoreboard.command import scoreboard

__all__ = ["cli"]


@click.group(
    cls=CommandGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 88},
)
def cli() -> None:
    """Reproduce the tables and figures of papers, measure speed, look for faults.

    \b
    python -m lab reproduce --list
    python -m lab reproduce su2008/table1 --quick
    python -m lab tables docs/parameter-benchmarks.md
    python -m lab scoreboard --list
    python -m lab bench --quick
    python -m lab fuzz --minutes 2
    python -m lab crash --times 100
    python -m lab faults --kills 50
    python -m lab cluster --rows 1e9 --workers 100

    Named datasets come from the folder in the environment variable TANAGER_DATA.
    """  # noqa: D301


cli.add_command(reproduce)
cli.add_command(tables)
cli.add_command(illustrate)
cli.add_command(scoreboard)
cli.add_command(bench)
cli.add_command(fuzz_command)
cli.add_command(crash_command)
cli.add_command(faults)
cli.add_command(cluster)


if __name__ == "__main__":
    cli.main(prog_name="python -m lab")
