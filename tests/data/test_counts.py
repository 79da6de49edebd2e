from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

from tanager import CapabilityError, InputError, TableSizeError
from tanager.data import ArrayData, CountedData
from tanager.data.counts import group_starts
from tests.reference.counting import count_family
from tests.strategies import data_sets, random_data
from tests.tolerance import EXACT, assert_close

FAMILIES = ("single", "tree", "triple")


def families_of(data, kind):
    target = len(data.schema) - 1
    if kind == "single":
        return [*((target, j) for j in range(target)), (target,)]
    if kind == "tree":
        return [(target, max(j - 1, 0), j) if j else (target, 0) for j in range(target)]
    return [tuple(range(min(target, 3)))]


def check_families(data, kind):
    families = families_of(data, kind)
    counts = data.count(families)
    for index, family in enumerate(families):
        expected = count_family(data, family)
        axes = counts.layout.axes[index]
        order = [axes.index(v) for v in family]
        assert_close(counts.table(index).transpose(order), expected, EXACT)


@pytest.mark.parametrize("kind", FAMILIES)
@given(data=data_sets())
def test_family_counts_equal_loops(kind, data):
    check_families(data, kind)


@pytest.mark.parametrize("kind", FAMILIES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_family_counts_of_kernels_equal_loops(kernels_always, kind, weighted, missing):
    random = np.random.default_rng(5)
    check_families(
        random_data(random, n_rows=77, missing=missing, weighted=weighted), kind
    )


def check_pairs(data, first=0, last=None):
    counted = data.count_pairs(first, last)
    n_features = len(data.schema) - 1
    for i in range(first, n_features if last is None else last):
        for j in range(i + 1, n_features):
            expected = count_family(data, (i, j, n_features))
            assert_close(counted.table(i, j), expected, EXACT)
            assert_close(counted.table(j, i), expected.swapaxes(0, 1), EXACT)


@given(data=data_sets())
def test_pair_counts_equal_loops(data):
    check_pairs(data)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.4])
@pytest.mark.parametrize("max_states", [2, 4, 9])
def test_pair_counts_of_kernels_equal_loops(
    kernels_always, weighted, missing, max_states
):
    random = np.random.default_rng(max_states)
    data = random_data(
        random, 83, 7, missing=missing, weighted=weighted, max_states=max_states
    )
    check_pairs(data)
    check_pairs(data, 2, 4)


def test_groups_stay_within_the_limit_and_do_not_cross_the_border():
    widths = np.array([5, 5, 5, 90, 2, 2, 2, 2, 2])
    starts = group_starts(widths, 28, 0, 5)
    assert starts.tolist() == [0, 2, 3, 4, 5, 9]
    for low, high in pairwise(starts):
        assert high - low == 1 or np.prod(widths[low:high]) <= 28


@pytest.mark.parametrize("weighted", [False, True])
def test_any_number_of_threads_gives_the_same_bits(kernels_always, weighted):
    random = np.random.default_rng(1)
    data = random_data(random, 5000, 6, missing=0.1, weighted=weighted)
    target = len(data.schema) - 1
    families = [(target, j) for j in range(target)]
    one = data.count(families).values, data.count_pairs().values
    for n_jobs in (2, 3, -1):
        again = ArrayData(data.schema, data.codes, data.labels, data.weights, n_jobs)
        assert np.array_equal(again.count(families).values, one[0])
        assert np.array_equal(again.count_pairs().values, one[1])


def test_blocks_add_up_to_the_whole():
    random = np.random.default_rng(2)
    data = random_data(random, 100, missing=0.2)
    target = len(data.schema) - 1
    families = [(target, j) for j in range(target)]
    parts = [data.take(np.arange(start, start + 25)) for start in (0, 25, 50, 75)]
    counts = parts[0].count(families)
    together = parts[0].count_pairs()
    for part in parts[1:]:
        counts = counts + part.count(families)
        together = together + part.count_pairs()
    assert np.array_equal(counts.values, data.count(families).values)
    assert np.array_equal(together.values, data.count_pairs().values)


def test_doubled_rows_equal_weight_two():
    random = np.random.default_rng(3)
    data = random_data(random, 50, missing=0.2)
    doubled = data.take(np.concatenate([np.arange(50)] * 2))
    weighted = ArrayData(data.schema, data.codes, data.labels, np.full(50, 2.0))
    assert np.array_equal(doubled.count_pairs().values, weighted.count_pairs().values)


def test_folds_split_the_rows():
    data = random_data(np.random.default_rng(4), 10)
    folds = [np.arange(0, 5), np.arange(5, 10)]
    (rest, fold), _ = data.split(folds)
    assert np.array_equal(fold.codes, data.codes[:5])
    assert np.array_equal(rest.labels, data.labels[5:])
    assert sum(len(block.labels) for block in data.blocks()) == 10
    assert data.all_rows().codes is data.codes


def test_too_many_cells_are_refused_before_counting(monkeypatch):
    data = random_data(np.random.default_rng(0), 20, 4, max_states=4, n_classes=3)
    monkeypatch.setattr("tanager.data.coded_data.MAX_CELLS", 10)
    with pytest.raises(TableSizeError, match="coarser encoder"):
        data.count_pairs()


def test_counts_of_other_families_do_not_add():
    data = random_data(np.random.default_rng(0), 20, 3)
    with pytest.raises(InputError, match="same families"):
        data.count([(0,)]) + data.count([(1,)])


def test_kept_counts_say_what_they_cannot_do():
    data = random_data(np.random.default_rng(0), 20, 3)
    kept = CountedData(data.schema, data.n_samples, data.count([(3, 0)]), None)
    with pytest.raises(CapabilityError, match="were not kept"):
        kept.count([(3, 0, 1)])
    with pytest.raises(CapabilityError, match="partial_fit"):
        kept.blocks()
    with pytest.raises(CapabilityError, match="partial_fit"):
        kept.all_rows()


@pytest.mark.parametrize("small", [True, False])
def test_rows_without_a_label_are_not_counted_with_the_class(small, monkeypatch):
    if not small:
        monkeypatch.setattr("tanager.utils.jit.SMALL_WORK", -1)
    data = random_data(np.random.default_rng(9), 60, 4, missing=0.2, n_classes=3)
    labels = data.labels.copy()
    labels[::4] = 3
    partly = ArrayData(data.schema, data.codes, labels)
    known = data.take(np.flatnonzero(labels < 3))
    families = [(4, 0), (4, 1), (4, 2), (4, 3), (4, 0, 1)]
    assert np.array_equal(partly.count(families).values, known.count(families).values)
    assert np.array_equal(partly.count_pairs().values, known.count_pairs().values)
    assert (
        partly.count([(0,)]).values.sum()
        == (data.codes[:, 0] < data.schema[0].n_states).sum()
    )


def test_codes_beyond_the_states_are_refused():
    data = random_data(np.random.default_rng(0), 5, 2, n_classes=2)
    with pytest.raises(InputError, match="beyond the states"):
        ArrayData(data.schema, data.codes, np.full(5, 3, dtype=np.uint8))
    with pytest.raises(InputError, match="beyond the states"):
        ArrayData(data.schema, data.codes + np.uint8(9), data.labels)


def test_blocks_are_contiguous():
    data = random_data(np.random.default_rng(0), 20_000, 3)
    assert all(block.codes.flags.f_contiguous for block in data.blocks())
