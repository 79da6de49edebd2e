"""The sets on which GBN is furthest behind the 2005 paper, in other folds."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import KFold

from lab.studies.networks.accuracy import evaluated
from lab.studies.networks.recovery import FOLDER, SEED
from lab.studies.parameters.results import Results
from lab.studies.structure.coded import FOLDS, Part, coded
from tanager import ConstraintBased, datasets

KEYS = ("set", "gaps", "partition")

SETS = (
    ("uci25/vote", "third value"),
    ("uci25/vote", "gaps"),
    ("uci25/hepatitis", "none"),
    ("uci25/cleve", "none"),
)
"""Sets, and what an empty field is read as; "none" where there are none."""

PARTITIONS = (0, 1, 2)
"""Seeds of the folds; the first is that of all other tables."""


def results() -> Results:
    """The file of numbers."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    return Results("partitions", KEYS, SEED, FOLDER)


def run() -> None:
    """Measure what is not yet in the file."""
    found = results()
    for name, gaps in SETS:
        for partition in PARTITIONS:
            if (name, gaps, partition) not in found:
                rows = folds(name, gaps, partition)
                found.add((name, gaps, partition), evaluated(ConstraintBased(), rows))


def folds(name: str, gaps: str, partition: int) -> list[Part]:
    """Training and test rows of all folds."""
    missing_as = "unknown" if gaps == "third value" else None
    data = datasets.load(name, missing_as=missing_as)
    cut = KFold(FOLDS, shuffle=True, random_state=partition)
    rows = np.arange(data.n_rows)
    return [coded(data, train, test) for train, test in cut.split(rows)]
