"""A cluster of two processes on one machine against two threads in one process."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from lab.benchmarks._harness import Options, Row, Skip, cost
from lab.benchmarks.scale import FLOATS, WHOLE, write_files
from lab.robustness.worker_failure import small_cluster
from tanager import Batches, BayesNetClassifier
from tanager.structure import FactorSearch

REQUIRED = 1.6
"""Largest wall time on the cluster, relative to threads."""

ALLOCATIONS: dict[str, dict[str, int]] = {
    "Dask's own settings": {},
    "memory kept": {"MALLOC_MMAP_THRESHOLD_": 2**27, "MALLOC_TRIM_THRESHOLD_": 2**27},
}
"""Environments of the workers: what Dask sets by itself, and that of the guide. They
are in this order because Dask leaves those of a cluster to the next one."""

COLUMNS = (*(f"f{j}" for j in range(FLOATS)), *(f"k{j}" for j in range(WHOLE)), "t0")

MODELS: dict[str, Callable[[], dict[str, Any]]] = {
    "OMI-CR": lambda: {"structure": "tan-omi-cr", "parameters": "fe"},
    "convex conditional likelihood": lambda: {"structure": "tan", "parameters": "rcl"},
    "factors, main effects and 20 pairs": lambda: {
        "structure": FactorSearch(order=2, max_factors=20)
    },
}


def run(options: Options) -> list[Row]:
    """Fit every model to the same files in turns, and compare the least times."""
    try:
        import dask.dataframe  # noqa: F401
        import distributed
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise Skip(f"{error.name} is not installed") from None
    n_rows = options.rows or options.pick(5_000_000, 200_000)
    turns = options.pick(2, 1)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), n_rows)
        for allocation, environ in ALLOCATIONS.items():
            with small_cluster(2, environ):
                client = distributed.get_client()
                for model, arguments in MODELS.items():
                    name = f"{model}, {allocation}"
                    rows += _compare(client, folder, name, arguments, n_rows, turns)
    return rows


def _compare(
    client: Any,
    folder: str,
    name: str,
    arguments: Callable[[], dict[str, Any]],
    n_rows: int,
    turns: int,
) -> list[Row]:
    import dask.dataframe

    files = sorted(map(str, Path(folder).glob("*.parquet")))

    def processor_seconds() -> float:
        workers: dict[str, float] = client.run(process_time)
        return process_time() + sum(workers.values())

    def timed(fit: Callable[[list[str]], Any]) -> tuple[float, float, Any]:
        wall, processor = perf_counter(), processor_seconds()
        model = fit(files)
        return perf_counter() - wall, processor_seconds() - processor, model

    def on_cluster(files: list[str]) -> Any:
        frame = dask.dataframe.read_parquet(files, columns=[*COLUMNS, "y"])
        return BayesNetClassifier(**arguments()).fit(frame, "y")

    def in_threads(files: list[str]) -> Any:
        model = BayesNetClassifier(**arguments(), n_jobs=2)
        return model.fit(_columns_of(files), "y")

    taken: dict[Callable[[list[str]], Any], list[tuple[float, float, Any]]] = {}
    for one in (on_cluster, in_threads):
        one(files[:1])  # kernels are compiled or read
        taken[one] = []
    for _ in range(turns):
        for fit, times in taken.items():
            times.append(timed(fit))
    ours, threads = (
        [min(each[which] for each in times) for which in (0, 1)]
        for times in taken.values()
    )
    report = taken[on_cluster][-1][2].trace_["distributed"]
    size = f"{n_rows:,} x {len(COLUMNS)}"
    travels = (
        f"{report['rounds']} rounds, {report['bytes_per_round'] / 1e3:.0f} kB each"
    )
    return [
        cost(
            f"{name}, {size}, wall time ({travels})",
            ours[0],
            threads[0],
            name="two threads",
            at_most=REQUIRED,
        ),
        cost(
            f"{name}, {size}, processor time of all processes",
            ours[1],
            threads[1],
            name="two threads",
        ),
    ]


def _columns_of(files: list[str]) -> Batches:
    """The columns that the cluster reads, from the same files."""

    def read() -> Iterator[Any]:
        import pyarrow.dataset

        source = pyarrow.dataset.dataset(files, format="parquet")
        yield from source.to_batches(columns=[*COLUMNS, "y"], batch_size=131_072)

    return Batches(read)
