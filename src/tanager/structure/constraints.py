"""`Constraints`: arcs that a structure must have, and arcs that it must not have."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.errors import InputError
from tanager.model.schema import Schema
from tanager.model.structure import find_cycle
from tanager.types import BoolArray, IndexArray
from tanager.utils.validation import is_iterable

Arc = tuple[str, str]


@dataclass(frozen=True)
class Constraints:
    """Prior knowledge about the arcs of a structure, by the names of the variables.

    Every structure learner that chooses arcs accepts one as ``constraints=``. A value
    is immutable, can be compared and hashed, and is saved with a classifier.

    Parameters
    ----------
    required : iterable of (parent, child) names, default=()
        Arcs that the structure must have.
    forbidden : iterable of (parent, child) names, default=()
        Arcs that the structure must not have.
    tiers : iterable of iterables of names, default=()
        Groups of variables from causes to effects: no arc leads from a later group to
        an earlier one. Variables in no group are free.

    All three are stored as tuples; the elements of a set are sorted.

    Raises
    ------
    InputError
        If an arc is no pair of names, the required arcs form a cycle, an arc is both
        required and ruled out, or a name is in two tiers. Names are compared with the
        variables of the data when a learner is fitted.

    Notes
    -----
    For learners in which the class is the root, arcs from the class to the features
    always exist: requiring one changes nothing, forbidding one is an error, and so is
    an arc into the class. `HillClimbing` and `ConstraintBased` treat the class as any
    other variable.

    Examples
    --------
    >>> from tanager import BayesNetClassifier, ChowLiu
    >>> known = Constraints(required=[("age", "smokes")], tiers=[["age"], ["smokes"]])
    >>> X = {"age": [20, 30, 60, 70], "smokes": ["no", "yes", "yes", "no"]}
    >>> model = BayesNetClassifier(structure=ChowLiu(constraints=known))
    >>> model.fit(X, [0, 0, 1, 1]).network_.parents("smokes")
    ('class', 'age')
    """

    required: Iterable[Arc] = ()
    forbidden: Iterable[Arc] = ()
    tiers: Iterable[Iterable[str]] = ()

    def __post_init__(self) -> None:
        for argument in ("required", "forbidden"):
            arcs = _check_arcs(argument, getattr(self, argument))
            object.__setattr__(self, argument, arcs)
        object.__setattr__(self, "tiers", _check_tiers(self.tiers))
        self._check_consistency()

    def compile(
        self,
        schema: Schema,
        *,
        max_parents: int | None = None,
        class_rooted: bool = True,
    ) -> ArcMasks:
        """Replace names by positions in a schema.

        Parameters
        ----------
        schema : Schema
            The variables, the class last.
        max_parents : int or None, default=None
            Number of parents that a variable may have, a root class not counted. It
            is an error to require more.
        class_rooted : bool, default=True
            Whether the class is the root and a parent of every feature. If not, it is
            a node as any other, the last one.

        Returns
        -------
        ArcMasks
            Over the features, or over all variables if the class is not the root.

        Raises
        ------
        InputError
            For unknown names and constraints that the learner cannot satisfy.
        """
        n_features = len(schema) - 1
        n_nodes = n_features if class_rooted else len(schema)
        allowed = ~np.eye(n_nodes, dtype=np.bool_)
        required = np.zeros((n_nodes, n_nodes), dtype=np.bool_)
        for names in self.forbidden:
            parent, child = map(schema.index, names)
            if class_rooted and parent == n_features:
                raise InputError(
                    f"Constraints forbid the arc ({schema[parent].name!r}, "
                    f"{schema[child].name!r}), but the class is a parent of every "
                    "feature here; leave the feature out of the data instead."
                )
            if not class_rooted or child != n_features:  # no arc into a root class
                allowed[parent, child] = False
        rank = np.full(len(schema), -1)  # position of the tier, -1 for none
        for position, tier in enumerate(self.tiers):
            rank[[schema.index(name) for name in tier]] = position
        rank = rank[:n_nodes]
        tiered = (rank >= 0)[:, None] & (rank >= 0)[None, :]
        allowed &= ~(tiered & (rank[:, None] > rank[None, :]))
        for names in self.required:
            parent, child = map(schema.index, names)
            if class_rooted and child == n_features:
                raise InputError(
                    f"Constraints require the arc ({schema[parent].name!r}, "
                    f"{schema[child].name!r}), but the class has no parents here."
                )
            if not class_rooted or parent != n_features:
                required[parent, child] = True
        n_parents = required.sum(axis=0)
        if max_parents is not None and (n_parents > max_parents).any():
            child = int((n_parents > max_parents).argmax())
            parents = [schema.names[i] for i in np.flatnonzero(required[:, child])]
            kind = "feature parent(s)" if class_rooted else "parent(s)"
            raise InputError(
                f"Constraints require the parents {parents} of "
                f"{schema[child].name!r}, but this learner allows {max_parents} "
                f"{kind} each."
            )
        return ArcMasks(allowed, required)

    def _check_consistency(self) -> None:
        """Refuse required arcs that are ruled out or form a cycle."""
        rank = {name: place for place, tier in enumerate(self.tiers) for name in tier}
        names = list(dict.fromkeys(name for arc in self.required for name in arc))
        parents: list[list[int]] = [[] for _ in names]
        for arc in dict.fromkeys(self.required):
            parent, child = arc
            later = parent in rank and child in rank and rank[parent] > rank[child]
            if later or arc in self.forbidden:
                cause = "the tiers rule it out" if later else "it is also forbidden"
                raise InputError(
                    f"The arc {arc!r} is required, but {cause}. Drop one of the two."
                )
            parents[names.index(child)].append(names.index(parent))
        cycle = find_cycle(parents)
        if cycle:
            path = " -> ".join(names[position] for position in cycle)
            raise InputError(f"The required arcs form a cycle: {path}. Drop one.")


@dataclass(frozen=True, eq=False)
class ArcMasks:
    """`Constraints` compiled for a schema, each of shape (n_nodes, n_nodes).

    ``allowed[i, j]``: the arc i -> j may be used; ``required[i, j]``: it must be used.
    The nodes are the features, or all variables if the class is not the root.
    """

    allowed: BoolArray
    required: BoolArray

    @property
    def is_free(self) -> bool:
        """Whether nothing is required and every arc is allowed."""
        return not self.required.any() and bool(
            (self.allowed | np.eye(len(self.allowed), dtype=np.bool_)).all()
        )

    @property
    def required_parents(self) -> list[list[int]]:
        """Required parents of every node."""
        return [np.flatnonzero(column).tolist() for column in self.required.T]

    def without_parents(self, features: IndexArray) -> ArcMasks:
        """Rule out arcs from some features, except for required ones."""
        if not len(features):
            return self
        allowed = self.allowed.copy()
        allowed[features] = self.required[features]
        return ArcMasks(allowed, self.required)


def check_constraints(constraints: Constraints | None) -> Constraints:
    """Return the argument of a learner as `Constraints`; None means none."""
    if constraints is None:
        return NO_CONSTRAINTS
    if not isinstance(constraints, Constraints):
        raise InputError(
            "constraints must be a tanager.Constraints or None, got "
            f"{constraints!r}; give for instance "
            "Constraints(required=[('parent', 'child')])."
        )
    return constraints


def never_observed(data: CodedData, features: IndexArray) -> IndexArray:
    """Select the features that are missing in all samples.

    As a parent such a feature would leave nothing to count for its child.
    """
    target = len(data.schema) - 1
    counts = data.count([(target, int(feature)) for feature in features])
    totals = [counts.table(number).sum() for number in range(len(features))]
    return features[np.array(totals) <= 0.0]


def arc_positions(
    schema: Schema, arcs: Iterable[Arc], argument: str
) -> list[tuple[int, int]]:
    """Positions of arcs given by name."""
    return [
        (schema.index(parent), schema.index(child))
        for parent, child in _check_arcs(argument, arcs)
    ]


def _check_arcs(argument: str, arcs: Iterable[Iterable[str]]) -> tuple[Arc, ...]:
    """Return arcs as pairs of names; refuse other values and arcs to themselves."""
    expected = "(parent, child) pairs of names"
    pairs = []
    for arc in _read_items(argument, arcs, expected):
        names = _read_names(argument, arc, expected)
        if len(names) != 2 or isinstance(arc, Set):
            raise InputError(f"{argument} expects {expected}, got {arc!r}.")
        parent, child = names
        if parent == child:
            raise InputError(f"{argument} has an arc from {parent!r} to itself.")
        pairs.append((parent, child))
    return tuple(sorted(pairs) if isinstance(arcs, Set) else pairs)


def _check_tiers(tiers: Iterable[Iterable[str]]) -> tuple[tuple[str, ...], ...]:
    """Return the tiers as tuples; refuse a name that is in two of them."""
    if isinstance(tiers, Set):
        raise InputError(f"tiers has an order, which a set has not: got {tiers!r}.")
    seen: set[str] = set()
    found = []
    for tier in _read_items("tiers", tiers, "lists of names"):
        names = _read_names("tiers", tier, "lists of names")
        for name in names:
            if name in seen:
                raise InputError(f"{name!r} is in two tiers; keep one.")
            seen.add(name)
        found.append(tuple(sorted(names) if isinstance(tier, Set) else names))
    return tuple(found)


def _read_items(argument: str, value: Iterable[Any], expected: str) -> tuple[Any, ...]:
    if isinstance(value, str) or not is_iterable(value):
        raise InputError(f"{argument} must be a sequence of {expected}, got {value!r}.")
    return tuple(value)


def _read_names(argument: str, value: Iterable[str], expected: str) -> tuple[str, ...]:
    """Return names as plain strings, also those of a NumPy array."""
    if not isinstance(value, str) and isinstance(value, Iterable):
        names = tuple(value)
        if all(isinstance(name, str) for name in names):
            return tuple(map(str, names))
    raise InputError(f"{argument} expects {expected}, got {value!r}.")


NO_CONSTRAINTS = Constraints()
"""What learners use for ``constraints=None``."""
