"""Directions for the edges of a skeleton: colliders, what follows, and the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from math import prod

import numpy as np
import numpy.typing as npt

from tanager.structure.constraints import Constraints

Edge = tuple[int, int]
BoolMatrix = npt.NDArray[np.bool_]


class Orientation:
    """Gives every edge of a skeleton a direction, never closing a cycle.

    Parameters
    ----------
    edges : sequence of (int, int)
        The skeleton, strongest dependence first: where directions contradict each
        other the stronger edges win.
    cut_sets : mapping from (int, int) to set of int
        For separated pairs (lower index first) the variables that separate them.
    constraints : Constraints
        Over all variables. An edge of which neither arc is allowed is an error of the
        caller.
    n_states : sequence of int
        Number of states of every variable.
    max_parents : int or None, default=None
        Most parents a variable may have; required ones are made in any case.
    max_cells : float, default=inf
        Most cells the table of a variable with several parents may have.

    Attributes
    ----------
    reasons : dict from (int, int) to str
        For every arc (parent, child) made why it has its direction: ``"required"``,
        ``"allowed"`` (the other one is ruled out), ``"collider"``, ``"propagation"``
        or ``"default"``.
    dropped : dict from (int, int) to str
        Edges (lower index first) that no direction is left for: ``"cycle"`` if the
        only one that is allowed closes a cycle, ``"bound"`` if both ends have as many
        parents as they may have, or the only one that could take one more.

    Notes
    -----
    The rules of propagation are the four of Meek [1]_: they follow from "no cycle" and
    "no collider but those found". If the cut sets contradict each other there may be
    no such directions; then a rule that would close a cycle is passed over, as is one
    that would give a variable more parents than the bounds allow.

    References
    ----------
    .. [1] Meek (1995), Causal inference and causal explanation with background
       knowledge, section 2.
    """

    def __init__(
        self,
        edges: Sequence[Edge],
        cut_sets: Mapping[Edge, frozenset[int]],
        constraints: Constraints,
        *,
        n_states: Sequence[int],
        max_parents: int | None = None,
        max_cells: float = np.inf,
    ) -> None:
        n_nodes = len(constraints.allowed)
        self.edges = [(min(edge), max(edge)) for edge in edges]
        self.cut_sets = cut_sets
        self.constraints = constraints
        self.reasons: dict[Edge, str] = {}
        self.dropped: dict[Edge, str] = {}
        self.n_states = n_states
        self.max_parents = n_nodes if max_parents is None else max_parents
        self.max_cells = max_cells
        self._open: BoolMatrix = np.zeros((n_nodes, n_nodes), dtype=np.bool_)
        self._arcs: BoolMatrix = np.zeros((n_nodes, n_nodes), dtype=np.bool_)
        self._above: BoolMatrix = np.eye(n_nodes, dtype=np.bool_)
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
                if not (
                    self._direct(near, far, "default")
                    or self._direct(far, near, "default")
                ):
                    self._drop((i, j), "bound")
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
                closes = bool(self._above[child, parent])
                self._drop((i, j), "cycle" if closes else "bound")

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
            if self._can(x, z, child=y):
                for v in (x, z):
                    self._direct(v, y, "collider")

    def _drop(self, edge: Edge, reason: str) -> None:
        i, j = edge
        self._open[i, j] = self._open[j, i] = False
        self.dropped[edge] = reason

    def _propagate(self) -> None:
        """Apply the rules until none says anything new."""
        rules: tuple[Callable[[], BoolMatrix], ...] = (
            self._no_new_collider,
            self._no_cycle,
            self._two_ways_in,
            self._round_the_known,
        )
        changed = True
        while changed:
            changed = False
            for rule in rules:
                for parent, child in np.argwhere(rule() & self._open).tolist():
                    if self._direct(parent, child, "propagation"):
                        changed = True

    def _no_new_collider(self) -> BoolMatrix:
        """a -> b - c, a and c apart: b -> c."""
        return (self._arcs.T.astype(int) @ self._apart.astype(int)) > 0

    def _no_cycle(self) -> BoolMatrix:
        """A directed path from a to c, a - c: a -> c."""
        return self._above

    def _two_ways_in(self) -> BoolMatrix:
        """a - c -> b, a - d -> b, c and d apart, a - b: a -> b."""
        found = np.zeros_like(self._arcs)
        apart = self._apart
        for b in np.flatnonzero(self._arcs.sum(axis=0) > 1):
            into = np.flatnonzero(self._arcs[:, b])
            near = self._open[:, into].astype(int)
            among = apart[np.ix_(into, into)].astype(int)
            found[:, b] = ((near @ among) * near).any(axis=1)
        return found

    def _round_the_known(self) -> BoolMatrix:
        """a - c -> d -> b, a and d joined, c and b apart, a - b: a -> b."""
        found = np.zeros_like(self._arcs)
        joined, apart = self._joined, self._apart
        for b in np.flatnonzero(self._arcs.any(axis=0)):
            into = np.flatnonzero(self._arcs[:, b])
            first = np.flatnonzero(apart[:, b])
            near = self._open[:, first].astype(int)
            steps = self._arcs[np.ix_(first, into)].astype(int)
            found[:, b] = ((near @ steps) * joined[:, into]).any(axis=1)
        return found

    @property
    def _joined(self) -> BoolMatrix:
        joined: BoolMatrix = self._open | self._arcs | self._arcs.T
        return joined

    @property
    def _apart(self) -> BoolMatrix:
        """Pairs of different variables that no edge joins."""
        apart: BoolMatrix = ~self._joined
        np.fill_diagonal(apart, val=False)
        return apart

    def _can(self, *parents: int, child: int) -> bool:
        """Whether all these edges can be directed to `child` together."""
        fresh = [v for v in parents if not self._arcs[v, child]]
        return all(
            self._open[v, child]
            and self.constraints.allowed[v, child]
            and not self._above[child, v]
            for v in fresh
        ) and self._has_room([*np.flatnonzero(self._arcs[:, child]), *fresh], child)

    def _has_room(self, parents: Sequence[int], child: int) -> bool:
        """Whether the bounds let a variable have these parents."""
        if self.constraints.required[parents, child].all():
            return True
        cells = prod(self.n_states[v] for v in (child, *parents))
        return len(parents) <= self.max_parents and (
            len(parents) == 1 or cells <= self.max_cells
        )

    def _direct(self, parent: int, child: int, reason: str) -> bool:
        """Direct an open edge; False, and nothing done, if it cannot be."""
        if not self._open[parent, child] or not self._can(parent, child=child):
            return False
        self._open[parent, child] = self._open[child, parent] = False
        self._arcs[parent, child] = True
        self._above |= np.outer(self._above[:, parent], self._above[child])
        self.reasons[parent, child] = reason
        return True
