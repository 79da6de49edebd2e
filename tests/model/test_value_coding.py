"""The rules of all variables give the codes that each variable gives alone."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tanager.model import Schema, Variable
from tanager.model.value_coding import MAX_WIDTH, ValueRules

CUTS = st.lists(
    st.floats(-8, 8, width=16), max_size=20, unique_by=lambda cut: cut + 0.0
)


@given(
    st.lists(CUTS, min_size=1, max_size=6),
    st.integers(1, 4),
    st.integers(0, 2**32 - 1),
    st.sampled_from([np.float64, np.float32, np.int64, np.uint8]),
)
def test_bins_of_all_columns(all_cuts, n_rows, seed, dtype):
    variables = [
        Variable.binned(f"x{j}", sorted(cuts)) for j, cuts in enumerate(all_cuts)
    ]
    variables[0] = variables[0].with_missing_state()
    random = np.random.default_rng(seed)
    values = np.round(random.uniform(0, 9, (n_rows, len(variables))) * 2) / 2
    values = values.astype(dtype)
    if values.dtype.kind == "f":
        values[random.random(values.shape) < 0.2] = np.nan
    expected = [
        [
            v.missing_code if x != x else int(np.sum(v.cut_array < x))
            for v, x in zip(variables, row, strict=True)
        ]
        for row in values
    ]
    rules = Schema(tuple(variables)).value_rules
    assert rules.finds_bins
    codes = rules.find_bins(values)
    assert codes.flags.f_contiguous
    assert codes.dtype == np.uint8
    assert codes.tolist() == expected


def test_what_the_rules_cover():
    variables = (
        Variable.binned("bins", [1.0, 2.0]),
        Variable("digits", (3, 4, 6)),
        Variable("texts", ("a", "b")),
        Variable("halves", (0.5, 1.5)),
    )
    rules = ValueRules.of(variables)
    assert not rules.finds_bins
    assert rules.searched == (2, 3)
    assert rules.texts == (2,)
    assert rules.low.tolist() == [0, 3, 0, 0]
    assert rules.tables.tolist() == [0, 1, 3, 2]
    assert rules.missing.tolist() == rules.unknown.tolist() == [3, 3, 2, 2]
    many = Variable.binned("many", np.arange(MAX_WIDTH + 1.0))
    assert not ValueRules.of([many]).finds_bins


def test_codes_of_categories_are_kept():
    rules = ValueRules.of([Variable("sky", ("blue", "grey")).with_missing_state()])
    categories = ("grey", "red")
    table = rules.category_table(0, categories)
    assert table.tolist() == [2, 1, 3]
    assert rules.category_table(0, categories) is table
    assert rules.category_table(0, ("red", "grey")).tolist() == [2, 3, 1]
    assert rules.category_table(0, categories).tolist() == [2, 1, 3]


@pytest.mark.parametrize("n_states", [255, 256])
def test_type_of_the_codes(n_states):
    rules = ValueRules.of([Variable("many", tuple(range(n_states)))])
    assert rules.dtype == (np.uint8 if n_states == 255 else np.uint16)


def test_pickles_leave_out_what_data_frames_held():
    rules = Schema((Variable("sky", ("blue", "grey")),)).value_rules
    categories = ("grey", "secret")
    assert rules.category_table(0, categories).tolist() == [2, 1, 2]
    stored = pickle.dumps(rules)
    assert b"secret" not in stored
    found = pickle.loads(stored)
    assert found.category_table(0, categories).tolist() == [2, 1, 2]
    assert rules.category_table(0, categories) is rules.category_table(0, categories)


def test_rules_of_some_variables():
    variables = [Variable.binned(f"x{j}", np.arange(j + 1.0)) for j in range(4)]
    rules = Schema(tuple(variables)).value_rules
    values = np.random.default_rng(0).uniform(-1.0, 5.0, (7, 4))
    for columns in (np.array([3]), np.array([0, 2])):
        part = rules.part(columns)
        assert part is rules.part(columns.copy())
        assert part.variables == tuple(variables[j] for j in columns)
        expected = rules.find_bins(values)[:, columns]
        np.testing.assert_array_equal(part.find_bins(values[:, columns]), expected)
    assert rules.direct_columns == frozenset(range(4))
    assert pickle.loads(pickle.dumps(rules))._parts == {}
