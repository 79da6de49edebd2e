"""`ConditionalLikelihoodLoss` (CL): the discriminative likelihood."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from tanager.losses.base import (
    Loss,
    log_ratios,
    scaled_rows,
    soft_maximum,
    weighted_sum,
)
from tanager.types import FloatArray, LabelArray


class ConditionalLikelihoodLoss(Loss):
    """Negative log probability of the true class (CL), or cross-entropy.

    Notes
    -----
    ``-sum_m w_m log P(c_m | x_m)`` [1]_, computed from the log odds against the true
    class, so that the loss of an all but certain row keeps its digits.

    References
    ----------
    .. [1] Greiner, Su, Shen, Zhou (2005), Structural extension to logistic regression,
       section 3.

    Examples
    --------
    >>> log_joint = np.log([[0.3, 0.1]])
    >>> value, gradient = ConditionalLikelihoodLoss().value_and_gradient(
    ...     log_joint, np.array([0]), None
    ... )
    >>> round(value, 4), gradient.round(4)  # -log(3/4)
    (0.2877, array([[-0.25,  0.25]]))
    """

    def value_and_gradient(
        self, log_joint: FloatArray, labels: LabelArray, weights: FloatArray | None
    ) -> tuple[float, FloatArray]:
        """Negative conditional log likelihood; see `Loss.value_and_gradient`."""
        against, shares = soft_maximum(log_ratios(log_joint, labels))
        wrong = expit(against)
        gradient = shares * wrong[:, None]
        gradient[np.arange(len(labels)), labels] = -wrong
        value = weighted_sum(np.logaddexp(0.0, against), weights)
        return value, scaled_rows(gradient, weights)
