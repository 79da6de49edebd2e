from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager.model.layout import FamilyLayout
from tanager.parameters.simplex_layout import FLOOR, SimplexLayout
from tests.strategies import generators
from tests.tolerance import assert_close

LAYOUT = FamilyLayout.of_families((3, 4, 2), ((2, 0), (2, 0, 1), (2,)), 2)


def nearest(column):
    """The nearest distribution: shifted values, the shift found by bisection."""
    low, high = column.min() - 1.0, column.max()
    for _ in range(200):
        shift = (low + high) / 2
        if np.maximum(column - shift, FLOOR).sum() > 1.0:
            low = shift
        else:
            high = shift
    return np.maximum(column - shift, FLOOR)


@settings(max_examples=40)
@given(random=generators(), spread=st.sampled_from([1e-3, 1.0, 50.0]))
def test_every_distribution_is_the_nearest_one(random, spread):
    layout = SimplexLayout(LAYOUT)
    values = random.normal(scale=spread, size=LAYOUT.n_cells)
    found = layout.project(values)
    assert (found >= FLOOR).all()
    for t in range(LAYOUT.n_tables):
        axis = LAYOUT.owner_axis(t)
        expected = np.apply_along_axis(nearest, axis, LAYOUT.table(values, t))
        assert_close(LAYOUT.table(found, t), expected)
    assert_close(layout.project(found), found)


def test_a_start_keeps_probabilities_and_lifts_zeros():
    layout = SimplexLayout(FamilyLayout.of_families((2, 2), ((1, 0), (1,)), 1))
    with np.errstate(divide="ignore"):
        log_theta = np.log([0.25, 0.0, 0.75, 1.0, 0.5, 0.5])
    theta = layout.start(log_theta)
    assert_close(theta, [0.25, FLOOR, 0.75, 1.0 - FLOOR, 0.5, 0.5])
    assert_close(layout.cpts(theta)[1], np.log(theta))
