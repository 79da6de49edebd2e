"""Few rows with a class and many without: EM on all against frequencies on the few."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.parameters.results import Results
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


def run() -> None:
    """Accuracy on test rows, mean over draws of the labelled rows."""
    results = Results("unlabelled", KEYS, SEED)
    for name in SETS:
        data = load(name)
        for structure in ("nb", "tan"):
            for labelled in LABELLED:
                keys = [(name, structure.upper(), labelled, p) for p in ("FE", "EM")]
                if all(key in results for key in keys):
                    continue
                few, all_rows = _accuracies(data, structure, labelled)
                results.add(keys[0], {"accuracy": few})
                results.add(keys[1], {"accuracy": all_rows})


def _accuracies(data: Dataset, structure: str, labelled: int) -> tuple[float, float]:
    y = np.asarray(data.y, dtype=object)
    scores = []
    for repetition in range(REPETITIONS):
        random = np.random.default_rng([SEED, repetition])
        rows = random.permutation(data.n_rows)
        border = int(TEST_SHARE * data.n_rows)
        test, train = rows[:border], rows[border:]
        # Both learn from the same bins, which look at no class.
        encoder = TableEncoder(numeric=QuantileEncoder(n_bins=BINS))
        codes = encoder.fit(data.X.iloc[train]).transform(data.X)
        known = y[train].copy()
        known[labelled:] = None
        few = _model(structure, Frequency())
        few.fit(codes[train[:labelled]], y[train[:labelled]])
        every = _model(structure, EM()).fit(codes[train], known)
        scores.append([model.score(codes[test], y[test]) for model in (few, every)])
    few_score, every_score = np.mean(scores, axis=0)
    return float(few_score), float(every_score)


def _model(structure: str, parameters: Any) -> BayesNetClassifier:
    return BayesNetClassifier(
        encoder="categorical", structure=structure, parameters=parameters
    )
