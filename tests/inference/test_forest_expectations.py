from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager import CapabilityError
from tanager.inference.expectations import ForestExpectations
from tanager.model.layout import FamilyLayout
from tests.reference.enumeration import expected_counts
from tests.strategies import generators, random_codes, random_network
from tests.tolerance import assert_close


def layout_of(network):
    return FamilyLayout.of_structure(network.schema, network.structure)


@given(
    random=generators(),
    n_features=st.integers(1, 6),
    missing=st.sampled_from([0.0, 0.3, 0.7, 1.0]),
)
def test_log_joint_is_that_of_the_engine(random, n_features, missing):
    network = random_network(random, n_features)
    codes = random_codes(random, network.schema, 6, missing)
    found = ForestExpectations.of(layout_of(network)).log_joint(
        network.parameters.log_theta, codes
    )
    assert_close(found, network.engine.log_joint(codes))


@settings(max_examples=25)
@given(
    random=generators(),
    n_features=st.integers(1, 4),
    missing=st.sampled_from([0.0, 0.3, 0.7, 1.0]),
)
def test_expected_counts_equal_enumeration(random, n_features, missing):
    network = random_network(random, n_features)
    layout = layout_of(network)
    codes = random_codes(random, network.schema, 4, missing)
    weights = random.normal(size=(4, network.schema.n_classes))
    found = np.zeros(layout.n_cells)
    ForestExpectations.of(layout).add_expected(
        network.parameters.log_theta, codes, weights, found
    )
    assert_close(found, expected_counts(network, layout, codes, weights))


@given(random=generators(), missing=st.sampled_from([0.0, 0.4, 0.8]))
def test_expected_counts_are_the_derivative_of_the_log_joint(random, missing):
    network = random_network(random, 5)
    layout = layout_of(network)
    forest = ForestExpectations.of(layout)
    codes = random_codes(random, network.schema, 5, missing)
    weights = random.normal(size=(5, network.schema.n_classes))
    log_theta = network.parameters.log_theta
    way = random.normal(size=layout.n_cells)
    step = 1e-6
    ahead, behind = (
        (weights * forest.log_joint(log_theta + sign * step * way, codes)).sum()
        for sign in (1, -1)
    )
    # The sum over a barren feature is taken to be one, whatever its table.
    seen = np.zeros(layout.n_cells)
    forest.add_expected(log_theta, codes, weights, seen, barren=False)
    assert (ahead - behind) / (2 * step) == pytest.approx(
        seen @ way, rel=1e-5, abs=1e-6
    )


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
