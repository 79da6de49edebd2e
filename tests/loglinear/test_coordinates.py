"""Linear maps between layouts: adjoints, compositions, and dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager.inference.merged_tables import MergedTables
from tanager.loglinear.coordinates import (
    Coordinates,
    FactorSums,
    RunningSums,
    StateGroups,
    state_groups,
)
from tanager.model.layout import FamilyLayout
from tanager.model.linear_map import Composition
from tests.strategies import generators
from tests.tolerance import assert_close

STATES = (4, 3, 5, 2)
TARGET = 3
FACTORS = FamilyLayout(STATES, ((0, 1, 3), (1, 2, 3), (2, 3), (3,)), (1, 2, 2, 3), 3)


def dense(linear_map):
    """The matrix of a map, column by column."""
    return np.array([linear_map.apply(row) for row in np.eye(linear_map.n_in)]).T


def factor_sums():
    source = FamilyLayout(
        STATES, ((0, 1, 3), (1, 3), (2, 1, 3), (3,)), (1, 1, 1, 3), TARGET
    )
    target = FamilyLayout(STATES, ((0, 1, 3), (1, 0, 2, 3)), (1, 2), TARGET)
    return FactorSums(source, target, (0, 0, 1, 1))


def running_sums():
    return RunningSums(FACTORS, [(0, 1), (), (0,), ()])


def groups():
    coarse = FamilyLayout(
        (*STATES, 2, 2, 3), ((4, 5, 3), (1, 6, 3), (2, 3), (3,)), (1, 2, 2, 3), TARGET
    )
    every = [
        ((0, *state_groups(4, 2)), (1, *state_groups(3, 2))),
        ((1, *state_groups(5, 3)),),
        (),
        (),
    ]
    return StateGroups(coarse, FACTORS, every)


def merged():
    return MergedTables.of(FACTORS)


def coordinates(grouped=True, hierarchical=True):
    smooth = (True, False, True, False)
    sizes = (2, 2, 3, 2) if grouped else ()
    return Coordinates(FACTORS, smooth, sizes, hierarchical=hierarchical)


MAPS = {
    "factor sums": factor_sums,
    "running sums": running_sums,
    "groups": groups,
    "merged": merged,
    "coordinates": coordinates,
    "coordinates without groups": lambda: coordinates(grouped=False),
    "coordinates without lower orders": lambda: coordinates(hierarchical=False),
    "groups of running sums": lambda: (
        groups()
        @ RunningSums(
            FamilyLayout(
                (*STATES, 2, 2, 3),
                ((4, 5, 3), (1, 6, 3), (2, 3), (3,)),
                (1, 2, 2, 3),
                3,
            ),
            [(0,), (1,), (), ()],
        )
    ),
    "merged coordinates": lambda: merged() @ coordinates(),
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


@settings(max_examples=10, deadline=None)
@given(random=generators(), inner=st.sampled_from(["coordinates", "running sums"]))
def test_compositions_are_products(random, inner):
    outer, first = merged(), MAPS[inner]()
    product = outer @ first
    assert isinstance(product, Composition)
    assert_close(dense(product), dense(outer) @ dense(first))
    x = random.normal(size=product.n_in)
    assert np.array_equal(product.apply(x), outer.apply(first.apply(x)))


def test_maps_of_other_lengths_are_not_composed():
    with pytest.raises(ValueError, match="cannot be composed"):
        factor_sums() @ running_sums()


def test_factors_are_added_by_the_definition():
    linear_map = factor_sums()
    x = np.arange(linear_map.n_in, dtype=float)
    found = linear_map.apply(x)
    own = x[:24].reshape(4, 3, 2) + x[24:30].reshape(1, 3, 2)
    assert_close(found[:24].reshape(4, 3, 2), own)
    pair, prior = x[30:60].reshape(5, 3, 2), x[60:]
    expected = pair.transpose(1, 0, 2)[:, None] + prior
    whole = np.broadcast_to(expected, (3, 4, 5, 2))
    assert_close(found[24:].reshape(3, 4, 5, 2), whole)


def test_running_sums_and_differences_are_inverse():
    sums = running_sums()
    x = np.random.default_rng(0).normal(size=sums.n_in)
    assert_close(sums.invert(sums.apply(x)), x)
