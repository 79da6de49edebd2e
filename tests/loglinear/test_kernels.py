from __future__ import annotations

import numpy as np

from tanager.loglinear import _kernels


def exponentials(values):
    values = values.copy()
    bits = np.empty(len(values), dtype=np.int64)
    _kernels.exp_below_one(values, len(values), bits, bits.view(np.float64))
    return values


def test_exponentials_are_those_of_numpy():
    random = np.random.default_rng(0)
    values = np.concatenate(
        [
            np.linspace(-745, 0, 100_001),
            -(10.0 ** random.uniform(-20, 2.8, 100_000)),
            -np.log(2) * np.arange(0, 1000, 0.5),
            [0.0, -0.0, -5e-324],
        ]
    )
    values = values[values >= -745]
    found, expected = exponentials(values), np.exp(values)
    near = values > -690
    errors = np.abs(found[near] - expected[near]) / expected[near]
    assert errors.max() < 4e-16
    assert np.all(found <= 1.0)
    assert exponentials(np.zeros(1))[0] == 1.0
    # Below -700 all are read as -700: next to a one they are nothing.
    assert np.all((found[~near] >= 0.0) & (found[~near] < 1e-299))


def test_only_the_first_values_are_replaced():
    values = np.array([-1.0, -2.0, -3.0])
    bits = np.empty(3, dtype=np.int64)
    _kernels.exp_below_one(values, 2, bits, bits.view(np.float64))
    assert values[2] == -3.0
