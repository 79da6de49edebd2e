"""`ConstraintBased`: general networks by dependency analysis (GBN)."""

from __future__ import annotations

import sys
from itertools import combinations
from time import perf_counter

import numpy as np
from sklearn.exceptions import NotFittedError

from tanager.data.coded_data import CodedData
from tanager.errors import unknown_name
from tanager.model.schema import Schema
from tanager.model.structure import Structure
from tanager.structure.base import StructureLearner, StructureResult
from tanager.structure.constraint_based.dependency_analysis import (
    DependencyAnalysis,
    Pair,
    Phase,
)
from tanager.structure.constraint_based.edge_explanation import EdgeRecord, Explanation
from tanager.structure.constraint_based.independence_tests import (
    DataTest,
    IndependenceTest,
    KindOfTest,
    Outcome,
)
from tanager.structure.constraint_based.orientation import Orientation
from tanager.structure.constraint_based.parent_limits import ParentLimits
from tanager.structure.constraints import ArcMasks, Constraints, check_constraints
from tanager.structure.search.search_loop import (
    OutOfTimeError,
    warn_interrupted,
    warn_out_of_time,
)
from tanager.utils.validation import check_flag, check_number, check_whole

TESTS = ("mi", "g2")

FAMILY_CELLS = 100_000
"""Cells a family of several parents may have, unless they are required."""


