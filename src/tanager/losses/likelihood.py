"""Likelihood losses: `JointLikelihoodLoss` (NLL), `ConditionalLikelihoodLoss` (CL)."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logsumexp

from tanager.losses.base import (
    ClosedForm,
    Loss,
    log_ratios,
    scale_rows,
    soft_maximum,
    weighted_sum,
)
from tanager.types import FloatArray, LabelArray


class JointLikelihoodLoss(Loss):
    """Negative log likelihood of samples and labels (NLL).

    Notes
    -----
    For a sample with log joint ``L_c`` and label y [1]_:

    - value: ``-L_y``;
    - gradient: ``-[c = y]``;
    - curvature: zero.

    Over the CPTs of a network it is minimised by the relative frequencies.

    References
    ----------
    .. [1] Roth, Pernkopf (2020), Differentiable TAN structure learning for Bayesian
       network classifiers, section 2.3, equation 5.

    Examples
    --------
    >>> log_joint = np.log([[0.5, 0.1], [0.2, 0.2]])
    >>> value, gradient = JointLikelihoodLoss().value_and_gradient(
    ...     log_joint, np.array([0, 1]), None
    ... )
    >>> round(value, 4)  # -log(0.5) - log(0.2)
    2.3026
    """

    def value_and_gradient(
        self, log_joint: FloatArray, labels: LabelArray, weights: FloatArray | None
    ) -> tuple[float, FloatArray]:
        """Compute the loss of a batch; see `Loss.value_and_gradient`."""
        rows = np.arange(len(labels))
        gradient = np.zeros(log_joint.shape)
        gradient[rows, labels] = -1.0 if weights is None else -weights
        return -weighted_sum(log_joint[rows, labels], weights), gradient

    def _closed_form(self) -> ClosedForm:
        return 0.0, 1.0, 0.0, 1.0, 1.0


class ConditionalLikelihoodLoss(Loss):
    """Negative conditional log likelihood of the labels (CL), or cross-entropy.

    Notes
    -----
    With the posterior ``p_c = P(c | x)`` of a sample with label y [1]_:

    - value: ``-log p_y``;
    - gradient: ``p_c - [c = y]``;
    - curvature: ``diag(p) - p p'``, positive semidefinite.

    Value and gradient are computed from the log odds against the true class, so that
    they keep full precision where the true class is almost certain.

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
        """Compute the loss of a batch; see `Loss.value_and_gradient`."""
        against, softmax = soft_maximum(log_ratios(log_joint, labels))
        wrong = expit(against)
        gradient = softmax * wrong[:, None]
        gradient[np.arange(len(labels)), labels] = -wrong
        value = weighted_sum(np.logaddexp(0.0, against), weights)
        return value, scale_rows(gradient, weights)

    def _closed_form(self) -> ClosedForm:
        return 1.0, 0.0, 0.0, 1.0, 1.0


def negative_log_posterior(log_joint: FloatArray, labels: LabelArray) -> FloatArray:
    """Compute ``-log P(c_m | x_m)`` of samples, shape (n_samples,).

    `log_joint` is ``log P(c, x_m)``, up to a constant in every row.
    """
    own = log_joint[np.arange(len(labels)), labels]
    loss: FloatArray = logsumexp(log_joint, axis=1) - own
    return loss
