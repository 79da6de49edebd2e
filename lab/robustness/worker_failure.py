"""``python -m lab faults``: kill workers of a cluster while a model is fitted."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import click
import numpy as np

METHODS: dict[str, dict[str, Any]] = {
    "counts": {"structure": "tan", "parameters": "fe"},
    "search": {"structure": "tan-omi-cr", "parameters": "ml"},
    "convex": {"structure": "tan", "parameters": "rcl"},
    "factors": {},
}
"""What is fitted, by name: one of each kind of statistics that travel."""


TOLERANCE = 1e-9
"""Largest difference of a probability from that of a fit in memory."""


@dataclass(frozen=True)
class Outcome:
    """A fit during which a worker was killed.

    `moment` is the number of seconds after which it was, and `hit` whether the fit had
    not ended by then; `difference` is the largest one of a probability from that of a
    fit in memory.
    """

    method: str
    moment: float
    hit: bool
    difference: float
    seconds: float
    recomputed: int


def make_frame(n_samples: int, seed: int = 0) -> Any:
    """Dependent features of mixed types, and a class, as a pandas data frame."""
    import pandas as pd

    random = np.random.default_rng(seed)
    y = random.integers(0, 3, n_samples)
    columns: dict[str, Any] = {}
    before = y
    for j in range(6):
        noise = random.integers(0, 4, n_samples)
        before = np.where(random.random(n_samples) < 0.5, (y + before) % 4, noise)
        columns[f"x{j}"] = before.astype(float) if j % 2 else before.astype(str)
    return pd.DataFrame({**columns, "y": y})


@contextlib.contextmanager
def kill_after(
    cluster: Any, random: np.random.Generator, wait: float
) -> Iterator[threading.Event]:
    """Kill one random worker process with SIGKILL after some time."""
    done = threading.Event()

    def kill() -> None:
        processes = [nanny.process for nanny in list(cluster.workers.values())]
        pids = [process.pid for process in processes if process and process.pid]
        os.kill(int(random.choice(pids)), signal.SIGKILL)
        done.set()

    timer = threading.Timer(wait, kill)
    timer.start()
    try:
        yield done
    finally:
        timer.cancel()
        timer.join()


def fit_with_kill(
    cluster: Any, method: str, frame: Any, n_parts: int, random: np.random.Generator
) -> Outcome:
    """Fit while a worker is killed at a random moment; compare with a fit in memory."""
    import dask.dataframe as dd

    from tanager import BayesNetClassifier

    X = frame.drop(columns="y")
    expected = BayesNetClassifier(**METHODS[method], random_state=0).fit(X, frame["y"])
    there = dd.from_pandas(  # type: ignore[no-untyped-call]
        frame, npartitions=n_parts
    )
    model = BayesNetClassifier(**METHODS[method], random_state=0)
    began = time.perf_counter()
    model.fit(there.drop(columns="y"), there["y"])
    usual = time.perf_counter() - began
    moment = float(random.uniform(0.0, usual))
    began = time.perf_counter()
    with kill_after(cluster, random, moment) as done:
        model.fit(there.drop(columns="y"), there["y"])
        seconds = time.perf_counter() - began
        hit = done.is_set()
    assert model.network_.edges == expected.network_.edges
    gap = np.abs(model.predict_proba(X) - expected.predict_proba(X)).max()
    recomputed = model.trace_["distributed"]["recomputed_parts"]
    return Outcome(method, moment, hit, float(gap), seconds, recomputed)


@contextlib.contextmanager
def small_cluster(
    n_workers: int = 3, environ: Mapping[str, int] | None = None
) -> Iterator[Any]:
    """A cluster of processes on the loopback interface, without a dashboard.

    `environ` is added to the environment in which Dask starts the workers.
    """
    import dask
    from distributed import Client, LocalCluster

    settings = {"distributed.scheduler.allowed-failures": 10}
    for name, value in (environ or {}).items():
        settings[f"distributed.nanny.pre-spawn-environ.{name}"] = value
    with (
        dask.config.set(settings),
        LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=n_workers, threads_per_worker=1, host="127.0.0.1",
            dashboard_address="127.0.0.1:0", silence_logs=50,
        ) as cluster,
        Client(cluster),  # type: ignore[no-untyped-call]
    ):  # fmt: skip
        yield cluster


@click.command()
@click.option("--kills", default=50, show_default=True, help="Fits, each with a kill.")
@click.option("--samples", default=60_000, show_default=True, help="Rows of the data.")
@click.option("--seed", default=0, show_default=True)
def faults(kills: int, samples: int, seed: int) -> None:
    """Kill a worker with SIGKILL at a random moment of every fit; check the results."""
    random = np.random.default_rng(seed)
    frame = make_frame(samples)
    worst, fits, killed = 0.0, 0, 0
    with small_cluster() as cluster:
        while killed < kills:
            method = list(METHODS)[fits % len(METHODS)]
            found = fit_with_kill(cluster, method, frame, 7, random)
            fits, killed = fits + 1, killed + found.hit
            worst = max(worst, found.difference)
            if found.hit:
                click.echo(
                    f"{killed:3} {found.method:8} worker killed after "
                    f"{found.moment:.2f} s, {found.recomputed} parts made again, "
                    f"fitted in {found.seconds:.1f} s, difference "
                    f"{found.difference:.1e}"
                )
    click.echo(
        f"{killed} workers killed during fits, all of which ended; largest difference "
        f"of a probability {worst:.1e}"
    )
    if worst > TOLERANCE:
        raise SystemExit("Some result differs from that of data in memory.")
