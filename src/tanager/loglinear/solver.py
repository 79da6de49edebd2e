"""Penalised conditional likelihood of log-linear weights: a convex problem, solved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from scipy.linalg import lstsq, solve_triangular

from tanager.errors import InputError
from tanager.loglinear.coordinates import Coordinates
from tanager.loglinear.likelihood import ConditionalLogLoss
from tanager.loglinear.preconditioner import round_units
from tanager.optim import Monitor, lbfgs
from tanager.types import FloatArray
from tanager.utils.threads import map_threads

STEPS_OF_PRIOR = 20
"""Newton steps on the class table at most; three or four are usual."""

FIRST_C = 0.1
STEP_OF_C = 10.0**0.5
RANGE_OF_C = (1e-4, 1e4)
"""Where cross-validation begins, and how and how far it goes from there."""

HALVINGS = 40
"""How often a Newton step is halved before it is given up."""

SCALES = (1e-12, 1e15)
"""Between these C times the weight of the rows must be: the rest is rounding."""

GAP = 0.05
"""Share of the objective within which the least value is known to lie at the end."""

SHARES = tuple(0.25**k for k in range(10))
"""Shares of both bounds at which L-BFGS ends. Another class table makes the slopes of
other weights larger, in few rows by much: the search then goes on to the next one."""

ROUNDING = 1e-12
"""Share of the objective below which a gap is rounding."""

FIRST_STEPS = 32
"""Steps after which the units of the search are chosen anew; most end before."""

PATH_FALL = 0.2
"""Along the path the gradient falls to this share: enough to tell penalties apart."""

FIRST_FALL = 0.01
"""The same of the first point, which does not start near its end: left far from it, its
held-out loss would be too high, and any other penalty would look better."""


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
    converged : bool
        Whether the search ended because it was close enough.
    """

    coordinates: FloatArray
    objective: float
    gradient_norm: float
    gap: float
    largest: float
    iterations: int
    converged: bool


@dataclass(frozen=True, eq=False)
class PenalisedLikelihood:
    """``f(u) = C sum_m -v_m log P(c_m | x_m) + |u|^2 / 2`` in coordinates u.

    The coordinates of the class table, which every row touches, are not penalised.
    Values and gradients are those of f divided by `scale`, C times the weight of the
    rows: a mean loss per row and a small penalty.
    """

    rows: ConditionalLogLoss
    coordinates: Coordinates
    C: float

    @cached_property
    def scale(self) -> float:
        """C times the weight of the rows."""
        scale = self.C * self.rows.total
        if not SCALES[0] <= scale <= SCALES[1]:
            raise InputError(
                f"C={self.C:g} times the weight of the rows, {self.rows.total:g}, must "
                f"be between {SCALES[0]:g} and {SCALES[1]:g} for the data and the "
                "penalty to be told apart. Choose another C, or other weights."
            )
        return scale

    def value_and_gradient(self, u: FloatArray) -> tuple[float, FloatArray]:
        """F / scale and its gradient, shapes () and (n_coordinates,)."""
        loss, by_weights = self.rows.value_and_gradient(self.coordinates.weights(u))
        penalised = u * self.coordinates.penalised
        total = self.rows.total
        value = loss / total + 0.5 * float(penalised @ penalised) / self.scale
        gradient = self.coordinates.gradient(by_weights) / total
        gradient += penalised / self.scale
        return value, gradient

    def minimised(
        self,
        start: FloatArray,
        max_iter: int,
        enough: Callable[[float, FloatArray], bool],
        callback: Callable[[float, float], object] | None = None,
    ) -> tuple[FloatArray, int]:
        """Search by L-BFGS, in units that fit the problem where they can be had.

        Parameters
        ----------
        start : ndarray of float64, shape (n_coordinates,)
            Where to begin.
        max_iter : int
            Steps at most.
        enough : callable
            Told the value and the gradient after every step; says when to end.
        callback : callable or None, default=None
            Told the value and the norm of the gradient after every step.

        Returns
        -------
        coordinates : ndarray of float64, shape (n_coordinates,)
            Where the search ended.
        n_iter : int
            Number of steps taken.
        """
        done, ended = 0, False

        def watched(value: float, gradient: FloatArray) -> bool:
            nonlocal ended
            ended = enough(value, gradient)
            return ended

        u, at = start, None
        for steps in _stages(max_iter):
            units = round_units(self.rows, self.coordinates, self.scale, at)
            if units is None:
                steps = max_iter
            u, taken = self._searched(u, units, steps, watched, callback)
            done += taken
            if ended or taken < steps or done >= max_iter:
                break
            at = u
        return u, done

    def _searched(
        self,
        start: FloatArray,
        units: FloatArray | None,
        max_iter: int,
        enough: Callable[[float, FloatArray], bool],
        callback: Callable[[float, float], object] | None,
    ) -> tuple[FloatArray, int]:
        """One search, over v with u = R v, R the units, or over u itself."""
        n_classes = self.rows.layout.compiled.n_classes
        # The last gradient by u, whatever L-BFGS sees.
        gradient = np.empty(0)

        def objective(v: FloatArray) -> tuple[float, FloatArray]:
            nonlocal gradient
            value, gradient = self.value_and_gradient(v)
            return value, gradient

        def objective_in_units(v: FloatArray) -> tuple[float, FloatArray]:
            assert units is not None
            value, by_u = objective((units @ v.reshape(-1, n_classes)).ravel())
            return value, (units.T @ by_u.reshape(-1, n_classes)).ravel()

        def report(_: FloatArray, value: float, __: float) -> None:
            if callback is not None:
                callback(value, float(np.linalg.norm(gradient)))

        first = start
        if units is not None:
            first = solve_triangular(units, start.reshape(-1, n_classes)).ravel()
        found, n_iter = lbfgs(
            objective if units is None else objective_in_units,
            first,
            max_iter=max_iter,
            tol=0.0,
            callback=report,
            enough=lambda value, _: enough(value, gradient),
        )
        if units is not None:
            found = (units @ found.reshape(-1, n_classes)).ravel()
        return found, n_iter

    def gap(self, gradient: FloatArray) -> float:
        """Bound on (f - least f) / scale where the class table is solved for."""
        return 0.5 * float(gradient @ gradient) * self.scale


