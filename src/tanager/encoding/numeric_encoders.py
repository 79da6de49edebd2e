"""Encoders of numeric features: equal width, quantiles, and MDL discretisation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from heapq import heapify, heappop, heappush
from itertools import pairwise
from math import log2
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from tanager.encoding.labels import labels_for_cuts
from tanager.errors import InputError
from tanager.types import AnyArray, FloatArray, IndexArray, LabelArray
from tanager.utils.validation import check_weights, check_whole, is_whole

MAX_BINS = 65_535
"""Bins of equal width, as many as codes of 16 bits."""

MAX_EXACT = 2**53
"""Integers up to this size are floats without rounding."""


TIE = 1e-12
"""Entropies closer than this are equal: rounding must not choose between cuts."""


class NumericEncoder(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, ABC):
    """Base of the encoders that discretise numeric features.

    A subclass finds the cut points of one column (`find_cuts`); this class makes it a
    scikit-learn transformer. The bin of a value is the number of cuts below it, so
    values outside the training range fall into the first or last bin.

    Attributes
    ----------
    cuts_ : list of ndarray of shape (n_bins - 1,), float64
        Increasing cut points of every column.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if all were strings.

    Notes
    -----
    Weights are frequencies: weight 2 counts a sample twice, weight 0 ignores it.
    """

    #: Whether `find_cuts` needs the classes.
    uses_labels = False

    #: Whether every cut lies halfway between two neighbouring values.
    cuts_between_values = False

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
            Classes, for encoders that use them; these ignore samples whose class is
            missing.
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
        """Find the cuts of a column with missing values and zero weights.

        Parameters and result are those of `find_cuts`, but a label may be -1 (missing);
        such samples are ignored.
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
        """Replace every value by the index of its bin.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers; NaN is missing.

        Returns
        -------
        ndarray of shape (n_samples, n_features), float64
            Bins from 0 up. Floating, so that missing values stay NaN.
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
    """Discretise into bins of equal width.

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
        if not is_whole(self.n_bins) or self.n_bins <= MAX_BINS:
            check_whole("n_bins", self.n_bins, 1)
        else:
            raise InputError(
                f"n_bins must be at most {MAX_BINS:,}, got {self.n_bins}; one bin for "
                "every distinct value is the most that QuantileEncoder makes."
            )
        steps = np.arange(1, self.n_bins) / self.n_bins
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
    """Discretise into bins of about equal weight; a frequent value has its own bin.

    Parameters
    ----------
    n_bins : int, default=30
        Number of bins; fewer if there are fewer distinct values.

    Notes
    -----
    Attributes after `fit` are those of `NumericEncoder`.

    With at most `n_bins` distinct values, every value is a bin. Otherwise a value is
    *heavy* if its weight exceeds the total weight divided by the number of bins. Such a
    value gets a bin of its own; it is set aside together with this bin, and the rule is
    repeated until no other value is heavy. The heaviest value comes first, of equally
    heavy ones the lowest, and none is taken that would leave fewer bins than there are
    runs of values between the heavy ones.

    Every run gets one bin. The other bins go, one after the other, to the run with the
    greatest weight per bin, and each run is divided by the same rule. A run without a
    heavy value is cut at its quantiles: with N its weight, b its number of bins and
    W(v) the weight of its values up to v, cut number i lies halfway between the least
    v with W(v) >= i N / b and the next distinct value.

    So weights and repeated samples agree, no cut falls on a value, and the number of
    bins is `n_bins` or the number of distinct values, whichever is less.

    Examples
    --------
    >>> import numpy as np
    >>> encoder = QuantileEncoder(n_bins=3).fit(
    ...     np.array([[1], [2], [2], [3], [9], [9]])
    ... )
    >>> encoder.cuts_
    [array([2.5, 6. ])]

    Zero is heavy; the other two bins divide the rest:

    >>> hours = np.array([[0]] * 90 + [[1], [2], [3], [4]])
    >>> QuantileEncoder(n_bins=3).fit(hours).cuts_
    [array([0.5, 2.5])]
    """

    cuts_between_values = True

    def __init__(self, *, n_bins: int = 30) -> None:
        self.n_bins = n_bins

    def find_cuts(
        self,
        values: AnyArray,
        labels: npt.ArrayLike | None = None,  # noqa: ARG002
        weights: npt.ArrayLike | None = None,
    ) -> FloatArray:
        """Cut between heavy values and quantiles; see `NumericEncoder.find_cuts`."""
        check_whole("n_bins", self.n_bins, 1)
        if weights is not None:
            given = np.asarray(weights)
            if (given == given[0]).all():  # the quantiles are those without weights
                weights = None
        distinct, counts = distinct_counts(values, None, weights)
        last = last_in_bins(counts[:, 0], int(self.n_bins))
        return midpoints(distinct[last], distinct[last + 1])


