from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from tanager import CapabilityError
from tanager.inference.expectations import ObservedFamilies
from tanager.model.layout import FamilyLayout
from tests.reference.gradient import whole_families
from tests.strategies import generators, random_codes, random_network
from tests.tolerance import EXACT, assert_close


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
