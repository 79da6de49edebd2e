from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from tanager import CapabilityError, TableSizeError
from tanager.inference.expectations import (
    ForestExpectations,
    JunctionExpectations,
    ObservedFamilies,
    exact_expectations,
    expectations_of,
)
from tanager.model.layout import FamilyLayout
from tests.reference.gradient import whole_families
from tests.strategies import generators, random_codes, random_network, too_wide
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


@given(random=generators())
def test_sums_and_derivative_equal_the_definition(random):
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
def test_complete_rows_are_those_of_the_engine(random):
    network = random_network(random, 5, max_parents=3)
    codes = random_codes(random, network.schema, 6)
    found = ObservedFamilies.of(layout_of(network)).log_joint(
        network.parameters.log_theta, codes
    )
    assert_close(found, network.engine.log_joint(codes))


def test_what_it_cannot_do_is_refused():
    without = FamilyLayout.of_families((2, 2, 2), ((0,), (2, 0, 1), (2,)), 2)
    with pytest.raises(CapabilityError, match="parent of every feature"):
        ObservedFamilies.of(without)
    layout = FamilyLayout.of_families((2, 2), ((1, 0), (1,)), 1)
    codes = np.zeros((1, 1), dtype=np.uint8, order="F")
    with pytest.raises(CapabilityError, match="no expected counts of missing features"):
        ObservedFamilies.of(layout).add_expected(
            np.zeros(6), codes, np.ones((1, 2)), np.zeros(6), barren=True
        )
