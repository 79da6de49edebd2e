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

FIRST_C = 0.1
STEP_OF_C = 10.0**0.5
RANGE_OF_C = (1e-4, 1e4)
"""Where cross-validation begins, and how and how far it goes from there."""

GAP = 0.01
"""Share of the objective within which the least value is known to lie at the end."""

PATH_FALL = 0.2
"""Along the path the gradient falls to this share: enough to tell penalties apart."""


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
    """Minimise by L-BFGS, and the class table by Newton's method, to rounding.

    Ends when the gradient is within `tol` and the gap within 1 % of the objective.

    Notes
    -----
    Minimised over the class table, f is strongly convex with modulus 1 in the other
    coordinates, so with gradient g it exceeds its least value by at most
    ``|g|^2 / 2``.
    """
    iterations = 0
    while True:
        left = max_iter - iterations
        start, steps = descend(problem, start, tol, left, monitor)
        iterations += steps
        start = _with_best_prior(problem, start)
        value, gradient = problem.value_and_gradient(start)
        square = float(gradient @ gradient)
        largest = float(np.abs(gradient).max()) / problem.scale
        if square / 2 <= GAP * value or iterations >= max_iter or not steps:
            return Solution(start, value, square**0.5, square / 2, largest, iterations)
        # The rows may be easy, their mean loss far below one: then `tol` says little.
        tol = 0.9 * largest * (2 * GAP * value / square) ** 0.5


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


@dataclass(frozen=True, eq=False)
class PenaltyPath:
    """The search for the penalty that predicts held-out rows best.

    From one value of C the search goes on to weaker penalties, or, where the first such
    step is no better, to stronger ones, until the mean held-out -log P(c | x) no longer
    falls. Every fold starts from its weights at the value before.

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
    """

    parts: Sequence[tuple[ConditionalLikelihood, ConditionalLikelihood]]
    coordinates: Coordinates
    max_iter: int
    n_jobs: int | None

    def search(self) -> tuple[float, FloatArray, list[dict[str, float]]]:
        """Walk along the path.

        Returns
        -------
        C : float
            The best value.
        start : ndarray of float64, shape (n_coordinates,)
            Mean of the folds' coordinates at it, to start a fit to all rows.
        trace : list of dict
            C, mean held-out loss and error of every value tried.
        """
        trace: list[dict[str, float]] = []
        nothing = [np.zeros(self.coordinates.n_coordinates) for _ in self.parts]
        best, start = FIRST_C, self._at(FIRST_C, nothing, trace)
        for step in (STEP_OF_C, 1.0 / STEP_OF_C):
            better = self._walk(best, start, step, trace)
            if better is not None:
                best, start = better
                break
        return best, np.mean(start, axis=0), trace

    def _walk(
        self,
        C: float,
        current: list[FloatArray],
        step: float,
        trace: list[dict[str, float]],
    ) -> tuple[float, list[FloatArray]] | None:
        """Go on from C while the held-out loss falls; None if it never does."""
        least = min(record["held_out_loss"] for record in trace)
        found = None
        while RANGE_OF_C[0] <= C * step <= RANGE_OF_C[1]:
            C *= step
            current = self._at(C, current, trace)
            if not trace[-1]["held_out_loss"] < least:
                break
            least, found = trace[-1]["held_out_loss"], (C, current)
        return found

    def _at(
        self, C: float, current: list[FloatArray], trace: list[dict[str, float]]
    ) -> list[FloatArray]:
        """Coordinates of every fold at C; a record is added to the trace."""

        def fitted(number: int) -> tuple[FloatArray, float, float]:
            train, test = self.parts[number]
            problem = PenalisedLikelihood(train, self.coordinates, C)
            _, gradient = problem.value_and_gradient(current[number])
            tol = PATH_FALL * float(np.abs(gradient).max()) / problem.scale
            u, _ = descend(problem, current[number], tol, self.max_iter)
            return u, *test.held_out(self.coordinates.weights(u))

        results = map_threads(fitted, range(len(self.parts)), self.n_jobs)
        loss, error = np.mean([result[1:] for result in results], axis=0).tolist()
        trace.append({"C": C, "held_out_loss": loss, "held_out_error": error})
        return [result[0] for result in results]
