from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tanager.data.folds import stratified_folds, stratified_subsample
from tests.strategies import generators


@given(random=generators(), n_folds=st.integers(2, 6), n_classes=st.integers(1, 4))
def test_every_class_is_dealt_out_evenly(random, n_folds, n_classes):
    labels = random.integers(0, n_classes + 1, 40)  # the last code: no label
    folds = stratified_folds(labels, n_classes, n_folds)
    rows = np.concatenate([np.empty(0, dtype=int), *folds])
    assert len(np.unique(rows)) == len(rows)
    for label in range(n_classes + 1):
        total = np.sum(labels == label)
        shares = [np.sum(labels[fold] == label) for fold in folds]
        if label == n_classes or total < n_folds:
            assert sum(shares) == 0
        else:
            assert sum(shares) == total
            assert max(shares) - min(shares) <= 1


@given(random=generators(), n_rows=st.integers(1, 400))
def test_some_rows_have_the_classes_in_proportion(random, n_rows):
    labels = random.choice(4, 400, p=[0.6, 0.3, 0.09, 0.01])
    rows = stratified_subsample(labels, n_rows)
    assert (np.diff(rows) > 0).all()
    counts = np.bincount(labels, minlength=4)
    shares = np.bincount(labels[rows], minlength=4)
    expected = np.maximum(np.ceil(counts * n_rows / 400), np.minimum(counts, 10))
    assert shares.tolist() == expected.tolist()


def test_a_subsample_of_labels_of_any_type():
    labels = np.random.default_rng(0).integers(0, 3, 500)
    expected = stratified_subsample(labels, 50)
    assert (stratified_subsample(labels.astype(np.uint8), 50) == expected).all()
    assert len(stratified_subsample(labels[:0], 5)) == 0


def test_ranks_are_found_block_by_block(monkeypatch):
    from tanager.data import folds

    random = np.random.default_rng(1)
    labels = random.integers(0, 3, 200).astype(np.uint8)
    counts = np.bincount(labels)
    ranks = [np.sort(random.choice(n, n // 3, replace=False)) for n in counts]
    expected = np.sort(
        np.concatenate(
            [np.flatnonzero(labels == k)[own] for k, own in enumerate(ranks)]
        )
    )
    for size in (1, 7, 1000):
        monkeypatch.setattr(folds, "COUNT_ROWS", size)
        assert (folds.rows_of_ranks(labels, ranks) == expected).all()
        assert (folds.count_codes(labels, 4) == [*counts, 0]).all()
