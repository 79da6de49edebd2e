"""`Orientation`: directions of the edges of a skeleton."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from tanager.model.equivalence_class import directions_that_follow
from tanager.structure.constraints import ArcMasks
from tanager.types import BoolArray, Edge


class Orientation:
    """Orient the edges of a skeleton without cycles.

    `edges` come with the strongest dependence first: stronger edges win conflicts.
    `cut_sets` has the variables that separate a pair, lower index first. At least one
    direction of every edge must be allowed. The result is `reasons`: why every arc
    (parent, child) has its direction, one of "required", "allowed" (the other one is
    not), "collider", "propagation" (by the rules of Meek) or "default". An edge whose
    only allowed direction closes a cycle is in `dropped`. If cut sets contradict each
    other, a direction that would close a cycle is skipped.
    """

    def __init__(
        self,
        edges: Sequence[Edge],
        cut_sets: Mapping[Edge, frozenset[int]],
        constraints: ArcMasks,
    ) -> None:
        n_nodes = len(constraints.allowed)
        self.edges = [(min(edge), max(edge)) for edge in edges]
        self.cut_sets = cut_sets
        self.constraints = constraints
        self.reasons: dict[Edge, str] = {}
        self.dropped: list[Edge] = []
        self._open, self._arcs = np.zeros((2, n_nodes, n_nodes), dtype=np.bool_)
        self._above: BoolArray = np.eye(n_nodes, dtype=np.bool_)
        for i, j in self.edges:
            self._open[i, j] = self._open[j, i] = True

    def run(self, distance: Sequence[float]) -> None:
        """Orient all edges.

        Undecided edges are taken by the distance of their nearer end, stronger ones
        first. They lead from the smaller to the larger distance, ties from the lower
        index, or the other way if that closes a cycle.
        """
        self._apply_constraints()
        self._find_colliders()
        self._propagate()
        for i, j in sorted(self.edges, key=lambda edge: min(distance[v] for v in edge)):
            if self._open[i, j]:
                near, far = sorted((i, j), key=lambda v: (distance[v], v))
                if not self._orient(near, far, "default"):
                    self._orient(far, near, "default")
                self._propagate()

    @property
    def parents(self) -> list[list[int]]:
        """Parents of every variable, in the order of their indices."""
        return [np.flatnonzero(of).tolist() for of in self._arcs.T]

    def _apply_constraints(self) -> None:
        """Orient edges for which the constraints leave no choice."""
        required, allowed = self.constraints.required, self.constraints.allowed
        for parent, child in np.argwhere(required).tolist():
            self._orient(parent, child, "required")
        for i, j in self.edges:
            if not self._open[i, j] or (allowed[i, j] and allowed[j, i]):
                continue
            arc = (i, j) if allowed[i, j] else (j, i)
            if not self._orient(*arc, "allowed"):
                self._open[i, j] = self._open[j, i] = False
                self.dropped.append((i, j))

    def _find_colliders(self) -> None:
        """Orient x - y - z towards y where y is not in the cut set of x and z."""
        joined = self._open | self._arcs | self._arcs.T
        found = []
        place = {edge: number for number, edge in enumerate(self.edges)}
        for y in range(len(joined)):
            around = np.flatnonzero(joined[y]).tolist()
            for x, z in combinations(around, 2):
                if joined[x, z] or y in self.cut_sets.get((x, z), frozenset({y})):
                    continue
                ends = sorted(place[min(v, y), max(v, y)] for v in (x, z))
                found.append((ends[::-1], x, y, z))
        for _, x, y, z in sorted(found):
            if all(self._arcs[v, y] or self._can(v, y) for v in (x, z)):
                for v in (x, z):
                    self._orient(v, y, "collider")

    def _propagate(self) -> None:
        """Apply the orientation rules until nothing changes."""
        changed = True
        while changed:
            changed = False
            follows = directions_that_follow(self._arcs, self._open)
            follows |= self._open & self._above
            for parent, child in np.argwhere(follows).tolist():
                changed |= self._orient(parent, child, "propagation")

    def _can(self, parent: int, child: int) -> bool:
        return bool(
            self._open[parent, child]
            and self.constraints.allowed[parent, child]
            and not self._above[child, parent]
        )

    def _orient(self, parent: int, child: int, reason: str) -> bool:
        """Orient an open edge; return False if that is impossible."""
        if not self._can(parent, child):
            return False
        self._open[parent, child] = self._open[child, parent] = False
        self._arcs[parent, child] = True
        self._above |= np.outer(self._above[:, parent], self._above[child])
        self.reasons[parent, child] = reason
        return True
