"""Three binary features: the arc that tells the classes apart is not the strongest.

Pernkopf and Bilmes (2010), section 3.
"""

from __future__ import annotations

import numpy as np

from lab.measurements import synthetic
from lab.studies.structure.coded import results

KEYS = ("structure", "parameters", "rows")
SIZES = (20, 50, 100, 200, 500, 1000)
REPETITIONS = 100
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
        for structure, parameters in wanted.items():
            for which, numbers in measured(structure, parameters, size).items():
                found.add((structure, which, size), numbers)


def measured(
    structure: str, parameters: list[str], size: int
) -> dict[str, dict[str, float]]:
    """Means over samples, and the standard error of the accuracy."""
    found = synthetic.three_features(
        structure=structure,
        parameters=parameters,
        n_samples=size,
        repetitions=REPETITIONS,
    )
    return {
        which: {
            "found": float(np.mean(found["found"])),
            "accuracy": float(np.mean(found[f"accuracy_{which}"])),
            "accuracy_se": float(np.std(found[f"accuracy_{which}"])) / REPETITIONS**0.5,
        }
        for which in parameters
    }
