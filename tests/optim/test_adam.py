from __future__ import annotations

import numpy as np

from tanager.optim import Adam, exponential_decay
from tests.reference.gradient import adam_path
from tests.tolerance import EXACT, assert_close


def test_steps_are_those_of_the_paper():
    random = np.random.default_rng(0)
    matrix = random.normal(size=(5, 5))

    def gradient_of(vector):
        return matrix.T @ (matrix @ vector - 1.0)

    start = random.normal(size=5)
    rates = [exponential_decay(0.1, 0.01, epoch, 50) for epoch in range(50)]
    adam, vector = Adam(5), start.copy()
    for rate, expected in zip(rates, adam_path(gradient_of, start, rates), strict=True):
        adam.step(vector, gradient_of(vector), rate)
        assert_close(vector, expected, EXACT)
    assert adam.steps == 50


def test_the_rate_falls_by_the_decay():
    rates = [exponential_decay(0.3, 1e-3, epoch, 11) for epoch in range(11)]
    assert_close(rates[0], 0.3, EXACT)
    assert_close(rates[-1], 0.3e-3, EXACT)
    ratios = np.divide(rates[1:], rates[:-1])
    assert_close(ratios, ratios[0], EXACT)


def test_a_single_epoch_has_the_full_rate():
    assert exponential_decay(0.2, 1e-3, 0, 1) == 0.2
