"""`CostSensitiveLoss`: the expected cost of a prediction."""

from __future__ import annotations

from typing import Any

import numpy as np

from tanager.errors import InputError
from tanager.losses.base import Loss, scaled_rows, soft_maximum, weighted_sum
from tanager.types import FloatArray, LabelArray


class CostSensitiveLoss(Loss):
    """Expected cost when classes are predicted by their probabilities.

    Parameters
    ----------
    costs : array-like of shape (n_classes, n_classes) or None, default=None
        ``costs[i, j]``: what it costs to predict class j where i is true, in the order
        of the classes. None is 1 for every mistake, that is the expected error.

    Notes
    -----
    ``sum_m w_m sum_c costs[c_m, c] P(c | x_m)``. It is bounded, so a row that is far on
    the wrong side no longer pulls.

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
        """Expected cost; see `Loss.value_and_gradient`."""
        cost = self._checked(log_joint.shape[1])[labels]
        _, posterior = soft_maximum(log_joint)
        expected = (cost * posterior).sum(axis=1)
        gradient = posterior * (cost - expected[:, None])
        return weighted_sum(expected, weights), scaled_rows(gradient, weights)

    def _checked(self, n_classes: int) -> FloatArray:
        """The costs as a matrix."""
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
