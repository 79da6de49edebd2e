"""`Candidates`: the sets of feature parents among which a learner chooses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from tanager.core.checks import check_whole
from tanager.core.errors import InputError, listed, unknown_name
from tanager.core.schema import Schema
from tanager.core.structure import find_cycle
from tanager.counts.coded import CodedData
from tanager.measures.information import conditional_information
from tanager.structure.arborescence import constrained_forest, spanning_tree
from tanager.structure.constraints import Constraints
from tanager.structure.image_orders import (
    IMAGE_ORDERS,
    checked_shape,
    image_order,
    squared_distances,
)
from tanager.structure.orders import ORDERS, check_order, feature_order, order_by

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Order = str | Sequence[str] | Sequence[int] | None
Picked = str | Mapping[str, Sequence[str]]

ORDER_NAMES = ("random", *ORDERS, "chow-liu", *IMAGE_ORDERS)
"""The orders by name; "ro" is "random", too."""

PICKED_BY = ("random", "nearest", "information")
"""How candidates can be picked, other than by naming them."""

MAX_SETS = 1_000_000
"""Sets of parents that there may be, of all features together."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Sets of feature parents that every feature may have, and an order behind them.

    Parameters
    ----------
    order : tuple of int or None
        Positions of the features, the first one first: parents come before their
        children, whichever sets are chosen. None if there is no such order: then a
        choice of sets may have cycles.
    sets : tuple of tuples of tuples of int
        For every feature the sets it may have, smaller ones first, then by position,
        and each in ascending order. The first is empty where the feature may do
        without feature parents.

    Examples
    --------
    >>> candidates = Candidates((1, 0), (((), (1,)), ((),)))
    >>> candidates.n_sets
    3
    """

    order: tuple[int, ...] | None
    sets: tuple[tuple[tuple[int, ...], ...], ...]

    @property
    def n_sets(self) -> int:
        """Number of sets, of all features together."""
        return sum(map(len, self.sets))


def candidates_of(
    data: CodedData,
    *,
    order: Order,
    candidates: Picked,
    n_candidates: int | None,
    k: int,
    image_shape: tuple[int, int] | None,
    constraints: Constraints,
    before: BoolArray | None,
    random_state: np.random.Generator | None,
) -> Candidates:
    """Order the features, pick candidates before each, and form the sets of them.

    Parameters
    ----------
    data : CodedData
        Coded rows, the class last.
    order : str, sequence of all features, or None
        "random" or "ro", "omi", "omisp", "ocr" and "min-omi" as in `feature_order`;
        "chow-liu": the features of the tree of `ChowLiu` as they join it, parents
        before children; "rows", "diagonal" and "centre" for pixels, see `image_order`;
        or all features, by name or position. None: all other features may be
        candidates, and `k` must be 1.
    candidates : {"random", "nearest", "information"} or mapping
        Which of the earlier features are candidates. "random": any; for the same seed
        those of a smaller `n_candidates` are among those of a larger one. "nearest":
        the nearest pixels. "information": those with the greatest I(X_i; X_j | C) given
        the class C. A mapping from names of features to lists of names gives the
        candidates themselves, all of them whatever `n_candidates` is; features that are
        not in it have none, and orders other than those of pixels and lists of all
        features put every feature after its candidates.
    n_candidates : int or None
        Candidates of a feature at most; None is all earlier features.
    k : int
        Feature parents of a feature at most: the sets are all those of up to k of its
        candidates.
    image_shape : (int, int) or None
        Height and width of the image whose pixels, row by row, the features are; None
        is a square. Used by "nearest" and the orders of pixels.
    constraints : Constraints
        Between features. A required parent is in all sets of its child, and one of its
        candidates. Arcs that are not allowed are in none.
    before : ndarray of bool, shape (n_features, n_features), or None
        What must come before what, see `known_precedence`. Without an order it is not
        read.
    random_state : numpy Generator or None
        Source of randomness: first of the order, then of the candidates.

    Returns
    -------
    Candidates

    Raises
    ------
    InputError
        For arguments that are none of these, contradict each other or the constraints,
        and for more than `MAX_SETS` sets.

    Notes
    -----
    TAN All (`n_candidates` None), TAN Subset ("random") and TAN Heuristic ("nearest"
    with an order of pixels) of [1]_, section 4. There k is 1. Candidates that are
    equally near or informative are taken as they come in the order, without one by
    position.

    Under constraints, the order "chow-liu" is that of the tree of `ChowLiu` under them.
    Where tiers, several required parents or candidates given by name leave no order
    that contains this tree, the order keeps to them, and else to the tree.

    References
    ----------
    .. [1] Roth, Pernkopf (2020), Differentiable TAN structure learning for Bayesian
       network classifiers.

    Examples
    --------
    >>> from tanager.core import Variable
    >>> from tanager.counts import ArrayData
    >>> names = ("x0", "x1", "x2", "x3", "class")
    >>> schema = Schema(tuple(Variable(name, (0, 1)) for name in names), target=4)
    >>> codes = np.zeros((1, 4), dtype=np.uint8, order="F")
    >>> found = candidates_of(
    ...     ArrayData(schema, codes, np.zeros(1, dtype=np.uint8)),
    ...     order="diagonal",
    ...     candidates="nearest",
    ...     n_candidates=2,
    ...     k=1,
    ...     image_shape=(2, 2),
    ...     constraints=Constraints.compile(schema),
    ...     before=None,
    ...     random_state=None,
    ... )
    >>> found.order
    (0, 2, 1, 3)
    >>> found.sets
    (((),), ((), (0,), (2,)), ((), (0,)), ((), (1,), (2,)))
    """
    plan = _planned(
        data.schema,
        order,
        candidates,
        n_candidates,
        k,
        image_shape,
        constraints,
        before,
    )
    random = np.random.default_rng(random_state)
    information = np.empty((0, 0))
    if plan.to_make == "chow-liu" or plan.by == "information":
        # As in trees: without the last digits equal weights are equal.
        information = np.round(conditional_information(data), 12)
    if plan.to_make == "chow-liu":
        made = _chow_liu_order(information, constraints, plan.before)
        plan = replace(plan, order=made)
    elif plan.to_make is not None:
        made = feature_order(
            data, plan.to_make, random_state=random, before=plan.before
        )
        plan = replace(plan, order=made)
    _check_number(plan)

    def random_keys(child: int) -> FloatArray:  # noqa: ARG001
        return random.random(plan.n_features)

    def distances(child: int) -> FloatArray:
        return squared_distances(child, *plan.shape).astype(np.float64)

    def uninformative(child: int) -> FloatArray:
        return -information[:, child]

    keys = {
        "random": random_keys,
        "nearest": distances,
        "information": uninformative,
    }
    picked = _picked(plan, keys.get(plan.by))
    sets = tuple(
        _sets(features, plan.required[features, child], k)
        for child, features in enumerate(picked)
    )
    return Candidates(None if plan.order is None else tuple(plan.order.tolist()), sets)


def check_candidates(
    schema: Schema,
    *,
    order: Order,
    candidates: Picked,
    n_candidates: int | None,
    k: int,
    image_shape: tuple[int, int] | None,
    constraints: Constraints,
    before: BoolArray | None,
) -> None:
    """Raise `InputError` where `candidates_of` would, from the names alone.

    Only the number of sets is not known before the order is, if the order is made from
    data or at random and there are constraints.
    """
    plan = _planned(
        schema, order, candidates, n_candidates, k, image_shape, constraints, before
    )
    _check_number(plan)


@dataclass(frozen=True, eq=False)
class _Plan:
    """Checked arguments: what is known without data.

    `to_make` is the name of an order that is still to be made, `order` the order once
    it is known; both are None where there shall be none. ``possible[i, j]``: i may be a
    candidate of j if it comes before it, as required ones do.
    """

    to_make: str | None
    order: IntArray | None
    by: str
    limit: int | None
    k: int
    shape: tuple[int, int]
    possible: BoolArray
    required: BoolArray
    before: BoolArray

    @property
    def n_features(self) -> int:
        return len(self.possible)


def _planned(
    schema: Schema,
    order: Order,
    candidates: Picked,
    n_candidates: int | None,
    k: int,
    image_shape: tuple[int, int] | None,
    constraints: Constraints,
    before: BoolArray | None,
) -> _Plan:
    """Check all arguments against each other."""
    n_features = len(schema) - 1
    instead = "; for the class as the only parent use NaiveBayes"
    check_whole("n_candidates", n_candidates, 1, none=True, why=instead)
    check_whole("k", k, 1, why=instead)
    if order is None and k > 1:
        raise InputError(
            f"Without an order (order=None) a feature can have one feature parent, got "
            f"k={k}. Give an order, or k=1."
        )
    required = constraints.required
    _check_required(schema, required, k)
    possible, by = constraints.allowed | required, "all"
    if isinstance(candidates, Mapping):
        possible, by = required | (possible & _named(schema, candidates)), "named"
    elif not isinstance(candidates, str) or candidates.lower() not in PICKED_BY:
        raise InputError(
            f"candidates must be one of {listed(PICKED_BY)}, or a mapping from names "
            f"of features to lists of names, got {candidates!r}."
        )
    elif n_candidates is not None:
        by = candidates.lower()
    name = order.lower() if isinstance(order, str) else None
    shape = (0, 0)
    if image_shape is not None or by == "nearest" or name in IMAGE_ORDERS:
        shape = checked_shape(image_shape, n_features)
    plan = _Plan(
        to_make="ro" if name == "random" else name,
        order=None,
        by=by,
        limit=None if by == "named" else n_candidates,
        k=k,
        shape=shape,
        possible=possible,
        required=required,
        before=required if before is None else before | required,
    )
    if order is None:
        return plan
    if name is None or name in IMAGE_ORDERS:
        return _with_given_order(schema, plan, order)
    if name not in ORDER_NAMES:
        raise unknown_name("order", order, ORDER_NAMES)
    return _with_order_to_make(schema, plan)


def _with_given_order(schema: Schema, plan: _Plan, order: Any) -> _Plan:
    """The plan with an order that is known; an error if it cannot be kept to."""
    if plan.to_make is not None:
        order = image_order(plan.to_make, *plan.shape).tolist()
    elif not isinstance(order, Iterable):
        raise InputError(
            f"order must be None, one of {listed(ORDER_NAMES, len(ORDER_NAMES))}, or a "
            f"list of all features, got {order!r}."
        )
    features = list(order)
    check_order(schema, features, before=plan.before)
    positions = np.array([schema.position.get(v, v) for v in features], np.int64)
    place = np.argsort(positions)
    late = plan.possible & (place[:, None] > place[None, :])
    if plan.by == "named" and late.any():
        i, j = np.argwhere(late)[0].tolist()
        raise InputError(
            f"candidates has {schema[i].name!r} for {schema[j].name!r}, but it comes "
            "later in the order. Leave it out, or change the order."
        )
    return replace(plan, to_make=None, order=positions)


def _with_order_to_make(schema: Schema, plan: _Plan) -> _Plan:
    """The plan with all that the order must keep to; an error if there is none."""
    before = plan.before
    if plan.by == "named":
        before = before | plan.possible
    cycle = find_cycle([np.flatnonzero(column).tolist() for column in before.T])
    if cycle:
        names = " -> ".join(schema[j].name for j in cycle)
        raise InputError(
            "No order of the features keeps to all candidates given by name, required "
            f"arcs and tiers: {names}. Drop one of these, or give order=None."
        )
    return replace(plan, before=before)


def _check_required(schema: Schema, required: BoolArray, k: int) -> None:
    """Refuse more required parents than a feature can have."""
    for child in np.flatnonzero(required.sum(axis=0) > k).tolist():
        names = [schema[i].name for i in np.flatnonzero(required[:, child]).tolist()]
        raise InputError(
            f"{schema[child].name!r} has the required parents {listed(names)}, more "
            f"than k={k}. Drop some of them, or raise k."
        )


def _named(schema: Schema, candidates: Mapping[str, Sequence[str]]) -> BoolArray:
    """Matrix of candidates given by name: ``[i, j]``, i is one of j."""
    names = schema.names[:-1]
    position = {name: j for j, name in enumerate(names)}
    named = np.zeros((len(names), len(names)), dtype=np.bool_)
    for child, of in candidates.items():
        if child not in position:
            raise unknown_name("feature in candidates", child, names)
        if isinstance(of, str) or not isinstance(of, Iterable):
            raise InputError(
                f"candidates of {child!r} must be a list of names, got {of!r}."
            )
        for name in of:
            if name == schema.names[-1]:
                raise InputError(
                    f"candidates of {child!r} has the class {name!r}, which is a "
                    "parent of every feature anyway; leave it out."
                )
            if name not in position:
                raise unknown_name(f"feature in candidates of {child!r}", name, names)
            if name == child:
                raise InputError(
                    f"candidates of {child!r} has {child!r} itself; leave it out."
                )
            named[position[name], position[child]] = True
    return named


def _chow_liu_order(
    information: FloatArray, constraints: Constraints, before: BoolArray
) -> IntArray:
    """Features as they join the Chow-Liu tree, as far as `before` allows."""
    if constraints.is_free:
        parent = spanning_tree(information, 0)
    else:
        parent = constrained_forest(information, 0, constraints)
    children = np.flatnonzero(parent >= 0)
    tree = np.zeros_like(before)
    tree[parent[children], children] = True
    weights = np.full(len(parent), np.inf)
    weights[children] = information[parent[children], children]
    both = before | tree
    if not find_cycle([np.flatnonzero(column).tolist() for column in both.T]):
        return order_by(weights, both)
    place = np.argsort(order_by(weights, tree))
    return order_by(-place.astype(np.float64), before)


def _n_possible(plan: _Plan) -> IntArray | None:
    """How many candidates the features can have; None if the order decides."""
    possible = plan.possible
    if plan.order is not None:
        place = np.argsort(plan.order)
        possible = possible & (place[:, None] < place[None, :])
    elif plan.to_make is not None and plan.by != "named":
        all_others = possible.sum() == plan.n_features * (plan.n_features - 1)
        return np.arange(plan.n_features, dtype=np.int64) if all_others else None
    counts: IntArray = possible.sum(axis=0, dtype=np.int64)
    return counts


def _check_number(plan: _Plan) -> None:
    """Refuse more sets than can be held, as soon as their number is known."""
    counts = _n_possible(plan)
    if counts is None:
        return
    n_required = plan.required.sum(axis=0)
    number = 0
    for count, fixed in zip(counts.tolist(), n_required.tolist(), strict=True):
        kept = count if plan.limit is None else min(count, max(plan.limit, fixed))
        free = kept - fixed
        room = min(plan.k - fixed, free)
        number += sum(comb(free, size) for size in range(room + 1))
        if number > MAX_SETS:
            raise InputError(
                f"With n_candidates={plan.limit} and k={plan.k} there are more than "
                f"{MAX_SETS:,} sets of parents to choose from. Use fewer candidates or "
                "a smaller k."
            )


def _picked(plan: _Plan, keys: Callable[[int], FloatArray] | None) -> list[IntArray]:
    """Candidates of every feature, ascending: required ones, then by rising key.

    Keys are asked for once for every feature, by position, so that random ones do not
    depend on how many candidates there may be.
    """
    anywhere = np.arange(plan.n_features, dtype=np.int64)
    order = anywhere if plan.order is None else plan.order
    place = np.argsort(order)
    picked = []
    for child in range(plan.n_features):
        earlier = order if plan.order is None else order[: place[child]]
        possible = earlier[plan.possible[earlier, child]]
        if keys is not None and plan.limit is not None:
            required = plan.required[possible, child]
            key = np.where(required, -np.inf, keys(child)[possible])
            most = max(plan.limit, int(required.sum()))
            possible = possible[np.argsort(key, kind="stable")[:most]]
        picked.append(np.sort(possible))
    return picked


def _sets(
    features: IntArray, is_required: BoolArray, k: int
) -> tuple[tuple[int, ...], ...]:
    """All sets of up to k features with the required ones in them."""
    required = features[is_required].tolist()
    free = features[~is_required].tolist()
    sets = [
        tuple(sorted((*required, *chosen)))
        for size in range(k - len(required) + 1)
        for chosen in combinations(free, size)
    ]
    return tuple(sorted(sets, key=lambda chosen: (len(chosen), chosen)))
