"""`Loss`: a number to be made small, as a function of the log joint."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod

import numpy as np
from sklearn.base import BaseEstimator

from tanager.types import FloatArray, LabelArray


class Loss(BaseEstimator, metaclass=ABCMeta):
    """Base of losses; a subclass says what it costs and how that changes.

    A loss sees the log joint of rows and classes and the labels, nothing of networks:
    the chain rule does the rest. Any object with the method below is a loss, too.
    """

    @abstractmethod
    def value_and_gradient(
        self, log_joint: FloatArray, labels: LabelArray, weights: FloatArray | None
    ) -> tuple[float, FloatArray]:
        """The loss of some rows and its derivative.

        Parameters
        ----------
        log_joint : ndarray of float64, shape (n_rows, n_classes)
            ``log P(c, x_m)`` of every row m and class c; read-only.
        labels : ndarray of int, shape (n_rows,)
            Code of the true class, below `n_classes`.
        weights : ndarray of float64, shape (n_rows,), or None
            Row weights; None means all one.

        Returns
        -------
        value : float
            Weighted sum over the rows.
        gradient : ndarray of float64, shape (n_rows, n_classes)
            Derivative of the value by `log_joint`.
        """


def log_ratios(log_joint: FloatArray, labels: LabelArray) -> FloatArray:
    """``L[m, c] - L[m, c_m]``; minus infinity for the true class c_m itself.

    With the true class out of the way, sums over the other classes keep their digits
    where the true class is all but certain.
    """
    rows = np.arange(len(labels))
    ratios: FloatArray = log_joint - log_joint[rows, labels][:, None]
    ratios[rows, labels] = -np.inf
    return ratios


def soft_maximum(
    values: FloatArray, sharpness: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """``(1/s) log sum exp(s v)`` over the columns, and its derivative by `values`.

    Parameters
    ----------
    values : ndarray of float64, shape (n_rows, n_columns)
        Minus infinity leaves a column out.
    sharpness : float, default=1.0
        The s of the formula; the larger, the nearer to the maximum.

    Returns
    -------
    maximum : ndarray of float64, shape (n_rows,)
        Minus infinity where all columns are left out.
    shares : ndarray of float64, shape (n_rows, n_columns)
        They sum to one in every row, or to zero where all columns are left out.
    """
    highest = values.max(axis=1)
    with np.errstate(over="ignore"):  # far below the maximum: minus infinity is right
        shares = np.exp(
            sharpness * (values - np.maximum(highest, -np.finfo(float).max)[:, None])
        )
    mass = shares.sum(axis=1)
    empty = mass == 0.0
    if empty.any():
        mass[empty] = 1.0
    shares /= mass[:, None]
    return highest + np.log(mass) / sharpness, shares


def weighted_sum(values: FloatArray, weights: FloatArray | None) -> float:
    """Sum of the rows' values times their weights."""
    return float(values.sum() if weights is None else values @ weights)


def scaled_rows(gradient: FloatArray, weights: FloatArray | None) -> FloatArray:
    """The rows of `gradient`, in place, times the weights."""
    if weights is not None:
        gradient *= weights[:, None]
    return gradient
