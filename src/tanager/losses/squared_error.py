"""`SquaredErrorLoss`: squared error of the posterior probabilities."""

from __future__ import annotations

import numpy as np

from tanager.losses.base import Loss, scale_rows, soft_maximum, weighted_sum
from tanager.types import FloatArray, LabelArray
from tanager.utils.validation import check_flag


class SquaredErrorLoss(Loss):
    """Squared error of the posterior probabilities (MSE), or Brier score.

    Parameters
    ----------
    all_classes : bool, default=True
        Whether the errors of all classes are summed, which is the Brier score and a
        proper scoring rule. False takes the error of the true class alone, as the paper
        does; it equals half the Brier score for two classes, and is not proper for
        more.

    Notes
    -----
    With the posterior ``p_c = P(c | x)`` and ``t_c = [c = y]`` for a sample with label
    y:

    - value: ``v = sum_c (p_c - t_c)^2``, or ``(1 - p_y)^2`` for the true class alone;
    - gradient: ``2 p_c (s_c - sum_k p_k s_k)`` with ``s_c = p_c - t_c``, or
      ``s_c = [c = y] (p_y - 1)``.

    Equation 9 of [1]_ is the expectation of the latter, with the unknown P(c | e) of a
    labelled sample in place of 1; its Theorem 1 holds for it, too. The loss is bounded:
    outliers weigh less than in `ConditionalLikelihoodLoss`. It is not convex.

    References
    ----------
    .. [1] Greiner, Su, Shen, Zhou (2005), Structural extension to logistic regression,
       section 3, equation 9.

    Examples
    --------
    >>> log_joint = np.log([[0.3, 0.1]])
    >>> loss = SquaredErrorLoss(all_classes=False)
    >>> value, gradient = loss.value_and_gradient(log_joint, np.array([0]), None)
    >>> round(value, 4), gradient.round(4)  # (1 - 3/4)^2
    (0.0625, array([[-0.0938,  0.0938]]))
    >>> brier = SquaredErrorLoss().value_and_gradient(log_joint, np.array([0]), None)
    >>> round(brier[0], 4)
    0.125
    """

    def __init__(self, *, all_classes: bool = True) -> None:
        self.all_classes = all_classes

    def value_and_gradient(
        self, log_joint: FloatArray, labels: LabelArray, weights: FloatArray | None
    ) -> tuple[float, FloatArray]:
        """Compute the loss of a batch; see `Loss.value_and_gradient`."""
        check_flag("all_classes", self.all_classes)
        rows = np.arange(len(labels))
        _, posterior = soft_maximum(log_joint)
        others = posterior.copy()
        others[rows, labels] = 0.0
        # Not 1 - p, whose digits are lost where the true class is almost certain.
        missed = others.sum(axis=1)
        error = others if self.all_classes else np.zeros_like(others)
        error[rows, labels] = -missed
        mean = (posterior * error).sum(axis=1)
        gradient = 2.0 * posterior * (error - mean[:, np.newaxis])
        value = weighted_sum((error * error).sum(axis=1), weights)
        return value, scale_rows(gradient, weights)