def _stages(max_iter: int) -> Iterator[int]:
    """Steps between two choices of units, doubling, `max_iter` together."""
    done, steps = 0, FIRST_STEPS
    while done < max_iter:
        steps = min(steps, max_iter - done)
        yield steps
        done += steps
        steps = done


def solve(
    problem: PenalisedLikelihood,
    start: FloatArray,
    tol: float,
    max_iter: int,
    monitor: Monitor | None = None,
) -> Solution:
    """Minimise by L-BFGS, then the class table by Newton's method, to rounding.

    Ends when no component of the gradient exceeds `tol` and the gap is within about
    5 % of the objective. Where the new class table has undone that, both go on.

    Notes
    -----
    Minimised over the class table, f is strongly convex with modulus 1 in the other
    coordinates, so with gradient g it exceeds its least value by at most
    ``|g|^2 / 2``. A class that no row has is never minimised over: its part of the loss
    can fall to zero, which is added.
    """
    scale = problem.scale
    before = 0 if monitor is None else len(monitor.trace)

    def record(value: float, norm: float) -> None:
        if monitor is not None:
            monitor.record(
                iteration=len(monitor.trace) - before + 1,
                objective=scale * value,
                gradient_norm=scale * norm,
            )

    def near(value: float, gradient: FloatArray, share: float) -> bool:
        within = float(np.abs(gradient).max()) <= share * tol
        return within and problem.gap(gradient) <= share * GAP * value

    found, iterations = start, 0
    for share in SHARES:
        found, taken = problem.minimised(
            found, max_iter - iterations, partial(near, share=share), record
        )
        iterations += taken
        found, left = _with_best_prior(problem, found)
        value, gradient = problem.value_and_gradient(found)
        # A class without rows: its slope is no part of the bound, what it costs is.
        gradient[problem.coordinates.prior] = 0.0
        largest = float(np.abs(gradient).max())
        gap = problem.gap(gradient) + left
        # Where rounding ends the search, and after Newton's steps, both are met about.
        about = largest <= 2 * tol and gap <= 2 * GAP * value
        converged = about or gap <= ROUNDING * value
        if converged or iterations >= max_iter:
            break
    return Solution(
        found,
        scale * value,
        scale * float(np.linalg.norm(gradient)),
        scale * gap,
        largest,
        iterations,
        converged,
    )


