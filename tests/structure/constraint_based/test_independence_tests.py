import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager import Schema, Variable
from tanager.data import ArrayData
from tanager.structure.constraint_based import independence_tests as independence
from tanager.structure.constraint_based.independence_tests import DataTest
from tests.reference.constraint_based import CountingTest
from tests.strategies import generators, random_data
from tests.tolerance import TABLES, assert_close


def listed(data):
    rows = [(*row, y) for row, y in zip(data.codes, data.labels, strict=True)]
    weights = np.ones(len(rows)) if data.weights is None else data.weights
    return rows, weights


@settings(deadline=None, max_examples=30)
@given(
    random=generators(),
    kind=st.sampled_from(["mi", "g2"]),
    compiled=st.booleans(),
    missing=st.sampled_from([0.0, 0.3, 1.0]),
    weighted=st.booleans(),
    corrected=st.booleans(),
)
def test_tests_are_those_of_the_formula(
    random, kind, compiled, missing, weighted, corrected
):
    data = random_data(
        random, 150, 4, missing=missing, weighted=weighted, unlabelled=0.1, max_states=3
    )
    test = DataTest(data, kind, bias_correction=corrected)
    test._by_kernel = compiled
    n_states = data.schema.n_states.tolist()
    expected = CountingTest(*listed(data), n_states, kind, 0.01, corrected=corrected)
    for pair, others in (((0, 4), ()), ((0, 1), (4,)), ((1, 4), (0, 3)), ((2, 3), ())):
        found, truth = test.test(*pair, others), expected(*pair, others)
        assert (found is None) == (truth is None)
        if found is not None:
            assert_close(found.strength, truth[1], TABLES)
            assert found.independent == truth[0]
            assert test.test(*pair[::-1], others[::-1]) is found


def test_too_few_rows_per_cell_are_no_test():
    data = random_data(np.random.default_rng(0), 30, 3, max_states=3, n_classes=3)
    codes = np.zeros_like(data.codes)
    data = type(data)(data.schema, codes, data.labels)
    test = DataTest(data)
    cells = data.schema.n_states[[0, 3, 1]].prod()
    assert (test.test(0, 3, (1,)) is None) == (cells * 5 > 30)
    assert test.test(0, 3, (1, 2)) is None or data.schema.n_states.prod() * 5 <= 30
    assert test.test(0, 3, ()).independent  # a constant is independent of all


def test_tables_beyond_the_bound_are_no_test(monkeypatch):
    data = random_data(np.random.default_rng(0), 400, 3, max_states=2, n_classes=2)
    assert DataTest(data).test(0, 3, (1,)) is not None
    monkeypatch.setattr(independence, "TEST_CELLS", 1)
    assert DataTest(data).test(0, 3, (1,)) is None
    assert DataTest(data).test(0, 3, ()) is not None


@pytest.mark.parametrize("kind", ["mi", "g2"])
@pytest.mark.parametrize("weighted", [False, True])
def test_large_pairs_are_tested_by_the_cells_that_occur(kind, weighted, monkeypatch):
    random = np.random.default_rng(1)
    data = random_data(random, 300, 3, missing=0.2, weighted=weighted, unlabelled=0.1)
    pairs = [(0, 1), (1, 3), (2, 0)]
    expected = [DataTest(data, kind).test(*pair, ()) for pair in pairs]
    monkeypatch.setattr(independence, "TEST_CELLS", 1)
    assert [DataTest(data, kind).test(*pair, ()) for pair in pairs] == expected


def test_codes_of_rows_have_no_table_of_all_their_pairs():
    n_rows = 2**16
    states = tuple(range(n_rows))
    names = ("one", "two")
    variables = (*(Variable(name, states) for name in names), Variable("c", (0, 1)))
    random = np.random.default_rng(2)
    codes = np.column_stack([random.permutation(n_rows) for _ in names])
    data = ArrayData(
        Schema(variables, 2),
        np.asfortranarray(codes, dtype=np.uint32),
        random.integers(0, 2, n_rows).astype(np.uint8),
    )
    found = DataTest(data).test(0, 1, ())  # 32 GiB, if there were one
    assert_close(found.information, np.log(n_rows), TABLES)


def test_no_rows_prove_nothing():
    data = random_data(np.random.default_rng(0), 5, 2).take(np.empty(0, dtype=np.intp))
    outcome = DataTest(data, "g2").test(0, 1, ())
    assert outcome.independent
    assert outcome.p_value == 1.0


def test_each_test_is_made_once():
    data = random_data(np.random.default_rng(0), 500, 3, max_states=2, n_classes=2)
    test = DataTest(data)
    for _ in range(3):
        test.test(0, 1, (2, 3))
        test.test(1, 0, (3, 2))
    assert test.n_tests == 1


@pytest.mark.parametrize("kind", ["mi", "g2"])
def test_whole_weights_are_repetitions(kind):
    random = np.random.default_rng(3)
    data = random_data(random, 100, 3, max_states=3, n_classes=2)
    times = random.integers(0, 4, 100)
    weighted = type(data)(data.schema, data.codes, data.labels, times.astype(float))
    repeated = data.take(np.repeat(np.arange(100), times))
    for others in ((), (1,)):
        one = DataTest(weighted, kind).test(0, 3, others)
        assert one == DataTest(repeated, kind).test(0, 3, others)
