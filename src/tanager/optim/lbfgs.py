"""L-BFGS, by SciPy, with the interface of the other optimisers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

FloatArray = npt.NDArray[np.float64]

MEMORY = 10
"""Pairs of steps and gradients that are kept."""


def lbfgs(
    objective: Callable[[FloatArray], tuple[float, FloatArray]],
    start: FloatArray,
    *,
    max_iter: int,
    tol: float,
    callback: Callable[[FloatArray, float, float], object] | None = None,
) -> tuple[FloatArray, int]:
    """Minimise by L-BFGS; see `conjugate_gradient` for the arguments.

    Examples
    --------
    >>> def bowl(x):
    ...     return float(x @ x) / 2 - float(x.sum()), x - 1
    >>> vector, n_iter = lbfgs(bowl, np.zeros(3), max_iter=9, tol=1e-6)
    >>> vector.round(4)
    array([1., 1., 1.])
    """
    last = [np.inf, np.inf]

    def remembered(vector: Any) -> tuple[float, Any]:
        value, gradient = objective(vector)
        last[:] = value, float(np.linalg.norm(gradient))
        return value, gradient

    def report(vector: Any) -> None:
        if callback is not None:
            callback(np.array(vector), *last)

    search: Any = minimize  # its overloads do not cover a bound method's arrays
    result = search(
        remembered,
        start,
        jac=True,
        method="L-BFGS-B",
        callback=report,
        # Only the gradient ends the search; a line search takes a few evaluations.
        options={"maxiter": max_iter, "gtol": tol, "ftol": 0.0, "maxcor": MEMORY,
                 "maxfun": 20 * max_iter + 20},
    )  # fmt: skip
    return np.asarray(result.x), int(result.nit)
