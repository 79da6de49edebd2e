"""`SearchLearner` and `Search`: what all searches for parents share."""

from __future__ import annotations

import sys
import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from itertools import combinations
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tanager.data.coded_data import CodedData
from tanager.errors import InputError
from tanager.model.schema import Schema
from tanager.model.structure import Structure
from tanager.scores import Best, Moves, MoveScorer, Score, score_from
from tanager.structure.base import StructureLearner, StructureResult
from tanager.structure.constraints import ArcMasks, Constraints, check_constraints
from tanager.types import BoolArray, IndexArray
from tanager.utils.validation import check_flag, check_number, check_whole


class OutOfTimeError(Exception):
    """Ends a search whose time is up; never leaves it."""


class Search:
    """A structure that grows by moves, and the story of how it does.

    Parameters
    ----------
    scorer : MoveScorer
        Begins with the arcs that are required.
    schema : Schema
        Names of the features.
    constraints : ArcMasks
        Arcs that may be used.
    ends : float, default=inf
        Value of `time.perf_counter` after which `OutOfTimeError` is raised.
    verbose : bool
        Whether every step is told on standard error.

    Attributes
    ----------
    trace : list of dict
        One entry per step.
    above : ndarray of bool, shape (n_features, n_features)
        ``above[i, j]``: i is j or an ancestor of it.
    is_complete : bool
        Whether the search came to its end by itself.
    """

    def __init__(
        self,
        scorer: MoveScorer,
        schema: Schema,
        constraints: ArcMasks,
        *,
        ends: float = np.inf,
        verbose: bool = False,
    ) -> None:
        self.scorer = scorer
        self.schema = schema
        self.constraints = constraints
        self.verbose = verbose
        self.trace: list[dict[str, Any]] = []
        self.above = np.eye(len(scorer.parents), dtype=np.bool_)
        for child, parents in enumerate(scorer.parents):
            self._connect(child, parents)
        self.is_complete = False
        self._ends = ends
        scorer.pause = self._check_time

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.scorer.parents)

    @property
    def parents(self) -> list[tuple[int, ...]]:
        """Feature parents of every feature."""
        return self.scorer.parents

    @property
    def result(self) -> StructureResult:
        """The structure so far."""
        n_features = self.n_features
        structure = Structure.class_rooted([*self.parents, ()], n_features)
        return StructureResult(structure, tuple(self.trace))

    def new_arcs(self, most: int) -> BoolArray:
        """``[i, j]``: the arc i -> j may be added now, and j has fewer than `most`."""
        room = np.array([len(parents) < most for parents in self.parents])
        free: BoolArray = ~self.above.T & ~self._joined() & room
        return free & self.constraints.allowed

    def adding(self, arcs: IndexArray) -> Moves:
        """Moves that add one arc (parent, child) each to what there is."""
        most = max(map(len, self.parents), default=0)
        present = np.full((self.n_features, most + 1), -1, dtype=np.int64)
        for child, parents in enumerate(self.parents):
            present[child, 1 : len(parents) + 1] = parents
        children = arcs[:, 1].astype(np.int64)
        table = present[children]
        table[:, 0] = arcs[:, 0]
        return Moves(children, table)

    def step(self, moves: Moves, *, above: float | None = None) -> bool:
        """Make the best move if its score is greater than `above`, else nothing.

        `above` is the present score unless given.
        """
        if not len(moves):
            return False
        self._check_time()
        began = perf_counter()
        least = self.scorer.value if above is None else above
        best = self.scorer.best(moves, above=least)
        taken = [] if best.index is None else [moves[best.index]]
        self.make(taken, best, began)
        return best.index is not None

    def make(
        self,
        moves: Sequence[tuple[int, tuple[int, ...]]],
        best: Best,
        began: float,
        **more: Any,
    ) -> None:
        """Make moves that were found best, and write it down."""
        arcs = []
        for number, (child, parents) in enumerate(moves):
            added = [p for p in parents if p not in self.parents[child]]
            last = number == len(moves) - 1
            self.scorer.apply(child, parents, best.score if last else None)
            self._connect(child, added)
            arcs += [(self.schema[p].name, self.schema[child].name) for p in added]
        entry = {
            "arcs": arcs,
            "score": self.scorer.value,
            "candidates": best.candidates,
            "rows_visited": best.rows_visited,
            "rows_looked_up": best.rows_looked_up,
            "seconds": perf_counter() - began,
            **more,
        }
        self.trace.append(entry)
        if self.verbose:
            named = ", ".join(f"{p} -> {c}" for p, c in arcs) or "nothing better"
            print(
                f"step {len(self.trace)}: {named}; score {self.scorer.value:.10g}, "
                f"{best.candidates} candidates, {entry['seconds']:.2f} s",
                file=sys.stderr,
                flush=True,
            )

    def _connect(self, child: int, parents: Sequence[int]) -> None:
        for parent in parents:
            self.above |= np.outer(self.above[:, parent], self.above[child])

    def _joined(self) -> BoolArray:
        """``[i, j]``: i is a parent of j."""
        joined = np.zeros((self.n_features, self.n_features), dtype=np.bool_)
        for child, parents in enumerate(self.parents):
            joined[list(parents), child] = True
        return joined

    def adjacent(self) -> BoolArray:
        """Which features an arc joins, in either direction."""
        joined = self._joined()
        return joined | joined.T

    def _check_time(self) -> None:
        if perf_counter() > self._ends:
            raise OutOfTimeError


