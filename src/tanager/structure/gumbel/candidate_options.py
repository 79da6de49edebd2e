"""`CandidateOptions`: which features may be parents, checked without data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Any

import numpy as np

from tanager.errors import InputError, listed, unknown_name
from tanager.model.schema import Schema
from tanager.model.structure import find_cycle
from tanager.structure.constraints import ArcMasks, Constraints, check_constraints
from tanager.structure.orders.feature_orders import (
    ORDERS,
    check_order,
    known_precedence,
)
from tanager.structure.orders.pixel_orders import (
    IMAGE_ORDERS,
    check_image_shape,
    image_order,
)
from tanager.types import BoolArray, IndexArray, IntArray
from tanager.utils.validation import check_whole, is_iterable

CYCLIC = "cyclic"
"""The name of no order where cycles are allowed."""

ORDER_NAMES = ("random", *ORDERS, "chow-liu", *IMAGE_ORDERS)
"""Names of the orders; "random" and "ro" are the same."""

RANKINGS = ("random", "nearest", "information")
"""Rankings of candidates, other than naming them."""

NAIVE_BAYES = "; for the class as the only parent use NaiveBayes"

MAX_SETS = 1_000_000
"""Maximum number of parent sets of all features together."""


@dataclass(frozen=True, eq=False, kw_only=True)
class CandidateOptions:
    """Arguments of `GumbelTree` from which `find_candidates` finds candidate parents.

    Here an order may also name features by position. Named candidates restrict all
    orders but those of pixels and lists of all features. A required parent is in all
    sets of its child, and counts as one of its candidates.
    """

    order: Any = "random"
    candidates: Any = "random"
    n_candidates: int | None = 8
    k: int = 1
    image_shape: tuple[int, int] | None = None
    constraints: Constraints | None = None

    def resolve(self, schema: Schema, empty: IndexArray | None = None) -> CandidatePlan:
        """Check the options against each other and the names of the features.

        The features in `empty` have no observed value and are no candidates, unless a
        constraint requires it. Raises `InputError` for invalid or contradictory options
        and for more than `MAX_SETS` parent sets; with constraints, their number is
        unknown until the order is.
        """
        order, candidates, k = self.order, self.candidates, self.k
        if isinstance(order, str) and order.lower() == CYCLIC:
            order = None
        check_whole("k", k, 1, why=NAIVE_BAYES)
        check_whole("n_candidates", self.n_candidates, 1, none=True, why=NAIVE_BAYES)
        masks = check_constraints(self.constraints).compile(schema, max_parents=k)
        if empty is not None:
            masks = masks.without_parents(empty)
        if order is None and k > 1:
            raise InputError(
                f"Without an order (order={self.order!r}) a feature has at most one "
                f"feature parent, got k={k}. Give an order, or k=1."
            )
        possible, ranking = masks.allowed | masks.required, "all"
        if isinstance(candidates, Mapping):
            possible &= _named_candidates(schema, candidates) | masks.required
            ranking = "named"
        elif not isinstance(candidates, str) or candidates.lower() not in RANKINGS:
            raise InputError(
                f"candidates must be one of {listed(RANKINGS)}, or a mapping from "
                f"names of features to lists of names, got {candidates!r}."
            )
        elif self.n_candidates is not None:
            ranking = candidates.lower()
        name = order.lower() if isinstance(order, str) else None
        if name is not None and name not in ORDER_NAMES:
            raise unknown_name("order", order, (*ORDER_NAMES, CYCLIC))
        shape = (0, 0)
        if self.image_shape is not None or ranking == "nearest" or name in IMAGE_ORDERS:
            shape = check_image_shape(self.image_shape, len(schema) - 1)
        plan = CandidatePlan(
            order_name="ro" if name == "random" else name,
            order=None,
            ranking=ranking,
            limit=None if ranking == "named" else self.n_candidates,
            k=k,
            shape=shape,
            possible=possible,
            masks=masks,
            before=known_precedence(schema, self.constraints),
        )
        if name in IMAGE_ORDERS:
            plan = _set_order(schema, plan, image_order(name, *shape).tolist())
        elif name is not None:
            plan = _restrict_order(schema, plan)
        elif order is not None:
            plan = _set_order(schema, plan, order)
        plan.check_number()
        return plan


@dataclass(frozen=True, eq=False)
class CandidatePlan:
    """Options in the form that `find_candidates` needs.

    `order_name` is the name of an order that depends on data or chance, `order` the
    positions of the features if they are known; both are None if there is no order.
    The ranking is one of `RANKINGS`, "all" or "named". In the matrices of shape
    (n_features, n_features), ``possible[i, j]`` means that i may be a candidate of j if
    it comes before it, and ``before[i, j]`` that it must come before j in the order.
    `masks` holds the constraints.
    """

    order_name: str | None
    order: IntArray | None
    ranking: str
    limit: int | None
    k: int
    shape: tuple[int, int]
    possible: BoolArray
    masks: ArcMasks
    before: BoolArray

    def with_order(self, order: IntArray) -> CandidatePlan:
        """Return the plan with its order, and check the number of sets."""
        plan = replace(self, order_name=None, order=order)
        plan.check_number()
        return plan

    def check_number(self) -> None:
        """Raise `InputError` for more than `MAX_SETS` sets, if the number is known."""
        possible = self.possible
        counts = possible.sum(axis=0)
        if self.order is not None:
            place = np.argsort(self.order)
            counts = (possible & (place[:, None] < place[None, :])).sum(axis=0)
        elif self.order_name is not None and self.ranking != "named":
            # If all arcs are possible, the counts are the same in any order.
            n_features = len(possible)
            if possible.sum() < n_features * (n_features - 1):
                return
            counts = np.arange(n_features)
        n_required = self.masks.required.sum(axis=0)
        number = 0
        for count, fixed in zip(counts.tolist(), n_required.tolist(), strict=True):
            most = count if self.limit is None else max(self.limit, fixed)
            free = min(count, most) - fixed
            for size in range(min(self.k - fixed, free) + 1):
                number += comb(free, size)
                if number > MAX_SETS:
                    raise InputError(
                        f"There are more than {MAX_SETS:,} sets of up to {self.k} "
                        "candidates, of all features together, which is too many. Use "
                        "a smaller n_candidates or k, or name fewer candidates."
                    )


def _set_order(schema: Schema, plan: CandidatePlan, order: Any) -> CandidatePlan:
    """Return the plan with an order that is known, checked against the candidates."""
    if not is_iterable(order):
        raise InputError(
            f"order must be None, one of {listed(ORDER_NAMES, len(ORDER_NAMES))}, or a "
            f"list of all features, got {order!r}."
        )
    features = list(order)
    check_order(schema, features, before=plan.before)
    positions = np.array([schema.position.get(v, v) for v in features], np.int64)
    place = np.argsort(positions)
    late = plan.possible & (place[:, None] > place[None, :])
    if plan.ranking == "named" and late.any():
        i, j = np.argwhere(late)[0].tolist()
        raise InputError(
            f"candidates has {schema[i].name!r} for {schema[j].name!r}, but it comes "
            "later in the order. Leave it out, or change the order."
        )
    return replace(plan, order_name=None, order=positions)


def _restrict_order(schema: Schema, plan: CandidatePlan) -> CandidatePlan:
    """Return the plan with everything that an order made later must respect."""
    before = plan.before
    if plan.ranking == "named":
        before = before | plan.possible
    cycle = find_cycle([np.flatnonzero(column).tolist() for column in before.T])
    if cycle:
        names = " -> ".join(schema[j].name for j in cycle)
        raise InputError(
            "No order of the features respects all candidates given by name, required "
            f"arcs and tiers: {names}. Drop one of these, or give order=None."
        )
    return replace(plan, before=before)


def _named_candidates(
    schema: Schema, candidates: Mapping[str, Sequence[str]]
) -> BoolArray:
    """Return the candidates given by name as a matrix ``[parent, child]``."""
    *names, target = schema.names
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
            if name == target:
                raise InputError(
                    f"candidates of {child!r} has the class {name!r}, which is a "
                    "parent of every feature anyway; leave it out."
                )
            if not isinstance(name, str) or name not in position:
                raise unknown_name(f"feature in candidates of {child!r}", name, names)
            if name == child:
                raise InputError(
                    f"candidates of {child!r} has {child!r} itself; leave it out."
                )
            named[position[name], position[child]] = True
    return named
