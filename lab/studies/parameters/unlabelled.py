"""Few rows with a class and many without: EM on all against frequencies on the few."""

from __future__ import annotations

from typing import Any

import numpy as np

from lab.studies.parameters.results import Results
from tanager import (
    EM,
    BayesNetClassifier,
    Frequency,
    QuantileEncoder,
    TableEncoder,
)
from tanager.datasets import Dataset, load

SEED = 0
KEYS = ("set", "structure", "labelled", "parameters")
SETS = (
    "uci25/vote",
    "uci25/breast",
    "uci25/diabetes",
    "uci25/vehicle",
    "uci25/segment",
    "uci25/chess",
    "uci25/waveform-21",
)
LABELLED = (20, 50, 200)
TEST_SHARE = 0.3
REPETITIONS = 10
BINS = 5
WEIGHTS = {"FE": None, "EM": 1.0, "EM, weight 0.1": 0.1, "EM, weight 0.01": 0.01}
"""Methods, with the weight of a row without a class; FE leaves such rows out."""


def run() -> None:
    """Accuracy on test rows, mean over draws of the labelled rows."""
    results = Results("unlabelled", KEYS, SEED)
    for name in SETS:
        data = load(name)
        for structure in ("nb", "tan"):
            for labelled in LABELLED:
                key = (name, structure.upper(), labelled)
                if all((*key, method) in results for method in WEIGHTS):
                    continue
                found = _accuracies(data, structure, labelled)
                for method, accuracy in found.items():
                    if (*key, method) not in results:
                        results.add((*key, method), {"accuracy": accuracy})


def _accuracies(data: Dataset, structure: str, labelled: int) -> dict[str, float]:
    y = np.asarray(data.y, dtype=object)
    scores: dict[str, list[float]] = {method: [] for method in WEIGHTS}
    for repetition in range(REPETITIONS):
        random = np.random.default_rng([SEED, repetition])
        rows = random.permutation(data.n_rows)
        border = int(TEST_SHARE * data.n_rows)
        test, train = rows[:border], rows[border:]
        # All learn from the same bins, which look at no class.
        encoder = TableEncoder(numeric=QuantileEncoder(n_bins=BINS))
        codes = encoder.fit(data.X.iloc[train]).transform(data.X)
        known = y[train].copy()
        known[labelled:] = None
        for method, weight in WEIGHTS.items():
            if weight is None:
                few = train[:labelled]
                model = _model(structure, Frequency()).fit(codes[few], y[few])
            else:
                weights = np.where(np.arange(len(train)) < labelled, 1.0, weight)
                model = _model(structure, EM()).fit(codes[train], known, weights)
            scores[method].append(model.score(codes[test], y[test]))
    return {method: float(np.mean(found)) for method, found in scores.items()}


def _model(structure: str, parameters: Any) -> BayesNetClassifier:
    return BayesNetClassifier(
        encoder="categorical", structure=structure, parameters=parameters
    )
