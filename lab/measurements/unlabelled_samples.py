"""Few labelled and many unlabelled samples: EM on all, or frequencies on the few."""

from __future__ import annotations

import numpy as np

from lab.measurements.coded_datasets import Part, coded, evaluate_structure
from lab.runner.cell import Numbers
from tanager import EM, BayesNetClassifier, Frequency, QuantileEncoder, TableEncoder
from tanager.data import ArrayData
from tanager.datasets import Dataset, load

SEED = 0
TEST_FRACTION = 0.3
LABELLED_FRACTION = 0.1
BINS = 5


def few_labels(
    *,
    data: str,
    structure: str,
    labelled: int,
    parameters: str,
    repetitions: int = 10,
) -> Numbers:
    """Accuracy on test samples, mean over repeated random splits.

    Parameters
    ----------
    data : str
        Name of the dataset.
    structure : {"NB", "TAN"}
        What is learned.
    labelled : int
        Number of labelled training samples.
    parameters : str
        ``FE`` learns from the labelled samples alone, the others by EM from all; in
        ``EM, weight 0.1`` an unlabelled sample has that weight.
    repetitions : int, default=10
        Number of splits.
    """
    found = load(data)
    y = np.asarray(found.y, dtype=object)
    weight = float(parameters.rpartition(" ")[2]) if "weight" in parameters else 1.0
    learner = Frequency() if parameters == "FE" else EM()
    scores = []
    for repetition in range(repetitions):
        order = np.random.default_rng([SEED, repetition]).permutation(found.n_rows)
        border = int(TEST_FRACTION * found.n_rows)
        test, train = order[:border], order[border:]
        # All learn from the same bins, which do not depend on the class.
        encoder = TableEncoder(numeric=QuantileEncoder(n_bins=BINS))
        codes = encoder.fit(found.X.iloc[train]).transform(found.X)
        model = BayesNetClassifier(
            encoder="categorical", structure=structure.lower(), parameters=learner
        )
        if parameters == "FE":
            few = train[:labelled]
            model.fit(codes[few], y[few])
        else:
            known = y[train].copy()
            known[labelled:] = None
            weights = np.where(np.arange(len(train)) < labelled, 1.0, weight)
            model.fit(codes[train], known, weights)
        scores.append(model.score(codes[test], y[test]))
    return {"accuracy": float(np.mean(scores))}


def semi_supervised(*, data: str, structure: str, repetitions: int = 10) -> Numbers:
    """Accuracy in per cent with a tenth of the labels: frequencies, or EM on all.

    Parameters
    ----------
    data : str
        Name of the dataset.
    structure : str
        ``NB``, ``TAN``, ``HGC`` or ``GBN``, learned from the labelled samples alone.
    repetitions : int, default=10
        Number of random splits.

    Returns
    -------
    dict
        ``gain`` is the mean difference of EM and FE, ``error`` its standard error.
    """
    learner = BayesNetClassifier.from_name(f"{structure}+FE").structure
    dataset, right = load(data), []
    for repetition in range(repetitions):
        random = np.random.default_rng([SEED, repetition])
        part = split_labelled(dataset, random)
        train = part.train
        few = train.take(np.flatnonzero(train.labels < train.schema.n_classes))
        found = learner.learn(few, random_state=random).structure
        right.append(
            [
                evaluate_structure(parameters, found, Part(samples, part.test)).right
                for parameters, samples in (
                    (Frequency(), few),
                    (EM(max_iter=2000), train),
                )
            ]
        )
    percent = 100 * np.array(right) / part.test.n_samples
    gains = percent[:, 1] - percent[:, 0]
    return {
        "labelled": few.n_samples,
        "unlabelled": train.n_samples - few.n_samples,
        "FE": float(percent[:, 0].mean()),
        "EM": float(percent[:, 1].mean()),
        "gain": round(float(gains.mean()), 6),
        "error": float(gains.std(ddof=1) / np.sqrt(repetitions)),
        "better": int((gains > 0).sum()),
        "worse": int((gains < 0).sum()),
    }


def split_labelled(data: Dataset, random: np.random.Generator) -> Part:
    """Training samples, a tenth of each class labelled, and test samples.

    Examples
    --------
    >>> part = split_labelled(load("iris"), np.random.default_rng(0))
    >>> int((part.train.labels < 3).sum()), part.train.n_samples
    (11, 105)
    """
    order = random.permutation(data.n_rows)
    border = int(TEST_FRACTION * data.n_rows)
    # These bins do not depend on the class, so all training samples may form them.
    encoder = TableEncoder(numeric=QuantileEncoder(n_bins=BINS))
    train, test = coded(data, order[border:], order[:border], encoder)
    n_classes = train.schema.n_classes
    labelled = np.zeros(train.n_samples, dtype=np.bool_)
    for label in range(n_classes):
        own = np.flatnonzero(train.labels == label)
        labelled[own[: max(1, round(LABELLED_FRACTION * len(own)))]] = True
    labels = np.where(labelled, train.labels, n_classes).astype(train.labels.dtype)
    return Part(ArrayData(train.schema, train.codes, labels), test)
