from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tanager import InputError, Structure, TableSizeError
from tanager.model import FamilyLayout
from tanager.model import layout as module
from tests.strategies import generators, random_schema, random_structure
from tests.tolerance import EXACT, assert_close

TWO_TREE = Structure.class_rooted(((), (0,), (1, 0), ()), 3)
PAIRS = [[(0, 3)], [(0, 1, 3)], [(0, 2, 3), (2, 1, 3), (3, 0, 1)], [(3,)]]


def pairs(n_states=(2, 3, 4, 2)):
    return FamilyLayout.of_sums(n_states, TWO_TREE, PAIRS)


def test_several_tables_of_one_variable():
    layout = pairs()
    # In the order of the family: parents 1 and 0, the owner, the class last.
    expected = ((0, 3), (0, 1, 3), (0, 2, 3), (1, 2, 3), (1, 0, 3), (3,))
    assert layout.axes == expected
    assert layout.owners == (0, 1, 2, 2, 2, 3)
    assert [layout.tables_of(v) for v in range(4)] == [(0,), (1,), (2, 3, 4), (5,)]
    assert layout.n_summed == 4 * 3 * 2 * 2
    assert not layout.is_full(TWO_TREE)


@given(random=generators(), class_rooted=st.booleans())
def test_whole_families_give_the_ordinary_layout(random, class_rooted):
    schema = random_schema(random, 5)
    structure = random_structure(random, schema, 3, class_rooted)
    layout = FamilyLayout.of_structure(schema, structure)
    assert layout.is_full(structure)
    assert layout.n_summed == 0
    whole = [[reversed(family)] for family in structure.families]
    assert FamilyLayout.of_sums(layout.n_states, structure, whole) == layout
    for v in range(len(schema)):
        assert layout.tables_of(v) == (v,)


@pytest.mark.parametrize(
    "tables",
    [
        [],  # no table at all
        [()],  # one over nothing
        [(0, 3), (1, 3)],  # none with the variable itself
        [(0, 2, 3), (2, 2, 3)],  # a variable twice
        [(0, 2, 3), (4,)],  # no member of the family
    ],
)
def test_tables_outside_the_family_are_refused(tables):
    with pytest.raises(InputError, match=r"variable 2 .* expected members of \(3, 1,"):
        FamilyLayout.of_sums((2, 3, 4, 2), TWO_TREE, [*PAIRS[:2], tables, PAIRS[3]])


def rank_of_sums(layout, variable):
    """Free parameters by linear algebra: sums of tables, up to what has no owner."""
    scope = sorted({v for t in layout.tables_of(variable) for v in layout.axes[t]})
    columns = []
    for t in layout.tables_of(variable):
        for cell in range(layout.sizes[t]):
            values = np.zeros(layout.n_cells)
            values[layout.offsets[t] + cell] = 1.0
            table = layout.sum_tables(values, [t], scope)
            own = scope.index(variable)
            columns.append((table - table.mean(axis=own, keepdims=True)).ravel())
    return np.linalg.matrix_rank(np.array(columns))


def test_free_parameters():
    layout = pairs()
    assert layout.n_free(0) == 1 * 2
    assert layout.n_free(1) == 2 * 2 * 2
    # (x2 - 1) * (x0 * c + x1 * c - c)
    assert layout.n_free(2) == 3 * (2 * 2 + 3 * 2 - 2)
    assert layout.n_free(3) == 1
    structure = Structure.class_rooted(((), (0,), (0, 1), (0, 1, 2), ()), 4)
    triples = [(0, 1, 3, 4), (0, 2, 3, 4), (1, 2, 3, 4), (3,), (0, 1, 2)]
    rest = [[family] for family in structure.families]
    rest[3] = triples
    layout = FamilyLayout.of_sums((2, 3, 3, 3, 2), structure, rest)
    for v in range(5):
        assert layout.n_free(v) == rank_of_sums(layout, v)


def test_sums_of_tables():
    layout = pairs()
    values = np.random.default_rng(0).normal(size=layout.n_cells)
    found = layout.sum_tables(values, layout.tables_of(2), (2, 3, 1, 0))
    assert found.shape == (4, 2, 3, 2)
    for cell in np.ndindex(found.shape):
        state = dict(zip((2, 3, 1, 0), cell, strict=True))
        expected = sum(
            layout.table(values, t)[tuple(state[v] for v in layout.axes[t])]
            for t in layout.tables_of(2)
        )
        assert_close(found[cell], expected, EXACT)


def test_sizes_are_checked_before_anything_is_made(monkeypatch):
    layout = pairs((2000, 2000, 1000, 2))
    with pytest.raises(TableSizeError, match=r"family of 1 over \[0, 1, 3\]"):
        layout.check_size(None, max_cells=10)
    with pytest.raises(TableSizeError, match=r"8,000,000,000 .* of 2 over \[0, 1, 2"):
        layout.check_size(None)
    monkeypatch.setattr(module, "MAX_SUMMED_CELLS", 10**10)
    layout.check_size(None)
    # Pairs are small, but a normaliser over all parents is not.
    parents = tuple(range(1, 30))
    structure = Structure((parents, *((),) * 29))
    singles = [[(v,)] for v in parents]
    scopes = [[(0, v) for v in parents], *singles]
    many = FamilyLayout.of_sums((2,) * 30, structure, scopes)
    assert many.n_cells == 29 * 4 + 29 * 2
    assert many.n_given == 2**29
    with pytest.raises(TableSizeError, match="536,870,912 configurations"):
        many.check_size(None)
