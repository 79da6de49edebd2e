"""`ConstraintBased`: general networks by independence tests (GBN)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

import numpy as np
from sklearn.exceptions import NotFittedError

from tanager.data.coded_data import CodedData
from tanager.data.round_count import RoundCount
from tanager.model.schema import Schema
from tanager.model.structure import Structure
from tanager.structure.base import StructureLearner, StructureResult
from tanager.structure.constraint_based.dependency_analysis import DependencyAnalysis
from tanager.structure.constraint_based.edge_explanation import EdgeRecord, Explanation
from tanager.structure.constraint_based.independence_tests import (
    DataTest,
    IndependenceTest,
    KindOfTest,
)
from tanager.structure.constraint_based.orientation import Orientation
from tanager.structure.constraints import ArcMasks, Constraints, check_constraints
from tanager.types import BoolArray, Edge
from tanager.utils.progress import keep_best, watch
from tanager.utils.validation import check_flag, check_known, check_number, check_whole

TESTS = ("mi", "g2")

FAMILY_CELLS = 100_000
"""Maximum number of cells of a CPT with several parents that are not required."""


class ConstraintBased(StructureLearner):
    """General network by three-phase dependency analysis (GBN).

    The class is a variable as any other: it may have parents, and features may be
    unconnected to it. Two variables have an edge if no set of others makes them
    independent.

    Parameters
    ----------
    test : {"mi", "g2"}, default="mi"
        Independence test: conditional mutual information against `threshold`, or G2
        against the chi-squared distribution.
    threshold : float, default=0.01
        With ``test="mi"``: two variables are independent if their (conditional) mutual
        information, in nats, exceeds its expectation under independence by less.
    bias_correction : bool, default=True
        Whether that expectation, degrees / (2 n) for n samples, is subtracted from all
        mutual information. False is the published algorithm [1]_, which joins too many
        variables with many states; see Notes.
    significance : float, default=0.01
        With ``test="g2"``: two variables are independent if the p-value is larger.
    max_condition : int or None, default=3
        Maximum size of a cut set; None means no limit.
    max_parents : int or None, default=None
        Maximum number of parents of a variable. In any case a CPT with several parents
        has at most as many cells as there are samples, and at most 100,000; see Notes.
    constraints : Constraints or None, default=None
        Arcs that must, and must not, be in the network.
    max_seconds : float or None, default=None
        Time limit of the tests; afterwards the current edges are kept.
    verbose : bool, default=False
        Whether to print every decision to standard error.

    Attributes
    ----------
    explanation_ : Explanation
        The result of `explain`.
    n_tests_ : int
        Number of different independence tests made.

    Notes
    -----
    The phases of [1]_, with all pairs in falling order of their mutual information,
    ties by index:

    1. *Draft*: a dependent pair gets an edge if no path connects it yet.
    2. *Thicken*: another dependent pair gets an edge if no cut set separates it. The
       search starts from the neighbours of one of the two on paths to the other, and
       drops members while that lowers the dependence; if this fails, or there are too
       few samples for all of them, it starts from the empty set and adds members.
    3. *Thin*: each edge whose ends another path connects, weakest first, is tested in
       the same way and removed if a cut set is found; then again with all sets of up to
       `max_condition` such neighbours. (The paper's second pass is a greedy search that
       includes neighbours of neighbours; the exhaustive search over neighbours finds a
       cut set if there is one.)
    4. *Orient*: x - y - z becomes x -> y <- z if x and z have no edge and y is not in
       their cut set; then the orientation rules of Meek apply; undecided edges lead
       away from the class, and the rules apply again.
    5. *Bound*: if the class has too many parents, its edges lead away from it instead,
       and the others are oriented again. Another variable with too many parents keeps
       the class and the most informative ones. Required arcs are always kept; if their
       CPTs are too large, the parameter learner raises an error.

    [1]_ compares the information itself with the threshold; ``bias_correction=False``
    does so. Its expectation under independence is large for variables with many states
    and for large cut sets, so by default it is subtracted first. The p-value of
    ``test="g2"`` takes the degrees of freedom into account in any case; there the
    correction only affects the order in which pairs are visited. A test ignores samples
    in which one of its variables is missing; a cut set with fewer than 5 samples per
    cell of its contingency table is not tested; see `DataTest`.

    References
    ----------
    .. [1] Cheng, Greiner, Kelly, Bell, Liu (2002), Learning Bayesian networks from
       data: an information-theory based approach.
    .. [2] Greiner, Su, Shen, Zhou (2005), Structural extension to logistic regression,
       section 5.2.

    Examples
    --------
    Two causes, one effect, and something that only depends on the effect:

    >>> from tanager import BayesNetClassifier
    >>> random = np.random.default_rng(0)
    >>> rain, tap = random.random((2, 500)) < 0.5
    >>> wet = (rain | tap) ^ (random.random(500) < 0.1)
    >>> slips = wet & (random.random(500) < 0.5)
    >>> X = {"rain": rain, "tap": tap, "slips": slips}
    >>> model = BayesNetClassifier(structure=ConstraintBased()).fit(X, wet)
    >>> model.network_.edges
    (('class', 'slips'), ('rain', 'class'), ('tap', 'class'))
    >>> print(model.structure_.explain())
    rain -> class: draft (0.0675 >= 0.01 nats); a collider: not in a cut set
    tap -> class: draft (0.0921 >= 0.01 nats); a collider: not in a cut set
    class -> slips: draft (0.1815 >= 0.01 nats); the direction follows from others
    rain, tap: independent (0.0004 < 0.01 nats), draft
    rain, slips: independent given class (-0.0007 < 0.01 nats), thicken
    tap, slips: independent given class (-0.0004 < 0.01 nats), thicken
    """

    rounds = RoundCount(1, ((1, "test"),))

    def __init__(
        self,
        *,
        test: KindOfTest = "mi",
        threshold: float = 0.01,
        bias_correction: bool = True,
        significance: float = 0.01,
        max_condition: int | None = 3,
        max_parents: int | None = None,
        constraints: Constraints | None = None,
        max_seconds: float | None = None,
        verbose: bool = False,
    ) -> None:
        self.test = test
        self.threshold = threshold
        self.bias_correction = bias_correction
        self.significance = significance
        self.max_condition = max_condition
        self.max_parents = max_parents
        self.constraints = constraints
        self.max_seconds = max_seconds
        self.verbose = verbose

    def learn(
        self,
        data: CodedData,
        *,
        random_state: np.random.Generator | None = None,  # noqa: ARG002
    ) -> StructureResult:
        """Find and orient the edges; see `StructureLearner.learn`.

        When the time is up, or on Ctrl-C, a warning is issued and the current edges are
        kept and oriented.
        """
        self.check(data.schema)
        tests = DataTest(
            data,
            self.test,
            threshold=self.threshold,
            significance=self.significance,
            bias_correction=self.bias_correction,
        )
        result = self._learn(data.schema, tests, min(tests.n_rows, FAMILY_CELLS))
        self.n_tests_ = tests.n_tests
        return result

    def explain(self) -> Explanation:
        """Explain why every pair of variables has an edge, or none.

        Returns
        -------
        Explanation
            A sequence of `EdgeRecord`, edges first, that prints as one line each. For
            an absent edge it names the cut set, for a present one the phase that added
            it and the reason for its direction.
        """
        if not hasattr(self, "explanation_"):
            raise NotFittedError(
                f"This {type(self).__name__} is not fitted yet. After fitting a "
                "classifier, call explain() of its `structure_`."
            )
        explanation: Explanation = self.explanation_
        return explanation

    def check(self, schema: Schema) -> None:
        """Check the arguments; see `StructureLearner.check`."""
        check_known("independence test", self.test, TESTS)
        check_number("threshold", self.threshold, above=0)
        check_flag("bias_correction", self.bias_correction)
        check_number("significance", self.significance, above=0, below=1)
        check_whole("max_condition", self.max_condition, 0, none=True)
        check_whole("max_parents", self.max_parents, 1, none=True)
        check_number("max_seconds", self.max_seconds, above=0, none=True)
        check_flag("verbose", self.verbose)
        self._constraints(schema)

    def _learn(
        self, schema: Schema, tests: IndependenceTest, max_cells: float = np.inf
    ) -> StructureResult:
        """Learn from any independence tests."""
        constraints = self._constraints(schema)
        analysis = DependencyAnalysis(
            len(schema),
            tests,
            possible=constraints.allowed | constraints.allowed.T,
            required=constraints.required | constraints.required.T,
            max_condition=self.max_condition,
            names=schema.names,
            learner=self,
        )
        with (
            watch(self, self.max_seconds, verbose=self.verbose, every=True),
            keep_best(self, lambda: f"{len(analysis.decisions)} pairs"),
        ):
            analysis.run()
        separated = {
            pair: frozenset(decision.cut.members)
            for pair, decision in analysis.decisions.items()
            if decision.cut is not None
        }
        bounds = _ParentLimits(
            schema.n_states.tolist(), constraints.required, self.max_parents, max_cells
        )
        target = len(schema) - 1
        distances = analysis.distances(target)
        oriented = Orientation(analysis.edges, separated, constraints)
        oriented.run(distances)
        in_cycles = set(oriented.dropped)
        if not bounds.fit(target, oriented.parents[target]):
            led_away = _lead_away(constraints, target)
            oriented = Orientation(analysis.edges, separated, led_away)
            oriented.run(distances)
            turned = np.argwhere(constraints.allowed & ~led_away.allowed)
            for parent, child in turned.tolist():
                if oriented.reasons.get((child, parent)) == "allowed":
                    oriented.reasons[child, parent] = "bound"
        parents, left_out = bounds.keep(oriented.parents, analysis.edges, target)
        gone: dict[Edge, str] = dict.fromkeys([*oriented.dropped, *left_out], "bound")
        gone |= dict.fromkeys(in_cycles.intersection(oriented.dropped), "cycle")
        self.explanation_ = self._explain(schema, analysis, oriented, gone)
        # Not `asdict`, which copies every field and is slow.
        trace = tuple(dict(vars(record)) for record in self.explanation_)
        return StructureResult(Structure(tuple(parents), target), trace)

    def _explain(
        self,
        schema: Schema,
        analysis: DependencyAnalysis,
        oriented: Orientation,
        gone: dict[Edge, str],
    ) -> Explanation:
        """Return records of all pairs; those in `gone` were removed after the tests."""
        limit = self.threshold if self.test == "mi" else self.significance
        direction = {
            (min(arc), max(arc)): (arc, reason)
            for arc, reason in oriented.reasons.items()
        }
        records = []
        for pair in combinations(range(len(schema)), 2):
            decision = analysis.decisions.get(pair)
            cut = decision and decision.cut
            tested = cut.tested if cut else analysis.marginal.get(pair)
            present = pair in direction and pair not in gone
            arc, reason = direction[pair] if present else (pair, None)
            phase = "untested" if decision is None else decision.phase
            records.append(
                EdgeRecord(
                    pair=(schema[arc[0]].name, schema[arc[1]].name),
                    present=present,
                    phase=gone.get(pair, phase),
                    cut_set=cut and tuple(schema[v].name for v in cut.members),
                    information=None if tested is None else tested.information,
                    strength=None if tested is None else tested.strength,
                    p_value=None if tested is None else tested.p_value,
                    limit=limit,
                    direction=reason,
                )
            )
        return Explanation(sorted(records, key=lambda record: not record.present))

    def _constraints(self, schema: Schema) -> ArcMasks:
        return check_constraints(self.constraints).compile(
            schema, max_parents=self.max_parents, class_rooted=False
        )


def _lead_away(constraints: ArcMasks, target: int) -> ArcMasks:
    """Forbid arcs into the class wherever the other direction is allowed."""
    allowed = constraints.allowed.copy()
    allowed[:, target] &= constraints.required[:, target] | ~allowed[target]
    return ArcMasks(allowed, constraints.required)


@dataclass(frozen=True, eq=False)
class _ParentLimits:
    """Maximum number of parents of a variable, and of cells of its CPT.

    Arcs in `required`, of shape (n_variables, n_variables), are always kept, and a
    single parent is always allowed.
    """

    n_states: Sequence[int]
    required: BoolArray
    max_parents: int | None
    max_cells: float

    def fit(self, child: int, parents: Sequence[int]) -> bool:
        """Whether a variable may have these parents."""
        if self.max_parents is not None and len(parents) > self.max_parents:
            return False
        cells = prod(self.n_states[v] for v in (child, *parents))
        return len(parents) <= 1 or cells <= self.max_cells

    def keep(
        self,
        parents: Sequence[Sequence[int]],
        edges: Sequence[Edge],
        target: int,
    ) -> tuple[list[tuple[int, ...]], list[Edge]]:
        """Remove parents until every family is within the limits.

        Required parents are kept, then `target`, then the others in the order of
        `edges` (lower index first). Returns the parents of every variable and the
        removed edges.
        """
        place = {edge: number for number, edge in enumerate(edges)}
        kept: list[tuple[int, ...]] = []
        left_out: list[Edge] = []
        for child, of in enumerate(parents):
            rank = {v: place[min(v, child), max(v, child)] for v in of}
            wanted = {v: bool(self.required[v, child]) for v in of}
            own: list[int] = []
            for v in sorted(of, key=lambda v: (not wanted[v], v != target, rank[v])):
                if wanted[v] or self.fit(child, [*own, v]):
                    own.append(v)
                else:
                    left_out.append((min(v, child), max(v, child)))
            kept.append(tuple(sorted(own)))
        return kept, left_out
