"""How much the order matters: TAN-OMI-CR against many random orders.

Pernkopf and Bilmes (2010), Table 8.
"""

from __future__ import annotations

import numpy as np

from lab.measurements.structures import orders_on
from lab.studies.structure.coded import SEED, Part, parts, results, tested
from tanager.registry import parameters_from, structure_from

KEYS = ("set",)
N_ORDERS = 100
SETS = (
    "uci25/corral",
    "uci25/lymphography",
    "uci25/vehicle",
    "uci25/mofn-3-7-10",
    "uci25/waveform-21",
    "uci25/segment",
    "uci25/chess",
    "uci25/letter",
    "uci25/satimage",
)


def run() -> None:
    """Measure what is not yet in the file."""
    found = results("random-orders", KEYS)
    for name in SETS:
        if (name,) not in found:
            found.add((name,), measured(parts(name)))


def measured(rows: list[Part]) -> dict[str, float]:
    """Accuracy by the order of OMI, and of the random orders over all parts.

    "lowest" and "highest" are the orders with the least and the greatest score on the
    training rows of every part, not on the test rows.
    """
    n_rows = sum(len(part.test.labels) for part in rows)
    omi = 0
    right = np.zeros(N_ORDERS)
    lowest = highest = 0.0
    for part in rows:
        learned = structure_from("TAN-OMI-CR").learn(part.train)
        omi += tested(parameters_from("ml"), learned.structure, part).right
        orders = orders_on(part, N_ORDERS, np.random.default_rng(SEED))
        mine, scores = np.array(orders["right"]), np.array(orders["score"])
        right += mine
        lowest += mine[scores.argmin()]
        highest += mine[scores.argmax()]
    return {
        "omi": omi / n_rows,
        "mean": right.mean() / n_rows,
        "sd": right.std() / n_rows,
        "lowest": lowest / n_rows,
        "highest": highest / n_rows,
        "orders": N_ORDERS,
    }
