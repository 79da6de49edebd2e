"""L-BFGS of SciPy, with the interface of `conjugate_gradient`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

from tanager.types import FloatArray

MEMORY = 10
"""Number of correction pairs."""


def lbfgs(
    objective: Callable[[FloatArray], tuple[float, FloatArray]],
    start: FloatArray,
    *,
    max_iter: int,
    tol: float,
    callback: Callable[[FloatArray, float, float], object] | None = None,
    enough: Callable[[float, FloatArray], bool] | None = None,
) -> tuple[FloatArray, int]:
    """Minimise by L-BFGS.

    Parameters
    ----------
    objective, start, max_iter, tol, callback
        As in `conjugate_gradient`.
    enough : callable or None, default=None
        Stopping rule instead of `tol`: called with the value and the gradient after
        every step; the search ends when it returns True.

    Returns
    -------
    vector : ndarray of float64, shape (n,)
        Last vector.
    n_iter : int
        Number of steps taken.

    Examples
    --------
    >>> def bowl(x):
    ...     return float(x @ x) / 2 - float(x.sum()), x - 1
    >>> vector, n_iter = lbfgs(bowl, np.zeros(3), max_iter=9, tol=1e-6)
    >>> vector.round(4)
    array([1., 1., 1.])
    """
    last: list[Any] = []

    def evaluate(vector: Any) -> tuple[float, Any]:
        last[:] = objective(vector)
        return last[0], last[1]

    def report(vector: Any) -> None:
        value, gradient = last
        if callback is not None:
            callback(np.array(vector), value, float(np.linalg.norm(gradient)))
        if enough is not None and enough(value, gradient):
            raise StopIteration  # ends the search in SciPy

    search: Any = minimize  # its overloads do not cover a bound method's arrays
    result = search(
        evaluate,
        start,
        jac=True,
        method="L-BFGS-B",
        callback=report,
        # Only the gradient ends the search; a line search needs a few evaluations.
        options={"maxiter": max_iter, "gtol": 0.0 if enough else tol, "ftol": 0.0,
                 "maxcor": MEMORY, "maxfun": 20 * max_iter + 20},
    )  # fmt: skip
    return np.asarray(result.x), int(result.nit)
