"""Orders of features (OMI, OMISP, OCR, RO) for order-based search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.data.information import pair_class_information
from tanager.errors import InputError, unknown_name
from tanager.model.schema import Schema
from tanager.model.structure import find_cycle
from tanager.structure.constraints import Constraints, check_constraints
from tanager.structure.orders.sample_partition import SamplePartition, select_labelled
from tanager.structure.orders.smoothed_entropies import ConfigurationCounter
from tanager.types import BoolArray, FloatArray, IntArray
from tanager.utils.validation import is_iterable, is_whole

ORDERS = ("omi", "omisp", "ocr", "ro", "min-omi")
"""Names of the orders."""

TIE = 1e-12
"""Values that differ by less are ties: the rest is the order of summation."""

MOST_SAMPLES, FEW_SAMPLES, MOST_CODES = 1_000_000, 100_000, 50_000_000
"""Samples that decide an order: at most so many codes, unless that is too few."""


def feature_order(
    data: CodedData,
    order: str | Sequence[str] | Sequence[int],
    *,
    random_state: np.random.Generator | None = None,
    before: BoolArray | None = None,
    smoothing: float = 0.0,
    n_jobs: int | None = None,
) -> IntArray:
    """Order the features; each may have parents among earlier ones.

    "omi" starts with the pair ``argmax I(C; X, X')`` of Algorithm 1 in [1]_, the one
    with the larger I(C; X) first, then takes ``argmax I(C; X | X_1, ..., X_{j-1})``.
    "omisp" takes the argmax over X of the maximum over earlier Z of I(C; X | Z), and
    starts with the same pair, since its formula needs one feature before. "ocr" takes
    the argmax of the training classification rate of the saturated model ``P(X, X_1,
    ..., X_{j-1} | C) P(C)``, which predicts the most frequent class of a configuration.
    "ro" is random, uniform over all orders without `before`. "min-omi" has argmin in
    place of argmax in equation 2 (section 6.3), from the first feature on. A list of
    all features, by name or position, is taken as it is.

    ``before[i, j]``: feature i must come before feature j; each step chooses among the
    features whose predecessors have been placed. Ties go to the lowest position. When
    the features so far determine the class of every sample, all others are tied. The
    order does not depend on `n_jobs`; None takes that of the data.

    With `smoothing`, every value of a joint variable that does not occur adds
    ``-smoothing log(smoothing)`` to its entropy in "omi", "omisp" and "min-omi", as
    [1]_ suggests (section 5.1) without a value. Their number grows with the product of
    the states: after a few features the term prefers features of few states over
    informative ones. The default is no smoothing. A missing value is one more state of
    its feature, so that all comparisons use the same samples. Unlabelled samples are
    left out. Of more than a million samples, fewer if there are more than 50 features,
    a `stratified_subsample` is used, wherever the samples are: configurations of all
    features so far are almost as many as samples, and cannot be counted in parts.

    References
    ----------
    .. [1] Pernkopf, Bilmes (2010), Efficient heuristics for discriminative structure
       learning of Bayesian network classifiers, section 5.1.

    Examples
    --------
    The class is "x1 and x2 differ"; x0 mostly equals x1:

    >>> from tanager.model import Schema, Variable
    >>> from tanager.data import ArrayData
    >>> names = ("x0", "x1", "x2", "class")
    >>> schema = Schema(tuple(Variable(name, (0, 1)) for name in names), target=3)
    >>> x = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1], [0, 1, 0]])
    >>> codes = np.asfortranarray(x, dtype=np.uint8)
    >>> data = ArrayData(schema, codes, codes[:, 1] ^ codes[:, 2])
    >>> feature_order(data, "omi")
    array([1, 2, 0])
    """
    schema = data.schema
    placing = _PartialOrder(_check_precedence(schema, before))
    if not isinstance(order, str):
        return _given_order(schema, order, placing.before)
    check_order(schema, order)
    order = order.lower()
    if order == "ro":
        rank = np.random.default_rng(random_state).permutation(len(schema) - 1)
        return _place_by_value(placing, -rank.astype(np.float64))
    threads = data.n_jobs if n_jobs is None else n_jobs
    most = min(MOST_SAMPLES, max(FEW_SAMPLES, MOST_CODES // max(len(schema) - 1, 1)))
    rows = select_labelled(data.stratified_sample(most), threads)
    counter = None
    if smoothing and order != "ocr":
        counter = ConfigurationCounter.of(rows, smoothing)
    if order in ("omi", "omisp"):
        information = pair_class_information(rows)
        if counter is not None:
            information = information - _pair_penalties(counter)
        _place_pair(placing, information)
        if order == "omisp":
            return _place_by_single_parent(placing, information)
    configurations = SamplePartition.of(rows)
    for feature in placing.order:
        configurations = configurations.split(feature)
        counter = counter and counter.split(feature)

    def gain(
        current: SamplePartition,
        counter: ConfigurationCounter | None,
        candidates: IntArray,
    ) -> FloatArray:
        if order == "ocr":
            return -current.errors(candidates, threads)
        entropies = current.entropies(candidates, threads)
        if counter is not None:
            entropies = entropies + counter.penalties(candidates)
        return entropies if order == "min-omi" else -entropies

    return _place_by_gain(placing, configurations, counter, gain)


def check_order(
    schema: Schema,
    order: str | Sequence[str] | Sequence[int],
    *,
    before: BoolArray | None = None,
) -> None:
    """Raise `InputError` for an invalid order; arguments as in `feature_order`."""
    if not isinstance(order, str):
        _given_order(schema, order, _check_precedence(schema, before))
    elif order.lower() not in ORDERS:
        raise unknown_name("order", order, ORDERS)


def order_by(values: FloatArray, before: BoolArray) -> IntArray:
    """Order features by decreasing value, ties by position, subject to a precedence.

    ``before[i, j]``: i must come before j; without cycles.

    >>> before = np.zeros((3, 3), dtype=bool)
    >>> before[0, 1] = True
    >>> order_by(np.array([1.0, 3.0, 2.0]), before)
    array([2, 0, 1])
    """
    return _place_by_value(_PartialOrder(before), values)


def known_precedence(
    schema: Schema, constraints: Constraints | None = None
) -> BoolArray:
    """``[i, j]``: feature i is a required parent of j, or in an earlier tier.

    Raises `InputError` if no order keeps to all of it.
    """
    given = check_constraints(constraints)
    required = Constraints(required=given.required).compile(schema).required
    allowed = Constraints(tiers=given.tiers).compile(schema).allowed
    return _check_precedence(schema, required | (allowed & ~allowed.T))


def first_best(values: FloatArray) -> int:
    """Position of the largest value; ties, up to `TIE`, go to the first."""
    return int(np.argmax(values >= values.max() - TIE))


class _PartialOrder:
    """A partial order of features."""

    def __init__(self, before: BoolArray) -> None:
        self.before = before
        self.order: list[int] = []
        self._left = np.ones(len(before), dtype=np.bool_)
        self._waits_for = before.sum(axis=0)

    @property
    def ready(self) -> IntArray:
        """Features whose predecessors have been placed."""
        return np.flatnonzero(self._left & (self._waits_for == 0)).astype(np.int64)

    def place(self, feature: int) -> None:
        """Make a feature the next one."""
        self.order.append(feature)
        self._left[feature] = False
        self._waits_for = self._waits_for - self.before[feature]


def _place_by_value(placing: _PartialOrder, values: FloatArray) -> IntArray:
    """Place the rest by falling value."""
    while len(ready := placing.ready):
        placing.place(int(ready[first_best(values[ready])]))
    return np.array(placing.order, dtype=np.int64)


def _place_by_gain(
    placing: _PartialOrder,
    configurations: SamplePartition,
    counter: ConfigurationCounter | None,
    gain: Callable[
        [SamplePartition, ConfigurationCounter | None, IntArray], FloatArray
    ],
) -> IntArray:
    """Place the rest by gain given the features so far, then by position."""

    def is_decided() -> bool:
        # Smoothed entropies differ where the features so far determine the class, too.
        return configurations.are_pure and counter is None

    while len(ready := placing.ready) and not is_decided():
        several = len(ready) > 1
        best = first_best(gain(configurations, counter, ready)) if several else 0
        chosen = int(ready[best])
        placing.place(chosen)
        configurations = configurations.split(chosen)
        counter = counter and counter.split(chosen)
    return _place_by_value(placing, np.zeros(len(placing.before)))


def _pair_penalties(counter: ConfigurationCounter) -> FloatArray:
    """What smoothing takes from I(C; X, X'), on the diagonal from I(C; X)."""
    features = np.arange(len(counter.data.schema) - 1, dtype=np.int64)
    pairs = np.array([counter.split(int(j)).penalties(features) for j in features])
    pairs = pairs.reshape(len(features), len(features))
    pairs[features, features] = counter.penalties(features)
    return pairs


def _place_by_single_parent(
    placing: _PartialOrder, information: FloatArray
) -> IntArray:
    """Place the rest by the largest I(C; X | Z) with an earlier Z."""
    # By the chain rule I(C; X | Z) = I(C; X, Z) - I(C; Z).
    given = information - information.diagonal()[None, :]
    best = given[:, placing.order].max(axis=1, initial=-np.inf)
    while len(ready := placing.ready):
        chosen = int(ready[first_best(best[ready])])
        placing.place(chosen)
        best = np.maximum(best, given[:, chosen])
    return np.array(placing.order, dtype=np.int64)


def _place_pair(placing: _PartialOrder, information: FloatArray) -> None:
    """Place the pair with the largest I(C; X, X'), more informative one first."""
    before = placing.before
    n_features = len(before)
    if n_features < 2:
        return
    # (i, j) may be the first two if nothing comes before i, and before j at most i.
    predecessors = before.sum(axis=0)
    possible = (predecessors == 0)[:, None] & (predecessors[None, :] == before)
    np.fill_diagonal(possible, False)
    upper = np.triu(possible | possible.T)
    pairs = np.argwhere(upper)
    i, j = pairs[first_best(information[upper])].tolist()
    more = information[j, j] > information[i, i] + TIE
    if not possible[i, j] or (more and possible[j, i]):
        i, j = j, i
    placing.place(i)
    placing.place(j)


def _given_order(
    schema: Schema, order: Sequence[str] | Sequence[int], before: BoolArray
) -> IntArray:
    """Positions of features given by name or position, each exactly once."""
    names = schema.names[:-1]
    if not is_iterable(order):
        raise InputError(
            f"order must be one of {', '.join(map(repr, ORDERS))}, or a list of all "
            f"features, got {order!r}."
        )
    found = [_feature(names, item) for item in order]
    twice = sorted({j for j in found if found.count(j) > 1})
    if twice:
        raise InputError(
            f"order lists {[names[j] for j in twice]} more than once; expected every "
            "feature once."
        )
    absent = [name for j, name in enumerate(names) if j not in set(found)]
    if absent:
        raise InputError(
            f"order lists {len(found)} of {len(names)} features; expected all of them. "
            f"Missing: {absent[:10]}{' and more' if len(absent) > 10 else ''}."
        )
    positions = np.array(found, dtype=np.int64)
    place = np.argsort(positions)
    broken = np.argwhere(before & (place[:, None] > place[None, :]))
    if len(broken):
        i, j = broken[0].tolist()
        raise InputError(
            f"order has {names[j]!r} before {names[i]!r}, but {names[i]!r} must come "
            f"before {names[j]!r}, by required arcs or tiers. Change one of the two."
        )
    return positions


def _feature(names: Sequence[str], item: Any) -> int:
    """Position of a feature given by its name or position."""
    if isinstance(item, str):
        if item not in names:
            raise unknown_name("feature", item, names)
        return names.index(item)
    if is_whole(item) and 0 <= item < len(names):
        return int(item)
    raise InputError(
        f"order must list features by name or by position from 0 to {len(names) - 1}, "
        f"got {item!r}."
    )


def _check_precedence(schema: Schema, before: BoolArray | None) -> BoolArray:
    """Return the precedence as a matrix; refuse other shapes and cycles."""
    n_features = len(schema) - 1
    if before is None:
        return np.zeros((n_features, n_features), dtype=np.bool_)
    matrix = np.asarray(before)
    if matrix.shape != (n_features, n_features) or matrix.dtype != np.bool_:
        raise InputError(
            f"before must be a matrix of bools of shape {(n_features, n_features)}, "
            f"got shape {matrix.shape} of {matrix.dtype}."
        )
    cycle = find_cycle([np.flatnonzero(column).tolist() for column in matrix.T])
    if cycle:
        names = " -> ".join(schema[j].name for j in cycle)
        raise InputError(
            f"No order of the features satisfies the required arcs and tiers: {names}. "
            "Drop one of them."
        )
    return matrix
