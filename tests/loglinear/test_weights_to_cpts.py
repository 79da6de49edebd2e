from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager import CapabilityError, InputError, Network, Structure, TableSizeError
from tanager.data import ArrayData
from tanager.inference import engine_for, log_marginal
from tanager.loglinear import weights_to_cpts
from tanager.loglinear.linear_maps import TableSums
from tanager.loglinear.weights_to_cpts import (
    FullNormaliser,
    SumNormaliser,
    log_linear_families,
)
from tanager.model import FamilyLayout
from tests.reference.log_linear import joint_of_families, joint_of_weights
from tests.strategies import (
    generators,
    random_codes,
    random_data,
    random_k_tree,
    random_schema,
    weight_layout,
)
from tests.tolerance import assert_close

TIGHT = 1e-10


def problem(random, n_features=4, k=2, order=2, **options):
    schema = random_schema(random, n_features, **options)
    structure = random_k_tree(random, schema, k)
    layout = weight_layout(schema, structure, order)
    return schema, structure, layout, random.normal(scale=2.0, size=layout.n_cells)


@settings(max_examples=40)
@given(
    random=generators(),
    n_features=st.integers(1, 5),
    k=st.integers(1, 3),
    order=st.integers(1, 3),
    full_cells=st.sampled_from([0, 30, 10**6]),
)
def test_joint_is_that_of_the_weights(random, n_features, k, order, full_cells):
    schema, structure, layout, weights = problem(random, n_features, k, order)
    found = log_linear_families(structure, layout, weights, full_cells=full_cells)
    expected = joint_of_weights(layout, weights)
    assert_close(joint_of_families(found.layout, found.log_theta), expected, TIGHT)
    # Every family is proper: over its own states it sums to one.
    network = Network(schema, structure, found)
    for name in schema.names:
        assert_close(network.table(name).values.sum(axis=-1), 1.0, TIGHT)


@settings(max_examples=25)
@given(random=generators(), k=st.integers(1, 3), order=st.integers(1, 4))
def test_equal_to_the_conversion_with_full_tables(random, k, order):
    schema, structure, layout, weights = problem(random, 6, k, order)
    full = FamilyLayout.of_structure(schema, structure)
    added = np.zeros(full.n_cells)
    for v, axes in enumerate(full.axes):
        full.table(added, v)[...] = layout.sum_tables(
            weights, layout.tables_of(v), axes
        )
    log_theta, log_sum = FullNormaliser(structure, full).normalise(added)
    one_table_each = log_linear_families(structure, layout, weights)
    assert one_table_each.layout == full
    assert_close(one_table_each.log_theta, log_theta, TIGHT)
    sums = log_linear_families(structure, layout, weights, full_cells=0)
    for v, axes in enumerate(full.axes):
        table = full.table(log_theta, v)
        assert_close(sums.log_family(v, axes), table, TIGHT)
    normaliser = SumNormaliser(structure, layout, 0)
    found = normaliser.normalise(
        TableSums(layout, normaliser.layout, normaliser.into).apply(weights)
    )[1]
    assert_close(found, log_sum, TIGHT)


@given(random=generators())
def test_trees_have_one_table_each(random):
    schema, structure, layout, weights = problem(random, 5, k=1)
    found = log_linear_families(structure, layout, weights, full_cells=0)
    assert found.layout == FamilyLayout.of_structure(schema, structure)


def test_tables_of_a_two_tree_have_two_features():
    random = np.random.default_rng(0)
    schema = random_schema(random, 30, max_states=12, n_classes=3)
    structure = random_k_tree(random, schema, 2)
    layout = weight_layout(schema, structure)
    found = log_linear_families(structure, layout, np.zeros(layout.n_cells)).layout
    assert found.is_full(structure)
    found = log_linear_families(
        structure, layout, np.zeros(layout.n_cells), full_cells=0
    ).layout
    assert max(len(axes) for axes in found.axes) == 3
    assert max(len(found.tables_of(v)) for v in range(30)) == 3


@pytest.mark.parametrize("k", [2, 3])
def test_large_families_are_sums_and_small_ones_are_not(k):
    random = np.random.default_rng(1)
    _, structure, layout, weights = problem(random, 8, k, max_states=5)
    found = log_linear_families(structure, layout, weights, full_cells=60).layout
    states = np.array(layout.n_states)
    for v, family in enumerate(structure.families):
        full = found.tables_of(v) == (found.owners.index(v),)
        assert full == (states[list(family)].prod() <= 60 or len(family) <= 3)


def test_weights_that_leave_a_parent_out():
    # Feature 2 has the parents 0 and 1, but no weight with 1.
    structure = Structure.class_rooted(((), (0,), (0, 1), ()), 3)
    axes = ((0, 1, 3), (0, 2, 3), (3,))
    layout = FamilyLayout((3, 4, 5, 2), axes, (1, 2, 3), 3)
    weights = np.random.default_rng(2).normal(size=layout.n_cells)
    found = log_linear_families(structure, layout, weights, full_cells=0)
    assert found.layout.axes == ((0, 3), (0, 1, 3), (0, 2, 3), (3,))
    assert_close(
        joint_of_families(found.layout, found.log_theta),
        joint_of_weights(layout, weights),
        TIGHT,
    )


