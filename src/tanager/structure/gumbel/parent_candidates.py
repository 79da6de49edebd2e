"""`ParentCandidates`: the sets of feature parents among which a learner chooses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.data.information import conditional_information
from tanager.model.structure import find_cycle
from tanager.structure.constraints import ArcMasks
from tanager.structure.gumbel.candidate_options import CandidateOptions, CandidatePlan
from tanager.structure.orders.feature_orders import feature_order, order_by
from tanager.structure.orders.pixel_orders import squared_distances
from tanager.structure.trees.spanning_tree import constrained_forest, spanning_tree
from tanager.types import BoolArray, FloatArray, IndexArray, IntArray


@dataclass(frozen=True, eq=False)
class ParentCandidates:
    """Sets of feature parents that every feature may have, and their order.

    `order` are the positions of the features, parents before children; None if there is
    no order and a choice of sets may have cycles. The `sets` of a feature come by size
    and then by position, each ascending; the first is empty unless a parent is
    required.
    """

    order: tuple[int, ...] | None
    sets: tuple[tuple[tuple[int, ...], ...], ...]


def find_candidates(
    data: CodedData,
    options: CandidateOptions,
    random_state: np.random.Generator | None = None,
    *,
    empty: IndexArray | None = None,
) -> ParentCandidates:
    """Order the features, rank the candidates before each, and form sets of them.

    `random_state` serves first the order, then the candidates. Features in `empty` have
    no observed value and are no candidates unless required. Ties in the ranking go to
    the feature that comes first in the order, without an order to the lowest index.
    Raises `InputError` as `CandidateOptions.resolve` does.

    In the order "chow-liu" the parent of a feature in the tree is, of the features
    before it, the one with the largest I(X_i; X_j | C). With all candidates and with
    "information" the tree is therefore among the possible structures; under
    constraints, that of `ChowLiu` under them is with all candidates. Where tiers,
    several required parents or named candidates exclude every order of the tree, the
    order respects them, and the tree as far as possible.
    """
    plan = options.resolve(data.schema, empty)
    random = np.random.default_rng(random_state)

    @cache
    def information() -> FloatArray:
        # Rounded as in trees, so that equal values compare equal.
        return np.round(conditional_information(data), 12)

    def rank(child: int) -> FloatArray:
        if plan.ranking == "random":
            return random.random(len(plan.possible))
        if plan.ranking == "nearest":
            return squared_distances(child, *plan.shape).astype(np.float64)
        return -information()[:, child]

    name, before = plan.order_name, plan.before
    if name == "chow-liu":
        plan = plan.with_order(_chow_liu_order(information(), plan.masks, before))
    elif name is not None:
        order = feature_order(data, name, random_state=random, before=before)
        plan = plan.with_order(order)
    sets = tuple(
        _form_sets(features, plan.masks.required[features, child], plan.k)
        for child, features in enumerate(_select_candidates(plan, rank))
    )
    return ParentCandidates(
        None if plan.order is None else tuple(plan.order.tolist()), sets
    )


def _chow_liu_order(
    information: FloatArray, masks: ArcMasks, before: BoolArray
) -> IntArray:
    """Order features as they join the Chow-Liu tree, as far as `before` allows."""
    if masks.is_free:
        parent = spanning_tree(information, 0)
    else:
        parent = constrained_forest(information, 0, masks)
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


def _select_candidates(
    plan: CandidatePlan, rank: Callable[[int], FloatArray]
) -> Iterator[IntArray]:
    """Yield the candidates of every feature: required ones, then by rising rank.

    Every feature is ranked once, by position, so that random ranks do not depend on the
    number of candidates.
    """
    order = np.arange(len(plan.possible)) if plan.order is None else plan.order
    place = np.argsort(order)
    for child in range(len(order)):
        earlier = order if plan.order is None else order[: place[child]]
        possible = earlier[plan.possible[earlier, child]]
        if plan.ranking not in ("all", "named"):
            required = plan.masks.required[possible, child]
            key = np.where(required, -np.inf, rank(child)[possible])
            most = max(plan.limit or 0, int(required.sum()))
            possible = possible[np.argsort(key, kind="stable")[:most]]
        yield possible


def _form_sets(
    features: IntArray, is_required: BoolArray, k: int
) -> tuple[tuple[int, ...], ...]:
    """Return all sets of up to k features that contain the required ones."""
    required = features[is_required].tolist()
    free = features[~is_required].tolist()
    sets = [
        tuple(sorted((*required, *chosen)))
        for size in range(min(k - len(required), len(free)) + 1)
        for chosen in combinations(free, size)
    ]
    return tuple(sorted(sets, key=lambda chosen: (len(chosen), chosen)))
