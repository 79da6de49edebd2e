"""`HybridLoss` (HYB): sum of joint likelihood and margin loss."""

from __future__ import annotations

import numpy as np

from tanager.losses.base import ClosedForm, Loss, weighted_sum
from tanager.losses.margin import MarginLoss, check_margin
from tanager.types import FloatArray, LabelArray
from tanager.utils.validation import check_number


class HybridLoss(Loss):
    """Negative log likelihood plus a multiple of the margin loss (HYB).

    Parameters
    ----------
    lambda_ : float, default=100.0
        Weight of the margin loss; 0 leaves the likelihood.
    gamma : float, default=20.0
        Required log margin.
    eta : float, default=10.0
        Sharpness of the soft maximum over the other classes.

    Notes
    -----
    Value, gradient and curvature are those of `JointLikelihoodLoss` plus `lambda_`
    times those of `MarginLoss` [1]_. The likelihood keeps the CPTs close to the data,
    the margin separates the classes.

    References
    ----------
    .. [1] Roth, Pernkopf (2020), Differentiable TAN structure learning for Bayesian
       network classifiers, section 2.3, equation 8.

    Examples
    --------
    >>> log_joint = np.log([[0.1, 0.1]])
    >>> value, gradient = HybridLoss(lambda_=2.0, gamma=1.0).value_and_gradient(
    ...     log_joint, np.array([0]), None
    ... )
    >>> round(value, 4), gradient  # -log(0.1) + 2 * 1
    (4.3026, array([[-3.,  2.]]))
    """

    def __init__(
        self, *, lambda_: float = 100.0, gamma: float = 20.0, eta: float = 10.0
    ) -> None:
        self.lambda_ = lambda_
        self.gamma = gamma
        self.eta = eta

    def value_and_gradient(
        self, log_joint: FloatArray, labels: LabelArray, weights: FloatArray | None
    ) -> tuple[float, FloatArray]:
        """Compute the loss of a batch; see `Loss.value_and_gradient`."""
        check_number("lambda_", self.lambda_, least=0)
        margin = MarginLoss(gamma=self.gamma, eta=self.eta)
        value, gradient = margin.value_and_gradient(log_joint, labels, weights)
        rows = np.arange(len(labels))
        gradient *= self.lambda_
        gradient[rows, labels] -= 1.0 if weights is None else weights
        likelihood = weighted_sum(log_joint[rows, labels], weights)
        return self.lambda_ * value - likelihood, gradient

    def _closed_form(self) -> ClosedForm:
        check_number("lambda_", self.lambda_, least=0)
        check_margin(self.gamma, self.eta)
        return 0.0, 1.0, float(self.lambda_), float(self.gamma), float(self.eta)