def warn_out_of_time(
    learner: Any,
    steps: int,
    *,
    unit: str = "steps",
    advice: str = "Give it more time for a better one.",
) -> None:
    """Tell that a search ended because its `max_seconds` were over."""
    warnings.warn(
        f"{type(learner).__name__} stopped after max_seconds={learner.max_seconds} and "
        f"{steps} {unit}, before it was done; the structure so far is kept. {advice}",
        ConvergenceWarning,
        stacklevel=4,
    )


def warn_interrupted(learner: Any, steps: int, *, unit: str = "steps") -> None:
    """Tell that a search ended because the user interrupted it."""
    warnings.warn(
        f"{type(learner).__name__} was interrupted after {steps} {unit}; the structure "
        "so far is kept.",
        ConvergenceWarning,
        stacklevel=4,
    )


class SearchLearner(StructureLearner):
    """Base of learners that search for parents by a score.

    A subclass has the attributes `score`, `k`, `constraints`, `max_seconds` and
    `verbose`, and says in `_search` which moves there are.
    """

    score: str | Score | Callable[..., float]
    k: int
    constraints: Constraints | None
    max_seconds: float | None
    verbose: bool

    @property
    def order_matters(self) -> bool:
        """Whether rows are dealt into folds, or learned from one by one."""
        return score_from(self.score).order_matters

    @abstractmethod
    def _search(
        self, search: Search, data: CodedData, random: np.random.Generator
    ) -> None:
        """Make moves until there is no better one."""

    def learn(
        self, data: CodedData, *, random_state: np.random.Generator | None = None
    ) -> StructureResult:
        """Search from the required arcs on; see `StructureLearner.learn`.

        When the time is up, or on Ctrl-C, the structure so far is the result, and a
        warning says so.
        """
        self.check(data.schema)
        random = np.random.default_rng(random_state)
        return self._run(data, random, self._end()).result

    def _end(self) -> float:
        """When a search that begins now has to end, by `time.perf_counter`."""
        return np.inf if self.max_seconds is None else perf_counter() + self.max_seconds

    def _run(self, data: CodedData, random: np.random.Generator, ends: float) -> Search:
        constraints = self._constraints(data.schema)
        scorer = score_from(self.score).scorer(
            data,
            constraints.required_parents,
            random_state=random,
        )
        search = Search(
            scorer,
            data.schema,
            constraints,
            ends=ends,
            verbose=self.verbose,
        )
        try:
            self._search(search, data, random)
            search.is_complete = True
        except OutOfTimeError:
            warn_out_of_time(self, len(search.trace))
        except KeyboardInterrupt:
            warn_interrupted(self, len(search.trace))
        finally:
            scorer.release()
        return search

    def check(self, schema: Schema) -> None:
        """Refuse arguments that cannot be."""
        check_whole("k", self.k, least=1)
        check_number("max_seconds", self.max_seconds, above=0, none=True)
        check_flag("verbose", self.verbose)
        score_from(self.score)
        self._constraints(schema)

    def _check_joined(self, schema: Schema) -> None:
        """Refuse required parents of a feature that no required arc joins."""
        required = self._constraints(schema).required
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

    def _constraints(self, schema: Schema) -> ArcMasks:
        return check_constraints(self.constraints).compile(
            schema,
            max_parents=self.k,
        )
