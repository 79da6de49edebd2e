"""`AUCLoss`: rows of a class should rank above those of the others."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from tanager.losses.base import Loss, soft_maximum
from tanager.types import BoolArray, FloatArray, LabelArray

BLOCK = 512
"""Rows on each side whose pairs are compared at once."""


class AUCLoss(Loss):
    """A smooth stand-in for one minus the area under the ROC curve.

    Notes
    -----
    With the log odds ``s_c(m) = L[m, c] - log sum_{k != c} exp(L[m, k])`` of class c
    against the rest, the loss is

    ``sum_c (1 / W_c) sum_{i in c, j not in c} w_i w_j log(1 + exp(s_c(j) - s_c(i)))``,

    W_c the weight of the rows that are not of class c: every row contributes its mean
    logistic loss against all rows of other classes. The logistic loss of pairs is
    consistent with the AUC [1]_; for two classes the AUC itself is the share of pairs
    in the right order. A class that has no row, or all of them, adds nothing. Pairs
    are made among the rows that are given together: with mini-batches, within each.
    Time is quadratic in the rows, memory is not.

    References
    ----------
    .. [1] Gao, Zhou (2015), On the consistency of AUC pairwise optimization, section 4.

    Examples
    --------
    >>> log_joint = np.log([[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]])
    >>> loss = AUCLoss()
    >>> right, _ = loss.value_and_gradient(log_joint, np.array([1, 1, 0]), None)
    >>> wrong, _ = loss.value_and_gradient(log_joint, np.array([0, 1, 1]), None)
    >>> round(right, 2), round(wrong, 2)
    (0.2, 7.83)
    """

    def value_and_gradient(
        self, log_joint: FloatArray, labels: LabelArray, weights: FloatArray | None
    ) -> tuple[float, FloatArray]:
        """Sum over classes of logistic losses; see `Loss.value_and_gradient`."""
        row_weights = np.ones(len(labels)) if weights is None else weights
        value = 0.0
        gradient = np.zeros(log_joint.shape)
        for c in range(log_joint.shape[1]):
            inside = labels == c
            mass = float(row_weights[~inside].sum())
            if not inside.any() or mass <= 0.0:
                continue
            others = log_joint.copy()
            others[:, c] = -np.inf
            highest, shares = soft_maximum(others)
            score = log_joint[:, c] - highest
            class_value, by_score = _pairs(score, inside, row_weights)
            value += class_value / mass
            by_score /= mass
            gradient -= by_score[:, None] * shares
            gradient[:, c] += by_score
        return value, gradient


def _pairs(
    score: FloatArray, inside: BoolArray, weights: FloatArray
) -> tuple[float, FloatArray]:
    """Weighted logistic loss of all pairs (inside, outside), and its derivative."""
    value = 0.0
    gradient = np.zeros(len(score))
    first, second = np.flatnonzero(inside), np.flatnonzero(~inside)
    for i in range(0, len(first), BLOCK):
        rows = first[i : i + BLOCK]
        for j in range(0, len(second), BLOCK):
            columns = second[j : j + BLOCK]
            behind = score[columns] - score[rows][:, None]
            value += float(weights[rows] @ np.logaddexp(0.0, behind) @ weights[columns])
            slope = expit(behind)
            gradient[rows] -= weights[rows] * (slope @ weights[columns])
            gradient[columns] += weights[columns] * (weights[rows] @ slope)
    return value, gradient
