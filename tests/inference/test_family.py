"""Families that are sums of tables, against the tables written out."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from tanager.core import FamilyLayout, Structure
from tanager.inference.family import FamilySum
from tests.strategies import generators
from tests.tolerance import EXACT, assert_close


def random_sum(random, target):
    """The tables of variable 3 over the parents 0, 1, 2, of which 2 may be the class.

    Variable 3 may be the class itself, and there may be none.
    """
    structure = Structure(((), (), (), (1, 0, 2)), target)
    members = [v for v in range(4) if random.random() < 0.8 or v == 3]
    scopes = [[v for v in members if random.random() < 0.6] for _ in range(3)]
    own = [{*scope} for scope in scopes if scope] + [{3}]
    states = random.integers(1, 5, 4).tolist()
    layout = FamilyLayout.of_sums(states, structure, [[[0]], [[1]], [[2]], own])
    return layout, random.normal(scale=3.0, size=layout.n_cells)


@settings(max_examples=40)
@given(random=generators(), target=st.sampled_from([None, 2, 3]))
def test_sums_and_shares_equal_the_full_table(random, target):
    layout, values = random_sum(random, target)
    family = FamilySum.of(layout, 3)
    tables = layout.tables_of(3)
    # The class, where a table has it, is the last member.
    with_class = target == 2 and any(2 in layout.axes[t] for t in tables)
    axes = (*family.outer, *((2,) if with_class else ()), 3)
    full = layout.added_up(values, tables, axes)
    expected = logsumexp(full, axis=-1)
    found = family.log_sums(values)
    assert_close(found.reshape(expected.shape), expected, EXACT)
    # Joint probabilities: any numbers above, times the conditional ones.
    above = random.random(found.shape)
    out = np.zeros(layout.n_cells)
    family.add_shares(values, above, out)
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


def test_the_order_of_the_members_can_be_chosen():
    random = np.random.default_rng(0)
    structure = Structure.class_rooted(((), (0,), (1, 0), ()), 3)
    scopes = [[(0, 3)], [(0, 1, 3)], [(0, 2, 3), (2, 1, 3), (3, 0, 1)], [(3,)]]
    layout = FamilyLayout.of_sums((2, 3, 4, 2), structure, scopes)
    values = random.normal(size=layout.n_cells)
    one = FamilySum.of(layout, 2, (0, 1)).log_sums(values)
    other = FamilySum.of(layout, 2, (1, 0)).log_sums(values)
    assert one.shape == (2, 3, 2)
    assert_close(one, other.swapaxes(0, 1), EXACT)


def test_impossible_states():
    layout = FamilyLayout((2, 2), ((0,), (0, 1), (0,)), (0, 1, 1), None)
    values = np.zeros(layout.n_cells)
    values[[2, 3, 4]] = -np.inf
    found = FamilySum.of(layout, 1).log_sums(values)
    assert np.array_equal(found, [[-np.inf], [0.0]])
