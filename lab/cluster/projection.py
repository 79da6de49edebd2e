"""Projection of a fit to many rows on a cluster, from its costs on one machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lab.cluster.cluster_simulation import Cluster, SimulatedFit, simulate_fit
from lab.cluster.fit_rounds import FITS, PlannedTraffic, Tables

LARGEST = 100_000_000
"""Rows x columns of the measured fits that costs are taken from."""

STATES = (10,) * 15 + (6,) * 5
"""States of the features of these fits, about."""

N_CLASSES = 2


@dataclass(frozen=True)
class Costs:
    """Processor seconds for every row: to read and encode it, and to learn from it."""

    reading: float
    learning: float

    @classmethod
    def of(cls, numbers: Mapping[str, float]) -> Costs:
        """The costs of a measured fit; see `lab.measurements.out_of_core`.

        Examples
        --------
        >>> Costs.of({"seconds": 3.0, "learning_seconds": 1.0, "rows": 2.0})
        Costs(reading=1.0, learning=0.5)
        """
        reading = numbers["seconds"] - numbers["learning_seconds"]
        return cls(
            reading / numbers["rows"], numbers["learning_seconds"] / numbers["rows"]
        )


def project(
    fit: str, costs: Costs, n_rows: float, n_workers: int, n_threads: int, n_parts: int
) -> tuple[PlannedTraffic, SimulatedFit] | None:
    """Rounds, bytes and seconds of a fit; None if its rounds have no formula.

    Parameters
    ----------
    fit : str
        Name in `lab.cluster.fit_rounds.FITS`.
    costs : Costs
        Those measured on one machine.
    n_rows : float
        Number of rows.
    n_workers, n_threads : int
        Workers, and threads of each.
    n_parts : int
        Partitions for every thread.
    """
    if fit not in FITS:
        return None
    total = n_workers * n_threads * n_parts
    rounds = FITS[fit](Tables(STATES, N_CLASSES, total))
    simulated = simulate_fit(
        Cluster(n_workers, n_threads, total),
        rounds,
        reading=costs.reading * n_rows,
        learning=costs.learning * n_rows,
    )
    return PlannedTraffic.of(rounds, total), simulated
