"""`AUCLoss`: pairwise logistic surrogate of the area under the ROC curve."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from tanager.losses.base import Loss, soft_maximum
from tanager.types import BoolArray, FloatArray, LabelArray

BLOCK = 512
"""Samples on each side whose pairs are compared at once."""


class AUCLoss(Loss):
    """Smooth surrogate of one minus the area under the ROC curve.

    Notes
    -----
    The loss is a sum over pairs of samples of different classes. With the log odds
    ``s_c(m) = L[m, c] - log sum_{k != c} exp(L[m, k])`` of class c against the rest and
    the weight ``W_c`` of all samples that are not of class c:

    - value: ``sum_c (1 / W_c) sum_{i in c, j not in c} w_i w_j log(1 + exp(d))``, where
      ``d = s_c(j) - s_c(i)``;
    - gradient by ``s_c(j)``: the sum over i of ``w_i w_j / (1 + exp(-d)) / W_c``, with
      the opposite sign by ``s_c(i)``; then by L with the chain rule.

    Every sample contributes its mean logistic loss against all samples of other
    classes. The logistic loss of pairs is consistent with the AUC [1]_, which for two
    classes is the fraction of correctly ordered pairs. A class that has no sample, or
    all of them, adds nothing. With mini-batches, pairs are formed within each batch.
    Time is quadratic in the number of samples, memory is not.

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
        """Compute the loss of a batch; see `Loss.value_and_gradient`."""
        sample_weights = np.ones(len(labels)) if weights is None else weights
        value = 0.0
        gradient = np.zeros(log_joint.shape)
        for c in range(log_joint.shape[1]):
            inside = labels == c
            mass = float(sample_weights[~inside].sum())
            if not inside.any() or mass <= 0.0:
                continue
            others = log_joint.copy()
            others[:, c] = -np.inf
            highest, softmax = soft_maximum(others)
            score = log_joint[:, c] - highest
            class_value, by_score = _compare_pairs(score, inside, sample_weights)
            value += class_value / mass
            by_score /= mass
            gradient -= by_score[:, None] * softmax
            gradient[:, c] += by_score
        return value, gradient


def _compare_pairs(
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
