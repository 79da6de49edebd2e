"""Variants of ELR and APN, their iterations, and the time of an iteration."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lab.measurements.cross_validation import Split, classifier, scored, splits
from lab.measurements.dataset_preparation import rows_of
from lab.measurements.holdout_evaluation import parted
from lab.runner.cell import Numbers
from tanager import APN, ELR, EM, BayesNetClassifier, LossMinimizer
from tanager.data import ArrayData
from tanager.datasets import remove_values
from tanager.losses import SquaredErrorLoss

LEARNERS: dict[str, Callable[[], Any]] = {
    "ELR": ELR,
    "ELR_theta": lambda: ELR(solver="cg-theta"),
    "ELR, random start": lambda: ELR(start="random"),
    "MSE": lambda: LossMinimizer(loss=SquaredErrorLoss(all_classes=False)),
    "APN": APN,
    "APN_theta": lambda: APN(solver="cg-theta"),
    "EM": EM,
}
"""Learners by the name after the plus sign."""


def learner_variant(
    *,
    data: str,
    method: str,
    fold: int,
    n_folds: int = 5,
    repeat: int = 1,
    removed: float = 0.0,
    n_rows: int | None = None,
) -> Numbers:
    """Accuracy, log loss, iterations and time of a variant of a learner, on one fold.

    Parameters
    ----------
    data : str
        Name of the dataset.
    method : str
        Structure and learner, such as ``NB+ELR_theta``; see `LEARNERS`.
    fold, n_folds, repeat
        As of `holdout_scores`.
    removed : float, default=0.0
        Probability with which every feature value is removed, in all samples.
    n_rows : int or None, default=None
        Learn from so many of the training samples, chosen at random; None is all.

    Returns
    -------
    mapping
        "accuracy", "log_loss" and "seconds" of the fit as of `scored`; "iterations" of
        the last run; "iteration_milliseconds", processor time of the fit divided by all
        iterations, those of cross tuning included; "n_samples".
    """
    X, y = rows_of(data)
    train, test = parted(data, len(y), fold, n_folds, repeat)
    random = np.random.default_rng(repeat)
    if n_rows is not None:
        train = random.permutation(train)[:n_rows]
    gaps = remove_values(X, removed, random_state=random)
    structure, _, learner = method.partition("+")
    model = BayesNetClassifier(
        "mdl", structure.lower(), LEARNERS[learner](), random_state=0
    )
    part = Split(gaps.iloc[train], y[train], gaps.iloc[test], y[test])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        scores = scored(model, part)
    trace = model.trace_["parameters"]
    return scores | {
        "iterations": float(model.parameters_.n_iter_),
        "iteration_milliseconds": 1000 * scores["seconds"] / max(len(trace), 1),
        "n_samples": float(len(train)),
    }


def learner_seconds(
    *,
    data: str,
    method: str,
    fold: int,
    n_folds: int = 10,
    repeat: int = 1,
) -> Numbers:
    """Processor seconds of the learners alone, on samples that are encoded already.

    Parameters
    ----------
    data, method, n_folds, repeat
        As of `cross_validation_scores`, for data and preset of Su et al. (2008).
    fold : int
        Which fold is left out, from 1.

    Returns
    -------
    mapping
        "seconds" of the structure learner and the parameter learner together. What is
        short is repeated until a twentieth of a second has passed.
    """
    parts = splits(data, n_folds, repeat, n_classes=2, fill=True, shuffled=True)
    part = list(parts)[fold - 1]
    model = classifier(method, "su2008")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(part.X, part.y)  # kernels are compiled and loaded in it
        codes = np.asfortranarray(model.encoder_.encode(part.X))
        labels = np.searchsorted(model.classes_, part.y).astype(np.uint8)
        schema = model.network_.schema
        times = 0
        begin = process_time()
        while not times or process_time() - begin < SHORT:
            # Counts are kept with the data, so every repetition has data of its own.
            samples = ArrayData(schema, codes, labels)
            random = np.random.default_rng(0)
            found = model.structure_.learn(samples, random_state=random)
            model.parameters_.learn(found.structure, samples, random_state=random)
            times += 1
        seconds = (process_time() - begin) / times
    return {"seconds": seconds, "repetitions": float(times)}


SHORT = 0.05
"""Seconds up to which learning is repeated."""
