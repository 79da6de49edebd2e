"""Mutual information of two variables from their joint distribution."""

from __future__ import annotations

import numpy as np

from tanager.data.information import entropy
from tanager.types import FloatArray


def shared_information(joint: FloatArray, one: int, two: int) -> float:
    """Mutual information in nats of two axes of a table, given the other axes.

    Parameters
    ----------
    joint : ndarray of float64
        Probabilities, or weights proportional to them.
    one, two : int
        The two axes.

    Examples
    --------
    >>> round(shared_information(np.array([[0.5, 0.0], [0.0, 0.5]]), 0, 1), 4)
    0.6931
    """
    both = np.atleast_1d(joint.sum(axis=(one, two)))
    parts = entropy(joint.sum(axis=two)) + entropy(joint.sum(axis=one))
    return max(parts - entropy(joint) - entropy(both), 0.0)
