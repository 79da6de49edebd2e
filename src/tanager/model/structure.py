"""`Structure`: the parents of every variable, checked to be acyclic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heapify, heappop, heappush

from tanager.errors import InputError
from tanager.utils.stored_fields import StoredFields


@dataclass(frozen=True)
class Structure(StoredFields):
    """A directed acyclic graph over variables 0, 1, ..., without parameters.

    Parameters
    ----------
    parents : tuple of tuples of int
        Parents of every variable, in the order of its CPT's axes. Learners put
        the class first.
    target : int or None, default=None
        The class variable.

    Attributes
    ----------
    n_variables : int
        Number of variables, the class included.
    topological_order : tuple of int
        Variables with every parent before its children, lowest index first.

    Examples
    --------
    A tree-augmented naive Bayes over features 0 and 1 with the class 2:

    >>> tan = Structure(((2,), (2, 0), ()), target=2)
    >>> tan.is_tree, tan.feature_parents, tan.arcs
    (True, ((), (0,), ()), ((2, 0), (2, 1), (0, 1)))
    """

    parents: tuple[tuple[int, ...], ...]
    target: int | None = None
    n_variables: int = field(init=False, repr=False, compare=False)
    topological_order: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check that parents are known and distinct, and that there is no cycle."""
        n_variables = len(self.parents)
        for child, parents in enumerate(self.parents):
            if len(set(parents)) != len(parents) or child in parents:
                raise InputError(
                    f"Variable {child} has a repeated parent or itself as parent: "
                    f"{list(parents)}."
                )
            if any(not 0 <= parent < n_variables for parent in parents):
                raise InputError(
                    f"Variable {child} has a parent outside 0..{n_variables - 1}: "
                    f"{list(parents)}."
                )
        if self.target is not None and not 0 <= self.target < n_variables:
            raise InputError(
                f"The target {self.target} is not one of the {n_variables} variables."
            )
        order, _ = _sort_topologically(self.parents)
        if len(order) < n_variables:
            cycle = " -> ".join(str(node) for node in find_cycle(self.parents))
            raise InputError(f"The arcs form a cycle: {cycle}. Remove one of them.")
        object.__setattr__(self, "n_variables", n_variables)
        object.__setattr__(self, "topological_order", tuple(order))

    @classmethod
    def class_rooted(
        cls, feature_parents: Sequence[Iterable[int]], target: int
    ) -> Structure:
        """Make the class a root and a parent of every feature.

        `feature_parents` has an entry for every variable; that of the class is ignored.
        """
        return cls(
            tuple(
                () if child == target else (target, *parents)
                for child, parents in enumerate(feature_parents)
            ),
            target,
        )

    @cached_property
    def arcs(self) -> tuple[tuple[int, int], ...]:
        """All (parent, child) pairs, by child, in the order of the parents."""
        return tuple(
            (parent, child)
            for child, parents in enumerate(self.parents)
            for parent in parents
        )

    @cached_property
    def feature_parents(self) -> tuple[tuple[int, ...], ...]:
        """Parents of every variable without the class."""
        return tuple(
            tuple(parent for parent in parents if parent != self.target)
            for parents in self.parents
        )

    @cached_property
    def families(self) -> tuple[tuple[int, ...], ...]:
        """Every variable's parents followed by the variable itself."""
        return tuple((*parents, child) for child, parents in enumerate(self.parents))

    def markov_blanket(self, variable: int) -> tuple[int, ...]:
        """Parents, children and children's other parents of a variable, in order.

        Given all of them, the variable is independent of everything else.

        Examples
        --------
        >>> Structure(((), (0,), (1, 3), (), (2,))).markov_blanket(1)
        (0, 2, 3)
        """
        found = set(self.parents[variable])
        for child, parents in enumerate(self.parents):
            if variable in parents:
                found.update(parents, (child,))
        return tuple(sorted(found - {variable}))

    @property
    def is_class_rooted(self) -> bool:
        """Whether the class has no parents and is a parent of every feature."""
        return self.target is not None and all(
            not parents if child == self.target else self.target in parents
            for child, parents in enumerate(self.parents)
        )

    @property
    def is_tree(self) -> bool:
        """Whether, given a root class, features form a forest (at most one parent)."""
        return (
            self.target is not None
            and not self.parents[self.target]
            and all(len(parents) <= 1 for parents in self.feature_parents)
        )

    @property
    def needs_no_fill_in(self) -> bool:
        """Whether the feature parents of every feature are joined pairwise.

        Then moralisation adds no edges given the class, as in naive Bayes, forests and
        k-trees.
        """
        return all(
            one in self.parents[other] or other in self.parents[one]
            for parents in self.feature_parents
            for place, one in enumerate(parents)
            for other in parents[:place]
        )


def find_cycle(parents: Sequence[Iterable[int]]) -> list[int]:
    """Nodes of a directed cycle in arc direction, the first one repeated; or none."""
    _, waiting = _sort_topologically(parents)
    left = [node for node, count in enumerate(waiting) if count]
    if not left:
        return []
    # Every node left has a parent left, so a walk to parents must close a cycle.
    node, walk, seen = left[0], [], set[int]()
    while node not in seen:
        seen.add(node)
        walk.append(node)
        node = min(parent for parent in parents[node] if waiting[parent])
    cycle = [*walk[walk.index(node) :], node]
    return cycle[::-1]


def _sort_topologically(
    parents: Sequence[Iterable[int]],
) -> tuple[list[int], list[int]]:
    """Kahn's algorithm: an order, and the number of unplaced parents of each node."""
    waiting = [len(set(of)) for of in parents]
    children: list[list[int]] = [[] for _ in parents]
    for child, of in enumerate(parents):
        for parent in set(of):
            children[parent].append(child)
    order: list[int] = []
    ready = [node for node, count in enumerate(waiting) if not count]
    heapify(ready)
    while ready:
        node = heappop(ready)
        order.append(node)
        for child in children[node]:
            waiting[child] -= 1
            if not waiting[child]:
                heappush(ready, child)
    return order, waiting