def last_in_bins(counts: FloatArray, n_bins: int) -> IndexArray:
    """Position of the last value of every bin but the last, increasing.

    `counts`, shape (n_distinct,), are the weights of the distinct values, in order.
    """
    if len(counts) <= n_bins:
        return np.arange(len(counts) - 1)
    heavy = _heavy_values(counts, n_bins)
    if not heavy:
        running = np.cumsum(counts)
        # Both sides times n_bins, so that whole weights are compared exactly. Sums of
        # fractions are rounded, which must not move a cut.
        wanted = np.arange(1, n_bins) * running[-1] * (1.0 - TIE)
        last = np.unique(np.searchsorted(running * n_bins, wanted))
        return last[last < len(counts) - 1]
    runs = [
        (before + 1, after)
        for before, after in pairwise((-1, *heavy, len(counts)))
        if after > before + 1
    ]
    bins = _bins_of_runs(counts, runs, n_bins - len(heavy))
    found = [np.array(heavy), np.array(heavy) - 1]
    for (start, stop), n in zip(runs, bins, strict=True):
        found.append(start + last_in_bins(counts[start:stop], n))
    last = np.unique(np.concatenate(found))
    return last[(last >= 0) & (last < len(counts) - 1)]


def _heavy_values(counts: FloatArray, n_bins: int) -> list[int]:
    """Positions of the values that have a bin of their own, increasing."""
    left = counts.sum()
    if (counts * n_bins <= left).all():
        return []
    heavy: list[int] = []
    n_runs = 1
    # No more than n_bins values can be heavier than the average bin.
    for v in np.argsort(-counts, kind="stable")[:n_bins].tolist():
        if counts[v] * (n_bins - len(heavy)) <= left:
            break
        place = bisect_left(heavy, v)
        at_start = v == (heavy[place - 1] + 1 if place else 0)
        at_end = v == (heavy[place] if place < len(heavy) else len(counts)) - 1
        n_runs += 1 - at_start - at_end
        if len(heavy) + 1 + n_runs > n_bins:
            break
        heavy.insert(place, v)
        left -= counts[v]
    return heavy


def _bins_of_runs(
    counts: FloatArray, runs: list[tuple[int, int]], n_bins: int
) -> list[int]:
    """Number of bins of every run of values, `n_bins` in all, at least one each.

    A run is a slice of `counts`; it gets at most as many bins as it has values.
    """
    weights = [float(counts[start:stop].sum()) for start, stop in runs]
    bins = [1] * len(runs)
    # The greatest weight per bin is on top; of equal ones the first.
    waiting = [
        (-weight, i)
        for i, (weight, (start, stop)) in enumerate(zip(weights, runs, strict=True))
        if stop - start > 1
    ]
    heapify(waiting)
    for _ in range(n_bins - len(runs)):
        i = heappop(waiting)[1]
        bins[i] += 1
        if bins[i] < runs[i][1] - runs[i][0]:
            heappush(waiting, (-weights[i] / bins[i], i))
    return bins


