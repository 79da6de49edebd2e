"""Processor seconds of a search on the larger sets of Roth and Pernkopf (2020)."""

from __future__ import annotations

import numpy as np

from lab.measurements.structures import timed
from lab.studies.structure.coded import Part, arcs, coded, results, tested
from tanager.datasets import load
from tanager.registry import parameters_from

KEYS = ("set", "structure")
SETS = ("images/letter", "images/satimage", "images/usps")
STRUCTURES = (
    "NB",
    "TAN-CMI",
    "KDB2",
    "TAN-OMI-CR",
    "TAN-OMISP-CR",
    "TAN-OCR-CR",
    "TAN-OMI-CL",
    "TAN-CR",
    "TAN-SuperParent",
)
TOO_SLOW = {("images/usps", "TAN-SuperParent")}
REPETITIONS = 3


def run() -> None:
    """Least seconds of some repetitions, one thread."""
    found = results("times", KEYS)
    for name in SETS:
        wanted = [
            s
            for s in STRUCTURES
            if (name, s) not in found and (name, s) not in TOO_SLOW
        ]
        if not wanted:
            continue
        data = load(name, fold=1)
        rows = np.arange(data.n_rows)
        # Pixels and counts were made into few values by whoever published the set.
        part = coded(data, rows[: data.n_train], rows[data.n_train :], "categorical")
        for structure in wanted:
            found.add((name, structure), measured(structure, part))


def measured(structure: str, part: Part) -> dict[str, float]:
    """Seconds of the search, its arcs, and the accuracy with two kinds of tables."""
    result, seconds = timed(part, structure, REPETITIONS)
    rates = {
        f"accuracy_{which}": tested(
            parameters_from(which), result.structure, part
        ).right
        / part.test.n_samples
        for which in ("ml", "cl")
    }
    return {"seconds": seconds, "arcs": arcs(result.structure), **rates}
