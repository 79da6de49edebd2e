"""Metrics of predicted probabilities: accuracy, log loss, Brier score."""

from __future__ import annotations

import numpy as np

from tanager.types import FloatArray, IndexArray

LEAST = float(np.finfo(np.float64).eps)
"""Smaller probabilities count as this one in a log loss, as in scikit-learn."""


def scores(
    probabilities: FloatArray,
    right: IndexArray,
    least: float = LEAST,
    *,
    weights: FloatArray | None = None,
) -> tuple[float, float, float]:
    """Accuracy, log loss and Brier score: means over the rows.

    `probabilities` (n_rows, n_classes), and the code of the `right` class (n_rows,);
    `least` is the least probability in the log loss. The Brier score sums squares over
    the classes. `weights` (n_rows,) weigh the means.

    Examples
    --------
    >>> accuracy, log_loss, brier = scores(np.array([[0.75, 0.25]]), np.array([0]))
    >>> accuracy, round(log_loss, 4), brier
    (1.0, 0.2877, 0.125)
    """
    of_right = probabilities[np.arange(len(right)), right]
    squares = (probabilities**2).sum(axis=1) - 2 * of_right + 1
    return (
        float(np.average(probabilities.argmax(axis=1) == right, weights=weights)),
        float(-np.average(np.log(np.maximum(of_right, least)), weights=weights)),
        float(np.average(squares, weights=weights)),
    )
