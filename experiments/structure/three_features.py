"""Three binary features: the arc that tells the classes apart is not the strongest.

Pernkopf and Bilmes (2010), section 3.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from experiments.structure.coded import Part, coded, results, searched, tested
from tanager.core import Structure
from tanager.datasets.generators import three_binary
from tanager.registry import parameters_from, structure_from

KEYS = ("structure", "parameters", "rows")
SIZES = (20, 50, 100, 200, 500, 1000)
REPETITIONS = 100
TEST_ROWS = 1000
STRUCTURES: dict[str, tuple[str, ...]] = {
    "NB": ("ML", "CL"),
    "TAN-CMI": ("ML", "CL"),
    "TAN-CR": ("ML",),
    "TAN-SuperParent": ("ML",),
    "TAN-OMI-CR": ("ML", "CL"),
    "TAN-OCR-CR": ("ML",),
    "TAN-RO-CR": ("ML",),
    "TAN-OMI-CL": ("ML",),
    "TAN-CL": ("ML",),
    "KDB2": ("ML",),
}
PAIR = (0, 2)
"""X1 and X3."""


def run() -> None:
    """How often the arc is found, and the accuracy, by the number of rows."""
    found = results("three-features", KEYS)
    for size in SIZES:
        wanted = {
            structure: missing
            for structure, parameters in STRUCTURES.items()
            if (missing := [p for p in parameters if (structure, p, size) not in found])
        }
        if not wanted:
            continue
        samples = [_sample(size, repetition) for repetition in range(REPETITIONS)]
        for structure, parameters in wanted.items():
            for which, numbers in measured(structure, parameters, samples).items():
                found.add((structure, which, size), numbers)


def _sample(size: int, repetition: int) -> Part:
    random = np.random.default_rng([size, repetition])
    data = three_binary(n_samples=size + TEST_ROWS, random_state=random)
    rows = np.arange(data.n_rows)
    return coded(data, rows[:size], rows[size:], "categorical")


def measured(
    structure: str, parameters: list[str], samples: list[Part]
) -> dict[str, dict[str, float]]:
    """Means over samples, and the standard error of the accuracy."""
    joined = []
    rates: dict[str, list[float]] = {which: [] for which in parameters}
    for part in samples:
        result, _ = searched(structure_from(structure), part.train)
        joined.append(is_joined(result.structure))
        for which in parameters:
            right = tested(parameters_from(which), result.structure, part).right
            rates[which].append(right / TEST_ROWS)
    return {
        which: {
            "found": float(np.mean(joined)),
            "accuracy": float(np.mean(all_rates)),
            "accuracy_se": float(np.std(all_rates)) / len(all_rates) ** 0.5,
        }
        for which, all_rates in rates.items()
    }


def is_joined(structure: Structure) -> bool:
    """Whether there is an arc between X1 and X3."""
    first, last = PAIR
    return first in structure.parents[last] or last in structure.parents[first]


def best_accuracy() -> float:
    """Accuracy of the true distribution, the most there can be."""
    total = 0.0
    for x1, x2, x3 in product((0, 1), repeat=3):
        before = 0.5 * (0.75 if x2 == x1 else 0.25)
        in_class = [
            0.3 * (x3 == likely) + 0.5 * (x3 == x2) + 0.1 for likely in (x1, 1 - x1)
        ]
        total += before * 0.5 * max(in_class)
    return total
