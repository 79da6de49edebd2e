"""Folds for learners that hold rows out."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tanager.types import IndexArray

FEWEST_OF_CLASS = 10


def stratified_folds(
    labels: npt.NDArray[np.integer], n_classes: int, n_folds: int
) -> list[IndexArray]:
    """Row numbers of every fold; every class is spread evenly over the folds.

    There are at most as many folds as the largest class has rows, and none if that is
    one. No fold takes rows of a class that has fewer rows than there are folds, nor
    unlabelled rows: they are always in the training part, so that no class is absent.

    Parameters
    ----------
    labels : ndarray of int, shape (n_rows,)
        Class codes; the number of classes means missing.
    n_classes : int
        Number of classes.
    n_folds : int
        Maximum number of folds.

    Returns
    -------
    list of ndarray of int
        Folds that are not empty, each ascending.

    Examples
    --------
    >>> stratified_folds(np.array([0, 0, 1, 1, 0, 2]), 3, 2)
    [array([0, 2, 4]), array([1, 3])]
    """
    counts = np.bincount(labels, minlength=n_classes + 1)
    n_folds = min(n_folds, int(counts[:n_classes].max()))
    if n_folds < 2:
        return []
    order = np.argsort(labels, kind="stable")
    starts = np.cumsum(counts) - counts
    place = np.empty(len(labels), dtype=np.intp)
    place[order] = np.arange(len(labels)) - np.repeat(starts, counts)
    dealt = (counts[labels] >= n_folds) & (labels < n_classes)
    fold = np.where(dealt, place % n_folds, -1)
    folds = [np.flatnonzero(fold == k) for k in range(n_folds)]
    return [rows for rows in folds if len(rows)]


def some_of_each_class(labels: npt.NDArray[np.integer], n_rows: int) -> IndexArray:
    """Numbers of about so many rows, ascending; of every class about its share.

    Of rare classes there are up to ten rows.

    Parameters
    ----------
    labels : ndarray of int
        Class codes.
    n_rows : int
        How many, at most as many as there are.

    Examples
    --------
    >>> some_of_each_class(np.repeat([0, 1], 20), 4)[::5]
    array([ 0, 10, 20, 30])
    >>> len(some_of_each_class(np.repeat([0, 1], [900, 100]), 200))
    200
    """
    chosen = []
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        share = -(-len(rows) * n_rows // len(labels))
        n_taken = min(len(rows), max(share, FEWEST_OF_CLASS))
        chosen.append(rows[np.arange(n_taken) * len(rows) // n_taken])
    return np.sort(np.concatenate(chosen))
