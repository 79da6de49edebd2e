from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tanager.optim import some_of_each_class, stratified_folds
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


@given(random=generators(), n_rows=st.integers(1, 40))
def test_some_rows_have_the_classes_in_proportion(random, n_rows):
    labels = random.integers(0, 3, 40)
    rows = some_of_each_class(labels, n_rows)
    assert len(np.unique(rows)) == n_rows
    assert (np.diff(rows) > 0).all()
    shares = np.bincount(labels[rows], minlength=3)
    expected = np.bincount(labels, minlength=3) * n_rows / 40
    assert (np.abs(shares - expected) < 1 + 1e-9).all()
