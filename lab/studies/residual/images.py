"""The sets of Roth and Pernkopf (2020), on their own splits."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from lab.studies.parameters.results import Results
from lab.studies.residual.measuring import FOLDER, SEED, Part, measured
from tanager import BayesNetClassifier
from tanager.datasets import load

KEYS = ("set", "method")
SETS = {"images/satimage": 5, "images/letter": 1, "images/usps": 1}
"""Names, and numbers of folds."""

METHODS = (
    "NB-CL",
    "TAN-CMI-CL",
    "TAN-RES-CL, 1 stage",
    "TAN-RES-CL",
    "2-tree-RES-CL",
)


def results() -> Results:
    """The file of these results."""
    return Results("images", KEYS, SEED, FOLDER)


def run() -> None:
    """Measure what is not yet in the file."""
    file = results()
    for name, n_folds in SETS.items():
        for method in METHODS:
            if (name, method) not in file:
                make = partial(classifier, method)
                file.add((name, method), measured(make, parts(name, n_folds)))


def classifier(method: str) -> Any:
    """An unfitted classifier, on all cores."""
    name, _, one_stage = method.partition(", ")
    made = BayesNetClassifier.from_name(
        name, encoder="categorical", n_jobs=-1, random_state=SEED
    )
    if one_stage:
        made.structure.stages = 1
    return made


def parts(name: str, n_folds: int) -> Iterator[Part]:
    """The published splits."""
    for fold in range(1, n_folds + 1):
        data = load(name, fold=fold)
        X, y = data.X.to_numpy(), np.asarray(data.y)
        train = slice(None, data.n_train)
        test = slice(data.n_train, None)
        yield X[train], y[train], X[test], y[test]
