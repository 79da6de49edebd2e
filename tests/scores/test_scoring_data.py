from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tanager import InputError
from tanager.data import ArrayData
from tanager.data.coded_data import stratified_folds
from tanager.scores.scoring_data import ScoringData
from tests.strategies import data_sets, generators, random_data


def weighted(data, weights):
    return ArrayData(data.schema, data.codes, data.labels, weights)


@given(random=generators(), scale=st.sampled_from([1e-300, 1e-9, 1.0, 1e300]))
def test_sums_of_weights_do_not_depend_on_their_order(random, scale):
    spread = 10.0 ** random.uniform(-9, 0, 200)
    data = weighted(random_data(random, 200, 2), spread * scale)
    weights = ScoringData.of(data, None).weights
    np.testing.assert_allclose(weights, data.weights, rtol=0, atol=scale * 1e-12)
    some = random.random(len(weights)) < 0.5
    exact = float(sum(map(Fraction, weights[some].tolist()), start=Fraction(0)))
    for _ in range(3):
        one_by_one = 0.0
        for weight in random.permutation(weights[some]).tolist():
            one_by_one += weight
        assert one_by_one == exact


def test_whole_weights_stay_as_they_are():
    data = random_data(np.random.default_rng(0), 50, 2)
    weights = np.arange(1.0, 51.0)
    assert np.array_equal(
        ScoringData.of(weighted(data, weights), None).weights, weights
    )


@given(data=data_sets(unlabelled=0.3), folds=st.sampled_from([None, 2, 5]))
def test_rows_are_the_labelled_ones(data, folds):
    rows = ScoringData.of(data, folds)
    known = data.labels < data.schema.n_classes
    assert np.array_equal(rows.codes, data.codes[known].T)
    assert np.array_equal(rows.rows, data.codes[known])
    assert rows.codes.flags.c_contiguous
    assert rows.rows.flags.c_contiguous
    assert np.array_equal(rows.labels, data.labels[known])
    assert (rows.weights is None) == (data.weights is None)
    gaps = (data.codes[known] == data.schema.n_states[:-1]).any(axis=0)
    assert np.array_equal(rows.widths, data.schema.n_states[:-1] + gaps)
    assert rows.names == data.schema.names[:-1]


@given(data=data_sets(), folds=st.integers(2, 6))
def test_folds_are_stratified_and_as_many_as_the_largest_class_allows(data, folds):
    rows = ScoringData.of(data, folds)
    most = np.bincount(data.labels).max()
    if most == 1:
        assert rows.n_folds == 1
        assert not rows.slices.any()
        return
    parts = stratified_folds(data.labels, data.schema.n_classes, min(folds, most))
    assert rows.n_folds == len(parts)
    for number, part in enumerate(parts):
        assert np.array_equal(np.flatnonzero(rows.slices == number), part)
    never = rows.slices == rows.n_folds
    assert rows.n_slices == rows.n_folds + never.any()
    weights = np.ones(len(rows.labels)) if rows.weights is None else rows.weights
    assert np.array_equal(rows.score_weights, np.where(never, 0.0, weights))


@pytest.mark.parametrize("folds", [None, 3])
def test_rows_without_weight_are_as_if_they_were_not_there(folds):
    random = np.random.default_rng(3)
    data = random_data(random, 60, 3, missing=0.2)
    weights = random.integers(0, 3, 60).astype(float)
    kept = np.flatnonzero(weights)
    rows = ScoringData.of(weighted(data, weights), folds)
    few = ScoringData.of(weighted(data, weights).take(kept), folds)
    for name in ("codes", "labels", "weights", "slices", "widths"):
        assert np.array_equal(getattr(rows, name), getattr(few, name))


def test_blocks_are_put_together_in_order():
    data = random_data(np.random.default_rng(1), 20_000, 2, weighted=True)
    rows = ScoringData.of(data, None)
    assert np.array_equal(rows.codes, data.codes.T)
    assert np.array_equal(rows.labels, data.labels)


def test_rows_to_score_by_are_needed():
    data = random_data(np.random.default_rng(2), 5, 2, n_classes=2)
    without = ArrayData(data.schema, data.codes, np.full(5, 2, dtype=np.uint8))
    for nothing in (without, weighted(data, np.zeros(5)), data.take(np.arange(0))):
        with pytest.raises(InputError, match="no labelled sample with a weight"):
            ScoringData.of(nothing, None)
