"""Numeric encoders: cut points for one column, and the transformers around them."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from tanager.encoding.labels import labels_for_cuts
from tanager.errors import InputError
from tanager.types import AnyArray, FloatArray, LabelArray

MAX_EXACT = 2**53
"""Integers up to this size are floats without rounding."""

RELATIVE_TOLERANCE = 1e-6
"""Weights whose sum is so close to one are relative: see `check_weights`."""


def check_weights(weights: object, n_rows: int) -> FloatArray | None:
    """Validate sample weights: one finite number, not negative, for every row.

    Parameters
    ----------
    weights : array-like of shape (n_rows,) or None
        The weights; None means one each.
    n_rows : int
        Number of rows.

    Returns
    -------
    ndarray of shape (n_rows,), float64, or None
        The weights as frequencies.

    Notes
    -----
    Frequencies decide how much there is against smoothing and for a cut. Weights that
    sum to one, over several rows, say only how much the rows count beside each other:
    AdaBoost gives such weights, for one. They are multiplied by the number of rows that
    have any, so that equal ones are one each.

    Examples
    --------
    >>> check_weights([0.25, 0.5, 0.25, 0.0], 4)
    array([0.75, 1.5 , 0.75, 0.  ])
    >>> check_weights([2, 1, 0, 0], 4)
    array([2., 1., 0., 0.])
    """
    if weights is None:
        return None
    array: FloatArray = np.asarray(weights, dtype=np.float64)
    if array.ndim == 0:
        array = np.full(n_rows, array)
    if array.ndim != 1:
        raise InputError(
            f"Sample weights must be 1D array or scalar, got {array.ndim} dimensions."
        )
    if len(array) != n_rows:
        raise InputError(
            f"sample_weight has {len(array)} entries for {n_rows} rows; give one each."
        )
    if not np.isfinite(array).all() or (array < 0).any():
        raise InputError(
            "sample_weight must be finite and not negative; to leave a row out, give "
            "it weight 0."
        )
    if not array.any():
        raise InputError("sample_weight is zero for every row; nothing to learn from.")
    total, n_weighted = float(array.sum()), np.count_nonzero(array)
    if n_weighted > 1 and abs(total - 1.0) <= RELATIVE_TOLERANCE:
        return array * (n_weighted / total)
    if total < 2 <= n_weighted:
        warnings.warn(
            f"sample_weight sums to {total:.3g}, so {n_rows} rows count as if "
            "there were fewer than 2: too little for cut points and against any "
            "smoothing. Multiply the weights by the number of rows.",
            UserWarning,
            stacklevel=3,
        )
    return array


class NumericEncoder(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, ABC):
    """Base of the encoders that cut numeric columns into bins.

    A subclass says where to cut one column (`find_cuts`); this class makes a
    scikit-learn transformer of it. A value lies in the bin whose number is the count
    of cuts below it, so values outside the range seen fall into the end bins.

    Attributes
    ----------
    cuts_ : list of ndarray of shape (n_bins - 1,), float64
        Increasing cut points of every column.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all were strings.

    Notes
    -----
    Weights are frequencies: weight 2 is the row twice, weight 0 is no row.
    """

    #: Whether `find_cuts` needs the classes.
    uses_labels = False

    @abstractmethod
    def find_cuts(
        self,
        values: AnyArray,
        labels: npt.ArrayLike | None = None,
        weights: npt.ArrayLike | None = None,
    ) -> FloatArray:
        """Find the cut points of one column.

        Parameters
        ----------
        values : ndarray of shape (n_rows,), integer or floating
            Finite numbers.
        labels : array-like of shape (n_rows,), int, or None
            Class of every row, 0 and up; needed if `uses_labels`.
        weights : array-like of shape (n_rows,) or None
            Frequency of every row.

        Returns
        -------
        ndarray of shape (n_cuts,), float64
            Increasing, finite.
        """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the cuts of every column.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers; NaN is missing and ignored.
        y : array-like of shape (n_samples,), default=None
            Classes, for encoders that use them; rows whose class is missing are left
            out then.
        sample_weight : array-like of shape (n_samples,), default=None
            Frequency of every row.

        Returns
        -------
        self : NumericEncoder
            The fitted encoder.
        """
        matrix = self._validated(X, reset=True)
        weights = check_weights(sample_weight, len(matrix))
        labels = None
        if self.uses_labels:
            labels = labels_for_cuts(y, len(matrix), type(self).__name__)
        self.cuts_ = [
            self.cuts_of(matrix[:, j], labels, weights) for j in range(matrix.shape[1])
        ]
        return self

    def cuts_of(
        self, values: AnyArray, labels: LabelArray | None, weights: FloatArray | None
    ) -> FloatArray:
        """Find the cuts of a column that may have missing cells and zero weights.

        Parameters and result are those of `find_cuts`, but a label may be -1: the
        class of that row is not known, and it takes no part.
        """
        keep = None if weights is None or weights.all() else weights > 0
        if labels is not None and labels.dtype.kind == "i" and (labels < 0).any():
            keep = labels >= 0 if keep is None else keep & (labels >= 0)
        if values.dtype.kind == "f":
            known = ~np.isnan(values)
            if not known.all():
                keep = known if keep is None else keep & known
        if keep is not None:
            values = values[keep]
            labels = None if labels is None else labels[keep]
            weights = None if weights is None else weights[keep]
        if not len(values):
            return np.empty(0)
        return self.find_cuts(values, labels, weights)

    def transform(self, X: Any) -> FloatArray:
        """Replace every number by the number of its bin.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers; NaN is missing.

        Returns
        -------
        ndarray of shape (n_samples, n_features), float64
            Bins from 0 up. Floating, so that a missing cell can stay NaN.
        """
        check_is_fitted(self)
        matrix = self._validated(X, reset=False)
        bins = np.empty(matrix.shape)
        for j, cuts in enumerate(self.cuts_):
            bins[:, j] = np.searchsorted(cuts, matrix[:, j])
        if matrix.dtype.kind == "f":
            bins[np.isnan(matrix)] = np.nan
        return bins

    def _validated(self, X: Any, *, reset: bool) -> AnyArray:
        matrix: AnyArray = validate_data(
            self, X, reset=reset, dtype="numeric", ensure_all_finite="allow-nan"
        )
        return matrix

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = self.uses_labels
        return tags


