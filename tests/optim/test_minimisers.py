"""Conjugate gradient and L-BFGS: what both promise, and the restarts of the first."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings

from tanager.optim import conjugate_gradient, lbfgs
from tests.strategies import generators

MINIMISERS = [conjugate_gradient, lbfgs]


def rosenbrock(x):
    """A curved valley; the minimum is 0, at ones."""
    ahead, here = x[1:], x[:-1]
    steep = ahead - here**2
    gradient = np.zeros(len(x))
    gradient[1:] += 200 * steep
    gradient[:-1] += -400 * here * steep - 2 * (1 - here)
    return float(100 * steep @ steep + (1 - here) @ (1 - here)), gradient


def logistic(random):
    """Logistic loss of random rows that no plane parts."""
    rows = random.normal(size=(40, 4))
    rows = np.vstack([rows, -rows[:20] + 0.1 * random.normal(size=(20, 4))])

    def objective(x):
        margins = rows @ x
        share = 1 / (1 + np.exp(np.clip(margins, -500, 500)))
        return float(np.logaddexp(0, -margins).mean()), -(share @ rows) / len(rows)

    return objective


def values_of(minimiser, objective, start, **options):
    """The values at the start and after every step, and the result."""
    values = [objective(start)[0]]

    def report(vector, value, norm):
        assert value == objective(vector)[0]
        assert norm == pytest.approx(np.linalg.norm(objective(vector)[1]))
        values.append(value)

    return values, minimiser(objective, start, callback=report, **options)


@pytest.mark.parametrize("minimiser", MINIMISERS)
@settings(max_examples=20, deadline=None)
@given(random=generators())
def test_no_step_leads_up(minimiser, random):
    start = random.uniform(-2, 2, 4)
    for objective in (rosenbrock, logistic(random)):
        values, (vector, n_iter) = values_of(
            minimiser, objective, start, max_iter=60, tol=1e-6
        )
        assert len(values) == n_iter + 1 <= 61
        assert (np.diff(values) <= 0).all()
        assert objective(vector)[0] == values[-1]


@pytest.mark.parametrize("minimiser", MINIMISERS)
def test_the_valley_is_followed_to_its_end(minimiser):
    start = np.array([-1.2, 1.0, -1.2, 1.0])
    kept = start.copy()
    vector, n_iter = minimiser(rosenbrock, start, max_iter=2000, tol=1e-7)
    assert np.array_equal(start, kept)
    assert n_iter < 2000
    assert np.abs(rosenbrock(vector)[1]).max() <= 1e-7


@pytest.mark.parametrize("minimiser", MINIMISERS)
@pytest.mark.parametrize("max_iter", [1, 3])
def test_max_iter_is_respected(minimiser, max_iter):
    start = np.array([-1.2, 1.0])
    values, (vector, n_iter) = values_of(
        minimiser, rosenbrock, start, max_iter=max_iter, tol=1e-12
    )
    assert n_iter == max_iter == len(values) - 1
    assert rosenbrock(vector)[0] < values[0]


@pytest.mark.parametrize("minimiser", MINIMISERS)
def test_flat_functions_end_at_once(minimiser):
    def flat(x):
        return 3.0, np.zeros(len(x))

    vector, n_iter = minimiser(flat, np.arange(3.0), max_iter=50, tol=1e-6)
    assert (vector.tolist(), n_iter) == ([0.0, 1.0, 2.0], 0)


@pytest.mark.parametrize("minimiser", MINIMISERS)
def test_functions_without_a_minimum_end(minimiser):
    def falling(x):  # the loss of rows that a plane parts: it only tends to 0
        share = 1 / (1 + np.exp(np.clip(x, -500, 500)))
        return float(np.logaddexp(0, -x).sum()), -share

    values, (vector, n_iter) = values_of(
        minimiser, falling, np.zeros(3), max_iter=500, tol=1e-6
    )
    assert n_iter < 500
    assert np.isfinite(vector).all()
    assert values[-1] < 1e-5


def test_directions_are_conjugate_and_begin_anew_where_they_lead_up():
    def kinked(x):  # a line search may end beyond the kink, where the slope turns
        slope = np.array([10.0, 1.0, 3.0])
        return float(slope @ np.abs(x) + x @ x), slope * np.sign(x) + 2 * x

    random = np.random.default_rng(0)
    restarts = 0
    for _ in range(10):
        points = [random.uniform(-3, 3, 3)]
        conjugate_gradient(
            kinked,
            points[0],
            max_iter=6,
            tol=1e-9,
            callback=lambda vector, *_, points=points: points.append(vector),
        )
        old = kinked(points[0])[1]
        direction = -old
        for here, there in pairwise(points):
            gradient = kinked(here)[1]
            if here is not points[0]:
                ratio = gradient @ (gradient - old) / (old @ old)
                direction = -gradient + max(0.0, ratio) * direction
            if direction @ gradient >= 0:
                direction, restarts = -gradient, restarts + 1
            step = there - here
            length = np.linalg.norm(step) * np.linalg.norm(direction)
            assert step @ direction > 0.999 * length
            old = gradient
    assert restarts > 0


@settings(max_examples=20, deadline=None)
@given(random=generators())
def test_a_projection_confines_the_search(random):
    def into_box(x):
        return np.clip(x, 0.0, 1.0)

    def bowl(x):
        return float((x - middle) @ (scale * (x - middle))) / 2, scale * (x - middle)

    middle = random.uniform(-1, 2, 5)
    scale = random.uniform(0.1, 10, 5)
    start = random.uniform(0, 1, 5)
    visited = []
    vector, _ = conjugate_gradient(
        bowl,
        start,
        max_iter=200,
        tol=1e-8,
        callback=lambda x, value, _: visited.append((x, value)),
        project=into_box,
    )
    assert all(((x >= 0) & (x <= 1)).all() for x, _ in visited)
    assert all(after[1] < before[1] for before, after in pairwise(visited))
    # Separable, so the nearest point of the box is the minimum.
    assert vector == pytest.approx(into_box(middle), abs=1e-3)
