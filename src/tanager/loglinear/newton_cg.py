"""Newton's method with conjugate gradient, to a certified bound of the objective."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import NamedTuple

import numpy as np

from tanager.loglinear.factor_objective import FactorObjective
from tanager.types import FloatArray

FORCING = 0.01
"""Fraction to which conjugate gradient reduces the optimality gap, by its model."""

SPARE = 0.1
"""Fraction of the wanted optimality gap at which it ends in any case."""

HALVINGS = 30
"""Maximum number of halvings of a Newton step; none is usual."""

ROUNDING = 1e-13
"""Relative rise of the objective that is rounding."""


@dataclass(frozen=True)
class Certificate:
    """How far the tables of a fit are from the optimum.

    Parameters
    ----------
    objective : float
        The penalised objective f.
    gap : float
        The optimality gap: an upper bound on how far f is above its minimum.
    passes : int
        Number of passes over the samples: gradients, and products with the Hessian.
    end : {"converged", "max_passes", "deadline", "interrupted", "rounding"}
        What ended the search.
    """

    objective: float
    gap: float
    passes: int
    end: str

    @property
    def relative_gap(self) -> float:
        """The optimality gap as a fraction of the objective."""
        return self.gap / self.objective if self.objective > 0.0 else 0.0


class _Point(NamedTuple):
    """Tables, and value, gradient, posteriors and optimality gap at them."""

    w: FloatArray
    value: float
    gradient: FloatArray
    posteriors: list[FloatArray]
    gap: float


def minimise_certified(
    objective: FactorObjective,
    start: FloatArray,
    *,
    tol: float,
    max_passes: int,
    deadline: float = np.inf,
) -> tuple[FloatArray, Certificate]:
    """Minimise until the optimality gap is at most `tol` times the objective.

    `start` has shape (n_cells, n_columns). About `max_passes` passes over the samples
    are made; no step begins after `deadline`, a value of `time.perf_counter`. Ctrl-C
    ends the search, too. Returns the tables with the certificate of these tables.

    Notes
    -----
    Conjugate gradient solves ``(H + M) d = -g``, with the Hessian M of the penalty as
    preconditioner. Steps on one table after the other, or a preconditioner of the
    curvature of every table alone, are slow where tables can do the work of others: a
    table over three features that of its pairs. Such changes leave the posteriors as
    they are, so that they differ in M only, and relative to M all of them have
    eigenvalue 1. Other eigenvalues are as many as the effective parameters.

    With the residual r, ``r' M^-1 r / 2`` is the gap by the quadratic model of f, and
    conjugate gradient ends when this is small enough.
    """
    point = _evaluate(objective, start)
    passes, end = 1, "converged"
    try:
        while point.gap > tol * point.value:
            if passes >= max_passes:
                end = "max_passes"
                break
            step, taken = _newton_step(
                objective, point, max(SPARE * tol * point.value, FORCING * point.gap),
                max_passes - passes, deadline,
            )  # fmt: skip
            passes += taken
            if not taken:
                end = "deadline"
                break
            for length in 0.5 ** np.arange(HALVINGS):
                found = _evaluate(objective, point.w + length * step)
                passes += 1
                if found.value <= point.value * (1.0 + ROUNDING):
                    break
            else:
                end = "rounding"
                break
            point = found
    except KeyboardInterrupt:
        end = "interrupted"
    return point.w, Certificate(point.value, point.gap, passes, end)


def _evaluate(objective: FactorObjective, w: FloatArray) -> _Point:
    value, gradient, posteriors = objective.value_and_gradient(w)
    return _Point(w, value, gradient, posteriors, objective.gap(gradient))


def _newton_step(
    objective: FactorObjective,
    point: _Point,
    enough: float,
    max_passes: int,
    deadline: float,
) -> tuple[FloatArray, int]:
    """Solve ``(H + M) step = -g`` until the optimality gap of the model is `enough`."""
    residual = -point.gradient
    step = np.zeros_like(residual)
    scaled = objective.divide_by_penalty(residual)
    # The product of M and the direction is carried along: it needs no work of its own.
    direction, penalised = scaled, residual
    norm = float(np.sum(residual * scaled))
    taken = 0
    while 0.5 * norm > enough and taken < max_passes and perf_counter() <= deadline:
        product = objective.multiply_curvature(direction, point.posteriors) + penalised
        length = norm / float(np.sum(direction * product))
        step += length * direction
        residual = residual - length * product
        scaled = objective.divide_by_penalty(residual)
        before, norm = norm, float(np.sum(residual * scaled))
        direction = scaled + norm / before * direction
        penalised = residual + norm / before * penalised
        taken += 1
    return step, taken