def test_weights_without_the_class_and_owners_of_any_kind():
    structure = Structure.class_rooted(((), (0,), (0, 1), ()), 3)
    axes = ((1, 0), (2, 0, 3), (1, 2, 3), (0,), (3,))
    layout = FamilyLayout((3, 2, 4, 2), axes, (0, 0, 1, 3, 2), 3)
    weights = np.random.default_rng(3).normal(size=layout.n_cells)
    for full_cells in (0, 1000):
        found = log_linear_families(structure, layout, weights, full_cells=full_cells)
        assert_close(
            joint_of_families(found.layout, found.log_theta),
            joint_of_weights(layout, weights),
            TIGHT,
        )


def test_large_weights_stay_finite():
    random = np.random.default_rng(4)
    _, structure, layout, weights = problem(random, 6, 3, max_states=4)
    found = log_linear_families(structure, layout, 300 * weights, full_cells=0)
    assert np.isfinite(found.log_theta).all()


# Of all families with the same P(c | x), those that fit the features


def observed(data, network, pair):
    """Distribution of two features in the data, and under the network."""
    counts = data.count([pair]).table(0)
    codes = np.array([network.schema.n_states.tolist()], dtype=np.uint8)
    return counts / counts.sum(), np.exp(log_marginal(network.parameters, codes, pair))


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("full_cells", [0, 10**6])
def test_families_fit_the_features(full_cells, missing):
    random = np.random.default_rng(5)
    data = random_data(random, 3000, 5, max_states=4, n_classes=3)
    # Features that depend on each other, so that there is something to fit.
    states = data.schema.n_states[:-1]
    codes = np.asfortranarray((np.cumsum(data.codes, axis=1) % states).astype(np.uint8))
    gone = random.random(codes.shape) < missing
    codes[gone] = np.broadcast_to(states.astype(np.uint8), codes.shape)[gone]
    data = ArrayData(data.schema, codes, data.labels)
    structure = random_k_tree(random, data.schema, 2)
    layout = weight_layout(data.schema, structure)
    weights = random.normal(size=layout.n_cells)
    plain = log_linear_families(structure, layout, weights, full_cells=full_cells)
    found = log_linear_families(structure, layout, weights, data, full_cells=full_cells)
    assert found.layout == plain.layout
    rows = random_codes(random, data.schema, 200)
    joints = [engine_for(families).log_joint(rows) for families in (plain, found)]
    posteriors = [j - np.logaddexp.reduce(j, axis=1)[:, None] for j in joints]
    assert_close(posteriors[1], posteriors[0], TIGHT)
    before, after = (Network(data.schema, structure, f) for f in (plain, found))
    pairs = [(p, v) for v in range(5) for p in structure.feature_parents[v]]
    assert pairs
    for pair in pairs:
        seen, fitted = observed(data, after, pair)
        assert np.abs(fitted - seen).max() < (0.01 if missing else 0.005)
    worst = max(np.abs(np.subtract(*observed(data, before, p))).max() for p in pairs)
    assert worst > 0.05


def test_the_same_fit_as_with_full_tables():
    random = np.random.default_rng(6)
    data = random_data(random, 500, 4, max_states=4, n_classes=2)
    structure = random_k_tree(random, data.schema, 2)
    full = FamilyLayout.of_structure(data.schema, structure)
    weights = random.normal(size=full.n_cells)
    normaliser = FullNormaliser(structure, full)
    expected = normaliser.fit_cpts(weights, data)
    found = log_linear_families(structure, full, weights, data)
    assert found.layout == full
    joints = [np.exp(f.log_theta) for f in (found, expected)]
    assert np.abs(np.subtract(*joints)).max() < 0.02


def test_a_fit_that_would_take_too_long_is_left_out(monkeypatch):
    random = np.random.default_rng(7)
    data = random_data(random, 50, 4, n_classes=2)
    structure = random_k_tree(random, data.schema, 2)
    layout = weight_layout(data.schema, structure)
    weights = random.normal(size=layout.n_cells)
    monkeypatch.setattr(weights_to_cpts, "VISITED_CELLS", 1)
    found = log_linear_families(structure, layout, weights, data)
    plain = log_linear_families(structure, layout, weights)
    assert np.array_equal(found.log_theta, plain.log_theta)


# What is refused


def test_other_structures_and_weights_are_refused():
    pairs = FamilyLayout((2, 2, 2, 2), ((0, 1, 3), (3,)), (1, 3), 3)
    weights = np.zeros(pairs.n_cells)
    unjoined = Structure.class_rooted(((), (), (0, 1), ()), 3)
    with pytest.raises(CapabilityError, match="joined to each other"):
        log_linear_families(unjoined, pairs, weights)
    rootless = Structure(((), (0,), (0,), ()), 3)
    with pytest.raises(CapabilityError, match="root class"):
        log_linear_families(rootless, pairs, weights)
    chain = Structure.class_rooted(((), (0,), (1,), ()), 3)
    other = FamilyLayout((2, 2, 2, 2), ((0, 2, 3), (3,)), (2, 3), 3)
    with pytest.raises(InputError, match=r"variables \[0, 2\]"):
        log_linear_families(chain, other, weights)
    for wrong in (weights[1:], np.full(pairs.n_cells, np.nan)):
        with pytest.raises(InputError, match="finite weights"):
            log_linear_families(chain, pairs, wrong)


def test_families_that_are_too_large_are_refused():
    structure = Structure.class_rooted(((), (0,), (0, 1), ()), 3)
    axes = ((0, 1, 3), (0, 2, 3), (1, 2, 3), (3,))
    layout = FamilyLayout((1000, 1000, 1001, 3), axes, (1, 2, 2, 3), 3)
    with pytest.raises(TableSizeError, match="3,003,000,000 configurations"):
        log_linear_families(structure, layout, np.zeros(layout.n_cells))