class MDLEncoder(NumericEncoder):
    """MDL discretisation: cut where the class entropy decreases enough.

    Notes
    -----
    Attributes after `fit` are those of `NumericEncoder`.

    Of the points halfway between neighbouring distinct values take the cut T of least
    class entropy ``E(T) = |S1|/N Ent(S1) + |S2|/N Ent(S2)``, in bits; of equal ones
    the lowest. Accept it iff, with k, k1, k2 the numbers of classes present,

        Ent(S) - E(T) > [log2(N - 1) + log2(3^k - 2) - D] / N,
        D = k Ent(S) - k1 Ent(S1) - k2 Ent(S2),

    and repeat on both sides. N is the total weight. Samples of one class, or of total
    weight 1 or less, are not cut.

    References
    ----------
    U. Fayyad, K. Irani, *Multi-interval discretization of continuous-valued attributes
    for classification learning*, IJCAI 1993, sections 3 to 5.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]])
    >>> encoder = MDLEncoder().fit(X, ["a", "a", "a", "b", "b", "b"])
    >>> encoder.cuts_
    [array([3.5])]
    >>> encoder.transform([[0.0], [3.6]]).ravel()
    array([0., 1.])
    """

    uses_labels = True
    cuts_between_values = True

    def find_cuts(
        self,
        values: AnyArray,
        labels: npt.ArrayLike | None = None,
        weights: npt.ArrayLike | None = None,
    ) -> FloatArray:
        """Cut by description length; see `NumericEncoder.find_cuts`."""
        if labels is None:
            raise InputError("MDLEncoder needs the class of every sample; pass labels.")
        distinct, counts = distinct_counts(values, labels, weights)
        # Neighbouring values that belong to one and the same class form a block: the
        # least entropy is never inside it (Fayyad and Irani, theorem 1).
        present = counts > 0
        pure = present.sum(axis=1) == 1
        owner = present.argmax(axis=1)
        joined = pure[1:] & pure[:-1] & (owner[1:] == owner[:-1])
        starts = np.flatnonzero(np.concatenate(([True], ~joined)))
        blocks = np.add.reduceat(counts, starts, axis=0)
        first = starts[_accept_cuts(blocks, self._unit(counts.shape[1]))]
        return midpoints(distinct[first - 1], distinct[first])

    def _unit(self, n_classes: int) -> float:  # noqa: ARG002
        """Bits in the unit of entropy of the criterion: one; a subclass may differ."""
        return 1.0


def _accept_cuts(blocks: FloatArray, unit: float) -> IndexArray:
    """Positions (first block on the right) of all accepted cuts, increasing.

    `blocks` has the weight of every block in every class, shape (n_blocks, n_classes).
    """
    n_blocks, n_classes = blocks.shape
    # Class-major, so that every sum below runs along memory.
    running = np.zeros((n_classes, n_blocks + 1))
    np.cumsum(blocks.T, axis=1, out=running[:, 1:])
    cuts = []
    waiting = [(0, n_blocks)]
    while waiting:
        low, high = waiting.pop()
        cut = _best_cut(running, low, high, unit)
        if cut is not None:
            cuts.append(cut)
            waiting += [(low, cut), (cut, high)]
    return np.array(sorted(cuts), dtype=np.intp)


def _best_cut(running: FloatArray, low: int, high: int, unit: float) -> int | None:
    """Cut of least entropy in the blocks from `low` to `high`, if it is accepted."""
    if high - low < 2:
        return None
    whole = running[:, high] - running[:, low]
    total, k = float(whole.sum()), int(np.count_nonzero(whole))
    if total <= 1 or k < 2:
        return None
    present = whole > 0
    left = (running[:, low + 1 : high] - running[:, low, None])[present]
    right = whole[present][:, None] - left
    cost = _bits(left) + _bits(right)  # N times the entropy E(T)
    best = int(np.argmax(cost <= cost.min() + TIE * total))
    bits, bits1, bits2 = (
        float(_bits(side)[0]) / unit
        for side in (whole[:, None], left[:, best, None], right[:, best, None])
    )
    n1, n2 = float(left[:, best].sum()), float(right[:, best].sum())
    k1, k2 = np.count_nonzero(left[:, best]), np.count_nonzero(right[:, best])
    saved = k * bits / total - k1 * bits1 / n1 - k2 * bits2 / n2
    price = log2(total - 1) + log2(3**k - 2) - saved
    return low + 1 + best if bits - bits1 - bits2 > price else None


def _bits(counts: FloatArray) -> FloatArray:
    """Total weight times class entropy in bits, for every column of `counts`."""
    rows = np.vstack([counts, counts.sum(axis=0)])
    # x log2(x), 0 at 0
    rows *= np.log2(np.maximum(rows, np.finfo(np.float64).tiny))
    bits: FloatArray = rows[-1] - rows[:-1].sum(axis=0)
    return bits


def midpoints(low: FloatArray, high: FloatArray) -> FloatArray:
    """Midpoints of neighbouring values, rounded so that they separate the two."""
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

    `values` (n_rows,) are finite; `labels` None counts all rows as one class. Returns
    the values that have a weight, increasing, (n_distinct,) and their weights
    (n_distinct, n_classes), both float64.
    """
    label = None if labels is None else np.asarray(labels)
    weight = None if weights is None else np.asarray(weights, dtype=np.float64)
    n_classes = 1 if label is None else int(label.max(initial=0)) + 1
    offset = span = 0
    if values.dtype.kind in "iu":
        low, high = int(values.min()), int(values.max())
        if max(-low, high) <= MAX_EXACT:
            offset, span = low, high - low + 1
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
