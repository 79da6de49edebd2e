"""Directions for the edges of a skeleton: colliders, what follows, and the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from tanager.model.equivalence_class import directions_that_follow
from tanager.structure.constraints import ArcMasks
from tanager.types import BoolArray

Edge = tuple[int, int]


class Orientation:
    """Gives every edge of a skeleton a direction, never closing a cycle.

    Parameters
    ----------
    edges : sequence of (int, int)
        The skeleton, strongest dependence first: where directions contradict each
        other the stronger edges win.
    cut_sets : mapping from (int, int) to set of int
        For separated pairs (lower index first) the variables that separate them.
    constraints : ArcMasks
        Over all variables. An edge of which neither arc is allowed is an error of the
        caller.

    Attributes
    ----------
    reasons : dict from (int, int) to str
        For every arc (parent, child) made why it has its direction: ``"required"``,
        ``"allowed"`` (the other one is ruled out), ``"collider"``, ``"propagation"``
        or ``"default"``.
    dropped : list of (int, int)
        Edges for which the constraints leave only a direction that closes a cycle.

    Notes
    -----
    What follows from directions there are is that of "no cycle" and "no collider but
    those found"; see `equivalence_class.directions_that_follow`. If the cut sets
    contradict each other there may be no such directions; then one that would close a
    cycle is passed over.
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
        self._open: BoolArray = np.zeros((n_nodes, n_nodes), dtype=np.bool_)
        self._arcs: BoolArray = np.zeros((n_nodes, n_nodes), dtype=np.bool_)
        self._above: BoolArray = np.eye(n_nodes, dtype=np.bool_)
        for i, j in self.edges:
            self._open[i, j] = self._open[j, i] = True

    def run(self, distance: Sequence[float]) -> None:
        """Find all directions.

        Parameters
        ----------
        distance : sequence of float
            Edges that nothing decides come by the distance of their nearer end,
            stronger ones first. They lead from the smaller distance to the greater
            (from the lower index between equal ones) or, if that cannot be, the other
            way.
        """
        self._obey()
        self._find_colliders()
        self._propagate()
        order = sorted(self.edges, key=lambda edge: min(distance[v] for v in edge))
        for i, j in order:
            if self._open[i, j]:
                near, far = sorted((i, j), key=lambda v: (distance[v], v))
                if not self._direct(near, far, "default"):
                    self._direct(far, near, "default")
                self._propagate()

    @property
    def parents(self) -> list[list[int]]:
        """Parents of every variable, in the order of their indices."""
        return [np.flatnonzero(of).tolist() for of in self._arcs.T]

    def _obey(self) -> None:
        """Directions that the constraints leave no choice about."""
        required, allowed = self.constraints.required, self.constraints.allowed
        for parent, child in np.argwhere(required).tolist():
            self._direct(parent, child, "required")
        for i, j in self.edges:
            if not self._open[i, j] or (allowed[i, j] and allowed[j, i]):
                continue
            parent, child = (i, j) if allowed[i, j] else (j, i)
            if not self._direct(parent, child, "allowed"):
                self._open[i, j] = self._open[j, i] = False
                self.dropped.append((i, j))

    def _find_colliders(self) -> None:
        """Direct x - y - z towards y where y is not among what separates x and z."""
        joined = self._joined
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
                    self._direct(v, y, "collider")

    def _propagate(self) -> None:
        """Direct what must be, until nothing new follows."""
        changed = True
        while changed:
            changed = False
            follows = directions_that_follow(self._arcs, self._open)
            follows |= self._open & self._above
            for parent, child in np.argwhere(follows).tolist():
                changed |= self._direct(parent, child, "propagation")

    @property
    def _joined(self) -> BoolArray:
        joined: BoolArray = self._open | self._arcs | self._arcs.T
        return joined

    def _can(self, parent: int, child: int) -> bool:
        return bool(
            self._open[parent, child]
            and self.constraints.allowed[parent, child]
            and not self._above[child, parent]
        )

    def _direct(self, parent: int, child: int, reason: str) -> bool:
        """Direct an open edge; False, and nothing done, if it cannot be."""
        if not self._can(parent, child):
            return False
        self._open[parent, child] = self._open[child, parent] = False
        self._arcs[parent, child] = True
        self._above |= np.outer(self._above[:, parent], self._above[child])
        self.reasons[parent, child] = reason
        return True
