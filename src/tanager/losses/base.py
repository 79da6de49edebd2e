"""`Loss`: a differentiable function of the log joint probabilities and the labels."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from tanager.types import FloatArray, LabelArray

ClosedForm = tuple[float, float, float, float, float]


class Loss(BaseEstimator, metaclass=ABCMeta):
    """Base class of losses.

    A loss maps the log joint probabilities of a batch and its labels to one number.
    It does not depend on the network: learners apply the chain rule. Any object with
    the method `value_and_gradient` can be used as a loss.

    Notes
    -----
    With ``L[m, c] = log P(c, x_m)``, the label ``y_m`` and the weight ``w_m`` of sample
    m, most losses are sums ``sum_m w_m loss(L[m], y_m)``. The docstring of each loss
    gives its value, its gradient by L and, where it is smooth, its curvature, in terms
    of one sample.
    """

    @abstractmethod
    def value_and_gradient(
        self, log_joint: FloatArray, labels: LabelArray, weights: FloatArray | None
    ) -> tuple[float, FloatArray]:
        """Compute the loss of a batch and its gradient.

        Parameters
        ----------
        log_joint : ndarray of float64, shape (n_samples, n_classes)
            ``log P(c, x_m)`` for every sample m and class c; read-only.
        labels : ndarray of int, shape (n_samples,)
            Code of the true class, below `n_classes`.
        weights : ndarray of float64, shape (n_samples,), or None
            Sample weights; None means all one.

        Returns
        -------
        value : float
            Weighted sum over the samples.
        gradient : ndarray of float64, shape (n_samples, n_classes)
            Derivative of the value by `log_joint`.
        """

    def with_margin(self, typical: Callable[[], float]) -> Loss:  # noqa: ARG002
        """Return the loss to minimise, for samples of a typical log margin.

        Learners call it before they train. Most losses do not depend on the samples and
        return themselves.

        Parameters
        ----------
        typical : callable
            Computes the typical log margin of the training samples.

        Returns
        -------
        Loss
            A loss all of whose arguments are set.
        """
        return self


def set_margin(loss: Any, typical: Callable[[], float]) -> Any:
    """Return a loss for samples of a typical log margin; see `Loss.with_margin`.

    A custom object that is no `Loss` is returned as it is.
    """
    return loss.with_margin(typical) if isinstance(loss, Loss) else loss


def closed_form(loss: Any) -> ClosedForm | None:
    """Return the constants with which the kernels in `_kernels` compute a loss.

    They are the kernel (0 for `hybrid_loss`, 1 for `conditional_loss`), weights of
    likelihood and margin, gamma and eta; None if no kernel computes this loss. A loss
    class declares them in a method `_closed_form`. Subclasses do not inherit the
    declaration, because they may compute something else.
    """
    declared = vars(type(loss)).get("_closed_form")
    return None if declared is None else declared(loss)


def log_ratios(log_joint: FloatArray, labels: LabelArray) -> FloatArray:
    """Return ``L[m, c] - L[m, y_m]``, with minus infinity for the true class.

    Sums over the other classes then keep full precision where the true class is almost
    certain.
    """
    rows = np.arange(len(labels))
    ratios: FloatArray = log_joint - log_joint[rows, labels][:, None]
    ratios[rows, labels] = -np.inf
    return ratios


def soft_maximum(
    values: FloatArray, sharpness: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """Compute ``(1/s) log sum_c exp(s v_c)`` of every row, and its gradient.

    The larger the `sharpness` s, the closer to the maximum. Minus infinity excludes a
    column from `values` (n_samples, n_columns). The gradient is the softmax of ``s v``.
    Where all columns are excluded the result is minus infinity, and its gradient zero.
    """
    highest = values.max(axis=1)
    with np.errstate(over="ignore"):  # far below the maximum: minus infinity is right
        gradient = np.exp(
            sharpness * (values - np.maximum(highest, -np.finfo(float).max)[:, None])
        )
    mass = gradient.sum(axis=1)
    mass[mass == 0.0] = 1.0
    gradient /= mass[:, None]
    return highest + np.log(mass) / sharpness, gradient


def weighted_sum(values: FloatArray, weights: FloatArray | None) -> float:
    """Sum the values of all samples, times their weights."""
    return float(values.sum() if weights is None else values @ weights)


def scale_rows(gradient: FloatArray, weights: FloatArray | None) -> FloatArray:
    """Multiply the rows of `gradient` by the weights, in place."""
    if weights is not None:
        gradient *= weights[:, None]
    return gradient
