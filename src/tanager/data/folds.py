"""Stratified folds, validation sets and subsamples of coded samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tanager.types import IndexArray, IntArray
from tanager.utils.threads import row_blocks

COUNT_ROWS = 2**20
"""Samples that are counted and ranked at a time."""

FEWEST_OF_CLASS = 10
"""Samples of a rare class in a subsample, if it has them."""


def stratified_folds(
    labels: npt.NDArray[np.integer], n_classes: int, n_folds: int
) -> list[IndexArray]:
    """Split samples into folds, the samples of each class in turn.

    There are at most as many folds as the largest class has samples, and none if that
    is one. Unlabelled samples, and those of a class with fewer samples than folds, are
    in no fold. They are always in the training set, so that no class is absent from it.

    Parameters
    ----------
    labels : ndarray of int, shape (n_samples,)
        Class codes; `n_classes` means unlabelled.
    n_classes : int
        Number of classes.
    n_folds : int
        Maximum number of folds.

    Returns
    -------
    list of ndarray of int
        Indices of the samples of every fold that is not empty, ascending.

    Examples
    --------
    >>> stratified_folds(np.array([0, 0, 1, 1, 0, 2]), 3, 2)
    [array([0, 2, 4]), array([1, 3])]
    """
    blocks = row_blocks(len(labels), COUNT_ROWS)
    counts = count_codes(labels, n_classes + 1)
    n_folds = fold_count(counts, n_classes, n_folds)
    if not n_folds:
        return []
    large = np.append(counts[:n_classes] >= n_folds, False)
    fold = np.full(len(labels), -1, dtype=np.min_scalar_type(-n_folds))
    done = np.zeros(n_classes + 1, dtype=np.intp)  # samples of every class so far
    for start, stop in blocks:
        block = labels[start:stop]
        order = np.argsort(block, kind="stable")
        found = np.bincount(block, minlength=n_classes + 1)
        ranked = block[order]
        # Number of every sample among those of its class.
        number = np.arange(len(block)) + (done - np.cumsum(found) + found)[ranked]
        fold[start:stop][order] = np.where(large[ranked], number % n_folds, -1)
        done += found
    folds = [np.flatnonzero(fold == k) for k in range(n_folds)]
    return [rows for rows in folds if len(rows)]


def stratified_subsample(labels: npt.NDArray[np.integer], n_rows: int) -> IndexArray:
    """Return the indices of a stratified subsample, ascending.

    It has about `n_rows` samples, with up to ten of every rare class.

    Parameters
    ----------
    labels : ndarray of int, shape (n_samples,)
        Class codes.
    n_rows : int
        Size of the subsample, at most `n_samples`.

    Examples
    --------
    >>> stratified_subsample(np.repeat([0, 1], 20), 4)[::5]
    array([ 0, 10, 20, 30])
    >>> len(stratified_subsample(np.repeat([0, 1], [900, 100]), 200))
    200
    """
    counts = count_codes(labels, int(labels.max()) + 1 if len(labels) else 0)
    return rows_of_ranks(labels, subsample_ranks(counts, n_rows))


def count_codes(codes: npt.NDArray[np.integer], n_codes: int) -> IntArray:
    """Count the samples of every code, shape (n_codes,).

    In blocks, since NumPy counts a copy of eight bytes per sample.

    Examples
    --------
    >>> count_codes(np.array([2, 0, 2], dtype=np.uint8), 4)
    array([1, 0, 2, 0])
    """
    counts = np.zeros(n_codes, dtype=np.intp)
    for start, stop in row_blocks(len(codes), COUNT_ROWS):
        counts += np.bincount(codes[start:stop], minlength=n_codes)
    return counts


def fold_count(counts: IntArray, n_classes: int, n_folds: int) -> int:
    """Number of folds for classes of some sizes; see `stratified_folds`."""
    most = min(n_folds, int(counts[:n_classes].max()))
    return most if most > 1 else 0


def subsample_ranks(counts: IntArray, n_rows: int) -> list[IndexArray]:
    """Choose the samples of a `stratified_subsample` by the sizes of the classes.

    The chosen samples of every class are given by their numbers among those of the
    class, ascending.
    """
    n_samples = int(counts.sum())
    chosen = []
    for n in counts.tolist():
        n_taken = min(n, max(-(-n * n_rows // n_samples), FEWEST_OF_CLASS))
        chosen.append(np.arange(n_taken) * n // max(n_taken, 1))
    return chosen


def class_ranks(labels: IndexArray, starts: IntArray) -> IndexArray:
    """Number the samples of every class, from ``starts[class]`` on."""
    counts = np.bincount(labels, minlength=len(starts))
    order = np.argsort(labels, kind="stable")
    ranks = np.empty(len(labels), dtype=np.intp)
    before = np.cumsum(counts) - counts - starts
    ranks[order] = np.arange(len(labels)) - before[labels[order]]
    return ranks


def rows_of_ranks(
    labels: npt.NDArray[np.integer], ranks: Sequence[IndexArray]
) -> IndexArray:
    """Return the rows of some numbers among those of every class, ascending."""
    chosen = [np.empty(0, dtype=np.intp)]
    done = [0] * len(ranks)  # samples of every class so far
    for start, stop in row_blocks(len(labels), COUNT_ROWS):
        block = labels[start:stop]
        for label, of_class in enumerate(ranks):
            if not len(of_class):
                continue
            rows = np.flatnonzero(block == label)
            first = done[label]
            done[label] += len(rows)
            own = slice(*np.searchsorted(of_class, [first, done[label]]))
            chosen.append(start + rows[of_class[own] - first])
    return np.sort(np.concatenate(chosen))


def hold_out(
    labels: IndexArray, fraction: float, random: np.random.Generator
) -> tuple[IndexArray, IndexArray]:
    """Split samples into a training and a validation set, stratified by class.

    Of every class with at least two samples both sets have at least one; a class with
    a single sample is only trained on.

    Parameters
    ----------
    labels : ndarray of int, shape (n_samples,)
        Class codes.
    fraction : float
        Fraction of the samples of every class that are held out.
    random : numpy.random.Generator
        Chooses the samples.

    Returns
    -------
    training, validation : ndarray of int
        Indices, ascending.

    Examples
    --------
    >>> training, validation = hold_out(
    ...     np.array([0, 0, 0, 0, 1, 1, 2]), 0.25, np.random.default_rng(0)
    ... )
    >>> len(training), len(validation), 6 in training
    (5, 2, True)
    """
    held_out = np.zeros(len(labels), dtype=np.bool_)
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        n_held_out = min(max(1, round(fraction * len(rows))), len(rows) - 1)
        held_out[random.permutation(rows)[:n_held_out]] = True
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)
