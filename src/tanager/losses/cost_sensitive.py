"""`CostSensitiveLoss`: expected cost of a misclassification."""

from __future__ import annotations

from typing import Any

import numpy as np

from tanager.errors import InputError
from tanager.losses.base import Loss, scale_rows, soft_maximum, weighted_sum
from tanager.types import FloatArray, LabelArray


class CostSensitiveLoss(Loss):
    """Expected cost when classes are predicted with their posterior probabilities.

    Parameters
    ----------
    costs : array-like of shape (n_classes, n_classes) or None, default=None
        ``costs[i, j]``: cost of predicting class j where i is true, in the order of the
        classes. None means 1 for every mistake, which gives the expected error.

    Notes
    -----
    With the posterior ``p_c = P(c | x)`` of a sample with label y:

    - value: ``v = sum_c costs[y, c] p_c``;
    - gradient: ``p_c (costs[y, c] - v)``.

    The loss is bounded, so that the gradient of a sample far on the wrong side
    vanishes, and it is not convex.

    Examples
    --------
    >>> log_joint = np.log([[0.3, 0.1]])
    >>> loss = CostSensitiveLoss(costs=[[0, 8], [1, 0]])
    >>> round(loss.value_and_gradient(log_joint, np.array([0]), None)[0], 4)
    2.0
    """

    def __init__(self, *, costs: Any = None) -> None:
        self.costs = costs

    def value_and_gradient(
        self, log_joint: FloatArray, labels: LabelArray, weights: FloatArray | None
    ) -> tuple[float, FloatArray]:
        """Compute the loss of a batch; see `Loss.value_and_gradient`."""
        cost = self._cost_matrix(log_joint.shape[1])[labels]
        _, posterior = soft_maximum(log_joint)
        expected = (cost * posterior).sum(axis=1)
        gradient = posterior * (cost - expected[:, None])
        return weighted_sum(expected, weights), scale_rows(gradient, weights)

    def _cost_matrix(self, n_classes: int) -> FloatArray:
        """Return the costs as an array of shape (n_classes, n_classes)."""
        if self.costs is None:
            return 1.0 - np.eye(n_classes)
        try:
            costs = np.asarray(self.costs, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(
                f"costs must be a matrix of numbers, got {self.costs!r}."
            ) from None
        if costs.shape != (n_classes, n_classes):
            raise InputError(
                f"costs must have a row and a column for each of the {n_classes} "
                f"classes, shape ({n_classes}, {n_classes}); got shape {costs.shape}."
            )
        if not (np.isfinite(costs) & (costs >= 0.0)).all():
            raise InputError("costs must be finite and at least 0.")
        return costs
