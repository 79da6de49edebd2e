"""Newton's method with conjugate gradient, for convex functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from sys import maxsize
from typing import NamedTuple, Protocol

import numpy as np

from tanager.types import FloatArray
from tanager.utils.progress import check_stop

FORCING = 0.04
"""Fraction to which conjugate gradient reduces ``r' M^-1 r`` of the residual r."""

HALVINGS = 30
"""Maximum number of halvings of a Newton step; none is usual."""

ROUNDING = 1e-13
"""Relative rise of the function that is rounding."""

HessianProduct = Callable[[FloatArray], FloatArray]
"""Multiplies the Hessian at one point with a direction."""


class NewtonObjective(Protocol):
    """A smooth convex function of an array, as `newton_steps` needs it."""

    def evaluate(self, w: FloatArray) -> tuple[float, FloatArray, HessianProduct]:
        """Compute the value, the gradient, and products with the Hessian, at w."""

    def precondition(self, residual: FloatArray) -> FloatArray:
        """Compute ``M^-1 r`` with a matrix M that resembles the Hessian."""


class NewtonPoint(NamedTuple):
    """A point w, value and gradient there, and the number of passes up to it.

    A pass is an evaluation or a product with the Hessian.
    """

    w: FloatArray
    value: float
    gradient: FloatArray
    multiply: HessianProduct
    passes: int


def newton_steps(
    objective: NewtonObjective,
    start: FloatArray,
    is_enough: Callable[[float, FloatArray, float], bool],
    *,
    max_passes: int = maxsize,
) -> Iterator[NewtonPoint]:
    """Minimise by Newton steps: the start, then the point after every step.

    Parameters
    ----------
    objective : NewtonObjective
        The function f, preconditioner included.
    start : ndarray of float64
        The first point; any shape.
    is_enough : callable
        Called with f, the residual r, which is the gradient that a step would leave by
        the quadratic model of f, and ``r' M^-1 r``; returns whether conjugate gradient
        may end, in addition to `FORCING`.
    max_passes : int
        About the maximum number of passes.

    Yields
    ------
    NewtonPoint
        The caller ends the search. It ends by itself where rounding lets f fall no
        further, where `is_enough` holds for the gradient, or without passes.

    Examples
    --------
    >>> class Bowl:
    ...     def evaluate(self, w):
    ...         return float(w @ w) / 2 - float(w.sum()), w - 1, lambda d: d
    ...
    ...     def precondition(self, residual):
    ...         return residual
    >>> points = newton_steps(Bowl(), np.zeros(3), lambda value, r, norm: norm < 1e-9)
    >>> [point.w.tolist() for point in points]
    [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]
    """
    point = NewtonPoint(start, *objective.evaluate(start), 1)
    while True:
        yield point
        passes = point.passes
        step, taken = _newton_step(objective, point, is_enough, max_passes - passes)
        if not taken:
            return
        passes += taken
        for length in 0.5 ** np.arange(HALVINGS):
            w = point.w + length * step
            passes += 1
            found = NewtonPoint(w, *objective.evaluate(w), passes)
            if found.value <= point.value + ROUNDING * abs(point.value):
                break
        else:
            return
        point = found


def _newton_step(
    objective: NewtonObjective,
    point: NewtonPoint,
    is_enough: Callable[[float, FloatArray, float], bool],
    max_passes: int,
) -> tuple[FloatArray, int]:
    """Solve ``H step = -g`` roughly; also returns the number of products with H."""
    residual = -point.gradient
    step = np.zeros_like(residual)
    direction = scaled = objective.precondition(residual)
    first = norm = float(np.vdot(residual, scaled))
    taken = 0
    while (
        norm > (FORCING * first if taken else 0.0)
        and not is_enough(point.value, residual, norm)
        and taken < max_passes
    ):
        check_stop()
        product = point.multiply(direction)
        curvature = float(np.vdot(direction, product))
        if not curvature > 0.0:  # lost to rounding: the function is a line there
            break
        length = norm / curvature
        step += length * direction
        residual = residual - length * product
        scaled = objective.precondition(residual)
        before, norm = norm, float(np.vdot(residual, scaled))
        direction = scaled + norm / before * direction
        taken += 1
    return step, taken
