"""Checks of custom losses: what `value_and_gradient` must accept and return."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from tanager.errors import CapabilityError, InputError
from tanager.losses.base import Loss
from tanager.types import FloatArray, LabelArray


def check_loss(loss: Any) -> Loss:
    """Wrap a loss so that invalid results raise a clear error.

    Parameters
    ----------
    loss : object
        Has a method `value_and_gradient` as `Loss` has.

    Returns
    -------
    Loss
        Returns the results of `loss` as a float and an array of float64.

    Raises
    ------
    CapabilityError
        If there is no such method; when called, if it does not return a number and a
        gradient of the right shape, or if it writes into `log_joint`.
    InputError
        When called, if the value or the gradient is not finite.

    Examples
    --------
    >>> class Incomplete:
    ...     def value_and_gradient(self, log_joint, labels, weights):
    ...         return 0.0
    >>> loss = check_loss(Incomplete())
    >>> loss.value_and_gradient(np.zeros((1, 2)), np.array([0]), None)
    Traceback (most recent call last):
        ...
    tanager.errors.CapabilityError: Incomplete.value_and_gradient must return a \
pair (value, gradient), the value a number and the gradient an array of shape (1, 2); \
it returned 0.0.
    """
    if isinstance(loss, type):
        raise CapabilityError(
            f"The loss is the class {loss.__name__}; pass an instance, such as "
            f"{loss.__name__}()."
        )
    if not callable(getattr(loss, "value_and_gradient", None)):
        raise CapabilityError(
            f"{type(loss).__name__} is not a loss: it has no method "
            "value_and_gradient(log_joint, labels, weights)."
        )
    return _CheckedLoss(loss)


def overflow_error(loss: object) -> InputError:
    """Return the error for a loss whose finite gradients overflow when squared."""
    return InputError(
        f"The loss {type(loss).__name__} cannot be minimised: its gradient is so large "
        "that its square overflows. Scale the loss or the sample weights down."
    )


class _CheckedLoss(Loss):
    """A loss whose results are validated."""

    def __init__(self, loss: Any) -> None:
        self.loss = loss

    def value_and_gradient(
        self, log_joint: FloatArray, labels: LabelArray, weights: FloatArray | None
    ) -> tuple[float, FloatArray]:
        """Compute the wrapped loss and validate the result."""
        name = f"{type(self.loss).__name__}.value_and_gradient"
        read_only = log_joint.view()
        read_only.flags.writeable = False
        try:
            result = self.loss.value_and_gradient(read_only, labels, weights)
        except ValueError as error:
            if "read-only" not in str(error):
                raise
            raise CapabilityError(
                f"{name} writes into log_joint, which is read-only; work on "
                "log_joint.copy() instead."
            ) from error
        try:
            value, gradient = result
            number, array = float(value), np.asarray(gradient)
            if array.dtype.kind not in "fiub":
                raise TypeError
            array = array.astype(np.float64, copy=False)
        except (TypeError, ValueError):
            text = repr(result)
            raise CapabilityError(
                f"{name} must return a pair (value, gradient), the value a number and "
                f"the gradient an array of shape {log_joint.shape}; it returned "
                f"{text if len(text) <= 80 else f'{text[:77]}...'}."
            ) from None
        if array.shape != log_joint.shape:
            raise CapabilityError(
                f"{name} must return a gradient of the shape of log_joint, "
                f"{log_joint.shape}; it returned one of shape {array.shape}."
            )
        advice = "Check it at extreme log probabilities, or lower the learner's rate."
        if not isfinite(number):
            raise InputError(
                f"{name} returned the value {number}, which is not finite. {advice}"
            )
        if not np.isfinite(array).all():
            row, column = np.argwhere(~np.isfinite(array))[0].tolist()
            raise InputError(
                f"{name} returned a gradient with {array[row, column]} in row {row}, "
                f"class {column}. {advice}"
            )
        return number, array
