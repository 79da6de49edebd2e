"""Cut sets: variables that make two others conditionally independent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tanager.structure.constraint_based.independence_tests import (
    IndependenceTest,
    Outcome,
)


class CutSet(NamedTuple):
    """Variables that separate a pair, and the outcome of the test."""

    members: tuple[int, ...]
    tested: Outcome


class CutSets:
    """Search for cut sets among the neighbours of a pair in an undirected graph.

    Call `edge_added` or `edges_removed` when the graph `neighbours` has changed. A cut
    set has at most `max_condition` members. Only neighbours from which the other
    variable can be reached are candidates. A set for which there are too few samples to
    test is skipped, and all larger ones with it.
    """

    def __init__(
        self,
        tests: IndependenceTest,
        neighbours: Sequence[set[int]],
        max_condition: int | None,
    ) -> None:
        self.tests = tests
        self.neighbours = neighbours
        self.most = len(neighbours) if max_condition is None else max_condition
        self._components: dict[int, list[int]] = {}

    def edge_added(self, i: int, j: int) -> None:
        """Update connected components; most new edges change none."""
        self._components = {
            removed: component
            for removed, component in self._components.items()
            if removed in (i, j) or component[i] == component[j]
        }

    def edges_removed(self) -> None:
        """Forget all connected components."""
        self._components.clear()

    def is_connected(self, i: int, j: int) -> bool:
        """Whether a path of edges leads from i to j."""
        component = self._components_without(-1)
        return component[i] == component[j]

    def sides(self, i: int, j: int) -> list[tuple[int, ...]]:
        """Return the neighbours of i and of j on paths between them, fewer first."""
        found = []
        for end, other in ((i, j), (j, i)):
            component = self._components_without(end)
            near = sorted(self.neighbours[end] - {other})
            found.append(tuple(v for v in near if component[v] == component[other]))
        found.sort(key=len)
        return found[:1] if found[0] == found[1] else found

    def search_greedily(self, i: int, j: int) -> CutSet | None:
        """Find a cut set by steps that lower the dependence most.

        For either side, members are dropped from the whole set until it separates.
        Where that fails, or the whole set cannot be tested, members are added to the
        empty set. The result is made minimal.
        """
        for side in self.sides(i, j):
            cut = self._shrink(i, j, side) or self._grow(i, j, side)
            if cut is not None:
                return self._minimise(i, j, cut)
        return None

    def search_exhaustively(self, i: int, j: int) -> CutSet | None:
        """Find a smallest cut set among all subsets of either side."""
        sides = self.sides(i, j)
        levels: list[list[tuple[int, ...]]] = [[()] for _ in sides]
        for _ in range(self.most + 1):
            for place, side in enumerate(sides):
                possible = []
                for members in levels[place]:
                    cut = self._test(i, j, members)
                    if cut is not None and cut.tested.independent:
                        return self._minimise(i, j, cut)
                    if cut is not None:
                        possible.append(members)
                levels[place] = [
                    (*members, v)
                    for members in possible
                    for v in side
                    if not members or v > members[-1]
                ]
            if not any(levels):
                break
        return None

    def _shrink(self, i: int, j: int, side: tuple[int, ...]) -> CutSet | None:
        """Drop members of `side`, as long as that does not raise the dependence."""
        cut = self._test(i, j, side) if len(side) <= self.most else None
        while cut is not None and not cut.tested.independent:
            best = self._weakest(i, j, _without_one(cut.members))
            if best is not None and best.tested.strength > cut.tested.strength:
                return None
            cut = best
        return cut

    def _grow(self, i: int, j: int, side: tuple[int, ...]) -> CutSet | None:
        """Add members of `side` to the empty set while that lowers the dependence."""
        cut = self._test(i, j, ())
        while cut is not None and not cut.tested.independent:
            members = cut.members
            if len(members) == self.most:
                return None
            more = [tuple(sorted((*members, v))) for v in side if v not in members]
            best = self._weakest(i, j, more)
            if best is not None and best.tested.strength >= cut.tested.strength:
                return None
            cut = best
        return cut

    def _test(self, i: int, j: int, members: tuple[int, ...]) -> CutSet | None:
        tested = self.tests.test(i, j, members)
        return None if tested is None else CutSet(members, tested)

    def _minimise(self, i: int, j: int, cut: CutSet) -> CutSet:
        """Drop members while the rest separates the pair."""
        while cut.members:
            best = self._weakest(i, j, _without_one(cut.members))
            if best is None or not best.tested.independent:
                break
            cut = best
        return cut

    def _weakest(self, i: int, j: int, sets: list[tuple[int, ...]]) -> CutSet | None:
        """Return the set with the least dependence, independent ones and ties first."""
        return min(
            filter(None, (self._test(i, j, members) for members in sets)),
            key=lambda cut: (not cut.tested.independent, cut.tested.strength),
            default=None,
        )

    def _components_without(self, removed: int) -> list[int]:
        """Return the connected component of every variable, without one of them."""
        if removed not in self._components:
            component = [-1] * len(self.neighbours)
            for start in range(len(component)):
                ahead = [start] if start != removed else []
                while ahead:
                    v = ahead.pop()
                    if component[v] < 0:
                        component[v] = start
                        ahead += self.neighbours[v] - {removed}
            self._components[removed] = component
        return self._components[removed]


def _without_one(members: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return all sets with one member less, the first member left out first."""
    return [members[:place] + members[place + 1 :] for place in range(len(members))]
