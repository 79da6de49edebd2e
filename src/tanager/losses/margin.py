"""Margin losses: `MarginLoss` (MM) and, with the likelihood, `HybridLoss` (HYB)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tanager.errors import InputError
from tanager.losses.base import (
    ClosedForm,
    Loss,
    log_ratios,
    scale_rows,
    soft_maximum,
    weighted_sum,
)
from tanager.types import FloatArray, LabelArray
from tanager.utils.validation import check_number

FRACTION_OF_MARGIN = 0.5
"""Required margin where none is given, as a fraction of a typical one."""


class MarginLoss(Loss):
    """Hinge loss on the probabilistic log margin (LM).

    Parameters
    ----------
    gamma : float, default=20.0
        Required log margin: the loss of a sample is zero once its true class is
        ``exp(gamma)`` times as probable as the best other one.
    eta : float, default=10.0
        Sharpness of the soft maximum over the other classes.

    Notes
    -----
    For a sample with log joint ``L_c`` and label y let
    ``b = L_y - (1/eta) log sum_{c != y} exp(eta L_c)`` be its margin and ``s_c`` the
    softmax of ``eta L_c`` over the other classes [1]_:

    - value: ``max(0, gamma - b)``;
    - gradient, where ``b < gamma``: ``s_c`` for ``c != y`` and -1 for y; zero
      elsewhere, also at the kink;
    - curvature, where ``b < gamma``: ``eta (diag(s) - s s')`` over the other classes.

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
    >>> round(value, 4), gradient  # the first sample has a margin of log 4
    (1.0, array([[ 0.,  0.],
           [-1.,  1.]]))
    """

    def __init__(self, *, gamma: float = 20.0, eta: float = 10.0) -> None:
        self.gamma = gamma
        self.eta = eta

    def value_and_gradient(
        self, log_joint: FloatArray, labels: LabelArray, weights: FloatArray | None
    ) -> tuple[float, FloatArray]:
        """Compute the loss of a batch; see `Loss.value_and_gradient`."""
        _check_margin(self.gamma, self.eta)
        against, gradient = soft_maximum(log_ratios(log_joint, labels), self.eta)
        short = np.maximum(0.0, self.gamma + against)
        active = short > 0.0
        gradient *= active[:, None]
        gradient[np.arange(len(labels)), labels] = 0.0 - active
        return weighted_sum(short, weights), scale_rows(gradient, weights)

    def _closed_form(self) -> ClosedForm:
        _check_margin(self.gamma, self.eta)
        return 0.0, 0.0, 1.0, float(self.gamma), float(self.eta)


class HybridLoss(Loss):
    """Negative log likelihood plus a multiple of the margin loss (HYB).

    Parameters
    ----------
    lambda_ : float, default=100.0
        Weight of the margin loss; 0 leaves the likelihood.
    gamma : float or None, default=20.0
        Required log margin, as in `MarginLoss`. None means half of the median absolute
        log margin of the training samples under naive Bayes, which learners set when
        they start; see `with_margin`. The names that end in ``-HYB`` have None.
    eta : float, default=10.0
        Sharpness of the soft maximum, as in `MarginLoss`.

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
        self, *, lambda_: float = 100.0, gamma: float | None = 20.0, eta: float = 10.0
    ) -> None:
        self.lambda_ = lambda_
        self.gamma = gamma
        self.eta = eta

    def with_margin(self, typical: Callable[[], float]) -> Loss:
        """Set `gamma` where it is None; see `Loss.with_margin`.

        Examples
        --------
        >>> HybridLoss(gamma=None).with_margin(lambda: 4.0)
        HybridLoss(gamma=2.0)
        """
        if self.gamma is not None:
            return self
        gamma = FRACTION_OF_MARGIN * typical()
        return HybridLoss(lambda_=self.lambda_, gamma=gamma, eta=self.eta)

    def value_and_gradient(
        self, log_joint: FloatArray, labels: LabelArray, weights: FloatArray | None
    ) -> tuple[float, FloatArray]:
        """Compute the loss of a batch; see `Loss.value_and_gradient`."""
        check_number("lambda_", self.lambda_, least=0)
        margin = MarginLoss(gamma=self._known_gamma(), eta=self.eta)
        value, gradient = margin.value_and_gradient(log_joint, labels, weights)
        rows = np.arange(len(labels))
        gradient *= self.lambda_
        gradient[rows, labels] -= 1.0 if weights is None else weights
        likelihood = weighted_sum(log_joint[rows, labels], weights)
        return self.lambda_ * value - likelihood, gradient

    def _closed_form(self) -> ClosedForm:
        check_number("lambda_", self.lambda_, least=0)
        gamma = self._known_gamma()
        _check_margin(gamma, self.eta)
        return 0.0, 1.0, float(self.lambda_), float(gamma), float(self.eta)

    def _known_gamma(self) -> float:
        if self.gamma is None:
            raise InputError(
                "gamma=None is half of a typical margin of training samples, which a "
                "loss alone does not have; call with_margin first, or give a number "
                "such as gamma=20."
            )
        return self.gamma


def _check_margin(gamma: float, eta: float) -> None:
    """Raise `InputError` unless both arguments of a margin loss are above 0."""
    check_number("gamma", gamma, above=0)
    check_number("eta", eta, above=0)
