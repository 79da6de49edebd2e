"""Folds, or one validation set, on which a selection of factors is decided."""

from __future__ import annotations

import numpy as np

from tanager.data.folds import stratified_folds, stratified_subsample
from tanager.loglinear.factor_samples import FactorSamples
from tanager.types import IndexArray

FOLDS = ((3_000, 5), (6_000, 3))
"""Folds for up to so many samples; larger datasets have one validation set."""

HELD_OUT = (5, 10_000)
"""The validation set: one of so many parts, and at most so many samples."""

SEARCH_SAMPLES = 40_000
"""Training samples of the search with one validation set. The factors found are then
fitted to all samples."""


def count_folds(n_samples: int) -> int:
    """Number of folds; 1 means one validation set.

    Examples
    --------
    >>> count_folds(500), count_folds(5_000), count_folds(50_000)
    (5, 3, 1)
    """
    return next((k for limit, k in FOLDS if n_samples < limit), 1)


def split_folds(samples: FactorSamples) -> list[FactorSamples]:
    """The samples of every fold, some of them held out.

    A validation set comes first, before at most `SEARCH_SAMPLES` others.
    """
    labels, weights = samples.labels, samples.weights
    n_samples = len(labels)
    n_folds = count_folds(n_samples)
    parts = HELD_OUT[0] if n_folds == 1 else n_folds
    found = []
    for held in stratified_folds(labels, samples.n_classes, parts)[:n_folds]:
        codes, own_labels, own_weights = samples.codes, labels, weights
        if n_folds == 1:
            if len(held) > HELD_OUT[1]:
                held = held[stratified_subsample(labels[held], HELD_OUT[1])]
            rest = _all_but(held, n_samples)
            if len(rest) > SEARCH_SAMPLES:
                rest = rest[stratified_subsample(labels[rest], SEARCH_SAMPLES)]
            rows = np.concatenate([held, rest])
            codes = np.ascontiguousarray(codes[:, rows])
            own_labels, own_weights = labels[rows], weights[rows]
            held = np.arange(len(held))
        found.append(
            FactorSamples.of(
                codes,
                own_labels,
                own_weights.astype(np.float64),
                samples.n_classes,
                held_out=held,
                n_jobs=samples.n_jobs,
            )
        )
    return found


def _all_but(held_out: IndexArray, n_samples: int) -> IndexArray:
    """Positions of the samples that are not held out, ascending."""
    training = np.ones(n_samples, dtype=np.bool_)
    training[held_out] = False
    return np.flatnonzero(training)
