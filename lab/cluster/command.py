"""``python -m lab cluster``: rounds, bytes and seconds of fits on a cluster."""

from __future__ import annotations

import click

from lab.cluster.projection import LARGEST, Costs, project
from lab.runner.catalogue import find
from lab.runner.output import RESULTS, read_saved


@click.command()
@click.option("--rows", default=1e9, show_default=True, help="Rows of 20 columns.")
@click.option("--workers", default=100, show_default=True, help="Number of workers.")
@click.option("--threads", default=2, show_default=True, help="Threads of a worker.")
@click.option("--parts", default=1, show_default=True, help="Partitions per thread.")
def cluster(rows: float, workers: int, threads: int, parts: int) -> None:
    """Simulate fits on a cluster; costs are those saved for one machine."""
    (experiment,) = find(["scale/out-of-core"])
    for cell, numbers in read_saved(RESULTS, experiment):
        if cell.parameters["cells"] != LARGEST:
            continue
        name = str(cell.parameters["learner"])
        costs = Costs.of({key: float(value) for key, value in numbers.items()})  # type: ignore[arg-type]
        found = project(name, costs, rows, workers, threads, parts)
        if found is None:
            continue
        traffic, fit = found
        click.echo(
            f"{name}: {traffic.rounds} rounds, "
            f"{traffic.bytes_to_parts / 1e6:,.1f} MB to the parts, "
            f"{traffic.bytes_from_parts / 1e6:,.1f} MB from them; "
            f"reading {fit.reading_seconds:,.1f} s, rounds {fit.round_seconds:,.1f} s, "
            f"of which work {fit.work_seconds:,.1f} s"
        )
