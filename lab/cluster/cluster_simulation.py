"""Simulation of a fit on a cluster: workers, messages, sums by a tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lab.cluster.fit_rounds import FAN_IN, Round
from tanager.types import FloatArray

INLINE_BYTES = 20_000
"""Orders up to this size are part of every task."""


@dataclass(frozen=True)
class Cluster:
    """A cluster and what it costs to use it.

    Parameters
    ----------
    n_workers : int
        Number of workers.
    n_threads : int
        Tasks that a worker does at a time.
    n_parts : int
        Number of partitions.
    latency : float
        Seconds for a message of any size between two machines.
    bandwidth : float
        Bytes per second between two machines.
    task_seconds : float
        Seconds for which the scheduler is busy with every task.
    start_seconds : float
        Seconds for which a worker is busy with every task besides its work.
    spread : float
        Standard deviation of the logarithm of the time for the same work.
    """

    n_workers: int
    n_threads: int
    n_parts: int
    latency: float = 0.001
    bandwidth: float = 1e9
    task_seconds: float = 0.001
    start_seconds: float = 0.003
    spread: float = 0.1


@dataclass(frozen=True)
class SimulatedFit:
    """Seconds of a fit: reading, then rounds; and of the latter those of work alone.

    `bytes_moved` are those that pass the scheduler or go from worker to worker.
    """

    reading_seconds: float
    round_seconds: float
    work_seconds: float
    rounds: int
    bytes_moved: float

    @property
    def seconds(self) -> float:
        """Reading and rounds."""
        return self.reading_seconds + self.round_seconds


def simulate_fit(
    cluster: Cluster,
    rounds: Sequence[Round],
    *,
    reading: float,
    learning: float,
    seed: int = 0,
) -> SimulatedFit:
    """Simulate a fit, round by round.

    Parameters
    ----------
    cluster : Cluster
        The cluster.
    rounds : sequence of Round
        As of `lab.cluster.fit_rounds`.
    reading, learning : float
        Processor seconds to read and encode all samples, and for all rounds.
    seed : int, default=0
        Of the random times.
    """
    random = np.random.default_rng(seed)
    seconds = work = moved = 0.0
    for one in rounds:
        for _ in range(one.times):
            share = learning * one.passes / cluster.n_parts
            finished = _work(cluster, one, share, random)
            work += share * cluster.n_parts / (cluster.n_workers * cluster.n_threads)
            seconds += _collect(cluster, one, finished)
            moved += _bytes_moved(cluster, one)
    share = reading / cluster.n_parts
    read = _work(cluster, Round(0.0, 0.0, 0.0), share, random).max()
    n_rounds = sum(one.times for one in rounds)
    return SimulatedFit(float(read), seconds, work, n_rounds, moved)


def _work(
    cluster: Cluster, one: Round, share: float, random: np.random.Generator
) -> FloatArray:
    """When every part has its answer: tasks wait for the scheduler and a thread."""
    parts = np.arange(cluster.n_parts)
    sent = (parts + 1) * cluster.task_seconds + cluster.latency
    if one.order <= INLINE_BYTES:
        sent = sent + (parts + 1) * one.order / cluster.bandwidth
    else:  # once to a worker, then from worker to worker, twice as many every time
        copies = 1 + np.ceil(np.log2(cluster.n_workers + 1))
        sent = sent + copies * (one.order / cluster.bandwidth + cluster.latency)
    times = share * np.exp(cluster.spread * random.standard_normal(cluster.n_parts))
    times += cluster.start_seconds
    n_places = cluster.n_workers * cluster.n_threads
    free = np.zeros(n_places)
    finished = np.empty(cluster.n_parts)
    for first in range(0, cluster.n_parts, n_places):  # each place has its own parts
        own = slice(first, min(first + n_places, cluster.n_parts))
        places = slice(0, own.stop - first)
        free[places] = np.maximum(free[places], sent[own]) + times[own]
        finished[own] = free[places]
    return finished


def _collect(cluster: Cluster, one: Round, finished: FloatArray) -> float:
    """When the client has the sum, or all answers."""
    if one.added is None:
        size = one.answer * cluster.n_parts
        return float(finished.max() + cluster.latency + size / cluster.bandwidth)
    level, size = finished, one.answer
    while len(level) > 1:
        starts = np.arange(0, len(level), FAN_IN)
        ready = np.maximum.reduceat(level, starts)
        moved = (FAN_IN - 1) * size / cluster.bandwidth
        scheduling = np.arange(1, len(starts) + 1) * cluster.task_seconds
        level = np.maximum(ready, scheduling) + cluster.latency + moved
        level = level + cluster.start_seconds
        size = one.added
    return float(level[0] + cluster.latency + size / cluster.bandwidth)


def _bytes_moved(cluster: Cluster, one: Round) -> float:
    """Orders, and answers that go to another worker or to the client."""
    inline = one.order <= INLINE_BYTES
    orders = one.order * (cluster.n_parts if inline else cluster.n_workers)
    if one.added is None:
        return orders + one.answer * cluster.n_parts
    total, n, size = orders, cluster.n_parts, one.answer
    while n > 1:
        groups = -(-n // FAN_IN)
        total += (n - groups) * size
        n, size = groups, one.added
    return total + size
