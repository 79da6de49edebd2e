"""What is asked of the results of a loss."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from tanager.errors import CapabilityError, InputError
from tanager.losses.base import Loss
from tanager.types import FloatArray, LabelArray


def checked_loss(loss: Any) -> Loss:
    """A loss that says clearly what is wrong with the results of `loss`.

    Parameters
    ----------
    loss : object
        Has a method `value_and_gradient` as that of `Loss`.

    Returns
    -------
    Loss
        Gives what `loss` gives, as a float and an array of float64.

    Raises
    ------
    CapabilityError
        If there is no such method; when called, if it does not give a number and a
        gradient of the right shape, or if it writes into `log_joint`.
    InputError
        When called, if something it gives is not finite.

    Examples
    --------
    >>> class Forgetful:
    ...     def value_and_gradient(self, log_joint, labels, weights):
    ...         return 0.0
    >>> loss = checked_loss(Forgetful())
    >>> loss.value_and_gradient(np.zeros((1, 2)), np.array([0]), None)
    Traceback (most recent call last):
        ...
    tanager.errors.CapabilityError: Forgetful.value_and_gradient must return a \
pair (value, gradient), the value a number and the gradient an array of shape (1, 2); \
it returned 0.0.
    """
    if isinstance(loss, type):
        raise CapabilityError(
            f"The loss is the class {loss.__name__}; give an object, such as "
            f"{loss.__name__}()."
        )
    if not callable(getattr(loss, "value_and_gradient", None)):
        raise CapabilityError(
            f"{type(loss).__name__} is not a loss: it has no method "
            "value_and_gradient(log_joint, labels, weights)."
        )
    return _Checked(loss)


def too_steep(loss: object) -> InputError:
    """The error for a loss whose finite gradients overflow when squared."""
    return InputError(
        f"The loss {type(loss).__name__} cannot be followed: its gradient is too "
        "large, its square overflows. Scale the loss, or the weights of the rows, down."
    )


class _Checked(Loss):
    """A loss whose results are looked at."""

    def __init__(self, loss: Any) -> None:
        self.loss = loss

    def value_and_gradient(
        self, log_joint: FloatArray, labels: LabelArray, weights: FloatArray | None
    ) -> tuple[float, FloatArray]:
        """What the loss gives, checked; see `Loss.value_and_gradient`."""
        name = f"{type(self.loss).__name__}.value_and_gradient"
        shown = log_joint.view()
        shown.flags.writeable = False  # the learner needs it as it is
        try:
            result = self.loss.value_and_gradient(shown, labels, weights)
        except ValueError as error:
            if "read-only" not in str(error):
                raise
            raise CapabilityError(
                f"{name} writes into log_joint, which it may only read; work on "
                "log_joint.copy() instead."
            ) from error
        try:
            value, gradient = result
            number = float(value)
            found = np.asarray(gradient)
            if found.dtype.kind not in "fiub":
                raise TypeError
            array = found.astype(np.float64, copy=False)
        except (TypeError, ValueError):
            raise CapabilityError(
                f"{name} must return a pair (value, gradient), the value a number and "
                f"the gradient an array of shape {log_joint.shape}; it returned "
                f"{_shown(result)}."
            ) from None
        if array.shape != log_joint.shape:
            raise CapabilityError(
                f"{name} must return a gradient of the shape of log_joint, "
                f"{log_joint.shape}; it returned one of shape {array.shape}."
            )
        if not isfinite(number):
            raise InputError(
                f"{name} returned the value {number}, which is not finite. Check it at "
                "extreme log probabilities, or lower the learner's rate."
            )
        if not np.isfinite(array).all():
            row, column = np.argwhere(~np.isfinite(array))[0].tolist()
            raise InputError(
                f"{name} returned a gradient with {array[row, column]} in row {row}, "
                f"class {column}. Check it at extreme log probabilities, or lower the "
                "learner's rate."
            )
        return number, array


def _shown(result: object) -> str:
    text = repr(result)
    return text if len(text) <= 80 else f"{text[:77]}..."
