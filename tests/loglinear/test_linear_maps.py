"""Linear maps between tables: dense matrices, adjoints and compositions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager.loglinear.coordinates import Coordinates
from tanager.loglinear.linear_maps import (
    Composition,
    GroupedStates,
    MergedTables,
    RunningSums,
    TableSums,
    state_groups,
)
from tanager.model.layout import FamilyLayout
from tests.strategies import generators, random_codes, random_schema, random_structure
from tests.tolerance import assert_close

STATES = (4, 3, 5, 2)
TARGET = 3
GROUPS = (2, 2, 3, 2)
SMOOTH = (True, False, True, False)
APART = (True, True, False, False)
# Factors over one, two and three features, one of them not in increasing order.
FACTORS = FamilyLayout(
    STATES,
    ((0, 1, 3), (2, 1, 3), (2, 3), (0, 1, 2, 3), (3,)),
    (1, 2, 2, 0, 3),
    TARGET,
)


def dense(linear_map):
    """The matrix of a map, column by column."""
    return np.array([linear_map.apply(row) for row in np.eye(linear_map.n_in)]).T


def table_sums():
    source = FamilyLayout(
        STATES, ((0, 1, 3), (1, 3), (2, 1, 3), (3,)), (1, 1, 1, 3), TARGET
    )
    sums = FamilyLayout(STATES, ((0, 1, 3), (1, 0, 2, 3)), (1, 2), TARGET)
    return TableSums(source, sums, (0, 0, 1, 1))


def coordinates(groups=GROUPS, *, hierarchical=True):
    return Coordinates(FACTORS, SMOOTH, groups, hierarchical=hierarchical)


MAPS = {
    "running sums": lambda: RunningSums(FACTORS, SMOOTH),
    "running sums, missing apart": lambda: RunningSums(FACTORS, SMOOTH, APART),
    "groups": lambda: GroupedStates(FACTORS, GROUPS),
    "groups, missing apart": lambda: GroupedStates(FACTORS, GROUPS, APART),
    "table sums": table_sums,
    "merged": lambda: MergedTables(FACTORS),
    "groups of running sums": lambda: (
        (grouped := GroupedStates(FACTORS, GROUPS))
        @ RunningSums(grouped.source, SMOOTH * 2)
    ),
    "coordinates": coordinates,
    "coordinates, missing apart": lambda: Coordinates(FACTORS, SMOOTH, GROUPS, APART),
    "coordinates without groups": lambda: coordinates(()),
    "coordinates without lower orders": lambda: coordinates(hierarchical=False),
    "merged coordinates": lambda: MergedTables(FACTORS) @ coordinates(),
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
    assert not np.shares_memory(applied, x)
    assert not np.shares_memory(adjoint, y)
    matrix = dense(linear_map)
    assert_close(applied, matrix @ x)
    assert_close(adjoint, matrix.T @ y)


@pytest.mark.parametrize("inner", ["coordinates", "running sums", "groups"])
def test_compositions_are_products(inner):
    outer, first = MergedTables(FACTORS), MAPS[inner]()
    product = outer @ first
    assert isinstance(product, Composition)
    assert (product.n_in, product.n_out) == (first.n_in, outer.n_out)
    assert_close(dense(product), dense(outer) @ dense(first))


def test_maps_of_other_lengths_are_not_composed():
    with pytest.raises(ValueError, match=r"length 62 cannot be .* length 186"):
        table_sums() @ RunningSums(FACTORS, SMOOTH)


def test_running_sums_by_the_definition():
    x = np.random.default_rng(0).normal(size=FACTORS.n_cells)
    sums = RunningSums(FACTORS, SMOOTH)
    found = sums.apply(x)
    triple, given_table = FACTORS.table(found, 3), FACTORS.table(x, 3)
    for a, b, c in np.ndindex(4, 3, 5):
        expected = given_table[: a + 1, b, : c + 1].sum(axis=(0, 1))
        assert_close(triple[a, b, c], expected)
    assert np.array_equal(FACTORS.table(found, 4), FACTORS.table(x, 4))
    assert_close(sums.invert(found), x)


def test_a_state_that_is_kept_apart_is_not_summed():
    x = np.random.default_rng(0).normal(size=FACTORS.n_cells)
    sums = RunningSums(FACTORS, SMOOTH, APART)
    found = sums.apply(x)
    triple, given_table = FACTORS.table(found, 3), FACTORS.table(x, 3)
    for a, b, c in np.ndindex(4, 3, 5):
        first = 3 if a == 3 else 0  # the last state of the first feature
        expected = given_table[first : a + 1, b, : c + 1].sum(axis=(0, 1))
        assert_close(triple[a, b, c], expected)
    assert_close(sums.invert(found), x)


def test_a_state_that_is_kept_apart_is_a_group():
    grouped = GroupedStates(FACTORS, GROUPS, APART)
    x = np.random.default_rng(0).normal(size=grouped.n_in)
    found = grouped.apply(x)
    triple, weights = FACTORS.table(found, 3), grouped.source.table(x, 3)
    of_first, of_second = (0, 0, 0, 1), (0, 0, 1)
    for a, b, c in np.ndindex(4, 3, 5):
        assert np.array_equal(
            triple[a, b, c], weights[of_first[a], of_second[b], c * 3 // 5]
        )


@pytest.mark.parametrize(
    ("n_states", "n_groups", "groups"),
    [
        (5, 3, [0, 0, 1, 1, 2, 3]),
        (5, 2, [0, 0, 0, 0, 1, 2]),
        (5, 5, [0, 1, 2, 3, 4, 5]),
        (2, 2, [0, 1, 2]),
    ],
)
def test_groups_with_a_state_apart(n_states, n_groups, groups):
    assert state_groups(n_states, n_groups, apart=True).tolist() == groups


def test_states_of_a_group_share_weights():
    grouped = GroupedStates(FACTORS, GROUPS)
    assert grouped.source.axes == ((4, 5, 3), (6, 5, 3), (2, 3), (4, 5, 6, 3), (3,))
    x = np.random.default_rng(0).normal(size=grouped.n_in)
    found = grouped.apply(x)
    triple, weights = FACTORS.table(found, 3), grouped.source.table(x, 3)
    for a, b, c in np.ndindex(4, 3, 5):
        assert np.array_equal(
            triple[a, b, c], weights[a * 2 // 4, b * 2 // 3, c * 3 // 5]
        )
    # A factor over one feature keeps all states.
    assert np.array_equal(FACTORS.table(found, 2), grouped.source.table(x, 2))


def test_groups_as_large_as_the_states_change_nothing():
    grouped = GroupedStates(FACTORS, STATES)
    assert not any(grouped.groups)
    assert np.array_equal(dense(grouped), np.eye(FACTORS.n_cells))


def test_tables_are_added_by_the_definition():
    linear_map = table_sums()
    x = np.arange(linear_map.n_in, dtype=float)
    found = linear_map.apply(x)
    own = x[:24].reshape(4, 3, 2) + x[24:30].reshape(1, 3, 2)
    assert_close(found[:24].reshape(4, 3, 2), own)
    pair, prior = x[30:60].reshape(5, 3, 2), x[60:]
    expected = pair.transpose(1, 0, 2)[:, None] + prior
    whole = np.broadcast_to(expected, (3, 4, 5, 2))
    assert_close(found[24:].reshape(3, 4, 5, 2), whole)


@given(random=generators(), n_features=st.integers(1, 8), parents=st.integers(0, 3))
def test_merged_tables_of_random_networks(random, n_features, parents):
    schema = random_schema(random, n_features)
    structure = random_structure(random, schema, max_parents=parents)
    layout = FamilyLayout.of_structure(schema, structure)
    merged = MergedTables(layout)
    values = random.normal(size=layout.n_cells)
    gradient = random.normal(size=merged.n_out)
    spread, collected = merged.apply(values), merged.adjoint(gradient)
    assert spread.shape == (merged.n_out,)
    assert collected.shape == (layout.n_cells,)
    scale = np.linalg.norm(spread) * np.linalg.norm(gradient) + 1.0
    assert_close(spread @ gradient / scale, values @ collected / scale)


@given(random=generators(), n_features=st.integers(1, 6))
def test_a_sample_reads_the_sum_of_its_cells(random, n_features):
    schema = random_schema(random, n_features)
    structure = random_structure(random, schema, max_parents=2)
    layout = FamilyLayout.of_structure(schema, structure)
    merged = MergedTables(layout)
    values = random.normal(size=layout.n_cells)
    spread = merged.apply(values)
    row = random_codes(random, schema, 1, missing=0.3)[0].astype(int)
    for c in range(schema.n_classes):
        states = [*row.tolist(), c]
        expected = sum(
            layout.table(values, t)[tuple(states[v] for v in layout.axes[t])]
            for t in range(layout.n_tables)
            if all(states[v] < layout.n_states[v] for v in layout.axes[t])
        )
        found = 0.0
        for t, offset in enumerate(merged.offsets):
            axes = slice(merged.start[t], merged.start[t + 1])
            codes = row[merged.axis_variable[axes]]
            found += spread[offset + codes @ merged.axis_stride[axes] + c]
        assert_close(found, expected)
