"""`Constraints`: what an expert knows about the arcs before any data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.errors import InputError
from tanager.model.schema import Schema
from tanager.model.structure import find_cycle
from tanager.types import BoolArray, IndexArray, IntArray

Arc = tuple[str, str]


@dataclass(frozen=True, eq=False)
class Constraints:
    """Arcs between features that must, or must not, be in the structure.

    Parameters
    ----------
    allowed : ndarray of bool, shape (n_nodes, n_nodes)
        ``allowed[i, j]``: the arc i -> j may be used. The nodes are the features, or
        all variables where the class is one among them.
    required : ndarray of bool, shape (n_nodes, n_nodes)
        ``required[i, j]``: the arc i -> j must be used.

    Examples
    --------
    >>> from tanager.model import Variable
    >>> schema = Schema(
    ...     tuple(Variable(name, (0, 1)) for name in ("age", "smokes", "class")), 2
    ... )
    >>> known = Constraints.compile(schema, tiers=[["age"], ["smokes"]])
    >>> known.allowed
    array([[False,  True],
           [False, False]])
    """

    allowed: BoolArray
    required: BoolArray

    @classmethod
    def compile(
        cls,
        schema: Schema,
        *,
        required_arcs: Sequence[Arc] | None = None,
        forbidden_arcs: Sequence[Arc] | None = None,
        tiers: Sequence[Sequence[str]] | None = None,
        max_parents: int | None = None,
        class_rooted: bool = True,
    ) -> Constraints:
        """Check constraints given by name and turn them into matrices.

        Parameters
        ----------
        schema : Schema
            The variables, the class last.
        required_arcs, forbidden_arcs : sequence of (parent, child) names or None
            If the class is the root, arcs from it are always there: requiring one is
            granted, forbidding one is an error, as is an arc into the class.
        tiers : sequence of sequences of names or None
            Groups from causes to effects: no arc from a later group to an earlier one.
            Variables in no group are free.
        max_parents : int or None
            Parents a variable may have, a root class not counted; more required ones
            are an error.
        class_rooted : bool, default=True
            Whether the class is the root and a parent of every feature. If not, it is
            a node like any other, the last one.
        """
        n_features = len(schema) - 1
        n_nodes = n_features if class_rooted else len(schema)
        allowed = ~np.eye(n_nodes, dtype=np.bool_)
        required = np.zeros((n_nodes, n_nodes), dtype=np.bool_)
        for parent, child in arc_positions(schema, forbidden_arcs, "forbidden_arcs"):
            if class_rooted and n_features in (parent, child):
                if parent == n_features:
                    raise InputError(
                        f"forbidden_arcs has ({schema[parent].name!r}, "
                        f"{schema[child].name!r}), but the class is a parent of every "
                        "feature here; leave the feature out of the data instead."
                    )
                continue  # no arc into the class is ever made
            allowed[parent, child] = False
        rank = _ranks(schema, tiers)[:n_nodes]
        later = rank[:, None] > rank[None, :]
        allowed &= ~(later & (rank >= 0)[:, None] & (rank >= 0)[None, :])
        for parent, child in arc_positions(schema, required_arcs, "required_arcs"):
            if class_rooted and child == n_features:
                raise InputError(
                    f"required_arcs has ({schema[parent].name!r}, "
                    f"{schema[child].name!r}), but the class has no parents here."
                )
            if class_rooted and parent == n_features:
                continue
            if not allowed[parent, child]:
                raise InputError(
                    f"The arc ({schema[parent].name!r}, {schema[child].name!r}) is "
                    "required, but forbidden_arcs or tiers rule it out. Drop one of "
                    "the two."
                )
            required[parent, child] = True
        kind = "feature parent(s)" if class_rooted else "parent(s)"
        _check_required(schema, required, max_parents, kind)
        return cls(allowed, required)

    @property
    def is_free(self) -> bool:
        """Whether nothing is required and every arc is allowed."""
        return not self.required.any() and bool(
            (self.allowed | np.eye(len(self.allowed), dtype=np.bool_)).all()
        )

    def without_parents(self, features: IndexArray) -> Constraints:
        """Rule out arcs from some features, apart from those that are required."""
        if not len(features):
            return self
        allowed = self.allowed.copy()
        allowed[features] = self.required[features]
        return Constraints(allowed, self.required)


def never_observed(data: CodedData, features: IndexArray) -> IndexArray:
    """Those of some features that are missing in all rows.

    As a parent such a feature would leave nothing to count for its child.
    """
    target = len(data.schema) - 1
    counts = data.count([(target, int(feature)) for feature in features])
    totals = [counts.table(number).sum() for number in range(len(features))]
    return features[np.array(totals) <= 0.0]


def arc_positions(
    schema: Schema, arcs: Sequence[Arc] | None, argument: str
) -> list[tuple[int, int]]:
    """Positions of arcs given by name."""
    found: list[tuple[int, int]] = []
    for arc in arcs or ():
        if isinstance(arc, str) or len(arc) != 2:
            raise InputError(
                f"{argument} expects (parent, child) pairs of names, got {arc!r}."
            )
        parent, child = (schema.index(name) for name in arc)
        if parent == child:
            raise InputError(f"{argument} has an arc from {arc[0]!r} to itself.")
        found.append((parent, child))
    return found


def _ranks(schema: Schema, tiers: Sequence[Sequence[str]] | None) -> IntArray:
    """Number of each variable's tier, -1 for those in none."""
    rank = np.full(len(schema), -1, dtype=np.int64)
    for number, tier in enumerate(tiers or ()):
        if isinstance(tier, str):
            raise InputError(f"tiers expects lists of names, got the string {tier!r}.")
        for name in tier:
            index = schema.index(name)
            if rank[index] >= 0:
                raise InputError(f"{name!r} stands in two tiers; keep one.")
            rank[index] = number
    return rank


def _check_required(
    schema: Schema, required: BoolArray, max_parents: int | None, kind: str
) -> None:
    """Refuse required arcs that no structure can hold together."""
    parents = [np.flatnonzero(required[:, j]).tolist() for j in range(len(required))]
    cycle = find_cycle(parents)
    if cycle:
        names = " -> ".join(schema[v].name for v in cycle)
        raise InputError(f"required_arcs form a cycle: {names}. Drop one of them.")
    if max_parents is None:
        return
    for j, of in enumerate(parents):
        if len(of) > max_parents:
            names_of = [schema[i].name for i in of]
            raise InputError(
                f"required_arcs give {schema[j].name!r} the parents {names_of}, but "
                f"this learner allows {max_parents} {kind} each."
            )
