"""Scores of whole classifiers: accuracy, log loss, time of fit, costs."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from lab.runner.cell import Numbers
from tanager import (
    BayesNetClassifier,
    ConditionalLikelihood,
    Frequency,
    LossMinimizer,
    NaiveBayes,
    QuantileEncoder,
    ResidualTree,
)
from tanager.datasets import Dataset, load, remove_values
from tanager.losses import CostSensitiveLoss

SEED = 0
FOLDS = 5
WARM_UP = 300
"""Samples of a first fit that is not timed: it compiles and loads the kernels."""

NAMES = {
    "NB FE": "NB+FE",
    "NB ML": "NB-ML",
    "NB DFE": "NB+DFE",
    "NB RCL": "NB-RCL",
    "NB ELR": "NB+ELR",
    "NB HYB": "NB-HYB",
    "NB Ada": "NB+Ada",
    "TAN FE": "TAN+FE",
    "TAN ML": "TAN-CMI-ML",
    "TAN DFE": "TAN+DFE",
    "TAN RCL": "TAN-CMI-RCL",
    "TAN ELR": "TAN+ELR",
    "TAN HYB": "TAN-CMI-HYB",
    "TAN Ada": "TAN+Ada",
    "TAN EM": "TAN+EM",
    "TAN APN": "TAN+APN",
}
"""Registry names of structures with parameters."""
SMOOTH_BINS = 30
PAIR_BINS = 6
COSTLY_CLASS = {"uci25/german": "bad", "uci25/heart": "present"}
"""Class that costs five times as much to miss, as the Statlog project states."""


def classifier_scores(
    *,
    data: str,
    method: str | None = None,
    structure: str | None = None,
    parameters: str | None = None,
    encoder: str = "auto",
    published_folds: int = 0,
    missing: float = 0.0,
    n_jobs: int = 1,
) -> Numbers:
    """Mean scores of a classifier over folds, and the time of a fit.

    Parameters
    ----------
    data : str
        Name of the dataset.
    method : str or None, default=None
        Registry name, or one with ``smooth`` or ``1 stage``; see `make_classifier`.
    structure, parameters : str or None, default=None
        Instead of `method`, such as ``TAN`` and ``RCL``.
    encoder : str, default="auto"
        Of the classifier.
    published_folds : int, default=0
        Number of published splits; 0 means stratified 5-fold cross-validation.
    missing : float, default=0.0
        Fraction of the feature values removed from training and test samples.
    n_jobs : int, default=1
        Threads.
    """
    name = method or f"{structure} {parameters}"
    rows: list[tuple[float, ...]] = []
    n_warnings = 0
    for train, test in _splits(data, published_folds, missing):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            if not rows:
                random = np.random.default_rng(SEED)
                some = random.permutation(len(train[1]))[:WARM_UP]
                warm = make_classifier(name, encoder, n_jobs)
                warm.fit(train[0].iloc[some], train[1][some])
                caught.clear()
            begin, busy = time.perf_counter(), time.process_time()
            model = make_classifier(name, encoder, n_jobs).fit(*train)
            seconds = time.perf_counter() - begin, time.process_time() - busy
        n_warnings += sum(issubclass(w.category, ConvergenceWarning) for w in caught)
        rows.append((*error_and_log_loss(model, *test), *seconds))
    error, log_loss, seconds_of_clock, processor_seconds = np.mean(rows, axis=0)
    spread = float(np.std([row[0] for row in rows]))
    return {
        "accuracy": 1.0 - float(error),
        "accuracy_sd": spread,
        "error": float(error),
        "error_sd": spread,
        "log_loss": float(log_loss),
        "seconds": float(seconds_of_clock),
        "processor_seconds": float(processor_seconds),
        "warnings": n_warnings,
    }


def make_classifier(name: str, encoder: str = "auto", n_jobs: int = 1) -> Any:
    """An unfitted classifier.

    ``TAN-RES-RCL, 1 stage`` is a residual tree that is grown in one stage; names that
    end in ``smooth`` have 30 quantile bins and a first-difference penalty.

    Examples
    --------
    >>> make_classifier("TAN-RES-RCL, 1 stage").structure.stages
    1
    >>> make_classifier("2-tree-RES smooth").structure.k
    2
    """
    common: dict[str, Any] = {"n_jobs": n_jobs, "random_state": SEED}
    if name.endswith(" smooth"):
        pairs: dict[str, Any] = {"smooth": True, "pair_bins": PAIR_BINS}
        structures = {
            "NB RCL": NaiveBayes(),
            "NB": NaiveBayes(),
            "TAN-RES": ResidualTree(**pairs),
            "2-tree-RES": ResidualTree(k=2, **pairs),
        }
        structure = structures[name.removesuffix(" smooth")]
        alone = name == "NB RCL smooth"
        penalty = {"smooth": True} if alone else {**pairs, "interactions": 2}
        return BayesNetClassifier(
            encoder=QuantileEncoder(n_bins=SMOOTH_BINS),
            structure=structure,
            parameters=ConditionalLikelihood(C="cv", folds=3, **penalty),
            **common,
        )
    registered, _, one_stage = name.partition(", ")
    model = BayesNetClassifier.from_name(
        NAMES.get(registered, registered), encoder=encoder, **common
    )
    if one_stage:
        model.set_params(structure__stages=1)
    return model


def error_and_log_loss(model: Any, X: Any, y: Any) -> tuple[float, float]:
    """Fraction of samples in a wrong class, and the mean log loss."""
    truth = np.searchsorted(model.classes_, np.asarray(y))
    log_proba = model.predict_log_proba(X)
    error = float(np.mean(log_proba.argmax(axis=1) != truth))
    return error, float(-log_proba[np.arange(len(truth)), truth].mean())


def _splits(
    data: str, published_folds: int, missing: float
) -> Iterator[tuple[tuple[Any, Any], tuple[Any, Any]]]:
    """Training and test samples with their labels."""
    for fold in range(1, max(published_folds, 1) + 1):
        found = load(data, fold=fold) if published_folds > 1 else load(data)
        if missing:
            found = remove_values(found, missing, random_state=SEED)
        X, y = found.X, np.asarray(found.y)
        if published_folds:
            n = found.n_train
            yield (X.iloc[:n], y[:n]), (X.iloc[n:], y[n:])
        else:
            folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
            for train, test in folds.split(np.zeros(len(y)), y):
                yield (X.iloc[train], y[train]), (X.iloc[test], y[test])


def missing_at_test(
    *, data: str, structure: str, parameters: str, missing: float
) -> Numbers:
    """Error with values missing from the test samples; training samples are complete.

    Parameters
    ----------
    data : str
        Name of a dataset with a published split.
    structure, parameters : str
        Such as ``TAN`` and ``RCL``.
    missing : float
        Fraction of the test values removed, the same ones for every method.
    """
    found = load(data, fold=1)
    n = found.n_train
    model = make_classifier(f"{structure} {parameters}", "categorical")
    model.fit(found.X.iloc[:n], found.y.iloc[:n])
    X = found.X.iloc[n:]
    X = remove_values(X, missing, random_state=SEED) if missing else X
    error, log_loss = error_and_log_loss(model, X, found.y.iloc[n:])
    return {"error": error, "log_loss": log_loss}


def decision_costs(
    *, data: str, parameters: str, decision: str, repetitions: int = 5
) -> Numbers:
    """Mean cost of a test sample where one mistake costs five times as much.

    Parameters
    ----------
    data : str
        One of `COSTLY_CLASS`.
    parameters : {"FE", "RCL", "costs"}
        What naive Bayes learns; ``costs`` minimises a cost-sensitive loss.
    decision : {"likeliest", "cheapest"}
        Most probable class, or class of least expected cost.
    repetitions : int, default=5
        Of 5-fold cross-validation.
    """
    found: Dataset = load(data)
    X, y = found.X, np.asarray(found.y)
    costs = 1.0 - np.eye(2)
    costs[sorted(set(y)).index(COSTLY_CLASS[data])] *= 5.0
    learner = {
        "FE": Frequency(),
        "RCL": ConditionalLikelihood(C="cv", folds=3),
        "costs": LossMinimizer(loss=CostSensitiveLoss(costs=costs)),
    }[parameters]
    paid = []
    for repetition in range(repetitions):
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED + repetition)
        for train, test in folds.split(X, y):
            model = BayesNetClassifier(
                structure="nb", parameters=learner, random_state=SEED
            ).fit(X.iloc[train], y[train])
            truth = np.searchsorted(model.classes_, y[test])
            proba = model.predict_proba(X.iloc[test])
            if decision == "cheapest":
                classes = (proba @ costs).argmin(axis=1)
            else:
                classes = proba.argmax(axis=1)
            paid.append(costs[truth, classes].mean())
    return {"cost": float(np.mean(paid))}
