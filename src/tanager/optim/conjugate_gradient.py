"""Conjugate gradient with exact line searches."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar

from tanager.types import FloatArray

Objective = Callable[[FloatArray], tuple[float, FloatArray]]

GROWTH = 2.0
MOST_STEPS = 30
"""How a step is lengthened while the objective falls: at most 2^30 times."""

LINE_TOL = 1e-2
"""Share of the bracket to which a line search is carried out."""

LINE_STEPS = 25
"""Evaluations of a line search after its bracket is found, at most."""


def conjugate_gradient(
    objective: Objective,
    start: FloatArray,
    *,
    max_iter: int,
    tol: float,
    callback: Callable[[FloatArray, float, float], object] | None = None,
) -> tuple[FloatArray, int]:
    """Minimise by Polak-Ribiere conjugate gradient with Brent's line search.

    Parameters
    ----------
    objective : callable
        Returns the value and the gradient at a vector.
    start : ndarray of float64, shape (n,)
        Where to begin.
    max_iter : int
        Steps at most.
    tol : float
        The search ends when no component of the gradient is larger.
    callback : callable or None, default=None
        Called after every step with the vector, the value and the gradient's norm.

    Returns
    -------
    vector : ndarray of float64, shape (n,)
        Where the search ended; the value never rises on the way.
    n_iter : int
        Number of steps taken.

    Notes
    -----
    The direction is ``d = -g + beta d_old`` with
    ``beta = max(0, g . (g - g_old) / |g_old|^2)``, and -g wherever that would lead up.
    A step is doubled while the objective falls, then found by Brent's method between
    the neighbours of the best.

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
        if np.abs(gradient).max(initial=0.0) <= tol:
            return vector, iteration
        if direction @ gradient >= 0.0:
            direction = -gradient
        step, lower = _line_search(objective, vector, direction, value, length)
        if not lower < value:
            return vector, iteration  # no lower value along the gradient: converged
        vector = vector + step * direction
        old = gradient
        value, gradient = objective(vector)
        if callback is not None:
            callback(vector, value, float(np.linalg.norm(gradient)))
        ratio = float(gradient @ (gradient - old)) / float(old @ old)
        direction = -gradient + max(0.0, ratio) * direction
        length = step
    return vector, max_iter


def _line_search(
    objective: Objective,
    vector: FloatArray,
    direction: FloatArray,
    value: float,
    length: float,
) -> tuple[float, float]:
    """The best step along a direction and the value there; 0 if nothing is lower."""

    def along(step: float) -> float:
        return objective(vector + step * direction)[0]

    before, best, best_value = 0.0, length, along(length)
    after = length
    if best_value < value:
        for _ in range(MOST_STEPS):
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
        options={"xatol": LINE_TOL * (after - before), "maxiter": LINE_STEPS},
    )
    if found.fun < best_value:
        return float(found.x), float(found.fun)
    return best, best_value
