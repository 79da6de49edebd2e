"""Accuracy of classifiers that have seen few samples."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lab.measurements.cross_validation import classifier
from lab.measurements.dataset_preparation import filled, rows_of
from lab.runner.cell import Numbers


def small_sample_accuracy(
    *,
    data: str,
    method: str,
    n_rows: int,
    n_runs: int,
    paper: str | None = None,
    n_classes: int | None = None,
    fill: bool = False,
) -> Numbers:
    """Accuracy on all other samples after learning from a few, in several runs.

    The samples of a run are the first of a random order, the same for all numbers of
    samples and all methods. Where they are of one class, all samples are taken for it.

    Parameters
    ----------
    n_rows : int
        Number of training samples.
    n_runs : int
        Number of random orders.
    data, method, paper, n_classes, fill
        As in `cross_validation_scores`.
    """
    X, y = rows_of(data, n_classes)
    accuracy = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for run in range(n_runs):
            order = np.random.default_rng(run).permutation(len(y))
            few, others = order[:n_rows], order[n_rows:]
            if len(np.unique(y[few])) == 1:
                found = np.full(len(others), y[few[0]])
            else:
                train, test = X.iloc[few], X.iloc[others]
                if fill:
                    train, test = filled(train, test)
                found = classifier(method, paper).fit(train, y[few]).predict(test)
            accuracy.append(float(np.mean(found == y[others])))
    return {"accuracy": accuracy}
