"""Families that are sums of tables, against the tables written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from tanager.inference.loglinear_family_sums import FamilySum
from tanager.model import FamilyLayout, Structure
from tanager.model.layout import along
from tests.strategies import generators
from tests.tolerance import EXACT, assert_close


def random_sum(random, target):
    """The tables of variable 3 over the parents 0, 1, 2, of which 2 may be the class.

    Variable 3 may be the class itself, and there may be none. One of the tables is over
    all members but the owner.
    """
    structure = Structure(((), (), (), (1, 0, 2)), target)
    members = [v for v in range(4) if random.random() < 0.8 or v == 3]
    scopes = [[v for v in members if random.random() < 0.6] for _ in range(3)]
    own = [scope for scope in scopes if scope]
    own += [[3], members[:-1] or [3]]
    states = random.integers(1, 5, 4).tolist()
    layout = FamilyLayout.of_sums(states, structure, [[[0]], [[1]], [[2]], own])
    return layout, random.normal(scale=3.0, size=layout.n_cells)


@pytest.mark.parametrize("tiny", [1e-200, 1e300])
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(random=generators(), target=st.sampled_from([None, 2, 3]))
def test_sums_and_fractions_equal_the_full_table(monkeypatch, random, target, tiny):
    monkeypatch.setattr("tanager.inference.loglinear_family_sums.TINY", tiny)
    layout, values = random_sum(random, target)
    family = FamilySum.of(layout, 3)
    tables = layout.tables_of(3)
    # The class, where a table has it, is the last member.
    with_class = target == 2 and any(2 in layout.axes[t] for t in tables)
    inner = (2,) if with_class else ()
    axes = (*family.outer, *inner, 3)
    log_sums = family.log_sums(values)
    expected = logsumexp(layout.sum_tables(values, tables, axes), axis=-1)
    assert_close(log_sums.reshape(expected.shape), expected, EXACT)
    # A proper family; joint probabilities are any numbers above, times its own.
    last = layout.axes[tables[-1]]
    layout.table(values, tables[-1])[...] -= along(expected, axes[:-1], last)
    assert_close(family.log_sums(values), 0.0, EXACT)
    above = random.random(log_sums.shape)
    out = np.zeros(layout.n_cells)
    family.add_joint(values, above, out)
    full = layout.sum_tables(values, tables, axes)
    joint = above.reshape(expected.shape)[..., None] * np.exp(full)
    for t in range(layout.n_tables):
        own = layout.axes[t]
        gone = tuple(place for place, v in enumerate(axes) if v not in own)
        left = [v for v in axes if v in own]
        if t in tables:
            order = [left.index(v) for v in own]
            table = joint.sum(axis=gone).transpose(order)
            assert_close(layout.table(out, t), table, EXACT)
        else:
            assert not layout.table(out, t).any()


def test_products_below_the_smallest_float():
    """Two tables whose largest entries belong to different states."""
    structure = Structure.class_rooted(((), (0,), (0, 1), ()), 3)
    scopes = [[(0, 3)], [(0, 1, 3)], [(0, 2, 3), (1, 2, 3), (0, 1, 3)], [(3,)]]
    layout = FamilyLayout.of_sums((2, 2, 2, 1), structure, scopes)
    values = np.zeros(layout.n_cells)
    layout.table(values, 2)[0, :, 0] = [0.0, -800.0]
    layout.table(values, 3)[0, :, 0] = [-900.0, 0.0]
    family = FamilySum.of(layout, 2)
    found = family.log_sums(values)
    total = layout.sum_tables(values, (2, 3, 4), (0, 1, 3, 2))
    assert_close(found, logsumexp(total, axis=-1), EXACT)
    layout.table(values, 4)[...] -= found
    out = np.zeros(layout.n_cells)
    family.add_joint(values, np.full((2, 2, 1), 0.25), out)
    total = layout.sum_tables(values, (2, 3, 4), (0, 1, 3, 2))
    assert_close(layout.table(out, 2), 0.25 * np.exp(total).sum(1).swapaxes(1, 2))


def test_the_order_of_the_members_can_be_chosen():
    random = np.random.default_rng(0)
    structure = Structure.class_rooted(((), (0,), (1, 0), ()), 3)
    scopes = [[(0, 3)], [(0, 1, 3)], [(0, 2, 3), (2, 1, 3), (3, 0, 1)], [(3,)]]
    layout = FamilyLayout.of_sums((2, 3, 4, 2), structure, scopes)
    values = random.normal(size=layout.n_cells)
    one = FamilySum(layout, 2, (0, 1)).log_sums(values)
    other = FamilySum(layout, 2, (1, 0)).log_sums(values)
    assert one.shape == (2, 3, 2)
    assert_close(one, other.swapaxes(0, 1), EXACT)


def test_impossible_states():
    layout = FamilyLayout((2, 2), ((0,), (0, 1), (0,)), (0, 1, 1), None)
    values = np.zeros(layout.n_cells)
    values[[2, 3, 4]] = -np.inf
    found = FamilySum.of(layout, 1).log_sums(values)
    assert np.array_equal(found, [[-np.inf], [0.0]])