class EqualWidthEncoder(NumericEncoder):
    """Cut the range of a column into bins of equal width.

    Parameters
    ----------
    n_bins : int, default=10
        Number of bins; a constant column has one.

    Notes
    -----
    Attributes after `fit` are those of `NumericEncoder`.

    Examples
    --------
    >>> import numpy as np
    >>> encoder = EqualWidthEncoder(n_bins=4).fit(np.array([[0.0], [1.0], [8.0]]))
    >>> encoder.cuts_
    [array([2., 4., 6.])]
    >>> encoder.transform([[5.0], [float("nan")], [100.0]]).ravel()
    array([ 2., nan,  3.])
    """

    def __init__(self, *, n_bins: int = 10) -> None:
        self.n_bins = n_bins

    def find_cuts(
        self,
        values: AnyArray,
        labels: npt.ArrayLike | None = None,  # noqa: ARG002
        weights: npt.ArrayLike | None = None,
    ) -> FloatArray:
        """Divide the range of the values; see `NumericEncoder.find_cuts`."""
        steps = np.arange(1, check_bins(self.n_bins)) / self.n_bins
        if weights is not None:
            values = values[np.asarray(weights) > 0]
        low, high = float(values.min()), float(values.max())
        if np.isfinite(high - low):
            cuts = low + (high - low) * steps
        else:  # the width itself is too large for a float
            cuts = low * (1 - steps) + high * steps
        # Rounding may repeat cuts, or move them onto the ends, in tiny ranges.
        return np.unique(cuts[(cuts >= low) & (cuts < high)])


