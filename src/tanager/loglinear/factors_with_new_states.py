"""Tables of factors moved to variables with more states, or to more classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tanager.data.counts import move_cells
from tanager.loglinear.factor import Axis, Factor
from tanager.model.schema import Variable
from tanager.types import CodeArray, FloatArray, IndexArray, IntArray

MovedAxis = tuple[Axis, IndexArray]
"""An axis of the new variable, and the new bin of every old one, -1 for a lost one."""


def move_axis(axis: Axis, new: Variable, positions: IndexArray) -> MovedAxis:
    """Move the bins of an axis to a variable with more states.

    Parameters
    ----------
    axis : Axis
        Bins of the states of the old variable.
    new : Variable
        The new variable.
    positions : ndarray of int, shape (n_old_states,)
        The new code of every old state, -1 for one that is dropped.

    Notes
    -----
    Where every state had a bin of its own, new states have, too. Where states were
    merged, new ordered states join the bin of the state before them (of the state after
    them at the lower end), and new categories the bin of the pooled rare ones.

    Examples
    --------
    >>> sky = Variable("sky", ("blue", "grey", "red"))
    >>> apart = Axis(0, np.array([0, 1, 2]), 0)
    >>> moved, bins = move_axis(apart, sky, np.array([0, 1]))
    >>> moved.bins, bins
    (array([0, 1, 2, 3]), array([0, 1, 3]))
    """
    n_values = new.n_values
    old_bins, kept = axis.bins[:-1], positions >= 0
    of_values = kept & (positions < n_values)
    merged = np.full(n_values, -1, dtype=np.int64)
    merged[positions[of_values]] = old_bins[of_values]
    known = np.unique(merged[merged >= 0])
    if len(known) == np.count_nonzero(of_values):  # every state apart
        n_bins, bins = n_values, np.arange(n_values)
    else:
        bins = _join_bins(merged, new)
        n_bins = int(bins.max()) + 1
    n_others = new.n_states + 1 - n_values
    every = np.concatenate([bins, n_bins + np.arange(n_others)]).astype(np.int64)
    moved = np.full(axis.n_bins, -1, dtype=np.int64)
    moved[old_bins[kept]] = every[positions[kept]]
    moved[-1] = every[-1]
    n_ordered = n_bins if new.ordered and n_bins > 1 else 0
    return Axis(axis.feature, every, n_ordered), moved


def _join_bins(merged: IntArray, new: Variable) -> IntArray:
    """Give states without a bin, -1, one of those that are there."""
    bins = merged.copy()
    unknown = bins < 0
    if new.ordered:
        place = np.where(unknown, -1, np.arange(len(bins)))
        before = np.maximum.accumulate(place)
        first = int(np.flatnonzero(~unknown)[0])
        bins = merged[np.where(before < 0, first, before)]
    else:
        found = np.bincount(merged[~unknown])
        bins[unknown] = np.argmax(found)  # the one of several categories
    # Bins of states that were dropped leave no numbers free.
    return np.searchsorted(np.unique(bins), bins)


def move_table(
    values: FloatArray, factor: Factor, bins: Sequence[IndexArray]
) -> FloatArray:
    """Move the rows of a table to the cells of a factor with more bins.

    `values` has shape (n_old_cells, n_columns); `bins` are the new bins of every axis.
    """
    old_shape = [len(positions) for positions in bins]
    moved = np.zeros((*factor.shape.tolist(), values.shape[1]))
    columns = np.arange(values.shape[1])
    move_cells(values.reshape(*old_shape, -1), moved, [*bins, columns])
    return moved.reshape(factor.n_cells, -1)


def move_codes(
    codes: CodeArray, positions: Sequence[IndexArray], variables: Sequence[Variable]
) -> CodeArray:
    """Codes of samples, shape (n_features, n_samples), of variables with more states.

    "Not observed", and a state that was dropped, become the new "not observed".
    """
    widest = max(variable.n_states for variable in variables)
    moved = np.empty(codes.shape, dtype=np.min_scalar_type(widest))
    for j, (variable, new) in enumerate(zip(variables, positions, strict=True)):
        lookup = np.append(new, variable.n_states)
        lookup[lookup < 0] = variable.n_states
        moved[j] = lookup[codes[j]]
    return moved


def move_columns(
    values: FloatArray, classes: IndexArray, n_classes: int, *, signs: tuple[float, ...]
) -> FloatArray:
    """Columns for all of `n_classes` classes, zeros for those that are new.

    `signs` say how the single column of two classes becomes two: a multiple for each.
    """
    if values.shape[1] < len(classes):
        values = values * np.array(signs)
    moved = np.zeros((len(values), n_classes), dtype=values.dtype)
    moved[:, classes] = values
    return moved