class ConstraintBased(StructureLearner):
    """General network by three-phase dependency analysis (GBN).

    The class is a variable like any other: it may have parents, and features may be
    unconnected to it. Edges join variables that no set of others makes independent.

    Parameters
    ----------
    test : {"mi", "g2"}, default="mi"
        How independence is tested: conditional mutual information against `threshold`,
        or G2 against the chi-squared distribution.
    threshold : float, default=0.01
        With ``test="mi"``: nats of (conditional) mutual information, beyond what is
        expected by chance, below which two variables count as independent.
    significance : float, default=0.01
        With ``test="g2"``: p-value above which they do.
    max_condition : int or None, default=3
        Most variables a cut set may have; None sets no bound.
    max_parents : int or None, default=None
        Most parents a variable may have. In any case a table over several parents has
        no more cells than there are rows, and no more than 100,000; see the notes.
    constraints : Constraints or None, default=None
        Arcs that must, and must not, be in the network.
    max_seconds : float or None, default=None
        Time after which no more tests are made; the edges so far are kept.
    verbose : bool, default=False
        Whether every decision is told on standard error.

    Attributes
    ----------
    explanation_ : Explanation
        What `explain` returns.
    n_tests_ : int
        Number of different tests of independence that were made.

    Notes
    -----
    The phases of [1]_, with all pairs in falling order of their mutual information,
    equal ones by index:

    1. *Draft*: a pair that is dependent is joined if no path joins it yet.
    2. *Thicken*: of the dependent pairs left, those are joined which no cut set
       separates. The cut set is looked for among the neighbours of one of the two on
       paths to the other: all of them, from which members are dropped while that
       lowers the dependence; where this does not separate them, or all are too many
       to be tested, from none of them up, by the neighbour that lowers it most.
    3. *Thin*: each edge with another path beside it, weakest first, is tested in the
       same way among the edges there are now, and taken out if a cut set is found;
       then once more with all sets of up to `max_condition` such neighbours. (The
       paper's second look adds neighbours of neighbours to one greedy search; all
       subsets of the neighbours are sure to hold a cut set if there is one.)
    4. *Orient*: x - y - z becomes x -> y <- z if x and z are not joined and y is not
       in their cut set; then what follows without a new collider or a cycle; edges
       that stay free lead away from the class, and the rest follows again.

    5. *Bound*: if the class has more parents than the bounds allow, its edges lead
       away from it instead, and the others are directed again. Another variable with
       too many keeps the class and those it shares most information with. Required
       arcs are kept in any case; should their tables be too large, the parameter
       learner says so.

    [1]_ compares information itself with the threshold. Here degrees / (2 n), its mean
    among independent variables in n rows, is taken away first: variables with many
    states, and large cut sets, would not pass otherwise. Rows in which a tested
    variable is missing are left out of the test; a cut set that leaves fewer than 5
    rows per cell of its table is not tried; see `independence_tests`.

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
    rain -> class: draft (0.0675 >= 0.01 nats); a collider, in no cut set of its parents
    tap -> class: draft (0.0921 >= 0.01 nats); a collider, in no cut set of its parents
    class -> slips: draft (0.1815 >= 0.01 nats); the direction follows from others
    rain, tap: independent (0.0004 < 0.01 nats), draft
    rain, slips: independent given class (-0.0007 < 0.01 nats), thicken
    tap, slips: independent given class (-0.0004 < 0.01 nats), thicken
    """

    def __init__(
        self,
        *,
        test: KindOfTest = "mi",
        threshold: float = 0.01,
        significance: float = 0.01,
        max_condition: int | None = 3,
        max_parents: int | None = None,
        constraints: Constraints | None = None,
        max_seconds: float | None = None,
        verbose: bool = False,
    ) -> None:
        self.test = test
        self.threshold = threshold
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
        """Test, join and direct; see `StructureLearner.learn`.

        When the time is up, or on Ctrl-C, the edges so far are kept and directed, and
        a warning says so.
        """
        self.check(data.schema)
        tests = DataTest(
            data, self.test, threshold=self.threshold, significance=self.significance
        )
        result = self._learn(data.schema, tests, min(tests.n_rows, FAMILY_CELLS))
        self.n_tests_ = tests.n_tests
        return result

    def explain(self) -> Explanation:
        """Why every pair of variables is joined, or is not, after learning.

        Returns
        -------
        Explanation
            A sequence of `EdgeRecord`, edges first, that prints as one line each. Of
            an absent edge it names the cut set that removed it, of one that is
            present the phase it came in and how it got its direction.
        """
        if not hasattr(self, "explanation_"):
            raise NotFittedError(
                f"This {type(self).__name__} has not learned yet, so there is nothing "
                "to explain. After fit, ask the `structure_` of the classifier."
            )
        explanation: Explanation = self.explanation_
        return explanation

    def check(self, schema: Schema) -> None:
        """Refuse arguments and constraints that cannot be."""
        if self.test not in TESTS:
            raise unknown_name("test of independence", self.test, TESTS)
        check_number("threshold", self.threshold, above=0)
        check_number("significance", self.significance, above=0, below=1)
        check_whole("max_condition", self.max_condition, 0, none=True)
        check_whole("max_parents", self.max_parents, 1, none=True)
        check_number("max_seconds", self.max_seconds, above=0, none=True)
        check_flag("verbose", self.verbose)
        self._constraints(schema)

    def _learn(
        self, schema: Schema, tests: IndependenceTest, max_cells: float = np.inf
    ) -> StructureResult:
        """Learn from any tests of independence."""
        constraints = self._constraints(schema)
        either = constraints.allowed | constraints.allowed.T
        analysis = DependencyAnalysis(
            len(schema),
            _Timed(tests, self.max_seconds),
            possible=either,
            required=constraints.required | constraints.required.T,
            max_condition=self.max_condition,
            report=_Teller(schema) if self.verbose else _silent,
        )
        try:
            analysis.run()
        except OutOfTimeError:
            warn_out_of_time(self, len(analysis.decisions))
        except KeyboardInterrupt:
            warn_interrupted(self, len(analysis.decisions))
        separated = {
            pair: frozenset(decision.cut.members)
            for pair, decision in analysis.decisions.items()
            if decision.cut is not None
        }
        bounds = ParentLimits(
            schema.n_states.tolist(), constraints.required, self.max_parents, max_cells
        )
        target = len(schema) - 1
        distances = analysis.distances(target)
        oriented = Orientation(analysis.edges, separated, constraints)
        oriented.run(distances)
        in_cycles = set(oriented.dropped)
        if not bounds.fit(target, oriented.parents[target]):
            led_away = _led_away(constraints, target)
            oriented = Orientation(analysis.edges, separated, led_away)
            oriented.run(distances)
            turned = np.argwhere(constraints.allowed & ~led_away.allowed)
            for parent, child in turned.tolist():
                if oriented.reasons.get((child, parent)) == "allowed":
                    oriented.reasons[child, parent] = "bound"
        parents, left_out = bounds.keep(oriented.parents, analysis.edges, target)
        structure = Structure(tuple(parents), target)
        gone: dict[Pair, str] = {
            edge: "cycle" if edge in in_cycles else "bound" for edge in oriented.dropped
        }
        gone |= dict.fromkeys(left_out, "bound")
        self.explanation_ = self._explained(schema, analysis, oriented, gone)
        # The fields as they are: `asdict` copies each of them, slowly.
        trace = tuple(dict(vars(record)) for record in self.explanation_)
        return StructureResult(structure, trace)

    def _explained(
        self,
        schema: Schema,
        analysis: DependencyAnalysis,
        oriented: Orientation,
        gone: dict[Pair, str],
    ) -> Explanation:
        """Records of all pairs; those in `gone` were taken out after the tests."""
        limit = self.threshold if self.test == "mi" else self.significance
        direction = {
            (min(arc), max(arc)): (arc, reason)
            for arc, reason in oriented.reasons.items()
        }
        records = []
        for pair in combinations(range(len(schema)), 2):
            decision = analysis.decisions.get(pair)
            cut = decision.cut if decision is not None else None
            tested = cut.tested if cut is not None else analysis.marginal.get(pair)
            present = pair in direction and pair not in gone
            arc, reason = direction[pair] if present else (pair, None)
            phase = "untested" if decision is None else decision.phase
            records.append(
                EdgeRecord(
                    pair=(schema[arc[0]].name, schema[arc[1]].name),
                    present=present,
                    phase=gone.get(pair, phase),
                    cut_set=(
                        None
                        if cut is None
                        else tuple(schema[v].name for v in cut.members)
                    ),
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
            schema,
            max_parents=self.max_parents,
            class_rooted=False,
        )


def _led_away(constraints: ArcMasks, target: int) -> ArcMasks:
    """The same constraints, with edges away from the class wherever they may be."""
    allowed = constraints.allowed.copy()
    allowed[:, target] &= constraints.required[:, target] | ~allowed[target]
    return ArcMasks(allowed, constraints.required)


class _Timed:
    """Tests of independence that end a search when its time is up."""

    def __init__(self, tests: IndependenceTest, max_seconds: float | None) -> None:
        self.tests = tests
        self.ends = np.inf if max_seconds is None else perf_counter() + max_seconds

    def test(self, i: int, j: int, given: tuple[int, ...]) -> Outcome | None:
        """As the tests within."""
        if perf_counter() > self.ends:
            raise OutOfTimeError
        return self.tests.test(i, j, given)


class _Teller:
    """Tells every decision on standard error."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    def __call__(self, phase: Phase, pair: Pair, joined: bool) -> None:
        one, two = (self.schema[v].name for v in pair)
        what = "joined" if joined else "not joined"
        print(f"{phase}: {one}, {two} {what}", file=sys.stderr, flush=True)


def _silent(phase: Phase, pair: Pair, joined: bool) -> None:
    """Tell nothing."""
