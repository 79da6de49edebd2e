"""Newton's method with conjugate gradient."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager.optim import newton_cg, newton_steps
from tests.strategies import generators
from tests.tolerance import assert_close


class LogCosh:
    """``sum log cosh(A w - b) + w' M w / 2``: convex, and not a parabola."""

    def __init__(self, random, size, n_terms=20):
        self.A = random.normal(size=(n_terms, size)) * 3
        self.b = random.normal(size=n_terms) * 5
        self.penalty = random.uniform(0.5, 2.0, size)
        self.n_passes = 0

    def value(self, w):
        z = self.A @ w.ravel() - self.b
        return np.logaddexp(z, -z).sum() + 0.5 * self.penalty @ w.ravel() ** 2

    def evaluate(self, w):
        self.n_passes += 1
        slopes = np.tanh(self.A @ w.ravel() - self.b)
        gradient = self.A.T @ slopes + self.penalty * w.ravel()

        def multiply(d):
            self.n_passes += 1
            change = (1.0 - slopes**2) * (self.A @ d.ravel())
            return (self.A.T @ change + self.penalty * d.ravel()).reshape(d.shape)

        return self.value(w), gradient.reshape(w.shape), multiply

    def precondition(self, residual):
        return (residual.ravel() / self.penalty).reshape(residual.shape)


def never(*_):
    return False


@settings(max_examples=25)
@given(random=generators(), size=st.integers(1, 12))
def test_the_minimum_is_found_and_no_step_leads_up(random, size):
    objective = LogCosh(random, size)
    points = list(islice(newton_steps(objective, np.ones(size), never), 60))
    values = np.array([point.value for point in points])
    assert np.all(np.diff(values) <= 1e-12 * values[0])
    assert np.abs(points[-1].gradient).max() < 1e-6
    bound = 0.5 * points[-1].gradient @ objective.precondition(points[-1].gradient)
    for other in random.normal(size=(5, size)):
        assert objective.value(points[-1].w + 1e-3 * other) >= values[-1] - bound


def test_arrays_keep_their_shape_and_passes_are_counted():
    objective = LogCosh(np.random.default_rng(0), 6)
    flat = list(islice(newton_steps(objective, np.zeros(6), never), 4))
    assert flat[-1].passes == objective.n_passes
    shaped = list(islice(newton_steps(objective, np.zeros((3, 2)), never), 4))
    assert_close(shaped[-1].w.ravel(), flat[-1].w)
    assert shaped[-1].w.shape == (3, 2)


def test_the_residual_is_the_gradient_that_the_step_leaves(monkeypatch):
    monkeypatch.setattr(newton_cg, "FORCING", 0.0)
    random = np.random.default_rng(1)
    objective = LogCosh(random, 5)
    objective.b[:] = 0.0  # near zero it is a parabola
    seen = []

    def note(_, residual, norm):
        seen.append(residual)
        assert_close(norm, float(residual @ objective.precondition(residual)))
        return len(seen) == 3

    points = newton_steps(objective, 1e-5 * random.normal(size=5), note)
    next(points)
    assert_close(
        -next(points).gradient / np.abs(seen[-1]).max(),
        seen[-1] / np.abs(seen[-1]).max(),
        1e-3,
    )


def test_passes_end_the_search():
    objective = LogCosh(np.random.default_rng(2), 8)
    few = list(newton_steps(objective, np.zeros(8), never, max_passes=5))
    assert few[-1].value < few[0].value
    assert few[-2].passes < 5


@pytest.mark.parametrize("start", [0.0, 1.0])
def test_a_gradient_that_is_small_enough_takes_no_step(start):
    objective = LogCosh(np.random.default_rng(3), 4)
    w = np.full(4, start)
    assert len(list(newton_steps(objective, w, lambda *_: True))) == 1


def test_a_flat_function_ends_at_once():
    class Flat:
        def evaluate(self, w):
            return 3.0, np.zeros_like(w), np.zeros_like

        def precondition(self, residual):
            return residual

    assert len(list(newton_steps(Flat(), np.zeros(3), never))) == 1


def test_a_line_ends_the_search():
    class Line:
        def evaluate(self, w):
            return float(w.sum()), np.ones_like(w), np.zeros_like

        def precondition(self, residual):
            return residual

    points = list(islice(newton_steps(Line(), np.zeros(3), never), 5))
    assert [point.w.tolist() for point in points] == [[0.0, 0.0, 0.0]]
