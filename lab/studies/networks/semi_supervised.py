"""A tenth of the rows with a class: EM on all rows, or frequencies on that tenth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from lab.studies.parameters.results import Results
from lab.studies.structure.coded import Part, by_size, coded, tested
from tanager import EM, BayesNetClassifier, Frequency, QuantileEncoder, TableEncoder
from tanager.data import ArrayData
from tanager.datasets import Dataset, load, names

SEED = 0
FOLDER = Path(__file__).parents[2] / "results" / "networks"
KEYS = ("set", "structure")
LABELLED_SHARE = 0.1
TEST_SHARE = 0.3
REPETITIONS = 10
BINS = 5
MOST_CELLS = 150_000
"""Sets with more values, rows times columns, are left out."""

FEW_CELLS = 12_000
"""As much for structures that are general, on which EM takes longer."""

STRUCTURES = ("NB", "TAN")
GENERAL = ("HGC", "GBN")
"""Names; learned from the rows with a class alone, for both."""


def run() -> None:
    """Accuracy on test rows, mean over draws of the rows with a class."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    results = Results("semi_supervised", KEYS, SEED, FOLDER)
    for name in by_size([n for n in names() if n.startswith(("uci25/", "weka33/"))]):
        data = load(name)
        n_cells = data.n_rows * len(data.feature_names)
        wanted = STRUCTURES if n_cells <= MOST_CELLS else ()
        if n_cells <= FEW_CELLS and name.startswith("uci25/"):
            wanted += GENERAL
        for structure in wanted:
            if (name, structure) not in results:
                learner = BayesNetClassifier.from_name(f"{structure}+FE").structure
                results.add((name, structure), measured(data, learner))


def measured(data: Dataset, learner: Any) -> dict[str, float]:
    """Accuracy of both, their mean difference and its standard error, in points."""
    found = []
    for repetition in range(REPETITIONS):
        random = np.random.default_rng([SEED, repetition])
        part = _drawn(data, random)
        train = part.train
        few = train.take(np.flatnonzero(train.labels < train.schema.n_classes))
        structure = learner.learn(few, random_state=random).structure
        found.append(
            [
                tested(parameters, structure, Part(rows, part.test)).right
                for parameters, rows in (
                    (Frequency(), few),
                    (EM(max_iter=2000), train),
                )
            ]
        )
    shares = 100 * np.array(found) / part.test.n_samples
    gains = shares[:, 1] - shares[:, 0]
    return {
        "labelled": few.n_samples,
        "unlabelled": train.n_samples - few.n_samples,
        "FE": shares[:, 0].mean(),
        "EM": shares[:, 1].mean(),
        "gain": round(gains.mean(), 6),
        "error": gains.std(ddof=1) / np.sqrt(REPETITIONS),
        "better": int((gains > 0).sum()),
        "worse": int((gains < 0).sum()),
    }


def _drawn(data: Dataset, random: np.random.Generator) -> Part:
    """Training rows, most of them without a class, and test rows."""
    rows = random.permutation(data.n_rows)
    border = int(TEST_SHARE * data.n_rows)
    # Bins that look at no class: they may look at all training rows.
    encoder = TableEncoder(numeric=QuantileEncoder(n_bins=BINS))
    train, test = coded(data, rows[border:], rows[:border], encoder)
    n_classes = train.schema.n_classes
    labelled = np.zeros(train.n_samples, dtype=np.bool_)
    for label in range(n_classes):
        own = np.flatnonzero(train.labels == label)
        labelled[own[: max(1, round(LABELLED_SHARE * len(own)))]] = True
    labels = np.where(labelled, train.labels, n_classes).astype(train.labels.dtype)
    return Part(ArrayData(train.schema, train.codes, labels), test)
