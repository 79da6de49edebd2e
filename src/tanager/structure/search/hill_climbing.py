"""`HillClimbing` (HGC): arcs are added, deleted and reversed while the score rises."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.errors import InputError
from tanager.model.schema import Schema
from tanager.model.structure import find_cycle
from tanager.scores import Score, score_from
from tanager.structure.base import StructureLearner, StructureResult
from tanager.structure.constraints import (
    Arc,
    ArcMasks,
    Constraints,
    arc_positions,
    check_constraints,
    never_observed,
)
from tanager.structure.search.arc_gains import KINDS, Change, Climb, Place
from tanager.structure.search.search_loop import (
    OutOfTimeError,
    warn_interrupted,
    warn_out_of_time,
)
from tanager.types import IndexArray
from tanager.utils.validation import check_flag, check_number, check_whole

STARTS = ("nb", "empty")


class HillClimbing(StructureLearner):
    """Hill climbing over general networks by a score (HGC).

    All variables are alike: the class may have parents, and features need not be joined
    to it.

    Parameters
    ----------
    score : str or Score, default="bdeu"
        What is raised, a sum over families: "bdeu" (or "bde"), "k2", "bic", "mdl" or
        "ll"; or a score such as ``BDe(sample_size=10.0)``.
    max_parents : int or None, default=2
        Parents that a variable may have, the class counted like any other. None sets
        no bound.
    start : {"nb", "empty"} or sequence of (parent, child) names, default="nb"
        The network to begin with: naive Bayes, as far as the constraints allow it; no
        arcs; or these arcs. Required arcs come on top.
    tabu : int, default=0
        If above 0, the search goes on where no change raises the score, by the change
        that costs least and does not lead back to one of the last networks, this many.
        The best network on the way is the result.
    patience : int, default=10
        Changes without a new best score after which a search with `tabu` ends.
    restarts : int, default=0
        How often the search begins again, from the best network so far after random
        changes.
    perturbation : int, default=10
        Number of those random changes.
    constraints : Constraints or None, default=None
        Arcs that must, and must not, be in the structure.
    max_seconds : float or None, default=None
        Time after which the search ends with the best network so far and a warning.
    verbose : bool, default=False
        Whether every step is told on standard error.

    Notes
    -----
    Each step makes the change that raises the score most; it ends where none does
    ([1]_; [2]_ with at most two parents). Of equal changes additions come
    before deletions before reversals, then that whose parent has most children, then
    that of the lowest parent and of the lowest child, where the class counts as the
    lowest. That is for `BDe` and `BIC`, which score both directions of a lone arc
    alike: of two, a variable that many depend on is the better parent. A change scores
    anew only the families whose parents it changed.

    A missing parent is a state of its own, where it occurs, and so is a missing label;
    rows in which a variable is missing say nothing about that variable. So all networks
    are compared on the same rows. A feature that is missing in all rows is no parent:
    it would leave nothing to count for its child.

    Parents that would make a table of more than 50 million cells, which no network may
    have, are not considered; those of the start and required ones are an error.

    References
    ----------
    .. [1] Heckerman, Geiger, Chickering (1995), Learning Bayesian networks: the
       combination of knowledge and statistical data.
    .. [2] Su, Zhang, Ling, Matwin (2008), Discriminative parameter learning for
       Bayesian networks.

    Examples
    --------
    The second feature repeats the class with errors, the first repeats the second with
    errors, and the third says nothing:

    >>> from tanager import BayesNetClassifier
    >>> y = [0, 1] * 40
    >>> x1 = [label if m % 8 else 1 - label for m, label in enumerate(y)]
    >>> x0 = [code if m % 9 else 1 - code for m, code in enumerate(x1)]
    >>> X = [[x0[m], x1[m], m // 40] for m in range(80)]
    >>> model = BayesNetClassifier(structure=HillClimbing(), encoder="categorical")
    >>> model.fit(X, y).network_.edges
    (('x1', 'x0'), ('class', 'x1'))
    >>> [(step["change"], step["arcs"]) for step in model.trace_["structure"]]
    [('add', [('x1', 'x0')]), ('delete', [('class', 'x2')]), \
('delete', [('class', 'x0')]), (None, [])]
    """

    def __init__(
        self,
        score: str | Score = "bdeu",
        *,
        max_parents: int | None = 2,
        start: str | Sequence[Arc] = "nb",
        tabu: int = 0,
        patience: int = 10,
        restarts: int = 0,
        perturbation: int = 10,
        constraints: Constraints | None = None,
        max_seconds: float | None = None,
        verbose: bool = False,
    ) -> None:
        self.score = score
        self.max_parents = max_parents
        self.start = start
        self.tabu = tabu
        self.patience = patience
        self.restarts = restarts
        self.perturbation = perturbation
        self.constraints = constraints
        self.max_seconds = max_seconds
        self.verbose = verbose

    def check(self, schema: Schema) -> None:
        """Refuse arguments that cannot be."""
        check_whole("max_parents", self.max_parents, least=1, none=True)
        check_whole("tabu", self.tabu, least=0)
        check_whole("patience", self.patience, least=1)
        check_whole("restarts", self.restarts, least=0)
        check_whole("perturbation", self.perturbation, least=1)
        check_number("max_seconds", self.max_seconds, above=0, none=True)
        check_flag("verbose", self.verbose)
        score = score_from(self.score)
        if type(score).families is Score.families:
            raise score.no_families_error()
        self._start(schema, self._constraints(schema))

    def learn(
        self, data: CodedData, *, random_state: np.random.Generator | None = None
    ) -> StructureResult:
        """Climb from the start on; see `StructureLearner.learn`.

        When the time is up, or on Ctrl-C, the best network so far is the result, and a
        warning says so.
        """
        began = perf_counter()
        self.check(data.schema)
        constraints = self._constraints(data.schema)
        start = self._start(data.schema, constraints)
        constraints = constraints.without_parents(_empty(data, start))
        ends = np.inf if self.max_seconds is None else began + self.max_seconds
        walk = _Walk(self, data.schema, start, ends)
        try:
            scores = score_from(self.score).families(data, allowed=constraints.allowed)
            scores.pause = walk.check_time
            most = len(data.schema) if self.max_parents is None else self.max_parents
            walk.begin(Climb(scores, constraints, most, start))
            walk.climb()
            random = np.random.default_rng(random_state)
            for _ in range(self.restarts):
                walk.perturb(random)
                walk.climb()
        except OutOfTimeError:
            warn_out_of_time(self, len(walk.trace))
        except KeyboardInterrupt:
            warn_interrupted(self, len(walk.trace))
        return StructureResult(walk.best.structure, tuple(walk.trace))

    def _constraints(self, schema: Schema) -> ArcMasks:
        return check_constraints(self.constraints).compile(
            schema,
            max_parents=self.max_parents,
            class_rooted=False,
        )

    def _start(self, schema: Schema, constraints: ArcMasks) -> list[list[int]]:
        """Parents of every variable to begin with."""
        parents = constraints.required_parents
        most = len(schema) if self.max_parents is None else self.max_parents
        if isinstance(self.start, str) and self.start.lower() in STARTS:
            if self.start.lower() == "nb":
                _join_class(parents, constraints, most)
            return parents
        if isinstance(self.start, str) or not isinstance(self.start, Iterable):
            raise InputError(
                "start must be 'nb', 'empty' or a sequence of (parent, child) names, "
                f"got {self.start!r}."
            )
        for parent, child in arc_positions(schema, self.start, "start"):
            name = (schema[parent].name, schema[child].name)
            if not constraints.allowed[parent, child]:
                raise InputError(
                    f"start has the arc {name}, but the constraints rule it "
                    "out. Drop one of the two."
                )
            if parent not in parents[child]:
                parents[child].append(parent)
            if len(parents[child]) > most:
                raise InputError(
                    f"start, with the required arcs, gives {name[1]!r} "
                    f"{len(parents[child])} parents, but max_parents={most}."
                )
        cycle = find_cycle(parents)
        if cycle:
            names = " -> ".join(schema[v].name for v in cycle)
            raise InputError(
                f"start, with the required arcs, has a cycle: {names}. Drop one of "
                "them."
            )
        return parents


def _empty(data: CodedData, start: Sequence[Sequence[int]]) -> IndexArray:
    """Features that no row has a value of, but for parents at the start."""
    parents = {parent for of in start for parent in of}
    features = [v for v in range(len(data.schema) - 1) if v not in parents]
    return never_observed(data, np.array(features, dtype=np.intp))


def _join_class(parents: list[list[int]], constraints: ArcMasks, most: int) -> None:
    """Make the class, the last variable, a parent of every feature that may have it."""
    target = len(parents) - 1
    for child in range(target):
        of = parents[child]
        if constraints.allowed[target, child] and target not in of and len(of) < most:
            parents[child] = [*of, target]
            if find_cycle(parents):
                parents[child] = of


class _Walk:
    """One run of a learner: where it is, the best it has seen, and its story."""

    def __init__(
        self, learner: HillClimbing, schema: Schema, start: list[list[int]], ends: float
    ) -> None:
        self.learner = learner
        self.schema = schema
        self.trace: list[dict[str, Any]] = []
        self.restart = 0
        self.best = Place(tuple(tuple(sorted(of)) for of in start), -np.inf)
        self._ends = ends

    def check_time(self) -> None:
        """Raise `OutOfTimeError` when the time is up."""
        if perf_counter() > self._ends:
            raise OutOfTimeError

    def begin(self, climb: Climb) -> None:
        """Take the start for the best so far."""
        self.network = climb
        self.best = climb.place

    def climb(self) -> None:
        """Make the best change, again and again, until no better network is found."""
        recent = deque([self.network.key], maxlen=self.learner.tabu)
        top, idle = self.network.value, 0
        while True:
            self.check_time()
            began = perf_counter()
            gains = self.network.gains()
            if self.learner.tabu:
                gains[np.isin(self.network.keys(), recent)] = -np.inf
            candidates = int(np.isfinite(gains).sum())
            change, gain = self.network.best(gains)
            if gain == -np.inf or (gain <= 0 and not self.learner.tabu):
                self._tell(None, candidates, began)
                return
            self.network.make(change)
            recent.append(self.network.key)
            if self.network.value > top:
                top, idle = self.network.value, 0
                if top > self.best.value:
                    self.best = self.network.place
            else:
                idle += 1
            self._tell(change, candidates, began)
            if self.learner.tabu and idle >= self.learner.patience:
                return

    def perturb(self, random: np.random.Generator) -> None:
        """Go back to the best network, and make random changes."""
        self.restart += 1
        self.network.go_to(self.best.parents)
        for _ in range(self.learner.perturbation):
            self.check_time()
            began = perf_counter()
            possible = np.argwhere(np.isfinite(self.network.gains()))
            if not len(possible):
                return
            kind, parent, child = possible[random.integers(len(possible))].tolist()
            change = Change(KINDS[kind], parent, child)
            self.network.make(change)
            self._tell(change, len(possible), began)

    def _tell(self, change: Change | None, candidates: int, began: float) -> None:
        """Write a step down."""
        arcs = []
        if change is not None:
            arcs = [(self.schema[change.parent].name, self.schema[change.child].name)]
        entry = {
            "change": None if change is None else change.kind,
            "arcs": arcs,
            "score": self.network.value,
            "candidates": candidates,
            "restart": self.restart,
            "seconds": perf_counter() - began,
        }
        self.trace.append(entry)
        if self.learner.verbose:
            done = "nothing better"
            if change is not None:
                done = f"{change.kind} {arcs[0][0]} -> {arcs[0][1]}"
            print(
                f"step {len(self.trace)}: {done}; score {self.network.value:.10g}, "
                f"{candidates} candidates, {entry['seconds']:.2f} s",
                file=sys.stderr,
                flush=True,
            )
