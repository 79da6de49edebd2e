"""Metrics of predicted probabilities: accuracy, log loss, Brier score."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tanager.types import FloatArray, IndexArray

LEAST = float(np.finfo(np.float64).eps)
"""Smaller probabilities count as this one in a log loss, as in scikit-learn."""


def scores(
    probabilities: FloatArray,
    right: IndexArray,
    least: float = LEAST,
) -> tuple[float, float, float]:
    """Accuracy, log loss and Brier score.

    Parameters
    ----------
    probabilities : ndarray of float64, shape (n_rows, n_classes)
        Of every class.
    right : ndarray of int, shape (n_rows,)
        Code of the right class.
    least : float, default=LEAST
        Least probability in the log loss.

    Returns
    -------
    accuracy, log_loss, brier : float
        Means over the rows; the Brier score sums squares over the classes.

    Examples
    --------
    >>> accuracy, log_loss, brier = scores(np.array([[0.75, 0.25]]), np.array([0]))
    >>> accuracy, round(log_loss, 4), brier
    (1.0, 0.2877, 0.125)
    """
    of_right = probabilities[np.arange(len(right)), right]
    squares = (probabilities**2).sum(axis=1) - 2 * of_right + 1
    return (
        float((probabilities.argmax(axis=1) == right).mean()),
        float(-np.log(np.maximum(of_right, least)).mean()),
        float(squares.mean()),
    )


def of_own_class(
    probabilities: FloatArray,
    classes: npt.NDArray[Any],
    labels: npt.NDArray[Any],
) -> FloatArray:
    """Predicted probability of every sample's own class; 0 for an unknown class.

    Parameters
    ----------
    probabilities : ndarray of float64, shape (n_rows, n_classes)
        Of every class.
    classes : ndarray of shape (n_classes,)
        The classes, in ascending order.
    labels : ndarray of shape (n_rows,)
        The class of every row.

    Examples
    --------
    >>> found = np.array([[0.75, 0.25], [0.5, 0.5]])
    >>> of_own_class(found, np.array(["a", "b"]), np.array(["a", "c"]))
    array([0.75, 0.  ])
    """
    place = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
    own = probabilities[np.arange(len(labels)), place]
    return np.where(classes[place] == labels, own, 0.0)
