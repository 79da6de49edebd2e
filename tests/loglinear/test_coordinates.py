"""Coordinates: the composed map, and the penalty."""

from __future__ import annotations

import numpy as np
import pytest

from tanager import InputError
from tanager.loglinear.coordinates import Coordinates
from tanager.model.layout import FamilyLayout
from tests.tolerance import assert_close


def test_coordinates_are_summed_repeated_and_added():
    """Two features in 2 groups each, the first one smooth, by the definition."""
    factors = FamilyLayout((4, 3, 2), ((0, 1, 2), (2,)), (1, 2), 2)
    linear_map = Coordinates(factors, (True, False, False), (2, 2, 2))
    assert linear_map.layout.axes == ((3, 4, 2), (2,), (1, 2))
    u = np.random.default_rng(0).normal(size=linear_map.n_in)
    pair, prior, own = u[:8].reshape(2, 2, 2), u[8:10], u[10:].reshape(3, 2)
    found = linear_map.apply(u)
    for i, j in np.ndindex(4, 3):
        expected = pair[: i // 2 + 1, j * 2 // 3].sum(axis=0) + own[j]
        assert_close(found[:24].reshape(4, 3, 2)[i, j], expected)
    assert np.array_equal(found[24:], prior)


def test_the_class_is_never_penalised():
    factors = FamilyLayout((4, 3, 2), ((0, 1, 2), (2,)), (1, 2), 2)
    weights = np.arange(1.0, 33.0)
    found = Coordinates(factors, (False,) * 3, penalty=weights)
    assert found.prior.tolist() == found.prior_weights.tolist() == [24, 25]
    weights[[24, 25]] = 0.0
    assert np.array_equal(found.penalty, weights)
    assert np.array_equal(Coordinates(factors, (False,) * 3).penalty, weights > 0)


@pytest.mark.parametrize("penalty", [np.ones(3), np.zeros(32), np.full(32, np.nan)])
def test_other_penalties_are_refused(penalty):
    factors = FamilyLayout((4, 3, 2), ((0, 1, 2), (2,)), (1, 2), 2)
    with pytest.raises(InputError, match="must be 32 finite numbers above 0"):
        Coordinates(factors, (False,) * 3, penalty=penalty)
