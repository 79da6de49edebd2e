"""Strengths of penalties along a path from strong to weak, by held-out loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tanager.loglinear.block_newton import FactorFit, Term
from tanager.loglinear.held_out_loss import (
    GAIN,
    SMALL_GAIN,
    SelectionProgress,
    falls,
    mean_loss,
)

STRENGTHS = (30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03)
"""Strengths of the penalty that are tried, from the strongest, until the held-out loss
rises."""

RATIO = 3.0
"""Ratio between two strengths when the strength of all interactions is tried again."""

FIRST_SWEEPS = 3
NEXT_SWEEPS = 2
"""Sweeps over single features at the first strength, and at the following ones."""


class PathPoint(NamedTuple):
    """The fits at one strength, and their held-out loss."""

    fits: list[FactorFit]
    loss: float
    strength: float


def follow_path(
    fits: list[FactorFit], first: int, patience: int, progress: SelectionProgress
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
        progress.record(f"strength {strength:g}", fits, loss)
        if progress.is_over():
            break
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
