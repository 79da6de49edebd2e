"""The held-out loss of fits to several folds, and when it falls or rises."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Protocol

import numpy as np

from tanager.loglinear.block_newton import FactorFit
from tanager.loglinear.selection_options import SelectionOptions
from tanager.optim import Monitor

GAIN = 1e-3
SMALL_GAIN = 1e-4
"""Relative fall of the held-out loss that a stage must bring, and a change of
strengths. Factors are dropped unless it rises by more than the latter."""

LEAST_LOSS = 0.1
"""Loss below which falls are relative to this one: a model that separates the classes
gets no further interactions for the sake of the fifth decimal of its loss."""


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


class SelectionProgress:
    """Records of a selection, and whether its time is up.

    Parameters
    ----------
    options : SelectionOptions
        Its deadline, and to whom it reports.

    Attributes
    ----------
    monitor : Monitor
        One record for every step that was kept, with the held-out loss.
    out_of_time : bool
        Whether the deadline had passed when it was last asked for.
    """

    def __init__(self, options: SelectionOptions) -> None:
        self.monitor = Monitor()
        self.out_of_time = False
        self._options = options

    def record(self, step: str, fits: Sequence[FactorFit], loss: float) -> None:
        """Record a step and report it."""
        n_factors = len(fits[0].terms)
        self.monitor.record(step=step, factors=n_factors, held_out_loss=loss)
        if self._options.report is not None:
            self._options.report(f"{step}: {n_factors} factors, loss {loss:.5g}")

    def is_over(self) -> bool:
        """Whether no further step may begin."""
        self.out_of_time = perf_counter() > self._options.deadline
        return self.out_of_time
