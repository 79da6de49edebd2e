from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager import Variable
from tanager.loglinear.factor import (
    SMALL_RIDGE,
    STEPS_PER_UNIT,
    Axis,
    make_axes,
    sum_weights,
)
from tests.loglinear.factor_makers import (
    make_codes,
    make_factor,
    make_variable,
    make_variables,
)
from tests.reference import factors as reference
from tests.strategies import generators
from tests.tolerance import assert_close


@settings(max_examples=60)
@given(
    random=generators(),
    n_values=st.integers(1, 30),
    ordered=st.booleans(),
    missing_state=st.booleans(),
    max_bins=st.one_of(st.none(), st.integers(1, 12)),
)
def test_bins_of_any_variable(random, n_values, ordered, missing_state, max_bins):
    variable = make_variable("v", n_values, ordered, missing_state)
    weights = random.gamma(0.2, size=variable.n_states)
    weights[random.random(variable.n_states) < 0.3] = 0.0
    axis = Axis.of(3, variable, weights, max_bins)
    values, others = axis.bins[:n_values], axis.bins[n_values:]
    n_bins = axis.n_bins - 1 - missing_state
    assert axis.feature == 3
    assert len(axis.bins) == variable.n_states + 1
    # Every bin has a state; those of missing and not observed are the last ones.
    assert set(values.tolist()) == set(range(n_bins))
    assert others.tolist() == list(range(n_bins, axis.n_bins))
    assert n_bins <= (n_values if max_bins is None else min(n_values, max_bins))
    assert axis.n_ordered == (n_bins if ordered and n_bins > 1 else 0)
    if ordered:
        assert (np.diff(values) >= 0).all()
    if max_bins is None or n_values <= max_bins:
        assert values.tolist() == list(range(n_values))


def test_a_heavy_state_keeps_a_bin_of_its_own():
    variable = make_variable("gain", 20, ordered=True)
    weights = np.ones(20)
    weights[7] = 200.0
    bins = Axis.of(0, variable, weights, 5).bins[:20]
    assert (bins == bins[7]).sum() == 1
    assert len(set(bins.tolist())) == 5


def test_equal_states_are_merged_evenly():
    variable = make_variable("v", 12, ordered=True)
    axis = Axis.of(0, variable, np.ones(12), 4)
    assert axis.bins.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4]


def test_states_without_samples_are_merged():
    variable = make_variable("v", 6, ordered=True)
    axis = Axis.of(0, variable, np.zeros(6), 3)
    assert axis.n_bins <= 4
    assert (np.diff(axis.bins) >= 0).all()


def test_rare_categories_are_pooled():
    variable = Variable("town", ("a", "b", "c", "d", "e"))
    axis = Axis.of(0, variable, np.array([1.0, 9.0, 2.0, 9.0, 1.0]), 3)
    # The most frequent first, ties in the order of the states, the rest together.
    assert axis.bins.tolist() == [2, 0, 2, 1, 2, 3]
    assert axis.n_ordered == 0


def test_the_state_of_missing_values_is_never_merged():
    variable = make_variable("v", 8, ordered=True, missing_state=True)
    weights = np.array([5.0] * 8 + [0.0])
    axis = Axis.of(0, variable, weights, 2)
    assert axis.bins.tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 2, 3]
    assert axis.n_ordered == 2


def test_weights_decide_the_bins_of_all_features():
    variables = [make_variable("v", 4, ordered=True), make_variable("w", 3, False)]
    codes = np.array([[0, 1, 2, 3, 4], [0, 1, 2, 3, 2]], dtype=np.uint16)
    totals = sum_weights(variables, codes, np.array([1.0, 1.0, 1.0, 9.0, 50.0]))
    axes = make_axes(variables, totals, 2)
    assert axes[0].bins.tolist() == [0, 0, 0, 1, 2]
    assert axes[1].bins.tolist() == [1, 1, 0, 2]
    assert [axis.feature for axis in axes] == [0, 1]


@settings(max_examples=40)
@given(random=generators(), order=st.integers(1, 3))
def test_cells_are_those_of_a_table_in_c_order(random, order):
    variables = make_variables(random, 4)
    features = sorted(random.permutation(4)[:order].tolist())
    factor = make_factor(variables, features)
    codes = make_codes(random, variables, 50)
    assert factor.key == tuple(features)
    assert factor.n_cells == np.prod(factor.shape)
    np.testing.assert_array_equal(
        factor.cells(codes), reference.cells_of(factor, codes)
    )


@settings(max_examples=40)
@given(random=generators(), order=st.integers(1, 3))
def test_the_ridge_is_that_of_the_documentation(random, order):
    variables = make_variables(random, order)
    factor = make_factor(variables, range(order))
    expected = np.full(factor.shape, SMALL_RIDGE[order])
    for cell in np.ndindex(*factor.shape):
        for place, axis in zip(cell, factor.axes, strict=True):
            has_neighbours = place < axis.n_ordered and axis.n_ordered > 1
            expected[cell] += not has_neighbours
    assert_close(factor.diagonal, expected.ravel())
    eigenvalues = np.linalg.eigvalsh(reference.penalty_matrix(factor))
    assert eigenvalues[0] > 0.9 * SMALL_RIDGE[order]


@pytest.mark.parametrize("ordered", [True, False])
def test_a_constant_feature_has_a_ridge(ordered):
    factor = make_factor([make_variable("v", 1, ordered)], (0,))
    assert_close(factor.diagonal, [1.0 + SMALL_RIDGE[1]] * 2)


def test_many_bins_allow_the_variation_of_few():
    # The penalty of a straight line from 0 to 1 over n bins is about 1 / STEPS_PER_UNIT
    # for every n.
    values = []
    for n_values in (10, 50, 200):
        factor = make_factor([make_variable("v", n_values, ordered=True)], (0,))
        line = np.append(np.linspace(0.0, 1.0, n_values), 0.0)
        penalty = reference.penalty_matrix(factor) - np.diag(factor.diagonal)
        values.append(line @ penalty @ line * STEPS_PER_UNIT)
    for few, many in pairwise(values):
        assert 1.0 <= many < few < 1.2
