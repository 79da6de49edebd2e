"""The default model on images with a split of their own."""

from __future__ import annotations

from time import process_time

import numpy as np

from lab.runner.cell import Numbers
from tanager import BayesNetClassifier
from tanager.datasets import load


def image_errors(*, data: str, fold: int = 1) -> Numbers:
    """Test error of the default model in %, on features as numbers.

    Parameters
    ----------
    data : str
        Name of the dataset.
    fold : int, default=1
        Which of its splits, from 1; a dataset with one split has only the first.
    """
    found = load(data) if fold == 1 else load(data, fold=fold)
    X, y = np.asarray(found.X, dtype=np.float64), np.asarray(found.y)
    train, test = slice(found.n_train), slice(found.n_train, None)
    begin = process_time()
    model = BayesNetClassifier().fit(X[train], y[train])
    seconds = process_time() - begin
    wrong = model.predict(X[test]) != y[test]
    return {"error": 100.0 * float(wrong.mean()), "fit_seconds": seconds}
