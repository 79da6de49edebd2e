"""`Factor`: a small table over one, two or three features, and its penalty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from tanager.data.folds import count_codes
from tanager.encoding.numeric_encoders import last_in_bins
from tanager.model.schema import Variable
from tanager.types import BoolArray, CodeArray, FloatArray, IntArray, LabelArray
from tanager.utils.stored_fields import StoredFields

SMALL_RIDGE = {1: 1e-3, 2: 0.01, 3: 0.01}
"""Ridge of smooth cells, by the number of features: it keeps the penalty positive
definite and shrinks interactions slightly towards zero."""

STEPS_PER_UNIT = 8.0
"""Ordered bins of a single feature over which the penalty on first differences allows
about as much variation as a ridge of the same strength allows between categories."""


@dataclass(frozen=True, eq=False)
class Axis(StoredFields):
    """One feature of a factor: the bins into which its states are merged.

    Parameters
    ----------
    feature : int
        Position of the feature.
    bins : ndarray of int, shape (n_states + 1,)
        The bin of every state. The last entry is that of "not observed", a bin of its
        own and the last one.
    n_ordered : int
        Number of ordered bins, which come first; the others have no neighbours.

    Examples
    --------
    >>> age = Variable.binned("age", [30.0, 50.0, 70.0])
    >>> axis = Axis.of(0, age, np.array([5.0, 1.0, 2.0, 9.0]), 2)
    >>> axis.bins, axis.n_bins, axis.n_ordered
    (array([0, 0, 0, 1, 2]), 3, 2)
    """

    feature: int
    bins: IntArray
    n_ordered: int

    @classmethod
    def of(
        cls, feature: int, variable: Variable, weights: FloatArray, max_bins: int | None
    ) -> Axis:
        """Merge the states of a variable into at most `max_bins` bins of its values.

        `weights`, shape (n_states,), are the total weights of the samples in the
        states. Ordered states are merged with their neighbours, frequent ones last;
        of others the most frequent keep a bin, and the rest are pooled.
        None merges nothing.
        """
        n_values = variable.n_values
        merged = np.arange(n_values)
        if max_bins is not None and n_values > max_bins:
            if variable.ordered:
                last = last_in_bins(np.asarray(weights[:n_values]), max_bins)
                merged = np.searchsorted(last, merged)
            else:
                rank = np.empty(n_values, dtype=np.int64)
                order = np.argsort(-weights[:n_values], kind="stable")
                rank[order] = np.arange(n_values)
                merged = np.minimum(rank, max_bins - 1)
        n_bins = int(merged.max()) + 1
        others = n_bins + np.arange(variable.n_states + 1 - n_values)
        bins = np.concatenate([merged, others]).astype(np.int64)
        # A single bin has no neighbours, whether its variable is ordered or not.
        return cls(feature, bins, n_bins if variable.ordered and n_bins > 1 else 0)

    @cached_property
    def n_bins(self) -> int:
        """Number of bins, that of "not observed" included."""
        return int(self.bins[-1]) + 1


@dataclass(frozen=True, eq=False)
class Factor(StoredFields):
    """The cells of a log table over a few features, without the class.

    Parameters
    ----------
    axes : tuple of Axis
        One for every feature, by increasing position.

    Attributes
    ----------
    features : ndarray of int64, shape (n_axes,)
        Positions of the features.
    shape : ndarray of int64, shape (n_axes,)
        Number of bins along every axis; `n_cells` is their product.
    n_ordered : ndarray of int64, shape (n_axes,)
        Number of ordered bins along every axis.

    Notes
    -----
    The penalty on a table w of one class is ``strength / 2 w' S w``. S has the squared
    first differences along the ordered bins of every axis (times `path`), and a ridge
    `diagonal`: 1 for every axis along which a cell has no neighbours, and a small one
    for all. A table over one feature has `path` proportional to its number of bins:
    otherwise the same strength would smooth few bins much more than many.

    Examples
    --------
    >>> age = Variable.binned("age", [30.0, 50.0])
    >>> sky = Variable("sky", ("blue", "grey"))
    >>> factor = Factor(
    ...     tuple(
    ...         Axis.of(j, v, np.ones(v.n_states), None)
    ...         for j, v in enumerate([age, sky])
    ...     )
    ... )
    >>> factor.shape, factor.n_cells
    (array([4, 3]), 12)
    >>> factor.cells(np.array([[2, 3], [1, 0]], dtype=np.uint8))
    array([7, 9])
    """

    axes: tuple[Axis, ...]

    @cached_property
    def key(self) -> tuple[int, ...]:
        """The features, as a key that can be compared."""
        return tuple(axis.feature for axis in self.axes)

    @cached_property
    def features(self) -> IntArray:
        """Positions of the features, shape (n_axes,)."""
        return np.array(self.key, dtype=np.int64)

    @cached_property
    def shape(self) -> IntArray:
        """Number of bins along every axis, shape (n_axes,)."""
        return np.array([axis.n_bins for axis in self.axes], dtype=np.int64)

    @cached_property
    def n_ordered(self) -> IntArray:
        """Number of ordered bins along every axis, shape (n_axes,)."""
        return np.array([axis.n_ordered for axis in self.axes], dtype=np.int64)

    @cached_property
    def n_cells(self) -> int:
        """Number of cells."""
        return prod(axis.n_bins for axis in self.axes)

    @cached_property
    def strides(self) -> IntArray:
        """Cells from one bin to the next along every axis, shape (n_axes,)."""
        return self.n_cells // np.cumprod(self.shape)

    @cached_property
    def tied(self) -> BoolArray:
        """Whether a cell has a neighbour above it, shape (n_axes, n_cells).

        Neighbours along an axis are tied by the penalty on their difference.
        """
        bins = np.arange(self.n_cells) // self.strides[:, np.newaxis]
        return bins % self.shape[:, np.newaxis] < self.n_ordered[:, np.newaxis] - 1

    @cached_property
    def lookup(self) -> IntArray:
        """What every code adds to the cell of a sample, shape (n_axes, widest)."""
        widest = max(len(axis.bins) for axis in self.axes)
        lookup = np.zeros((len(self.axes), widest), dtype=np.int64)
        stride = self.n_cells
        for place, axis in enumerate(self.axes):
            stride //= axis.n_bins
            lookup[place, : len(axis.bins)] = axis.bins * stride
        return lookup

    @cached_property
    def diagonal(self) -> FloatArray:
        """Ridge part of the penalty, shape (n_cells,)."""
        ridge = np.full(self.shape, SMALL_RIDGE[len(self.axes)])
        for place, axis in enumerate(self.axes):
            apart = [slice(None)] * len(self.axes)
            apart[place] = slice(axis.n_ordered, None)
            ridge[tuple(apart)] += 1.0
        return ridge.ravel()

    @cached_property
    def path(self) -> float:
        """Weight of the squared first differences."""
        if len(self.axes) > 1:
            return 1.0
        return max(self.axes[0].n_ordered, 2) / STEPS_PER_UNIT

    @cached_property
    def axis_penalties(self) -> list[FloatArray]:
        """The penalty along every axis, shape (n_bins, n_bins) each.

        S is their sum and a small ridge for all cells.
        """
        found = []
        for axis in self.axes:
            matrix = np.diag((np.arange(axis.n_bins) >= axis.n_ordered).astype(float))
            slopes = np.diff(np.eye(axis.n_ordered, axis.n_bins), axis=0)
            found.append(matrix + self.path * slopes.T @ slopes)
        return found

    @cached_property
    def penalty_diagonal(self) -> FloatArray:
        """Diagonal of S, shape (n_cells,)."""
        total = self.diagonal.reshape(self.shape).copy()
        for place, n_ordered in enumerate(self.n_ordered.tolist()):
            if n_ordered > 1:
                along = np.moveaxis(total, place, 0)
                along[: n_ordered - 1] += self.path
                along[1:n_ordered] += self.path
        return total.ravel()

    def quadratic_form(self, table: FloatArray) -> float:
        """Compute ``w' S w``, summed over the columns of a table w.

        `table` has shape (n_cells, n_columns).
        """
        form = float(self.diagonal @ np.square(table).sum(axis=1))
        grid = table.reshape(*self.shape, -1)
        for place, n_ordered in enumerate(self.n_ordered):
            ordered = np.moveaxis(grid, place, 0)[:n_ordered]
            form += self.path * float(np.square(np.diff(ordered, axis=0)).sum())
        return form

    def cells(self, codes: CodeArray) -> IntArray:
        """Find the cell of every sample, shape (n_samples,).

        `codes` have shape (n_features, n_samples).
        """
        found: IntArray = self.lookup[0].take(codes[self.key[0]])
        for place, feature in enumerate(self.key[1:], 1):
            found += self.lookup[place].take(codes[feature])
        return found


def sum_weights(
    variables: Sequence[Variable], codes: CodeArray, weights: FloatArray | None
) -> list[FloatArray]:
    """Sum the weights of the samples in every state, shape (n_states + 1,) each.

    `codes` have shape (n_features, n_samples) and `weights` shape (n_samples,); None
    means all one.
    """
    return [
        sum_code_weights(codes[j], weights, v.n_states + 1)
        for j, v in enumerate(variables)
    ]


def sum_code_weights(
    codes: CodeArray | LabelArray, weights: FloatArray | None, n_codes: int
) -> FloatArray:
    """Sum the weights of the samples of every code, shape (n_codes,)."""
    if weights is None:
        return count_codes(codes, n_codes).astype(np.float64)
    totals: FloatArray = np.bincount(codes, weights, n_codes).astype(np.float64)
    return totals


def make_axes(
    variables: Sequence[Variable], totals: Sequence[FloatArray], max_bins: int
) -> list[Axis]:
    """Make one axis of at most `max_bins` bins of values for every feature.

    `totals` are the weights of its states; see `sum_weights`.
    """
    return [
        Axis.of(j, v, total, max_bins)
        for j, (v, total) in enumerate(zip(variables, totals, strict=True))
    ]