def _with_best_prior(
    problem: PenalisedLikelihood, u: FloatArray
) -> tuple[FloatArray, float]:
    """The coordinates with those of the class table solved for, by Newton's method.

    Returns
    -------
    coordinates : ndarray of float64, shape (n_coordinates,)
        The others are as they were.
    left : float
        What a better class table could still gain, in units of the mean loss: next to
        nothing, the cost of classes without rows, or inf if the search did not end.
    """
    weights = problem.coordinates.weights(u)
    rows, prior = problem.rows, problem.coordinates.prior_weights
    loss, observed, expected, products = rows.class_moments(weights)
    seen = observed > 0
    for _ in range(STEPS_OF_PRIOR):
        gradient = (expected - observed)[seen]
        slope = float(np.abs(gradient).max(initial=0.0))
        if slope <= 1e-12 * rows.total:
            break
        hessian = (np.diag(expected) - products)[np.ix_(seen, seen)]
        # Singular along the constant vector, which changes nothing: least squares.
        step = np.zeros(len(observed))
        step[seen] = lstsq(hessian, gradient)[0]
        for length in 0.5 ** np.arange(HALVINGS):
            trial = weights.copy()
            trial[prior] -= length * step
            found = rows.class_moments(trial)
            change = found[0] - loss
            steeper = float(np.abs((found[2] - found[1])[seen]).max()) >= slope
            # Near the end the loss is the same to rounding; its slope still falls.
            if change < 0.0 or (change <= 1e-13 * loss and not steeper):
                weights, (loss, _, expected, products) = trial, found
                break
        else:
            break
    slope = float(np.abs((expected - observed)[seen]).max(initial=0.0))
    best = u.copy()
    best[problem.coordinates.prior] = weights[prior]
    if slope > 1e-8 * rows.total:
        return best, np.inf
    return best, float(expected[~seen].sum()) / rows.total


@dataclass(frozen=True, eq=False)
class PenaltyPath:
    """The search for the penalty that predicts held-out rows best.

    From one value of C the search goes on to weaker penalties, and from the same value
    to stronger ones, each until the mean held-out -log P(c | x) no longer falls; the
    better end is taken. Every fold starts from its weights at the value before.

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
    monitor : Monitor
        Told C, mean held-out loss and error of every value tried.
    """

    parts: Sequence[tuple[ConditionalLogLoss, ConditionalLogLoss]]
    coordinates: Coordinates
    max_iter: int
    n_jobs: int | None
    monitor: Monitor

    def search(self) -> tuple[float, FloatArray]:
        """Walk along the path.

        Returns
        -------
        C : float
            The best value.
        start : ndarray of float64, shape (n_coordinates,)
            Mean of the folds' coordinates at it, to start a fit to all rows.
        """
        nothing = [np.zeros(self.coordinates.n_coordinates) for _ in self.parts]
        first = self._at(FIRST_C, nothing, FIRST_FALL)
        ends = [self._walk(first, step) for step in (STEP_OF_C, 1.0 / STEP_OF_C)]
        best = min(ends, key=lambda point: point.loss)
        return best.C, np.mean(best.coordinates, axis=0)

    def _walk(self, best: _Point, step: float) -> _Point:
        """Go on from a point while the held-out loss falls."""
        while RANGE_OF_C[0] <= best.C * step <= RANGE_OF_C[1]:
            found = self._at(best.C * step, best.coordinates)
            if not found.loss < best.loss:
                break
            best = found
        return best

    def _at(
        self, C: float, current: Sequence[FloatArray], fall: float = PATH_FALL
    ) -> _Point:
        """Fit every fold at C, from its coordinates in `current` on."""

        def fitted(number: int) -> tuple[FloatArray, float, float]:
            train, test = self.parts[number]
            problem = PenalisedLikelihood(train, self.coordinates, C)
            _, gradient = problem.value_and_gradient(current[number])
            low = fall * float(np.abs(gradient).max())
            u, _ = problem.minimised(
                current[number],
                self.max_iter,
                lambda _, gradient: float(np.abs(gradient).max()) <= low,
            )
            return u, *test.held_out(self.coordinates.weights(u))

        results = map_threads(fitted, range(len(self.parts)), self.n_jobs)
        loss, error = np.mean([result[1:] for result in results], axis=0).tolist()
        self.monitor.record(C=C, held_out_loss=loss, held_out_error=error)
        return _Point(C, loss, [result[0] for result in results])


@dataclass(frozen=True, eq=False)
class _Point:
    """One value on the path: mean held-out loss, and the coordinates of the folds."""

    C: float
    loss: float
    coordinates: list[FloatArray]
