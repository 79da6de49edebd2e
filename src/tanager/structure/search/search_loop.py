"""The loop that all searches share: trace, candidates and the best of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import combinations
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from tanager import scores
from tanager.data.coded_data import CodedData
from tanager.errors import InputError
from tanager.model.schema import Schema
from tanager.model.structure import Structure
from tanager.structure.base import StructureLearner, StructureResult
from tanager.structure.constraints import ArcMasks, Constraints, check_constraints
from tanager.types import BoolArray, IndexArray
from tanager.utils.progress import keep_best, report, watch
from tanager.utils.validation import check_flag, check_number, check_whole

if TYPE_CHECKING:
    from tanager.scores import Moves, MoveScorer, Score


class SearchRun:
    """Trace of one search of a learner, which reports every step.

    `limit` is the largest number of steps, None if there is none; `trace` has one entry
    per step.
    """

    def __init__(self, learner: object, limit: int | None = None) -> None:
        self.learner = learner
        self.limit = limit
        self.trace: list[dict[str, Any]] = []

    def record(self, began: float, done: str, entry: Mapping[str, Any]) -> None:
        """Add a step with its score and number of candidates to the trace."""
        self.trace.append({**entry, "seconds": perf_counter() - began})
        report(
            self.learner,
            len(self.trace),
            self.limit,
            bound=True,
            note=done or "nothing better",
            values={"score": entry["score"], "candidates": entry["candidates"]},
        )

    def keep_best(self) -> AbstractContextManager[None]:
        """End the search early without an error; see `keep_best` of all learners."""
        return keep_best(self.learner, lambda: f"{len(self.trace)} steps")


@dataclass(frozen=True, eq=False)
class Candidates:
    """The moves that one step of a search compares.

    The best move is made, or, if `groups` are given by the numbers of the moves, the
    best group. Its score must be greater than `above`; None is the present score. If no
    candidate is good enough, the search ends if `ends_search` is true. `began` is the
    value of `time.perf_counter` when work on this step began, None for now; `notes` go
    into the step's entry in the trace.
    """

    moves: Moves
    groups: Sequence[Sequence[int]] | None = None
    above: float | None = None
    ends_search: bool = True
    began: float | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)


class Search(SearchRun):
    """A structure that grows by moves, from the required arcs of its scorer on.

    ``above[i, j]``: i is j or an ancestor of it. `is_complete`: the search was not
    stopped early.
    """

    def __init__(
        self,
        learner: object,
        scorer: MoveScorer,
        schema: Schema,
        constraints: ArcMasks,
        limit: int | None = None,
    ) -> None:
        super().__init__(learner, limit)
        self.scorer = scorer
        self.schema = schema
        self.constraints = constraints
        self.parents = scorer.parents  # the scorer keeps the list up to date
        self.above = np.eye(len(scorer.parents), dtype=np.bool_)
        for child, parents in enumerate(scorer.parents):
            self._connect(child, parents)
        self.is_complete = False

    @property
    def result(self) -> StructureResult:
        """The structure so far."""
        structure = Structure.class_rooted([*self.parents, ()], len(self.parents))
        return StructureResult(structure, tuple(self.trace))

    def arcs(self) -> BoolArray:
        """``[i, j]``: i is a parent of j."""
        arcs = np.zeros_like(self.above)
        for child, parents in enumerate(self.parents):
            arcs[list(parents), child] = True
        return arcs

    def adjacent(self) -> BoolArray:
        """``[i, j]``: an arc joins i and j, in either direction."""
        arcs = self.arcs()
        return arcs | arcs.T

    def new_arcs(self, max_parents: int) -> BoolArray:
        """``[i, j]``: i -> j may be added, and j has fewer than `max_parents`."""
        room = np.array([len(parents) < max_parents for parents in self.parents])
        free: BoolArray = ~self.above.T & ~self.arcs() & room
        return free & self.constraints.allowed

    def additions(self, arcs: IndexArray) -> Moves:
        """Moves that add one arc (parent, child) each to the present structure."""
        most = max(map(len, self.parents), default=0)
        present = np.full((len(self.parents), most + 1), -1, dtype=np.int64)
        for child, parents in enumerate(self.parents):
            present[child, 1 : len(parents) + 1] = parents
        children = arcs[:, 1].astype(np.int64)
        table = present[children]
        table[:, 0] = arcs[:, 0]
        return scores.Moves(children, table)

    def step(self, candidates: Candidates) -> bool:
        """Make the best of the candidates; whether one was good enough."""
        moves, scorer = candidates.moves, self.scorer
        if not len(moves):
            return False
        began = perf_counter() if candidates.began is None else candidates.began
        least = scorer.value if candidates.above is None else candidates.above
        chosen: list[int] = []
        if candidates.groups is None:
            best = scorer.best(moves, above=least)
            if best.index is not None:
                chosen = [best.index]
        else:
            best = scorer.best_together(moves, candidates.groups)
            if best.index is not None and best.score > least:
                chosen = list(candidates.groups[best.index])
        arcs = []
        for number in chosen:
            child, parents = moves[number]
            added = [p for p in parents if p not in self.parents[child]]
            scorer.apply(child, parents, best.score if number == chosen[-1] else None)
            self._connect(child, added)
            arcs += [(self.schema[p].name, self.schema[child].name) for p in added]
        entry = {
            "arcs": arcs,
            "score": scorer.value,
            "candidates": best.candidates,
            "samples_visited": best.samples_visited,
            "samples_looked_up": best.samples_looked_up,
            **candidates.notes,
        }
        self.record(began, ", ".join(f"{p} -> {c}" for p, c in arcs), entry)
        return bool(chosen)

    def _connect(self, child: int, parents: Sequence[int]) -> None:
        for parent in parents:
            self.above |= np.outer(self.above[:, parent], self.above[child])


class SearchLearner(StructureLearner):
    """Base of learners that add arcs between features by a score.

    A subclass has the attributes `score`, `k`, `treewidth`, `constraints`,
    `max_seconds` and `verbose`, and yields the candidates of every step in
    `_candidates`; the loop is here.
    """

    score: str | Score | Callable[..., float]
    k: int
    treewidth: bool
    constraints: Constraints | None
    max_seconds: float | None
    verbose: bool

    @property
    def order_matters(self) -> bool:
        """Whether the score depends on the order of the samples."""
        return scores.score_from(self.score).order_matters

    @abstractmethod
    def _candidates(
        self, search: Search, data: CodedData, random: np.random.Generator
    ) -> Iterator[Candidates]:
        """Yield the candidates of the next step, given the structure so far."""

    def learn(
        self, data: CodedData, *, random_state: np.random.Generator | None = None
    ) -> StructureResult:
        """Search from the required arcs on; see `StructureLearner.learn`.

        After `max_seconds`, or on Ctrl-C, the result is the structure so far, with a
        warning.
        """
        self.check(data.schema)
        random = np.random.default_rng(random_state)
        with watch(self, self.max_seconds, verbose=self.verbose, every=True):
            return self._run(data, random).result

    def _max_steps(self, n_features: int) -> int:
        """Largest number of steps of a search: each but the last adds an arc."""
        k = min(self.k, n_features)
        return k * n_features - k * (k + 1) // 2 + 1

    def _run(self, data: CodedData, random: np.random.Generator) -> Search:
        constraints = self._masks(data.schema)
        scorer = scores.score_from(self.score).scorer(
            data, constraints.required_parents, random_state=random
        )
        limit = self._max_steps(len(data.schema) - 1)
        search = Search(self, scorer, data.schema, constraints, limit)
        try:
            with search.keep_best():
                for candidates in self._candidates(search, data, random):
                    if not search.step(candidates) and candidates.ends_search:
                        break
                search.is_complete = True
        finally:
            scorer.release()
        return search

    def check(self, schema: Schema) -> None:
        """Refuse invalid arguments."""
        check_whole("k", self.k, least=1)
        check_number("max_seconds", self.max_seconds, above=0, none=True)
        check_flag("verbose", self.verbose)
        scores.score_from(self.score)
        self._masks(schema)
        check_flag("treewidth", self.treewidth)
        if self.treewidth:
            self._check_joined(schema)

    def _check_joined(self, schema: Schema) -> None:
        """Refuse required parents of a feature that no required arc joins."""
        required = self._masks(schema).required
        joined = required | required.T
        for child, parents in enumerate(required.T):
            for one, other in combinations(np.flatnonzero(parents).tolist(), 2):
                if not joined[one, other]:
                    names = [schema[v].name for v in (child, one, other)]
                    raise InputError(
                        f"Constraints require parents {names[1]!r} and {names[2]!r} "
                        f"of {names[0]!r}, but treewidth=True needs an arc between "
                        "them: require it as well, or use treewidth=False."
                    )

    def _masks(self, schema: Schema) -> ArcMasks:
        return check_constraints(self.constraints).compile(schema, max_parents=self.k)
