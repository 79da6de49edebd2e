"""`HillClimbing` (HGC): add, delete and reverse arcs while the score increases."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from time import perf_counter

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.data.round_count import RoundCount
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
from tanager.structure.search.arc_gains import KINDS, ArcGains, Change, ScoredNetwork
from tanager.structure.search.search_loop import SearchRun
from tanager.utils.progress import check_stop, watch
from tanager.utils.validation import check_flag, check_number, check_whole

STARTS = ("nb", "empty")


class HillClimbing(StructureLearner):
    """Hill climbing over general networks by a score (HGC).

    The class is a variable as any other: it may have parents, and features need not be
    adjacent to it.

    Parameters
    ----------
    score : str or Score, default="bdeu"
        The decomposable score to maximise: "bdeu" (or "bde"), "k2", "bic", "mdl" or
        "ll"; or a score such as ``BDe(sample_size=10.0)``.
    max_parents : int or None, default=2
        Number of parents that a variable may have, the class included; None for any
        number.
    start : {"nb", "empty"} or collection of (parent, child) names, default="nb"
        The initial network: naive Bayes, as far as the constraints allow it; no arcs;
        or these arcs. Required arcs are added.
    tabu : int, default=0
        Length of the tabu list. If above 0, the search continues from a local maximum
        with the change that costs least and does not lead back to one of this many
        last networks. The result is the best network found.
    patience : int, default=10
        Number of changes without a new best score after which a tabu search ends.
    restarts : int, default=0
        Number of restarts, each from the best network so far after random changes.
    perturbation : int, default=10
        Number of those random changes.
    constraints : Constraints or None, default=None
        Arcs that must, and must not, be in the structure.
    max_seconds : float or None, default=None
        Time after which the search ends with the best network so far and a warning.
    verbose : bool, default=False
        Whether every step is printed to standard error.

    Notes
    -----
    Each step makes the change that increases the score most, and the search ends when
    no change does ([1]_; [2]_ with at most two parents). In a tie, additions come
    before deletions before reversals, then the change whose parent has most children,
    then the lowest parent and the lowest child, where the class is the lowest. `BDe`
    and `BIC` score both directions of a single arc equally; a variable with many
    children is then the better parent. A change rescores only the families that it
    changed.

    A missing parent is a state of its own, and so is a missing label; samples in which
    a variable is missing do not count for that variable. So all networks are compared
    on the same samples. A feature that is missing in all samples is never a parent.

    Parents that would need a CPT of more than 50 million cells are not considered;
    among the initial and required arcs they are an error.

    References
    ----------
    .. [1] Heckerman, Geiger, Chickering (1995), Learning Bayesian networks: the
       combination of knowledge and statistical data.
    .. [2] Su, Zhang, Ling, Matwin (2008), Discriminative parameter learning for
       Bayesian networks.

    Examples
    --------
    The second feature repeats the class with errors, the first repeats the second with
    errors, and the third is independent of both:

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

    rounds = RoundCount(3, ((1, "group of new families"),))

    def __init__(
        self,
        score: str | Score = "bdeu",
        *,
        max_parents: int | None = 2,
        start: str | Collection[Arc] = "nb",
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
        """Refuse invalid arguments."""
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
        self._start(schema, self._masks(schema))

    def learn(
        self, data: CodedData, *, random_state: np.random.Generator | None = None
    ) -> StructureResult:
        """Climb from the start on; see `StructureLearner.learn`.

        After `max_seconds`, or on Ctrl-C, the result is the best network so far, with a
        warning.
        """
        self.check(data.schema)
        constraints = self._masks(data.schema)
        start = self._start(data.schema, constraints)
        at_start = {parent for of in start for parent in of}
        others = [v for v in range(len(data.schema) - 1) if v not in at_start]
        missing = never_observed(data, np.array(others, dtype=np.intp))
        constraints = constraints.without_parents(missing)
        climb = _Climb(self, data.schema, start)
        with (
            watch(self, self.max_seconds, verbose=self.verbose, every=True),
            climb.keep_best(),
        ):
            scores = score_from(self.score).families(data, allowed=constraints.allowed)
            most = len(data.schema) if self.max_parents is None else self.max_parents
            climb.begin(ArcGains(scores, constraints, most, start))
            climb.ascend()
            random = np.random.default_rng(random_state)
            for _ in range(self.restarts):
                climb.perturb(random)
                climb.ascend()
        return StructureResult(climb.best.structure, tuple(climb.trace))

    def _masks(self, schema: Schema) -> ArcMasks:
        return check_constraints(self.constraints).compile(
            schema, max_parents=self.max_parents, class_rooted=False
        )

    def _start(self, schema: Schema, constraints: ArcMasks) -> list[list[int]]:
        """Parents of every variable to begin with."""
        parents = constraints.required_parents
        most = len(schema) if self.max_parents is None else self.max_parents
        if isinstance(self.start, str) and self.start.lower() in STARTS:
            if self.start.lower() == "nb":
                _join_class(parents, constraints, most)
            return parents
        if isinstance(self.start, str) or not isinstance(self.start, Collection):
            raise InputError(
                "start must be 'nb', 'empty' or a collection of (parent, child) names, "
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


def _join_class(parents: list[list[int]], constraints: ArcMasks, most: int) -> None:
    """Make the class, the last variable, a parent of every feature that may have it."""
    target = len(parents) - 1
    for child in range(target):
        of = parents[child]
        if constraints.allowed[target, child] and target not in of and len(of) < most:
            parents[child] = [*of, target]
            if find_cycle(parents):
                parents[child] = of


class _Climb(SearchRun):
    """One run of a learner: the present network, the best so far, and the trace."""

    def __init__(
        self, learner: HillClimbing, schema: Schema, start: list[list[int]]
    ) -> None:
        super().__init__(learner)
        self.options = learner
        self.schema = schema
        self.restart = 0
        self.best = ScoredNetwork(tuple(tuple(sorted(of)) for of in start), -np.inf)

    def begin(self, network: ArcGains) -> None:
        """Take the start as the best network so far."""
        self.network = network
        self.best = network.snapshot

    def ascend(self) -> None:
        """Make the best change until no better network is found."""
        recent = deque([self.network.key], maxlen=int(self.options.tabu))
        top, idle = self.network.value, 0
        while True:
            check_stop()
            began = perf_counter()
            gains = self.network.gains()
            if self.options.tabu:
                gains[np.isin(self.network.keys(), recent)] = -np.inf
            candidates = int(np.isfinite(gains).sum())
            change, gain = self.network.best(gains)
            if gain == -np.inf or (gain <= 0 and not self.options.tabu):
                self._record(None, candidates, began)
                return
            self.network.make(change)
            recent.append(self.network.key)
            if self.network.value > top:
                top, idle = self.network.value, 0
                if top > self.best.value:
                    self.best = self.network.snapshot
            else:
                idle += 1
            self._record(change, candidates, began)
            if self.options.tabu and idle >= self.options.patience:
                return

    def perturb(self, random: np.random.Generator) -> None:
        """Return to the best network, and make random changes."""
        self.restart += 1
        self.network.go_to(self.best.parents)
        for _ in range(self.options.perturbation):
            check_stop()
            began = perf_counter()
            possible = np.argwhere(np.isfinite(self.network.gains()))
            if not len(possible):
                return
            kind, parent, child = possible[random.integers(len(possible))].tolist()
            change = Change(KINDS[kind], parent, child)
            self.network.make(change)
            self._record(change, len(possible), began)

    def _record(self, change: Change | None, candidates: int, began: float) -> None:
        kind, arcs, done = None, [], ""
        if change is not None:
            kind, *ends = change
            arcs = [tuple(self.schema[v].name for v in ends)]
            done = f"{kind} {arcs[0][0]} -> {arcs[0][1]}"
        entry = {
            "change": kind,
            "arcs": arcs,
            "score": self.network.value,
            "candidates": candidates,
            "restart": self.restart,
        }
        self.record(began, done, entry)
