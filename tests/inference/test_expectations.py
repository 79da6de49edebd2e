from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager import CapabilityError, TableSizeError
from tanager.inference.expectations import (
    ForestExpectations,
    JunctionExpectations,
    ObservedFamilies,
    exact_expectations,
    expectations_of,
)
from tanager.model.layout import FamilyLayout
from tests.reference.enumeration import expected_counts
from tests.reference.gradient import whole_families
from tests.strategies import (
    dag_network,
    generators,
    random_codes,
    random_network,
    too_wide,
)
from tests.tolerance import EXACT, assert_close

ROOTED = FamilyLayout.of_families(
    (2, 2, 2, 2), ((3, 0), (3, 0, 1), (3, 0, 1, 2), (3,)), 3
)
EFFECT = FamilyLayout.of_families((2, 2, 2), ((0,), (1,), (0, 1, 2)), 2)


def test_forests_below_the_class_have_their_own():
    tree = random_network(np.random.default_rng(0), 5).parameters.layout
    assert isinstance(expectations_of(tree), ForestExpectations)
    assert isinstance(exact_expectations(tree), ForestExpectations)
    apart = FamilyLayout.of_families((2, 2, 2), ((2, 0), (0, 1), (2,)), 2)
    for layout in (ROOTED, EFFECT, apart):
        assert isinstance(expectations_of(layout), JunctionExpectations)


def test_too_large_sums_are_left_out_below_a_root_class_alone():
    random = np.random.default_rng(0)
    structure, data = too_wide(random, 1)
    rooted = FamilyLayout.of_structure(data.schema, structure)
    with pytest.warns(UserWarning, match="left out of incomplete samples"):
        assert isinstance(expectations_of(rooted), ObservedFamilies)
    with pytest.raises(TableSizeError):
        exact_expectations(rooted)
    structure, data = too_wide(random, 1, class_rooted=False)
    other = FamilyLayout.of_structure(data.schema, structure)
    for of in (exact_expectations, expectations_of):
        with pytest.raises(TableSizeError, match="'f0'"):
            of(other, data.schema)


def layout_of(network):
    return FamilyLayout.of_structure(network.schema, network.structure)


EXACT_EXPECTATIONS = pytest.mark.parametrize(
    ("kind", "make"),
    [(ForestExpectations, random_network), (JunctionExpectations, dag_network)],
    ids=["forest", "junction"],
)


@EXACT_EXPECTATIONS
@settings(max_examples=40, deadline=None)
@given(
    random=generators(),
    n_features=st.integers(1, 4),
    missing=st.sampled_from([0.0, 0.3, 0.7, 1.0]),
)
def test_expected_counts_equal_enumeration(kind, make, random, n_features, missing):
    network = make(random, n_features)
    layout = network.parameters.layout
    codes = random_codes(random, network.schema, 4, missing)
    weights = random.normal(size=(4, network.schema.n_classes))
    found = np.zeros(layout.n_cells)
    kind.of(layout).add_expected(network.parameters.log_theta, codes, weights, found)
    assert_close(found, expected_counts(network, layout, codes, weights))


@EXACT_EXPECTATIONS
@given(random=generators(), missing=st.sampled_from([0.0, 0.4, 0.8]))
def test_expected_counts_are_the_derivative_of_the_log_joint(
    kind, make, random, missing
):
    network = make(random, 6)
    layout = network.parameters.layout
    expectations = kind.of(layout)
    codes = random_codes(random, network.schema, 5, missing)
    weights = random.normal(size=(5, network.schema.n_classes))
    log_theta = network.parameters.log_theta
    way = random.normal(size=layout.n_cells)
    step = 1e-6
    ahead, behind = (
        (weights * expectations.log_joint(log_theta + sign * step * way, codes)).sum()
        for sign in (1, -1)
    )
    # Forests take the sum over a barren feature to be one, whatever its CPT.
    found = np.zeros(layout.n_cells)
    barren = kind is JunctionExpectations
    expectations.add_expected(log_theta, codes, weights, found, barren=barren)
    assert (ahead - behind) / (2 * step) == pytest.approx(
        found @ way, rel=1e-5, abs=1e-6
    )


