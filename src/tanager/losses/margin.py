"""`MarginLoss` (MM): a hinge on the probabilistic margin."""

from __future__ import annotations

import numpy as np

from tanager.losses.base import (
    Loss,
    log_ratios,
    scaled_rows,
    soft_maximum,
    weighted_sum,
)
from tanager.types import FloatArray, LabelArray
from tanager.utils.validation import check_number


class MarginLoss(Loss):
    """Hinge on the probabilistic log margin (LM).

    Parameters
    ----------
    gamma : float, default=20.0
        The log margin that is asked for: a row costs nothing once its true class is
        ``exp(gamma)`` times as probable as the best other one.
    eta : float, default=10.0
        Sharpness of the softened maximum over the other classes.

    Notes
    -----
    ``sum_m w_m max(0, gamma - b_m)`` with the margin
    ``b_m = L[m, c_m] - (1/eta) log sum_{c != c_m} exp(eta L[m, c])`` [1]_. At the kink
    the derivative is taken as zero.

    References
    ----------
    .. [1] Roth, Pernkopf (2020), Differentiable TAN structure learning for Bayesian
       network classifiers, section 2.3, equations 6 and 7.

    Examples
    --------
    >>> log_joint = np.log([[0.4, 0.1], [0.1, 0.1]])
    >>> value, gradient = MarginLoss(gamma=1.0).value_and_gradient(
    ...     log_joint, np.array([0, 0]), None
    ... )
    >>> round(value, 4), gradient  # the first row has a margin of log 4
    (1.0, array([[ 0.,  0.],
           [-1.,  1.]]))
    """

    def __init__(self, *, gamma: float = 20.0, eta: float = 10.0) -> None:
        self.gamma = gamma
        self.eta = eta

    def value_and_gradient(
        self, log_joint: FloatArray, labels: LabelArray, weights: FloatArray | None
    ) -> tuple[float, FloatArray]:
        """Sum of hinges; see `Loss.value_and_gradient`."""
        check_number("gamma", self.gamma, above=0)
        check_number("eta", self.eta, above=0)
        against, gradient = soft_maximum(log_ratios(log_joint, labels), self.eta)
        short = np.maximum(0.0, self.gamma + against)
        active = short > 0.0
        gradient *= active[:, None]
        gradient[np.arange(len(labels)), labels] = 0.0 - active
        return weighted_sum(short, weights), scaled_rows(gradient, weights)
