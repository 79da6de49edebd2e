"""`CandidatePlan`: arguments for candidate parents, checked before there are data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Any

import numpy as np

from tanager.errors import InputError, listed, unknown_name
from tanager.model.schema import Schema
from tanager.model.structure import find_cycle
from tanager.structure.constraints import ArcMasks
from tanager.structure.orders.feature_orders import ORDERS, check_order
from tanager.structure.orders.pixel_orders import (
    IMAGE_ORDERS,
    checked_shape,
    image_order,
)
from tanager.types import BoolArray, IntArray
from tanager.utils.validation import check_whole

Order = str | Sequence[str] | Sequence[int] | None
Picked = str | Mapping[str, Sequence[str]]

ORDER_NAMES = ("random", *ORDERS, "chow-liu", *IMAGE_ORDERS)
"""The orders by name; "random" and "ro" are the same."""

PICKED_BY = ("random", "nearest", "information")
"""How candidates can be picked, other than by naming them."""

MAX_SETS = 1_000_000
"""Sets of parents that there may be, of all features together."""


@dataclass(frozen=True, eq=False)
class CandidatePlan:
    """What is known of candidates without data.

    Parameters
    ----------
    to_make : str or None
        Name of the order that data or chance have yet to make, in lower case.
    order : ndarray of int64, shape (n_features,), or None
        The order, if it is known. Where both are None there shall be none.
    by : {"random", "nearest", "information", "all", "named"}
        How candidates are picked. For the last two, all possible ones are.
    limit : int or None
        Candidates of a feature at most.
    k : int
        Feature parents of a feature at most.
    shape : tuple of (int, int)
        Height and width of the image, for "nearest".
    possible : ndarray of bool, shape (n_features, n_features)
        ``possible[i, j]``: i may be a candidate of j if it comes before it.
    required : ndarray of bool, shape (n_features, n_features)
        ``required[i, j]``: i must be a parent of j. These are possible.
    before : ndarray of bool, shape (n_features, n_features)
        ``before[i, j]``: i must come before j in the order to make.

    Examples
    --------
    >>> from tanager.model import Variable
    >>> names = ("left", "right", "class")
    >>> schema = Schema(tuple(Variable(name, (0, 1)) for name in names), target=2)
    >>> plan = planned(
    ...     schema,
    ...     order="random",
    ...     candidates={"left": ["right"]},
    ...     n_candidates=None,
    ...     k=1,
    ...     image_shape=None,
    ...     constraints=Constraints().compile(schema),
    ...     before=None,
    ... )
    >>> plan.by
    'named'
    >>> plan.before
    array([[False, False],
           [ True, False]])
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
        """Number of features."""
        return len(self.possible)

    def with_order(self, order: IntArray) -> CandidatePlan:
        """The same with the order that has been made.

        Raises
        ------
        InputError
            If there turn out to be more than `MAX_SETS` sets.
        """
        plan = replace(self, to_make=None, order=order)
        plan.check_number()
        return plan

    def check_number(self) -> None:
        """Raise `InputError` for more than `MAX_SETS` sets, if the number is known."""
        counts = self._n_possible()
        if counts is None:
            return
        n_required = self.required.sum(axis=0)
        number = 0
        for count, fixed in zip(counts.tolist(), n_required.tolist(), strict=True):
            most = count if self.limit is None else max(self.limit, fixed)
            free = min(count, most) - fixed
            for size in range(min(self.k - fixed, free) + 1):
                number += comb(free, size)
                if number > MAX_SETS:
                    raise InputError(
                        f"There are more than {MAX_SETS:,} sets of up to {self.k} "
                        "candidates, of all features together, which is more than can "
                        "be learned over. Use a smaller n_candidates or k, or name "
                        "fewer candidates."
                    )

    def _n_possible(self) -> IntArray | None:
        """How many candidates each could have, in some order; None if not known."""
        possible = self.possible
        if self.order is not None:
            place = np.argsort(self.order)
            possible = possible & (place[:, None] < place[None, :])
        elif self.to_make is not None and self.by != "named":
            # If all arcs are possible, the numbers are the same in any order.
            if possible.sum() < self.n_features * (self.n_features - 1):
                return None
            return np.arange(self.n_features, dtype=np.int64)
        counts: IntArray = possible.sum(axis=0, dtype=np.int64)
        return counts


def planned(
    schema: Schema,
    *,
    order: Order,
    candidates: Picked,
    n_candidates: int | None,
    k: int,
    image_shape: tuple[int, int] | None,
    constraints: ArcMasks,
    before: BoolArray | None,
) -> CandidatePlan:
    """Check arguments against each other and the names; as in `candidates_of`.

    Raises
    ------
    InputError
        If they cannot be, or contradict each other.
    """
    n_features = len(schema) - 1
    instead = "; for the class as the only parent use NaiveBayes"
    check_whole("n_candidates", n_candidates, 1, none=True, why=instead)
    check_whole("k", k, 1, why=instead)
    if order is None and k > 1:
        raise InputError(
            f"Without an order (order=None) a feature has one feature parent at most, "
            f"got k={k}. Give an order, or k=1."
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
    if name is not None and name not in ORDER_NAMES:
        raise unknown_name("order", order, ORDER_NAMES)
    shape = (0, 0)
    if image_shape is not None or by == "nearest" or name in IMAGE_ORDERS:
        shape = checked_shape(image_shape, n_features)
    plan = CandidatePlan(
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
    if name in IMAGE_ORDERS:
        plan = _with_given_order(schema, plan, image_order(name, *shape).tolist())
    elif name is not None:
        plan = _with_order_to_make(schema, plan)
    elif order is not None:
        plan = _with_given_order(schema, plan, order)
    plan.check_number()
    return plan


def _with_given_order(schema: Schema, plan: CandidatePlan, order: Any) -> CandidatePlan:
    """The plan with an order that is known; an error if it cannot be kept to."""
    if not isinstance(order, Iterable):
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


def _with_order_to_make(schema: Schema, plan: CandidatePlan) -> CandidatePlan:
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
            if not isinstance(name, str) or name not in position:
                raise unknown_name(f"feature in candidates of {child!r}", name, names)
            if name == child:
                raise InputError(
                    f"candidates of {child!r} has {child!r} itself; leave it out."
                )
            named[position[name], position[child]] = True
    return named
