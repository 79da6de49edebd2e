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

    Parameters
    ----------
    order : tuple of int or None
        Positions of the features, parents before their children in every choice of
        sets. None if there is no order; a choice of sets may then have cycles.
    sets : tuple of tuples of tuples of int
        Parent sets of every feature, by size and then by position, each ascending. The
        first is empty unless a parent is required.

    Examples
    --------
    >>> candidates = ParentCandidates((1, 0), (((), (1,)), ((),)))
    >>> candidates.n_sets
    3
    """

    order: tuple[int, ...] | None
    sets: tuple[tuple[tuple[int, ...], ...], ...]

    @property
    def n_sets(self) -> int:
        """Number of sets, of all features together."""
        return sum(map(len, self.sets))


def find_candidates(
    data: CodedData,
    options: CandidateOptions,
    random_state: np.random.Generator | None = None,
    *,
    empty: IndexArray | None = None,
) -> ParentCandidates:
    """Order the features, rank the candidates before each, and form sets of them.

    `random_state` serves first the order, then the candidates. Features in `empty` have
    no observed value and are no candidates unless required.

    Raises
    ------
    InputError
        For invalid options, and for more than `candidate_options.MAX_SETS` sets.

    Notes
    -----
    TAN All (`n_candidates` None), TAN Subset ("random") and TAN Heuristic ("nearest"
    with an order of pixels) of [1]_, section 4, where k is 1. Ties in the ranking go to
    the feature that comes first in the order, without an order to the lowest index.

    In the order "chow-liu" the parent of a feature in the tree is, of the features
    before it, the one with the largest I(X_i; X_j | C). With all candidates and with
    "information" the tree is therefore among the possible structures; under
    constraints, that of `ChowLiu` under them is with all candidates. Where tiers,
    several required parents or named candidates exclude every order of the tree, the
    order respects them, and the tree as far as possible.

    References
    ----------
    .. [1] Roth, Pernkopf (2020), Differentiable TAN structure learning for Bayesian
       network classifiers.

    Examples
    --------
    >>> from tanager.data import ArrayData
    >>> from tanager.model import Schema, Variable
    >>> names = ("x0", "x1", "x2", "x3", "class")
    >>> schema = Schema(tuple(Variable(name, (0, 1)) for name in names), target=4)
    >>> codes = np.zeros((1, 4), dtype=np.uint8, order="F")
    >>> found = find_candidates(
    ...     ArrayData(schema, codes, np.zeros(1, dtype=np.uint8)),
    ...     CandidateOptions(order="diagonal", candidates="nearest", n_candidates=2),
    ... )
    >>> found.order
    (0, 2, 1, 3)
    >>> found.sets
    (((),), ((), (0,), (2,)), ((), (0,)), ((), (1,), (2,)))
    """
    plan = options.resolve(data.schema, empty)
    random = np.random.default_rng(random_state)

    @cache
    def information() -> FloatArray:
        # Rounded as in trees, so that equal values compare equal.
        return np.round(conditional_information(data), 12)

    def rank(child: int) -> FloatArray:
        if plan.ranking == "random":
            return random.random(plan.n_features)
        if plan.ranking == "nearest":
            return squared_distances(child, *plan.shape).astype(np.float64)
        return -information()[:, child]

    if plan.order_name == "chow-liu":
        order = _chow_liu_order(information(), plan.masks, plan.before)
        plan = plan.with_order(order)
    elif plan.order_name is not None:
        plan = plan.with_order(
            feature_order(
                data, plan.order_name, random_state=random, before=plan.before
            )
        )
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
    order = np.arange(plan.n_features) if plan.order is None else plan.order
    place = np.argsort(order)
    for child in range(plan.n_features):
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
