"""`DependencyAnalysis`: the skeleton of a network from independence tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np

from tanager.structure.constraint_based.cut_sets import CutSet, CutSets
from tanager.structure.constraint_based.independence_tests import (
    IndependenceTest,
    Outcome,
)
from tanager.types import BoolArray, Edge
from tanager.utils.progress import report

Phase = Literal["required", "forbidden", "draft", "thicken", "thin", "thorough"]


class Decision(NamedTuple):
    """The phase that decided on an edge, and the cut set that removed it, if any."""

    phase: Phase
    cut: CutSet | None


class DependencyAnalysis:
    """Find the pairs of variables that depend on each other directly.

    The matrices `possible` and `required`, of shape (n_variables, n_variables), are
    symmetric: pairs that may, and pairs that must, have an edge. Every decision is
    reported for `learner`, with the `names` of the variables. `decisions` has the last
    decision on every pair, lower index first, and `marginal` its unconditional test.
    """

    def __init__(
        self,
        n_variables: int,
        tests: IndependenceTest,
        *,
        possible: BoolArray,
        required: BoolArray,
        max_condition: int | None = None,
        names: Sequence[str] | None = None,
        learner: object = "",
    ) -> None:
        self.tests = tests
        self.decisions: dict[Edge, Decision] = {}
        self.marginal: dict[Edge, Outcome] = {}
        self._neighbours: list[set[int]] = [set() for _ in range(n_variables)]
        self._cut_sets = CutSets(tests, self._neighbours, max_condition)
        self._possible = possible
        self._required = required
        self._names = names
        self._learner = learner

    @property
    def edges(self) -> list[Edge]:
        """Pairs with an edge, strongest dependence first."""
        joined = [(i, j) for i, of in enumerate(self._neighbours) for j in of if i < j]
        return sorted(joined, key=self._strongest_first)

    def run(self) -> None:
        """Run all phases."""
        self._thicken(self._draft())
        self._thin("thin", self._cut_sets.search_greedily)
        self._thin("thorough", self._cut_sets.search_exhaustively)

    def distances(self, start: int) -> list[float]:
        """Return the number of edges on the shortest path from `start` to each."""
        far = [np.inf] * len(self._neighbours)
        far[start], ahead = 0.0, [start]
        for v in ahead:
            for w in sorted(self._neighbours[v]):
                if far[w] == np.inf:
                    far[w] = far[v] + 1
                    ahead.append(w)
        return far

    def _draft(self) -> list[Edge]:
        """Add edges between dependent pairs without a path; return the other pairs."""
        for i, j in np.argwhere(np.triu(self._required)).tolist():
            self._add_edge("required", (i, j))
        n_variables = len(self._neighbours)
        for pair in combinations(range(n_variables), 2):
            if pair[1] == pair[0] + 1:
                report(self._learner, pair[0], n_variables - 1, unit="variable")
            tested = self.tests.test(*pair, ())
            if tested is None:
                continue
            self.marginal[pair] = tested
            if not self._possible[pair]:
                cut = CutSet((), tested) if tested.independent else None
                self._decide("forbidden", pair, cut)
            elif tested.independent and not self._required[pair]:
                self._decide("draft", pair, CutSet((), tested))
        waiting = []
        for pair in sorted(self.marginal, key=self._strongest_first):
            if pair in self.decisions:
                continue
            if self._cut_sets.is_connected(*pair):
                waiting.append(pair)
            else:
                self._add_edge("draft", pair)
        return waiting

    def _thicken(self, waiting: list[Edge]) -> None:
        """Add edges between the pairs that no cut set separates."""
        for pair in waiting:
            cut = self._cut_sets.search_greedily(*pair)
            if cut is None:
                self._add_edge("thicken", pair)
            else:
                self._decide("thicken", pair, cut)

    def _thin(self, phase: Phase, find: Callable[[int, int], CutSet | None]) -> None:
        """Remove edges whose ends a cut set separates, weakest first."""
        for i, j in reversed(self.edges):
            if self._required[i, j] or not any(self._cut_sets.sides(i, j)):
                continue
            cut = find(i, j)
            if cut is not None:
                self._neighbours[i].discard(j)
                self._neighbours[j].discard(i)
                self._cut_sets.edges_removed()
                self._decide(phase, (i, j), cut)

    def _add_edge(self, phase: Phase, pair: Edge) -> None:
        i, j = pair
        self._neighbours[i].add(j)
        self._neighbours[j].add(i)
        self._cut_sets.edge_added(i, j)
        self._decide(phase, pair, None)

    def _decide(self, phase: Phase, pair: Edge, cut: CutSet | None) -> None:
        self.decisions[pair] = Decision(phase, cut)
        n_variables = len(self._neighbours)
        n_pairs = n_variables * (n_variables - 1) // 2
        i, j = pair
        note = ""
        if self._names is not None:
            what = "edge" if j in self._neighbours[i] else "no edge"
            note = f"{phase}: {self._names[i]}, {self._names[j]}: {what}"
        report(self._learner, len(self.decisions), n_pairs, unit="pair", note=note)

    def _strongest_first(self, pair: Edge) -> tuple[float, Edge]:
        tested = self.marginal.get(pair)
        return -np.inf if tested is None else -tested.strength, pair
