"""Linear maps between layouts: adjoints and dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from tanager.inference.merged_tables import MergedTables
from tanager.loglinear.coordinates import Coordinates
from tanager.loglinear.cpt_conversion import add_factors
from tanager.model.layout import FamilyLayout
from tests.strategies import generators
from tests.tolerance import assert_close

STATES = (4, 3, 5, 2)
TARGET = 3
FACTORS = FamilyLayout(STATES, ((0, 1, 3), (1, 2, 3), (2, 3), (3,)), (1, 2, 2, 3), 3)


def dense(linear_map):
    """The matrix of a map, column by column."""
    return np.array([linear_map.apply(row) for row in np.eye(linear_map.n_in)]).T


def merged():
    return MergedTables.of(FACTORS)


def coordinates(grouped=True, hierarchical=True):
    smooth = (True, False, True, False)
    sizes = (2, 2, 3, 2) if grouped else ()
    return Coordinates(FACTORS, smooth, sizes, hierarchical=hierarchical)


MAPS = {
    "merged": merged,
    "coordinates": coordinates,
    "coordinates without groups": lambda: coordinates(grouped=False),
    "coordinates without lower orders": lambda: coordinates(hierarchical=False),
}


@pytest.mark.parametrize("name", MAPS)
@settings(max_examples=10, deadline=None)
@given(random=generators())
def test_the_adjoint_is_the_transpose(name, random):
    linear_map = MAPS[name]()
    x, y = random.normal(size=linear_map.n_in), random.normal(size=linear_map.n_out)
    x_before, y_before = x.copy(), y.copy()
    applied, adjoint = linear_map.apply(x), linear_map.adjoint(y)
    assert applied.shape == y.shape
    assert adjoint.shape == x.shape
    assert np.array_equal(x, x_before)
    assert np.array_equal(y, y_before)
    assert_close(applied @ y, x @ adjoint)
    matrix = dense(linear_map)
    assert_close(applied, matrix @ x)
    assert_close(adjoint, matrix.T @ y)


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


def test_factors_are_added_by_the_definition():
    source = FamilyLayout(
        STATES, ((0, 1, 3), (1, 3), (2, 1, 3), (3,)), (1, 1, 1, 3), TARGET
    )
    target = FamilyLayout(STATES, ((0, 1, 3), (1, 0, 2, 3)), (1, 2), TARGET)
    x = np.arange(source.n_cells, dtype=float)
    found = add_factors(source, x, target, (0, 0, 1, 1))
    own = x[:24].reshape(4, 3, 2) + x[24:30].reshape(1, 3, 2)
    assert_close(found[:24].reshape(4, 3, 2), own)
    pair, prior = x[30:60].reshape(5, 3, 2), x[60:]
    expected = pair.transpose(1, 0, 2)[:, None] + prior
    whole = np.broadcast_to(expected, (3, 4, 5, 2))
    assert_close(found[24:].reshape(3, 4, 5, 2), whole)
