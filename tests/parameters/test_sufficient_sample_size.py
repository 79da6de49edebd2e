from __future__ import annotations

import numpy as np
import pytest

from tanager import InputError
from tanager.parameters import conditional_sample_size, likelihood_sample_size


def test_theorem_1_bounds_every_representative():
    """Equations 16 and 17: that many samples make the union bound equal delta."""
    n, k, epsilon, delta, gamma = 5, 12, 0.3, 0.1, 0.02
    samples = conditional_sample_size(n, k, epsilon=epsilon, delta=delta, gamma=gamma)
    # Hoeffding for one of L representatives, the values within [0, -N ln gamma].
    spread = n * np.log(gamma)
    log_one = np.log(2.0) - 2.0 * samples * (epsilon / 6.0 / spread) ** 2
    log_representatives = k * np.log(6.0 * k / (gamma * epsilon))
    assert log_one + log_representatives == pytest.approx(np.log(delta))


def test_equation_10():
    n, k, epsilon, delta = 5, 12, 0.3, 0.1
    size = np.log(1 + 3 * n / epsilon)
    expected = (288 * n**2 * k / epsilon**2 * size**2) * np.log(
        18 * n * k * size / (epsilon * delta)
    )
    found = likelihood_sample_size(n, k, epsilon=epsilon, delta=delta)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("bound", [conditional_sample_size, likelihood_sample_size])
def test_more_of_everything_needs_more_samples(bound):
    least = bound(4, 20)
    assert bound(5, 20) > least
    assert bound(4, 21) > least
    assert bound(4, 20, epsilon=0.04) > least
    assert bound(4, 20, delta=0.04) > least


def test_a_smaller_gamma_needs_more_samples():
    assert conditional_sample_size(4, 20, gamma=0.01) > conditional_sample_size(4, 20)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_variables": 0, "n_parameters": 1}, "n_variables"),
        ({"n_variables": 1, "n_parameters": 1.5}, "n_parameters"),
        ({"n_variables": 1, "n_parameters": 1, "epsilon": 0}, "epsilon"),
        ({"n_variables": 1, "n_parameters": 1, "delta": 1}, "delta"),
        ({"n_variables": 1, "n_parameters": 1, "gamma": 1.0}, "gamma"),
    ],
)
def test_impossible_arguments_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        conditional_sample_size(**arguments)
