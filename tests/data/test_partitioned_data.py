"""Samples in parts: counts, folds and samples are those of all rows in one place."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tanager.data import class_information, conditional_information
from tanager.data.folds import class_ranks, rows_of_ranks
from tanager.data.partition_values import FAN_IN, add_in_tree
from tanager.errors import CapabilityError
from tests.partitions import cut, make_data

PARTS = (1, 2, 7)


@pytest.mark.parametrize("n_parts", PARTS)
@pytest.mark.parametrize("weighted", [False, True])
def test_counts_are_those_of_all_rows(n_parts, weighted):
    data = make_data(missing=0.1, unlabelled=0.1, weighted=weighted)
    parts = cut(data, n_parts)
    families = [(6, 0), (6, 1, 2), (6,)]
    assert (parts.count(families).values == data.count(families).values).all()
    assert (parts.count_pairs().values == data.count_pairs().values).all()
    assert (conditional_information(parts) == conditional_information(data)).all()
    assert (class_information(parts) == class_information(data)).all()
    assert parts.n_samples == data.n_samples


@pytest.mark.parametrize("n_parts", PARTS)
def test_folds_have_the_same_rows(n_parts):
    data = make_data(200, unlabelled=0.1, n_classes=4)
    parts = cut(data, n_parts)
    expected = data.stratified_split(7)
    found = parts.stratified_split(7)
    assert len(found) == len(expected) == 7
    for pair, other in zip(found, expected, strict=True):
        for some, rows in zip(pair, other, strict=True):
            gathered = some.gather()
            assert (gathered.codes == rows.codes).all()
            assert (gathered.labels == rows.labels).all()


def test_there_are_no_folds_of_single_samples():
    data = make_data(3, n_classes=3).take(np.array([0]))
    assert cut(data, 1).stratified_split(5) == data.stratified_split(5) == []


@pytest.mark.parametrize("n_parts", PARTS)
@pytest.mark.parametrize("n_rows", [50, 10_000])
def test_samples_have_the_same_rows(n_parts, n_rows):
    data = make_data(2000, unlabelled=0.1, weighted=True)
    found = cut(data, n_parts).stratified_sample(n_rows)
    expected = data.stratified_sample(n_rows)
    assert found.n_samples == expected.n_samples
    assert (found.codes == expected.codes).all()
    assert (found.weights == expected.weights).all()


@given(st.lists(st.integers(0, 3), max_size=30), st.integers(0, 5))
def test_ranks_number_the_samples_of_every_class(labels, start):
    array = np.array(labels, dtype=np.intp)
    ranks = class_ranks(array, np.full(4, start))
    seen = [0] * 4
    for label, rank in zip(labels, ranks, strict=True):
        assert rank == start + seen[label]
        seen[label] += 1
    everything = [np.arange(n) for n in seen]
    assert (rows_of_ranks(array, everything) == np.arange(len(labels))).all()


def test_rows_in_parts_are_in_no_one_place():
    parts = cut(make_data(100), 2)
    for ask in (parts.blocks, parts.all_rows, lambda: parts.split([])):
        with pytest.raises(CapabilityError, match="part"):
            ask()


def _scaled_sum(part, own, factor):
    return own * factor * float(part.labels.sum()), part.n_samples


def _append(values, value):
    return [*values, value]


def _start(part):
    return [part.n_samples]


def _last(values):
    return values[-1]


def _hand_on(values, before):
    return [*before, values[0]]


def test_values_stay_with_their_parts():
    data = make_data(100)
    parts = cut(data, 7)
    each = list(range(7))
    labels, rows = parts.place(_same).sum(_scaled_sum, 2.0, each=each)
    sums = [float(part.labels.sum()) for part in parts.parts]
    assert labels == 2.0 * sum(k * s for k, s in zip(each, sums, strict=True))
    assert rows == 100
    placed = parts.place(_start)
    placed.update(_append, 5)
    placed.update(_append, 6)
    assert placed.collect(_last) == [6] * 7
    sizes = [part.n_samples for part in parts.parts]
    assert parts.place(_start).fold(_hand_on, []) == sizes


def _same(part):
    return part


@given(st.integers(1, 3 * FAN_IN))
def test_trees_add_everything_once(n):
    assert add_in_tree(list(range(n))) == n * (n - 1) // 2
