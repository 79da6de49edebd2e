"""Accuracy, log loss and time of fit of every method on real data."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from lab.studies.parameters.methods import COMPLETE, INCOMPLETE, SMOOTH, classifier
from lab.studies.parameters.results import Results
from tanager.datasets import Dataset, load, remove_values
from tanager.types import IndexArray

SEED = 0
FOLDS = 5
KEYS = ("set", "structure", "parameters")
CROSS_VALIDATED = (
    "uci25/glass",
    "uci25/heart",
    "uci25/vote",
    "uci25/diabetes",
    "uci25/vehicle",
    "uci25/german",
    "uci25/mofn-3-7-10",
    "uci25/segment",
    "uci25/chess",
)
SPLIT = ("uci25/satimage", "uci25/letter")
"""Large sets, measured on their published split."""

WITH_GAPS = (
    "uci25/glass",
    "uci25/heart",
    "uci25/diabetes",
    "uci25/vehicle",
    "uci25/german",
    "uci25/mofn-3-7-10",
    "uci25/segment",
)
REMOVED = 0.25
"""Share of the feature cells that are removed, of training and test rows."""

FEW_ROWS = 800
"""With gaps, ELR by conjugate gradient is measured on no more: it takes minutes."""

WARMING_ROWS = 300
"""Samples of a first fit that is not timed: kernels are compiled and loaded in it."""


def run() -> None:
    """Measure what is not yet in the files, small sets first."""
    complete = Results("complete", KEYS, SEED)
    gaps = Results("incomplete", KEYS, SEED)
    for name in CROSS_VALIDATED:
        _measure(complete, load(name), [*COMPLETE, SMOOTH])
    for name in WITH_GAPS:
        data = remove_values(load(name), REMOVED, random_state=SEED)
        slow = ("ELR",) if data.n_rows > FEW_ROWS else ()
        _measure(gaps, data, [m for m in INCOMPLETE if m[1] not in slow])
    for name in SPLIT:
        _measure(complete, load(name), [*COMPLETE, SMOOTH])


def _measure(results: Results, data: Dataset, methods: Any) -> None:
    for structure, parameters in methods:
        key = (data.name, structure, parameters)
        if key in results:
            continue
        if (structure, parameters) == SMOOTH and not _has_numbers(data.X):
            continue
        results.add(key, evaluated(structure, parameters, data))


def _has_numbers(X: Any) -> bool:
    return any(kind.kind in "iuf" for kind in X.dtypes)


def parts(data: Dataset) -> Iterator[tuple[IndexArray, IndexArray]]:
    """Training and test rows: the published split of large sets, else folds."""
    if data.name in SPLIT:
        rows = np.arange(data.n_rows)
        yield rows[: data.n_train], rows[data.n_train :]
        return
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
    yield from folds.split(np.zeros(data.n_rows), data.y)


def evaluated(structure: str, parameters: str, data: Dataset) -> dict[str, float]:
    """Means over the parts, and how much the accuracy varies between them."""
    X, y = data.X, np.asarray(data.y)
    accuracy, log_loss, seconds, warned = [], [], [], 0
    for number, (train, test) in enumerate(parts(data)):
        model = classifier(structure, parameters)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            if number == 0:
                random = np.random.default_rng(SEED)
                some = random.permutation(train)[:WARMING_ROWS]
                model.fit(X.iloc[some], y[some])
                caught.clear()
            begin = time.perf_counter()
            model.fit(X.iloc[train], y[train])
            seconds.append(time.perf_counter() - begin)
            warned += sum(issubclass(w.category, ConvergenceWarning) for w in caught)
        truth = np.searchsorted(model.classes_, y[test])
        log_proba = model.predict_log_proba(X.iloc[test])
        accuracy.append(np.mean(log_proba.argmax(axis=1) == truth))
        log_loss.append(-log_proba[np.arange(len(test)), truth].mean())
    return {
        "accuracy": float(np.mean(accuracy)),
        "accuracy_sd": float(np.std(accuracy)),
        "log_loss": float(np.mean(log_loss)),
        "seconds": float(np.mean(seconds)),
        "warnings": warned,
    }
