"""Nonlinear conjugate gradient with Brent's line search."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.optimize import minimize_scalar

from tanager.types import FloatArray

Objective = Callable[[FloatArray], tuple[float, FloatArray]]

Projection = Callable[[FloatArray], FloatArray]

GROWTH, MAX_GROWTHS = 2.0, 30
"""Factor by which a step grows while the objective falls, and how often it may."""

LINE_TOL, MAX_LINE_STEPS = 1e-2, 25
"""Tolerance of the line search, as a fraction of its bracket, and its evaluations."""


def conjugate_gradient(
    objective: Objective,
    start: FloatArray,
    *,
    max_iter: int,
    tol: float,
    callback: Callable[[FloatArray, float, float], object] | None = None,
    project: Projection | None = None,
) -> tuple[FloatArray, int]:
    """Minimise by Polak-Ribiere conjugate gradient with Brent's line search.

    Parameters
    ----------
    objective : callable
        Maps a vector to the value and the gradient.
    start : ndarray of float64, shape (n,)
        First vector; not changed.
    max_iter : int
        Maximum number of steps.
    tol : float
        The search ends when no component of the gradient exceeds it in absolute value.
    callback : callable or None, default=None
        Called after every step with the vector, the value and the gradient norm.
    project : callable or None, default=None
        Maps a vector to the nearest one in a convex set, to which the search is
        confined; `start` must be in it. None means no constraint.

    Returns
    -------
    vector : ndarray of float64, shape (n,)
        Last vector. The value never rises between steps.
    n_iter : int
        Number of steps taken.

    Notes
    -----
    The direction is ``d = -g + beta d_old`` with
    ``beta = max(0, g . (g - g_old) / |g_old|^2)``, and -g where this is not a descent
    direction (Polak and Ribiere, with a restart where beta would be negative). The line
    search doubles the step while the objective falls, then refines it by Brent's method
    between the neighbours of the best step.

    With `project`, steps follow the projection of the line onto the set (gradient
    projection), and the search ends when no component of ``x - project(x - g)``
    exceeds `tol`. The gradient should be that within the set.

    Examples
    --------
    >>> def bowl(x):
    ...     return float(x @ x) / 2 - float(x.sum()), x - 1
    >>> vector, n_iter = conjugate_gradient(bowl, np.zeros(3), max_iter=9, tol=1e-6)
    >>> vector.round(4), n_iter
    (array([1., 1., 1.]), 1)
    """
    vector = np.array(start, dtype=np.float64)
    value, gradient = objective(vector)
    direction = -gradient
    length = 1.0 / max(1.0, float(np.abs(gradient).max(initial=0.0)))
    for iteration in range(max_iter):
        way = gradient if project is None else vector - project(vector - gradient)
        if np.abs(way).max(initial=0.0) <= tol:
            return vector, iteration
        if direction @ gradient >= 0.0:
            direction = -gradient
        line = partial(_move, project, vector, direction)
        step, lower = _line_search(objective, line, value, length)
        if not lower < value and project is not None:
            # The projection of a conjugate direction need not lead down.
            direction = -gradient
            line = partial(_move, project, vector, direction)
            step, lower = _line_search(objective, line, value, length)
        if not lower < value:
            return vector, iteration  # no lower value along the gradient: converged
        vector = line(step)
        old = gradient
        value, gradient = objective(vector)
        if callback is not None:
            callback(vector, value, float(np.linalg.norm(gradient)))
        ratio = float(gradient @ (gradient - old)) / float(old @ old)
        direction = -gradient + max(0.0, ratio) * direction
        length = step
    return vector, max_iter


def _move(
    project: Projection | None, vector: FloatArray, direction: FloatArray, step: float
) -> FloatArray:
    """Return the vector after a step."""
    moved = vector + step * direction
    return moved if project is None else project(moved)


def _line_search(
    objective: Objective,
    line: Callable[[float], FloatArray],
    value: float,
    length: float,
) -> tuple[float, float]:
    """Return the best step along a line and its value; 0 if none is lower."""

    def along(step: float) -> float:
        return objective(line(step))[0]

    before, best, best_value = 0.0, length, along(length)
    after = length
    if best_value < value:
        for _ in range(MAX_GROWTHS):
            after = best * GROWTH
            after_value = along(after)
            if not after_value < best_value:
                break
            before, best, best_value = best, after, after_value
    else:
        best, best_value = 0.0, value
    found = minimize_scalar(
        along,
        bounds=(before, after),
        method="bounded",
        options={"xatol": LINE_TOL * (after - before), "maxiter": MAX_LINE_STEPS},
    )
    if found.fun < best_value:
        return float(found.x), float(found.fun)
    return best, best_value
