"""Log odds of two classes, or centred log weights of more, and back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import softmax

from tanager.errors import InputError, unknown_name
from tanager.model.schema import State
from tanager.types import FloatArray
from tanager.utils.validation import is_whole


def log_odds_of(log_joint: FloatArray) -> FloatArray:
    """Log odds of the second of two classes, or the centred log weights of more.

    Parameters
    ----------
    log_joint : ndarray of float64, shape (..., n_classes)
        Log joint of every class, up to a constant.

    Returns
    -------
    ndarray of float64, shape (..., 1) or (..., n_classes)
        Both are linear in `log_joint` and determine the probabilities.

    Examples
    --------
    >>> log_odds_of(np.log([[0.2, 0.8]])).round(4)
    array([[1.3863]])
    """
    if log_joint.shape[-1] == 2:
        return np.diff(log_joint, axis=-1)
    centred: FloatArray = log_joint - log_joint.mean(axis=-1, keepdims=True)
    return centred


def log_weights_of(log_odds: FloatArray, n_classes: int) -> FloatArray:
    """Centred log weights of all classes from what `log_odds_of` returns."""
    if n_classes != 2:
        return log_odds
    return np.concatenate([-0.5 * log_odds, 0.5 * log_odds], axis=-1)


def probabilities_of(log_odds: FloatArray, n_classes: int) -> FloatArray:
    """Probabilities of all classes from what `log_odds_of` returns."""
    found: FloatArray = softmax(log_weights_of(log_odds, n_classes), axis=-1)
    return found


def class_position(classes: Sequence[State], label: object) -> int:
    """Position of a class by its label; an unknown label raises `InputError`."""
    plain = label.item() if isinstance(label, np.generic) else label
    try:
        return list(classes).index(plain)  # type: ignore[arg-type]
    except ValueError:
        raise unknown_name("class", label, classes) from None


def class_sign(classes: Sequence[State], label: object = None) -> float:
    """Factor of the log odds of two classes: -1 for the first class, otherwise 1."""
    return -1.0 if label is not None and not class_position(classes, label) else 1.0


def check_sample(sample: int, n_samples: int) -> int:
    """Check the position of a sample."""
    if not is_whole(sample) or not -n_samples <= sample < n_samples:
        raise InputError(
            f"sample must be a position from 0 to {n_samples - 1}, got {sample!r}."
        )
    return int(sample)