@given(
    random=generators(),
    n_features=st.integers(1, 6),
    missing=st.sampled_from([0.0, 0.3, 0.7, 1.0]),
)
def test_the_log_joint_of_forests_is_that_of_the_engine(random, n_features, missing):
    network = random_network(random, n_features)
    codes = random_codes(random, network.schema, 6, missing)
    found = ForestExpectations.of(layout_of(network)).log_joint(
        network.parameters.log_theta, codes
    )
    assert_close(found, network.engine.log_joint(codes))


def test_many_children_do_not_underflow():
    # One missing parent with 400 observed children of small probability.
    n = 400
    families = [(n + 1, 0)] + [(n + 1, 0, j) for j in range(1, n + 1)] + [(n + 1,)]
    layout = FamilyLayout.of_families([2] * (n + 1) + [2], families, n + 1)
    log_theta = np.zeros(layout.n_cells)
    random = np.random.default_rng(0)
    for t in range(layout.n_tables):
        table = layout.table(log_theta, t)
        axis = layout.owner_axis(t)
        theta = random.uniform(0.001, 0.05, size=table.shape)
        np.moveaxis(theta, axis, 0)[1] = 1 - np.moveaxis(theta, axis, 0)[0]
        table[...] = np.log(theta)
    codes = np.zeros((1, n + 1), dtype=np.uint8, order="F")
    codes[0, 0] = 2
    forest = ForestExpectations.of(layout)
    logs = np.array(
        [
            layout.table(log_theta, 0)
            + sum(layout.table(log_theta, t)[:, 0] for t in range(1, n + 1))
        ]
    )[0]
    expected = np.logaddexp.reduce(logs, axis=0) + layout.table(log_theta, n + 1)
    assert_close(forest.log_joint(log_theta, codes)[0], expected)
    counts = np.zeros(layout.n_cells)
    forest.add_expected(log_theta, codes, np.ones((1, 2)), counts)
    assert_close(layout.table(counts, 0), np.exp(logs - np.logaddexp.reduce(logs, 0)))


def test_a_structure_that_is_no_forest_is_refused():
    network = random_network(np.random.default_rng(0), 5, max_parents=3)
    assert not network.structure.is_tree
    with pytest.raises(CapabilityError, match="at most one feature parent"):
        ForestExpectations.of(layout_of(network))


@given(random=generators())
def test_sums_and_derivative_of_observed_families_equal_the_definition(random):
    network = random_network(random, 5, max_parents=2)
    layout = layout_of(network)
    codes = random_codes(random, network.schema, 6, 0.3)
    families = ObservedFamilies.of(layout)
    log_theta = network.parameters.log_theta
    log_joint = families.log_joint(log_theta, codes)
    assert_close(log_joint, whole_families(layout, log_theta, codes), EXACT)
    weights = random.normal(size=log_joint.shape)
    derivative = np.zeros(layout.n_cells)
    families.add_expected(log_theta, codes, weights, derivative)
    # The sum is linear in the cells.
    assert_close(derivative @ log_theta, (weights * log_joint).sum(), 1e-9)


@given(random=generators())
def test_complete_rows_of_observed_families_are_those_of_the_engine(random):
    network = random_network(random, 5, max_parents=3)
    codes = random_codes(random, network.schema, 6)
    found = ObservedFamilies.of(layout_of(network)).log_joint(
        network.parameters.log_theta, codes
    )
    assert_close(found, network.engine.log_joint(codes))


def test_observed_families_refuse_what_they_cannot_do():
    without = FamilyLayout.of_families((2, 2, 2), ((0,), (2, 0, 1), (2,)), 2)
    with pytest.raises(CapabilityError, match="parent of every feature"):
        ObservedFamilies.of(without)
    layout = FamilyLayout.of_families((2, 2), ((1, 0), (1,)), 1)
    codes = np.zeros((1, 1), dtype=np.uint8, order="F")
    with pytest.raises(CapabilityError, match="no expected counts of missing features"):
        ObservedFamilies.of(layout).add_expected(
            np.zeros(6), codes, np.ones((1, 2)), np.zeros(6), barren=True
        )
