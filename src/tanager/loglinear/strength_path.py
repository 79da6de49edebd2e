"""Strengths of penalties by held-out loss, along a path from strong to weak."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from tanager.loglinear.block_newton import FactorFit, Term
from tanager.optim import Monitor

GAIN = 1e-3
SMALL_GAIN = 1e-4
"""Relative fall of the held-out loss that a stage must bring, and a change of
strengths. Factors are dropped unless it rises by more than the latter."""

LEAST_LOSS = 0.1
"""Loss below which falls are relative to this one: a model that separates the classes
gets no further interactions for the sake of the fifth decimal of its loss."""

STRENGTHS = (30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03)
"""Strengths of the penalty that are tried, from the strongest, until the held-out loss
rises."""

RATIO = 3.0
"""Ratio between two strengths when the strength of all interactions is tried again."""

FIRST_SWEEPS = 3
NEXT_SWEEPS = 2
"""Sweeps over single features at the first strength, and at the following ones."""


class HasHeldOutLoss(Protocol):
    """What has a loss on held-out samples: its sum, and the sum of their weights."""

    def held_out_loss(self) -> tuple[float, float]:
        """Sum the losses of the held-out samples, and their weights."""
        ...


def mean_loss(fits: Sequence[HasHeldOutLoss]) -> float:
    """Mean held-out loss of all folds."""
    sums = np.sum([fit.held_out_loss() for fit in fits], axis=0)
    return float(sums[0] / sums[1])


def falls(loss: float, before: float, gain: float) -> bool:
    """Whether a loss has fallen by a fraction `gain`.

    With a negative one: whether it has risen by less than that.

    Examples
    --------
    >>> falls(0.49, 0.5, 0.01), falls(0.4999, 0.5, 0.01), falls(0.501, 0.5, -0.01)
    (True, False, True)
    """
    if not np.isfinite(before):
        return loss < before
    return loss < before - gain * max(before, LEAST_LOSS)


def record_step(
    monitor: Monitor, step: str, fits: Sequence[FactorFit], loss: float
) -> None:
    """Record a step that was kept, with the held-out loss, and report it."""
    n_factors = len(fits[0].terms)
    monitor.record(step=step, factors=n_factors, held_out_loss=loss)


class PathPoint(NamedTuple):
    """The fits at one strength, and their held-out loss."""

    fits: list[FactorFit]
    loss: float
    strength: float


def follow_path(
    fits: list[FactorFit], first: int, patience: int, monitor: Monitor
) -> PathPoint:
    """Find the best strength common to the terms from number `first` on.

    Single features (`first` is 0) take `patience` times the sweeps named above;
    interactions take a sweep over them, then one over all terms.
    """
    best = PathPoint(fits, np.inf, 1.0)
    for strength in STRENGTHS:
        for fit in fits:
            for term in fit.terms[first:]:
                term.strength = strength
            if first:
                sweep_new(fit, first)
            else:
                times = FIRST_SWEEPS if best.loss == np.inf else NEXT_SWEEPS
                fit.sweep(patience * times)
        loss = mean_loss(fits)
        if not falls(loss, best.loss, GAIN if first else SMALL_GAIN):
            break
        best = PathPoint([fit.copy() for fit in fits], loss, strength)
        record_step(monitor, f"strength {strength:g}", fits, loss)
    return best


def sweep_new(fit: FactorFit, first: int) -> None:
    """Take a sweep over the terms from number `first` on, then one over all."""
    fit.sweep(1, fit.terms[first:])
    fit.sweep(1)


def interactions_of(fit: FactorFit) -> list[Term]:
    """The terms over several features."""
    return [term for term in fit.terms if len(term.factor.axes) > 1]


def scale_interactions(
    fits: Sequence[FactorFit], ratio: float, n_sweeps: int = 1
) -> None:
    """Multiply the strengths of all interactions, and take sweeps over all terms."""
    for fit in fits:
        for term in interactions_of(fit):
            term.strength *= ratio
        fit.sweep(n_sweeps)
