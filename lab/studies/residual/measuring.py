"""Errors, log loss and time of a classifier on parts of a data set."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

SEED = 0
FOLDER = Path(__file__).parents[2] / "results" / "residual"
WARMING_ROWS = 300
"""Rows of a first fit that is not timed: kernels are compiled and loaded in it."""

Part = tuple[Any, Any, Any, Any]
"""Training rows and labels, test rows and labels, as arrays."""


def measured(make: Callable[[], Any], parts: Iterable[Part]) -> dict[str, float]:
    """Means over the parts.

    Parameters
    ----------
    make : callable
        Makes an unfitted classifier.
    parts : iterable of Part
        What to fit and to test.

    Returns
    -------
    dict
        Error and its standard deviation over the parts, log loss, seconds of a fit by
        the clock and of all processors together, and the number of warnings that a
        search had not ended.
    """
    rows = []
    warned = 0
    for X, y, X_test, y_test in parts:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            if not rows:
                some = np.random.default_rng(SEED).permutation(len(y))[:WARMING_ROWS]
                make().fit(X[some], y[some])
                caught.clear()
            begin, busy = time.perf_counter(), time.process_time()
            model = make().fit(X, y)
            seconds = time.perf_counter() - begin, time.process_time() - busy
            warned += sum(issubclass(w.category, ConvergenceWarning) for w in caught)
        truth = np.searchsorted(model.classes_, y_test)
        log_proba = model.predict_log_proba(X_test)
        wrong = np.mean(log_proba.argmax(axis=1) != truth)
        loss = -log_proba[np.arange(len(truth)), truth].mean()
        rows.append((wrong, loss, *seconds))
    error, log_loss, seconds_by_clock, processor_seconds = np.mean(rows, axis=0)
    return {
        "error": float(error),
        "error_sd": float(np.std([row[0] for row in rows])),
        "log_loss": float(log_loss),
        "seconds": float(seconds_by_clock),
        "processor_seconds": float(processor_seconds),
        "warnings": warned,
    }
