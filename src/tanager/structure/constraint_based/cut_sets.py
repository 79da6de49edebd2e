"""Cut sets: variables that, once known, make two others independent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tanager.structure.constraint_based.independence_tests import (
    IndependenceTest,
    Outcome,
)


class CutSet(NamedTuple):
    """Variables that separate a pair, and the test that says so."""

    members: tuple[int, ...]
    tested: Outcome


class CutSets:
    """Looks for cut sets among the neighbours of a pair in an undirected graph.

    Parameters
    ----------
    tests : IndependenceTest
        Answers whether a pair is independent given a set.
    neighbours : sequence of sets of int
        The graph; when it has changed, `has_joined` or `has_parted` must be called.
    max_condition : int or None
        Most members a cut set may have.

    Notes
    -----
    Only neighbours from which the other variable can be reached matter: no path runs
    through the others. A set that the tests cannot judge, because there are too few
    rows for its table, is passed over, and all larger ones with it.
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
        self._parts: dict[int, list[int]] = {}

    def has_joined(self, i: int, j: int) -> None:
        """Be told of a new edge; most of them join what is joined already."""
        self._parts = {
            removed: parts
            for removed, parts in self._parts.items()
            if removed in (i, j) or parts[i] == parts[j]
        }

    def has_parted(self) -> None:
        """Be told of an edge that is gone."""
        self._parts.clear()

    def is_joined(self, i: int, j: int) -> bool:
        """Whether a path of edges leads from i to j."""
        parts = self._parts_without(-1)
        return parts[i] == parts[j]

    def sides(self, i: int, j: int) -> list[tuple[int, ...]]:
        """Neighbours of i and those of j on paths between them, fewer first.

        The edge between the two, if there is one, is not looked at.
        """
        found = []
        for end, other in ((i, j), (j, i)):
            parts = self._parts_without(end)
            near = sorted(self.neighbours[end] - {other})
            found.append(tuple(v for v in near if parts[v] == parts[other]))
        found.sort(key=len)
        return found[:1] if found[0] == found[1] else found

    def greedy(self, i: int, j: int) -> CutSet | None:
        """A cut set by steps that lower the dependence most, or None.

        On either side the whole of it is tried first and, while that does not
        separate, the member whose absence lowers the dependence most is dropped. Where
        that finds nothing, or the whole cannot be tested, the set grows from nothing
        by the member that lowers the dependence most. What separates is made minimal.
        """
        for side in self.sides(i, j):
            cut = self._shrunk(i, j, side)
            if cut is None:
                cut = self._grown(i, j, side)
            if cut is not None:
                return self._minimal(i, j, cut)
        return None

    def thorough(self, i: int, j: int) -> CutSet | None:
        """A smallest cut set among all subsets of either side, or None."""
        sides = self.sides(i, j)
        levels: list[list[tuple[int, ...]]] = [[()] for _ in sides]
        for _ in range(self.most + 1):
            for place, side in enumerate(sides):
                possible = []
                for members in levels[place]:
                    tested = self.tests.test(i, j, members)
                    if tested is None:
                        continue
                    if tested.independent:
                        return self._minimal(i, j, CutSet(members, tested))
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

    def _shrunk(self, i: int, j: int, side: tuple[int, ...]) -> CutSet | None:
        members = side
        if len(members) > self.most:
            return None
        tested = self.tests.test(i, j, members)
        if tested is None:
            return None
        while not tested.independent:
            best = self._weakest(i, j, _without_one(members))
            if best is None or best.tested.strength > tested.strength:
                return None
            members, tested = best
        return CutSet(members, tested)

    def _grown(self, i: int, j: int, side: tuple[int, ...]) -> CutSet | None:
        members: tuple[int, ...] = ()
        tested = self.tests.test(i, j, members)
        while tested is not None and not tested.independent:
            if len(members) == self.most:
                return None
            more = [tuple(sorted((*members, v))) for v in side if v not in members]
            best = self._weakest(i, j, more)
            if best is None or best.tested.strength >= tested.strength:
                return None
            members, tested = best
        return None if tested is None else CutSet(members, tested)

    def _minimal(self, i: int, j: int, cut: CutSet) -> CutSet:
        """Drop members as long as the rest separates the pair, too."""
        while cut.members:
            best = self._weakest(i, j, _without_one(cut.members))
            if best is None or not best.tested.independent:
                break
            cut = best
        return cut

    def _weakest(
        self, i: int, j: int, sets: Iterable[tuple[int, ...]]
    ) -> CutSet | None:
        """The set that leaves the least dependence, the first of equal ones.

        A set that makes the pair independent goes before one that does not.
        """
        found = [
            CutSet(members, tested)
            for members in sets
            if (tested := self.tests.test(i, j, members)) is not None
        ]
        if not found:
            return None
        return min(found, key=lambda c: (not c.tested.independent, c.tested.strength))

    def _parts_without(self, removed: int) -> list[int]:
        """Which part of the graph every variable is in when one is taken out of it."""
        if removed not in self._parts:
            parts = [-1] * len(self.neighbours)
            for start in range(len(parts)):
                ahead = [start] if parts[start] < 0 and start != removed else []
                while ahead:
                    v = ahead.pop()
                    if parts[v] < 0:
                        parts[v] = start
                        ahead += [
                            w
                            for w in self.neighbours[v]
                            if parts[w] < 0 and w != removed
                        ]
            self._parts[removed] = parts
        return self._parts[removed]


def _without_one(members: tuple[int, ...]) -> list[tuple[int, ...]]:
    """All sets with one member less, the first member left out first."""
    return [members[:place] + members[place + 1 :] for place in range(len(members))]
