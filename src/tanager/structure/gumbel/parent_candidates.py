"""`Candidates`: the sets of feature parents among which a learner chooses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.data.information import conditional_information
from tanager.model.schema import Schema
from tanager.model.structure import find_cycle
from tanager.structure.constraints import ArcMasks
from tanager.structure.gumbel.candidate_options import (
    CandidatePlan,
    Order,
    Picked,
    planned,
)
from tanager.structure.orders.feature_orders import feature_order, order_by
from tanager.structure.orders.pixel_orders import squared_distances
from tanager.structure.trees.spanning_tree import constrained_forest, spanning_tree
from tanager.types import BoolArray, FloatArray, IntArray


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
    constraints: ArcMasks,
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
    constraints : ArcMasks
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

    In the order "chow-liu" a feature's parent in the tree is, of the features before
    it, that with the greatest I(X_i; X_j | C). So with all candidates and with
    "information", the tree is among the structures to choose from; at random it is only
    by chance. Under constraints the tree is that of `ChowLiu` under them, and sure to
    be there with all candidates. Where tiers, several required parents or candidates
    given by name leave no order that contains the tree, the order keeps to them, and
    for the rest to the tree.

    References
    ----------
    .. [1] Roth, Pernkopf (2020), Differentiable TAN structure learning for Bayesian
       network classifiers.

    Examples
    --------
    >>> from tanager.model import Variable
    >>> from tanager.data import ArrayData
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
    ...     constraints=Constraints().compile(schema),
    ...     before=None,
    ...     random_state=None,
    ... )
    >>> found.order
    (0, 2, 1, 3)
    >>> found.sets
    (((),), ((), (0,), (2,)), ((), (0,)), ((), (1,), (2,)))
    """
    plan = planned(
        data.schema,
        order=order,
        candidates=candidates,
        n_candidates=n_candidates,
        k=k,
        image_shape=image_shape,
        constraints=constraints,
        before=before,
    )
    random = np.random.default_rng(random_state)

    @cache
    def information() -> FloatArray:
        # As in trees: without the last digits equal weights are equal.
        return np.round(conditional_information(data), 12)

    def keys(child: int) -> FloatArray:
        if plan.by == "random":
            return random.random(plan.n_features)
        if plan.by == "nearest":
            return squared_distances(child, *plan.shape).astype(np.float64)
        return -information()[:, child]

    if plan.to_make == "chow-liu":
        plan = plan.with_order(_chow_liu_order(information(), constraints, plan.before))
    elif plan.to_make is not None:
        plan = plan.with_order(
            feature_order(data, plan.to_make, random_state=random, before=plan.before)
        )
    sets = tuple(
        _sets(features, plan.required[features, child], k)
        for child, features in enumerate(_picked(plan, keys))
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
    constraints: ArcMasks,
    before: BoolArray | None,
) -> None:
    """Raise `InputError` where `candidates_of` would, from the names alone.

    Only the number of sets is not known before the order is, if the order is made from
    data or at random and there are constraints.
    """
    planned(
        schema,
        order=order,
        candidates=candidates,
        n_candidates=n_candidates,
        k=k,
        image_shape=image_shape,
        constraints=constraints,
        before=before,
    )


def _chow_liu_order(
    information: FloatArray, constraints: ArcMasks, before: BoolArray
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


def _picked(
    plan: CandidatePlan, keys: Callable[[int], FloatArray]
) -> Iterator[IntArray]:
    """Candidates of one feature after the other: required ones, then by rising key.

    Keys are asked for once for every feature, by position, so that random ones do not
    depend on how many candidates there may be.
    """
    order = np.arange(plan.n_features) if plan.order is None else plan.order
    place = np.argsort(order)
    for child in range(plan.n_features):
        earlier = order if plan.order is None else order[: place[child]]
        possible = earlier[plan.possible[earlier, child]]
        if plan.by not in ("all", "named"):
            required = plan.required[possible, child]
            key = np.where(required, -np.inf, keys(child)[possible])
            most = max(plan.limit or 0, int(required.sum()))
            possible = possible[np.argsort(key, kind="stable")[:most]]
        yield possible


def _sets(
    features: IntArray, is_required: BoolArray, k: int
) -> tuple[tuple[int, ...], ...]:
    """All sets of up to k features with the required ones in them."""
    required = features[is_required].tolist()
    free = features[~is_required].tolist()
    sets = [
        tuple(sorted((*required, *chosen)))
        for size in range(min(k - len(required), len(free)) + 1)
        for chosen in combinations(free, size)
    ]
    return tuple(sorted(sets, key=lambda chosen: (len(chosen), chosen)))
