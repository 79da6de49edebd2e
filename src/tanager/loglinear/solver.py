"""Minimisation of the penalised objective, and selection of the penalty."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cholesky, lstsq, solve_triangular

from tanager.data.coded_data import CodedData
from tanager.loglinear.objective import TINY, PenalisedObjective
from tanager.optim import Monitor, lbfgs, newton_steps
from tanager.types import FloatArray
from tanager.utils.progress import keep_best, report
from tanager.utils.threads import map_threads

if TYPE_CHECKING:
    from tanager.loglinear.model import LogLinearModel

NEWTON_STEPS = 20
"""Maximum number of Newton steps on the weights of the class; four are usual."""

HALVINGS = 40
"""Maximum number of halvings of a Newton step."""

GAP = 0.05
"""Fraction of the objective that bounds the optimality gap at the end."""

FRACTIONS = tuple(0.25**k for k in range(10))
"""Fractions of both bounds at which a search ends. Newton steps on the weights of the
class raise the gradient of the others, with few samples by much: the search then goes
on to the next fraction."""

ROUNDING = 1e-12
"""Fraction of the objective below which an optimality gap is rounding."""

FIRST_STEPS = 32
"""Steps after which the preconditioner is recomputed; most searches end before."""

SPARE = 0.8
"""Fraction of both bounds at which a Newton step is exact enough."""

JITTER = 1e-9
"""Added to the diagonal, so that a Cholesky factor exists for collinear features."""

PAIRS_PER_CLASS = 40
SIZE_PER_CLASS = 200
CELLS_PER_TOUCH = 2.0
"""Largest number of factors and of rows of a matrix per class, and of its elements per
cell that a sample reads, for which the matrix saves more time than it takes."""

MAX_MATRIX_CELLS = 10_000_000
"""Elements that such a matrix may have in any case: some hundred megabytes."""


FIRST_C = 0.1
STEP_OF_C = 10.0**0.5
RANGE_OF_C = (1e-4, 1e4)
"""First value of C, the factor between neighbours, and the range."""

FALL = 0.2
"""Fraction to which the gradient falls along the path: enough to compare penalties."""

FIRST_FALL = 0.01
"""The same for the first value, which does not start near its optimum: a higher
held-out loss than at the optimum would make any other penalty look better."""


Step = Callable[[float, FloatArray, Callable[[], FloatArray]], object]
"""Called after a step: value, gradient, and a function that gives the coordinates."""


@dataclass(frozen=True)
class Solution:
    """Coordinates u that minimise the objective f, and the certificate.

    `gap` is an upper bound on how far the objective is above its minimum; `largest` the
    largest component of the gradient, divided by C and the weight of the samples;
    `converged` whether the search met its bounds, `stopped` whether it ended early
    because the time was up or Ctrl-C was pressed.
    """

    coordinates: FloatArray
    objective: float
    gradient_norm: float
    gap: float
    largest: float
    iterations: int
    converged: bool
    stopped: bool = False


def make_preconditioner(
    objective: PenalisedObjective, u: FloatArray | None = None
) -> FloatArray | None:
    """Find a matrix R for which the Hessian in v, ``u = R v``, is about the identity.

    `u` is the point, shape (n_coordinates,); None is zero. R is upper triangular, shape
    (n_coordinates / n_classes, n_coordinates / n_classes), one for all classes; None
    where making and using it would take longer than the evaluations it saves.

    Notes
    -----
    At zero every class has P(c | x) = 1 / K, and the Hessian of the mean loss is
    ``(I - 1 1' / K) / K`` over the classes times the fraction of samples in two cells,
    over the cells: one matrix for all classes. Elsewhere every class has its own, and
    the mean is used, as it is of their penalties. The penalty adds its diagonal, and R
    is the inverse of the Cholesky factor. At no weights is the Hessian larger than
    K / 2 times that at zero (Böhning 1992, Multinomial logistic regression algorithm,
    section 2), but it is much smaller where most samples have become certain.
    """
    loss, coordinates = objective.loss, objective.coordinates
    n_classes, n_tables = loss.n_classes, loss.layout.n_tables
    size = coordinates.n_in // n_classes
    # The Hessian is made for the cells of the factors: with groups of states these are
    # far more than coordinates.
    n_rows = max(coordinates.n_in, coordinates.n_out) // n_classes
    if (
        n_classes < 2
        or n_tables > PAIRS_PER_CLASS * n_classes
        or n_rows > SIZE_PER_CLASS * n_classes
        or n_rows**2
        > min(CELLS_PER_TOUCH * n_tables * loss.n_samples, MAX_MATRIX_CELLS)
    ):
        return None
    curvature = loss.curvature(None if u is None else coordinates.apply(u))
    hessian = coordinates.quadratic_form(curvature / (n_classes * loss.total))
    diagonal = np.arange(size)
    penalty = coordinates.penalty.reshape(-1, n_classes).mean(axis=1)
    hessian[diagonal, diagonal] += penalty / objective.scale + JITTER
    factor = cholesky(hessian, lower=True)
    inverse: FloatArray = solve_triangular(factor, np.eye(size), lower=True).T
    return np.ascontiguousarray(inverse)


@dataclass(frozen=True)
class StoppingRule:
    """When a search ends: both bounds hold, each multiplied by a fraction.

    `largest` bounds the components of the gradient; `gap` is the optimality gap as a
    fraction of the objective.
    """

    largest: float
    gap: float = np.inf

    def holds(
        self,
        objective: PenalisedObjective,
        value: float,
        gradient: FloatArray,
        fraction: float = 1.0,
    ) -> bool:
        """Whether a search may end at this value and gradient of `objective`."""
        if float(np.abs(gradient).max(initial=0.0)) > fraction * self.largest:
            return False
        # The slopes of the class only tell the search when to stop, as if penalised.
        gap = 0.5 * float(gradient @ objective.precondition(gradient))
        return gap <= fraction * self.gap * max(value, TINY)


def minimise(
    objective: PenalisedObjective,
    start: FloatArray,
    max_iter: int,
    rule: StoppingRule,
    record: Step | None = None,
) -> tuple[FloatArray, int]:
    """Minimise by L-BFGS, with a preconditioner where it saves time.

    `record` is called with the value, the gradient and a function that returns the
    coordinates after every step. Returns the coordinates, shape (n_coordinates,), and
    the number of steps.
    """
    n_classes = objective.loss.n_classes
    matrix: FloatArray | None = None
    gradient = point = np.empty(0)
    ended = False

    def coordinates(matrix: FloatArray | None, v: FloatArray) -> FloatArray:
        if matrix is None:
            return v
        flat: FloatArray = (matrix @ v.reshape(-1, n_classes)).ravel()
        return flat

    def evaluate(v: FloatArray) -> tuple[float, FloatArray]:
        # L-BFGS searches over v with u = R v, or over u itself.
        nonlocal gradient, point
        value, gradient = objective.value_and_gradient(coordinates(matrix, v))
        point = v
        if matrix is None:
            return value, gradient
        return value, (matrix.T @ gradient.reshape(-1, n_classes)).ravel()

    def stop_search(value: float, _: FloatArray) -> bool:
        nonlocal ended
        if record is not None:
            record(value, gradient, partial(coordinates, matrix, point))
        ended = rule.holds(objective, value, gradient)
        return ended

    u, done, steps = start, 0, FIRST_STEPS
    while done < max_iter:
        matrix = make_preconditioner(objective, u if done else None)
        steps = max_iter if matrix is None else min(steps, max_iter - done)
        if matrix is not None:
            u = solve_triangular(matrix, u.reshape(-1, n_classes)).ravel()
        u, taken = lbfgs(evaluate, u, max_iter=steps, tol=0.0, enough=stop_search)
        u = coordinates(matrix, u)
        done += taken
        if ended or taken < steps:
            break
        steps = done
    return u, done


def minimise_newton(
    objective: PenalisedObjective,
    start: FloatArray,
    max_iter: int,
    rule: StoppingRule,
    record: Step | None = None,
) -> tuple[FloatArray, int]:
    """Do what `minimise` does by Newton's method, preconditioned by the penalty."""
    points = newton_steps(
        objective,
        start,
        lambda value, residual, _: rule.holds(objective, value, residual, SPARE),
    )
    found, done = start, 0
    for point in islice(points, 1, max_iter + 1):  # the first one is the start
        found, done = point.w, done + 1
        if record is not None:
            record(point.value, point.gradient, partial(getattr, point, "w"))
        if rule.holds(objective, point.value, point.gradient):
            break
    return found, done


def reduce_gradient(
    objective: PenalisedObjective, start: FloatArray, fraction: float, max_iter: int
) -> FloatArray:
    """Minimise until the largest component of the gradient falls to a fraction.

    By L-BFGS: it comes near the minimum in all directions, where few steps of conjugate
    gradient leave out those of low curvature, as a stronger penalty would.
    """
    _, gradient = objective.value_and_gradient(start)
    rule = StoppingRule(fraction * float(np.abs(gradient).max()))
    return minimise(objective, start, max_iter, rule)[0]


def solve(
    objective: PenalisedObjective,
    start: FloatArray,
    tol: float,
    max_iter: int,
    monitor: Monitor | None = None,
) -> Solution:
    """Minimise, then over the weights of the class alone by Newton's method.

    The search is L-BFGS, or Newton's method where weights are running sums and there is
    no preconditioner for L-BFGS, which then takes hundreds of steps. It ends when no
    component of the gradient exceeds `tol` and the gap is within about 5 % of the
    objective. Where the Newton steps on the class undo that, both go on.

    Notes
    -----
    Let h be f, minimised over the weights of the class. As a function of the other
    coordinates it is a convex function plus ``sum_i p_i u_i^2 / 2``, so with gradient g

    ``h(v) >= h(u) + sum_i (g_i (v_i - u_i) + p_i (v_i - u_i)^2 / 2)``

    for all v. The right-hand side is least where ``v_i = u_i - g_i / p_i``: h(u)
    exceeds its minimum by at most ``sum_i g_i^2 / (2 p_i)``, the gap. A class without
    samples is never minimised over: its part of the loss can fall to zero, which is
    added.
    """
    scale, prior = objective.scale, objective.coordinates.prior
    before = 0 if monitor is None else len(monitor.trace)

    reached: Callable[[], FloatArray] = start.copy
    last: tuple[float, FloatArray] | None = None
    iterations = 0
    who = "ConditionalLikelihood" if monitor is None else monitor.who
    if monitor is not None:
        monitor.goal = ("gradient_norm", scale * tol)

    def record(
        value: float, gradient: FloatArray, coordinates: Callable[[], FloatArray]
    ) -> None:
        nonlocal reached, last, iterations
        reached, last, iterations = coordinates, (value, gradient), iterations + 1
        if monitor is not None:
            monitor.record(
                iteration=len(monitor.trace) - before + 1,
                objective=scale * value,
                gradient_norm=scale * float(np.linalg.norm(gradient)),
            )

    with keep_best(who, lambda: f"{iterations} iterations"):
        report(who, 0, max_iter, unit="iteration", bound=True)
        search = minimise
        if any(objective.coordinates.smooth) and make_preconditioner(objective) is None:
            search = minimise_newton
        found = start
        for fraction in FRACTIONS:
            rule = StoppingRule(fraction * tol, fraction * GAP)
            before_search = iterations
            found, taken = search(objective, found, max_iter - iterations, rule, record)
            iterations = before_search + taken
            found, left = _solve_prior(objective, found)
            value, gradient = objective.value_and_gradient(found)
            # A class without samples: its slope is no part of the bound, its cost is.
            gradient[prior] = 0.0
            largest = float(np.abs(gradient).max())
            gap = 0.5 * float(gradient @ objective.precondition(gradient)) + left
            # Where rounding ends the search, and after Newton's steps, both hold about.
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
    found = reached()
    value, gradient = last or objective.value_and_gradient(found)
    return Solution(
        found,
        scale * value,
        scale * float(np.linalg.norm(gradient)),
        scale * value,  # the minimum is above zero
        float(np.abs(gradient).max()),
        iterations,
        converged=False,
        stopped=True,
    )


def _solve_prior(
    objective: PenalisedObjective, u: FloatArray
) -> tuple[FloatArray, float]:
    """Minimise over the weights of the class by Newton's method.

    Returns the coordinates, the others as they were, and an upper bound on what better
    weights of the class could gain in the mean loss: about zero, the cost of classes
    without samples, or inf without convergence.
    """
    loss, prior = objective.loss, objective.coordinates.prior_weights
    weights = objective.coordinates.apply(u)
    value, observed, expected, products = loss.class_moments(weights)
    seen = observed > 0
    for _ in range(NEWTON_STEPS):
        gradient = (expected - observed)[seen]
        slope = float(np.abs(gradient).max(initial=0.0))
        if slope <= 1e-12 * loss.total:
            break
        hessian = (np.diag(expected) - products)[np.ix_(seen, seen)]
        # Singular along the constant vector, which changes nothing: least squares.
        step = np.zeros(len(observed))
        step[seen] = lstsq(hessian, gradient)[0]
        for length in 0.5 ** np.arange(HALVINGS):
            trial = weights.copy()
            trial[prior] -= length * step
            found = loss.class_moments(trial)
            change = found[0] - value
            steeper = float(np.abs((found[2] - found[1])[seen]).max()) >= slope
            # Near the end the loss no longer changes, but its slope still falls.
            if change < 0.0 or (change <= 1e-13 * value and not steeper):
                weights, (value, _, expected, products) = trial, found
                break
        else:
            break
    slope = float(np.abs((expected - observed)[seen]).max(initial=0.0))
    best = u.copy()
    best[objective.coordinates.prior] = weights[prior]
    if slope > 1e-8 * loss.total:
        return best, np.inf
    return best, float(expected[~seen].sum()) / loss.total


@dataclass(frozen=True)
class _Point:
    """A value of C, the mean held-out loss and the coordinates of every fold."""

    C: float
    loss: float
    coordinates: Sequence[FloatArray]


def select_penalty(
    model: LogLinearModel,
    data: CodedData,
    *,
    folds: int,
    max_iter: int,
    monitor: Monitor,
    max_samples: int | None = None,
) -> tuple[float, FloatArray | None]:
    """Select the C with the lowest mean held-out ``-log P(c | x)``.

    From one value of C the search goes on to weaker penalties, and from the same value
    to stronger ones, each until the held-out loss no longer falls; the better end is
    taken. Every fold starts from its coordinates at the value before.

    There are at most `folds` folds and `max_iter` steps per fold and value; `monitor`
    records C, mean held-out loss and error of every value tried. Of more than
    `max_samples` samples so many are used, stratified by class.

    Returns the best C, 1 if no class has two samples, and the mean of the folds'
    coordinates at it, shape (n_coordinates,), or None, to start a fit to all samples.
    """
    n_jobs = data.n_jobs
    if max_samples is not None:
        data = data.stratified_sample(max_samples)
    parts = [
        (model.loss_of(rest, n_jobs=None), model.loss_of(held, n_jobs=None))
        for rest, held in data.stratified_split(folds)
    ]
    if not parts:
        return 1.0, None
    coordinates = model.read_coordinates

    def fit_folds(C: float, starts: Sequence[FloatArray], fall: float) -> _Point:
        objectives = [PenalisedObjective(train, coordinates, C) for train, _ in parts]
        ends = map_threads(
            lambda fold: reduce_gradient(
                objectives[fold], starts[fold], fall, max_iter
            ),
            range(len(parts)),
            n_jobs,
        )
        scores = map_threads(
            lambda fold: parts[fold][1].evaluate(coordinates.apply(ends[fold])),
            range(len(parts)),
            n_jobs,
        )
        loss, error = np.mean(scores, axis=0).tolist()
        monitor.record(C=C, held_out_loss=loss, held_out_error=error)
        return _Point(C, loss, ends)

    ends: list[_Point] = []
    with keep_best(monitor.who, lambda: f"{len(monitor.trace)} values"):
        zero = np.zeros(coordinates.n_in)
        report(monitor.who, 0, unit="value")
        first = fit_folds(FIRST_C, [zero] * len(parts), FIRST_FALL)
        for step in (STEP_OF_C, 1.0 / STEP_OF_C):
            ends.append(first)
            while RANGE_OF_C[0] <= ends[-1].C * step <= RANGE_OF_C[1]:
                found = fit_folds(ends[-1].C * step, ends[-1].coordinates, FALL)
                if not found.loss < ends[-1].loss:
                    break
                ends[-1] = found
    if not ends:
        return 1.0, None
    best = min(ends, key=lambda point: point.loss)
    return best.C, np.mean(best.coordinates, axis=0)
