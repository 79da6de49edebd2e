"""`JointLikelihoodLoss` (NLL): negative joint log likelihood."""

from __future__ import annotations

import numpy as np

from tanager.losses.base import ClosedForm, Loss, weighted_sum
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
