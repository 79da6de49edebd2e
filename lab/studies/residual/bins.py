"""Many bins with smooth tables, and fewer of them in the tables of pairs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from lab.studies.parameters.results import Results
from lab.studies.residual.measuring import FOLDER, SEED, Part, measured
from tanager import (
    BayesNetClassifier,
    ConditionalLikelihood,
    NaiveBayes,
    QuantileEncoder,
    ResidualTree,
)
from tanager.datasets import load

KEYS = ("set", "method")
SETS = ("uci25/glass", "uci25/vehicle", "uci25/segment")
FOLDS = 5
BINS = 30
PAIR_BINS = 6
METHODS = ("NB-CL", "TAN-RES-CL", "NB smooth", "TAN-RES smooth", "2-tree-RES smooth")


def results() -> Results:
    """The file of these results."""
    return Results("bins", KEYS, SEED, FOLDER)


def run() -> None:
    """Measure what is not yet in the file."""
    file = results()
    for name in SETS:
        for method in METHODS:
            if (name, method) not in file:
                make = partial(classifier, method)
                file.add((name, method), measured(make, parts(name)))


def classifier(method: str) -> Any:
    """An unfitted classifier: of MDL bins, or of many quantiles and smooth."""
    structure, _, smooth = method.partition(" ")
    if not smooth:
        return BayesNetClassifier.from_name(method, n_jobs=-1, random_state=SEED)
    tables = {"smooth": True, "pair_bins": PAIR_BINS}
    structures = {
        "NB": NaiveBayes(),
        "TAN-RES": ResidualTree(**tables),
        "2-tree-RES": ResidualTree(k=2, **tables),
    }
    return BayesNetClassifier(
        encoder=QuantileEncoder(n_bins=BINS),
        structure=structures[structure],
        parameters=ConditionalLikelihood(C="cv", interactions=2, **tables),
        n_jobs=-1,
        random_state=SEED,
    )


def parts(name: str) -> Iterator[Part]:
    """Stratified folds."""
    data = load(name)
    X, y = data.X.to_numpy(), np.asarray(data.y)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
    for train, test in folds.split(X, y):
        yield X[train], y[train], X[test], y[test]