class QuantileEncoder(NumericEncoder):
    """Cut a column into bins of about equal weight.

    Parameters
    ----------
    n_bins : int, default=30
        Number of bins; fewer where values are tied.

    Notes
    -----
    Attributes after `fit` are those of `NumericEncoder`.

    With N the total weight and W(v) the weight of the values up to v, cut number i
    lies halfway between the least v with W(v) >= i N / n_bins and the next distinct
    value, so that frequencies and repeated rows agree and no cut falls on a value.

    Examples
    --------
    >>> import numpy as np
    >>> encoder = QuantileEncoder(n_bins=3).fit(
    ...     np.array([[1], [2], [2], [3], [9], [9]])
    ... )
    >>> encoder.cuts_
    [array([2.5, 6. ])]
    """

    def __init__(self, *, n_bins: int = 30) -> None:
        self.n_bins = n_bins

    def find_cuts(
        self,
        values: AnyArray,
        labels: npt.ArrayLike | None = None,  # noqa: ARG002
        weights: npt.ArrayLike | None = None,
    ) -> FloatArray:
        """Cut between the quantiles; see `NumericEncoder.find_cuts`."""
        n_bins = check_bins(self.n_bins)
        distinct, counts = distinct_counts(values, None, weights)
        running = np.cumsum(counts[:, 0])
        # Both sides times n_bins, so that whole weights are compared exactly.
        wanted = np.arange(1, n_bins) * running[-1]
        last = np.unique(np.searchsorted(running * n_bins, wanted))
        last = last[last < len(distinct) - 1]
        return midpoints(distinct[last], distinct[last + 1])


def check_bins(n_bins: object) -> int:
    """Refuse a number of bins that is not a positive integer."""
    if (
        not isinstance(n_bins, (int, np.integer))
        or isinstance(n_bins, bool)
        or n_bins < 1
    ):
        raise InputError(f"n_bins must be an integer of at least 1, got {n_bins!r}.")
    return int(n_bins)


def midpoints(low: FloatArray, high: FloatArray) -> FloatArray:
    """Halfway between neighbouring values, never so rounded that both fall left."""
    middle = (
        low / 2 + high / 2 if np.abs(high).max(initial=0) > 1e300 else (low + high) / 2
    )
    return np.where(middle < high, middle, low)


def distinct_counts(
    values: AnyArray,
    labels: npt.ArrayLike | None,
    weights: npt.ArrayLike | None,
) -> tuple[FloatArray, FloatArray]:
    """Reduce a column to its distinct values and their weight in every class.

    Parameters
    ----------
    values : ndarray of shape (n_rows,), integer or floating
        Finite numbers.
    labels : array-like of shape (n_rows,), int, or None
        Class of every row; None counts all rows as one class.
    weights : array-like of shape (n_rows,) or None
        Frequency of every row; values of weight 0 only do not appear.

    Returns
    -------
    distinct : ndarray of shape (n_distinct,), float64
        Increasing.
    counts : ndarray of shape (n_distinct, n_classes), float64
        Total weight.
    """
    label = None if labels is None else np.asarray(labels)
    weight = None if weights is None else np.asarray(weights, dtype=np.float64)
    n_classes = 1 if label is None else int(label.max(initial=0)) + 1
    offset, span = _small_span(values)
    if 0 < span * n_classes <= max(4 * len(values), 65_536):
        # Whole numbers in a narrow range need no sorting.
        position = values.astype(np.intp) - offset
        distinct = np.arange(offset, offset + span, dtype=np.float64)
    elif label is None and weight is None:  # sorting is faster than ranking
        distinct, counted = np.unique(values.astype(np.float64), return_counts=True)
        return distinct, counted.astype(np.float64)[:, None]
    else:
        values = values.astype(np.float64, copy=False)
        order = np.argsort(values)
        ranked = values[order]
        fresh = np.concatenate(([True], ranked[1:] != ranked[:-1]))
        distinct = ranked[fresh]
        span = len(distinct)
        position = np.cumsum(fresh) - 1
        label = None if label is None else label[order]
        weight = None if weight is None else weight[order]
    if label is not None:
        position = position * n_classes
        position += label
    flat = np.bincount(position, weight, minlength=span * n_classes)
    counts = flat.reshape(span, n_classes).astype(np.float64, copy=False)
    occurs = counts.any(axis=1)
    if not occurs.all():
        distinct, counts = distinct[occurs], counts[occurs]
    return distinct, counts


def _small_span(values: AnyArray) -> tuple[int, int]:
    """Least value and number of integers up to the greatest; span 0 for floats."""
    if values.dtype.kind not in "iu":
        return 0, 0
    low, high = int(values.min()), int(values.max())
    if max(-low, high) > MAX_EXACT:
        return 0, 0
    return low, high - low + 1
