"""Penalised conditional likelihood of log-linear weights: a convex problem, solved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.linalg import lstsq

from tanager.core.threads import map_threads
from tanager.optim import Monitor, lbfgs
from tanager.parameters.conditional import ConditionalLikelihood
from tanager.parameters.penalty import Coordinates

FloatArray = npt.NDArray[np.float64]

STEPS_OF_PRIOR = 20
"""Newton steps on the class table at most; three or four are usual."""

STRENGTHS = tuple(float(c) for c in np.logspace(-2, 4, 13))
"""Values of C that cross-validation tries, from strong to weak penalties."""

PATH_TOL = 1e-4
"""Tolerance along the path: enough to tell penalties apart."""


@dataclass(frozen=True)
class Solution:
    """Weights that minimise the objective, and how sure that is.

    Parameters
    ----------
    coordinates : ndarray of float64, shape (n_coordinates,)
        Where the search ended.
    objective, gradient_norm : float
        Of the penalised objective, there.
    gap : float
        The objective exceeds its least value by no more than this.
    largest : float
        Largest component of the gradient, divided by C and the weight of the rows.
    iterations : int
        Steps of L-BFGS.
    """

    coordinates: FloatArray
    objective: float
    gradient_norm: float
    gap: float
    largest: float
    iterations: int


@dataclass(frozen=True, eq=False)
class PenalisedLikelihood:
    """``f(u) = C sum_m -v_m log P(c_m | x_m) + |u|^2 / 2`` in coordinates u.

    The coordinates of the class table, which every row touches, are not penalised.
    """

    rows: ConditionalLikelihood
    coordinates: Coordinates
    C: float

    def value_and_gradient(self, u: FloatArray) -> tuple[float, FloatArray]:
        """The objective and its gradient, shapes () and (n_coordinates,)."""
        loss, by_weights = self.rows.value_and_gradient(self.coordinates.weights(u))
        penalised = u * self.coordinates.penalised
        value = self.C * loss + 0.5 * float(penalised @ penalised)
        return value, self.C * self.coordinates.gradient(by_weights) + penalised

    @property
    def scale(self) -> float:
        """What the objective is divided by for the tolerance."""
        return max(self.C * self.rows.total, np.finfo(float).tiny)


def solve(
    problem: PenalisedLikelihood,
    start: FloatArray,
    tol: float,
    max_iter: int,
    monitor: Monitor | None = None,
) -> Solution:
    """Minimise by L-BFGS, then the class table by Newton's method, to rounding.

    Notes
    -----
    Minimised over the class table, f is strongly convex with modulus 1 in the other
    coordinates, so with gradient g it exceeds its least value by at most
    ``|g|^2 / 2``.
    """
    found, iterations = descend(problem, start, tol, max_iter, monitor)
    found = _with_best_prior(problem, found)
    value, gradient = problem.value_and_gradient(found)
    square = float(gradient @ gradient)
    return Solution(
        found,
        value,
        square**0.5,
        square / 2,
        float(np.abs(gradient).max()) / problem.scale,
        iterations,
    )


def descend(
    problem: PenalisedLikelihood,
    start: FloatArray,
    tol: float,
    max_iter: int,
    monitor: Monitor | None = None,
) -> tuple[FloatArray, int]:
    """Coordinates where no component of the scaled gradient exceeds `tol`."""
    scale = problem.scale

    def scaled(u: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = problem.value_and_gradient(u)
        return value / scale, gradient / scale

    def record(_: FloatArray, value: float, norm: float) -> None:
        if monitor is not None:
            monitor.record(objective=scale * value, gradient_norm=scale * norm)

    return lbfgs(scaled, start, max_iter=max_iter, tol=tol, callback=record)


def _with_best_prior(problem: PenalisedLikelihood, u: FloatArray) -> FloatArray:
    """The coordinates with those of the class table solved for, by Newton's method.

    A class without rows has no finite optimum: it is left where it is.
    """
    weights = problem.coordinates.weights(u)
    rows, prior = problem.rows, problem.coordinates.prior
    for _ in range(STEPS_OF_PRIOR):
        observed, expected, products = rows.class_moments(weights)
        seen = observed > 0
        gradient = (expected - observed)[seen]
        if np.abs(gradient).max(initial=0.0) <= 1e-12 * rows.total:
            break
        hessian = (np.diag(expected) - products)[np.ix_(seen, seen)]
        # Singular along the constant vector, which changes nothing: least squares.
        step = np.zeros(len(observed))
        step[seen] = lstsq(hessian, gradient)[0]
        weights[prior] -= step
    best = u.copy()
    best[prior] = weights[prior]
    return best


def path(
    parts: Sequence[tuple[ConditionalLikelihood, ConditionalLikelihood]],
    coordinates: Coordinates,
    max_iter: int,
    n_jobs: int | None,
) -> tuple[float, FloatArray, list[dict[str, float]]]:
    """The penalty that predicts held-out rows best, along a path of warm starts.

    From the strongest penalty on, every fold's weights start from its last ones. The
    path ends when the mean held-out -log P(c | x) no longer falls.

    Parameters
    ----------
    parts : sequence of (training rows, held-out rows)
        The folds.
    coordinates : Coordinates
        What is penalised.
    max_iter : int
        Steps at most per fold and value.
    n_jobs : int or None
        Threads over folds.

    Returns
    -------
    C : float
        The best value.
    start : ndarray of float64, shape (n_coordinates,)
        Mean of the folds' coordinates at it, to start a fit to all rows.
    trace : list of dict
        C, mean held-out loss and error of every value tried.
    """
    current = [np.zeros(coordinates.n_coordinates) for _ in parts]
    best, best_loss, start = STRENGTHS[0], np.inf, current[0]
    trace: list[dict[str, float]] = []
    for strength in STRENGTHS:

        def step(
            fold: tuple[ConditionalLikelihood, ConditionalLikelihood, FloatArray],
            C: float = strength,
        ) -> tuple[FloatArray, float, float]:
            train, test, last = fold
            problem = PenalisedLikelihood(train, coordinates, C)
            u, _ = descend(problem, last, PATH_TOL, max_iter)
            return u, *test.held_out(coordinates.weights(u))

        folds = [(*pair, u) for pair, u in zip(parts, current, strict=True)]
        results = map_threads(step, folds, n_jobs)
        current = [u for u, _, _ in results]
        loss = float(np.mean([loss for _, loss, _ in results]))
        error = float(np.mean([error for _, _, error in results]))
        trace.append({"C": strength, "held_out_loss": loss, "held_out_error": error})
        if not loss < best_loss:
            break
        best, best_loss = strength, loss
        start = np.mean(current, axis=0)
    return best, start, trace
