"""Seconds of fits on a cluster, projected from those measured on one machine."""

from __future__ import annotations

from lab.cluster.projection import LARGEST, Costs, project
from lab.runner.experiment import Experiment
from lab.runner.results import Results
from lab.views.table import Table, View

HEAD = (
    "fit", "workers", "rounds", "to the parts (MB)", "from the parts (MB)",
    "reading (s)", "rounds (s)", "of these, work (s)",
)  # fmt: skip


def cluster_projection(experiment: Experiment, results: Results) -> View:
    """Rounds, bytes and seconds of fits to many rows on some numbers of workers.

    Options of the experiment: ``rows``, ``workers`` (a list), ``threads`` of a worker,
    and ``parts``, partitions for every thread.
    """
    options = experiment.options
    lines = []
    for cell, numbers in results:
        if cell.parameters["cells"] != LARGEST:
            continue
        costs = Costs.of({name: float(v) for name, v in numbers.items()})  # type: ignore[arg-type]
        for n_workers in options["workers"]:
            name = str(cell.parameters["learner"])
            found = project(
                name, costs, float(options["rows"]), n_workers, options["threads"],
                options["parts"],
            )  # fmt: skip
            if found is not None:
                traffic, fit = found
                lines.append(
                    (
                        name, n_workers, traffic.rounds,
                        traffic.bytes_to_parts / 1e6, traffic.bytes_from_parts / 1e6,
                        fit.reading_seconds, fit.round_seconds, fit.work_seconds,
                    )
                )  # fmt: skip
    return View((Table("", HEAD, tuple(lines), 1),), "", None)
