"""Decimal numbers that keep every bit of a table."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tanager.io.probability_digits import decimals, logarithms, shortest

LOGS = st.lists(st.floats(-745.0, 0.0), min_size=1, max_size=30).map(np.array)


@given(LOGS)
def test_logarithms_undo_exp_exactly(logs):
    probabilities = np.exp(logs)
    assert np.array_equal(np.exp(logarithms(probabilities)), probabilities)


@given(LOGS)
def test_short_numbers_stand_for_the_same_probabilities(logs):
    probabilities = np.exp(logs)
    short = shortest(probabilities)
    assert np.array_equal(np.exp(logarithms(short)), probabilities)
    assert np.array_equal(shortest(np.exp(logarithms(short))), short)
    lengths = [len(repr(p)) for p in short.tolist()]
    assert all(
        n <= len(repr(p)) for n, p in zip(lengths, probabilities.tolist(), strict=True)
    )


@given(st.lists(st.integers(1, 10**12), min_size=1, max_size=30))
def test_numbers_of_a_file_are_given_back(numerators):
    given_numbers = np.array([float(f"{n}e-12") for n in numerators])
    assert np.array_equal(shortest(np.exp(logarithms(given_numbers))), given_numbers)


def test_zero_one_and_shapes():
    table = np.array([[0.0, 1.0], [0.5, 0.5]])
    assert logarithms(table).tolist() == [[-np.inf, 0.0], [np.log(0.5)] * 2]
    (rows,) = decimals([logarithms(table)])
    assert rows == [["0.0", "1.0"], ["0.5", "0.5"]]
    tables = [np.array([0.25, 0.75]), table.reshape(1, 2, 2)]
    first, second = decimals([logarithms(one) for one in tables])
    assert first == [["0.25", "0.75"]]
    assert second == rows


def test_what_is_possible_stays_possible():
    (rows,) = decimals([np.array([[-800.0, 0.0], [-np.inf, 0.0]])])
    assert rows == [["5e-324", "1.0"], ["0.0", "1.0"]]


@pytest.mark.parametrize("n", [1, 7, 8, 64, 1001])
def test_what_is_found_does_not_depend_on_the_length(n):
    logs = -np.random.default_rng(n).gamma(1.0, 5.0, n)
    whole = logarithms(np.exp(logs))
    parts = np.concatenate([logarithms(np.exp(logs[k : k + 1])) for k in range(n)])
    assert np.array_equal(np.exp(whole), np.exp(parts))
