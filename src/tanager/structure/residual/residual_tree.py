"""`ResidualTree` (TAN-RES): trees by a score test on residuals of the classifier."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tanager.data.coded_data import CodedData
from tanager.data.round_count import RoundCount
from tanager.loglinear.linear_maps import state_groups
from tanager.loglinear.model import NetworkModel
from tanager.loglinear.objective import TINY, PenalisedObjective
from tanager.loglinear.solver import reduce_gradient, select_penalty
from tanager.model.schema import Schema
from tanager.model.structure import Structure
from tanager.optim import Monitor
from tanager.scores.scoring_data import no_rows_error
from tanager.structure.base import StructureLearner, StructureResult
from tanager.structure.constraints import Constraints, check_constraints
from tanager.structure.residual.chordal_graph import ChordalGraph
from tanager.structure.residual.partitioned_residuals import PartitionedResiduals
from tanager.types import BoolArray, CodeArray, FloatArray, IntArray
from tanager.utils.progress import keep_best, report, watch
from tanager.utils.threads import map_threads, one_blas_thread
from tanager.utils.validation import check_flag, check_number, check_whole, is_word

BATCH_CELLS = 16_384
"""Cells of the sums of one feature with others: they stay in the second-level cache."""

DROPPED = 1e-3
"""Fraction of the residuals, the smallest ones, that is left out of the sums."""

FALL = 0.2
"""Fraction to which the gradient of a fit falls: residuals need not be exact."""

MAX_STEPS = 500
"""Maximum number of steps of a fit."""

FOLDS = 3
"""Folds of ``C="cv"``."""

FEWEST_CELLS = 100
"""Pairs of at most so many cells are joined however few samples there are."""

DIGITS = 6
"""Digits of the statistics, relative to the largest, that distinguish pairs."""


class ResidualTree(StructureLearner):
    """Tree or k-tree by a score test on the residuals of the current model (TAN-RES).

    Parameters
    ----------
    k : int, default=1
        Maximum number of feature parents; 1 makes a tree. The parents of a feature are
        joined to each other (true k-trees).
    stages : int, default=8
        Number of stages in which edges are added. After each of them the weights are
        fitted again, so that later edges take earlier ones into account. 1 takes all
        edges from the residuals of naive Bayes.
    C : float or "cv", default=0.1
        Weight of the data relative to an L2 penalty in these fits, as in
        `ConditionalLikelihood`. A strong penalty, whatever that of the parameters will
        be, leaves residuals that are not yet fitted away. "cv" chooses it once, for
        naive Bayes, by cross-validated conditional likelihood in 3 folds.
    ridge : float or None, default=None
        Added to the variances in the statistics: the larger, the less cells with few
        samples count. None is 1 / C, with which a statistic is twice what a Newton step
        on every weight by itself would gain in the penalised objective.
    smooth, pair_bins
        As in `ConditionalLikelihood`, for these fits; statistics are over groups of
        states, too.
    root : str or int, default=0
        The feature without a feature parent, by name or position; under constraints,
        where they leave the choice.
    constraints : Constraints or None, default=None
        Arcs that are required or forbidden, and tiers.
    max_seconds : float or None, default=None
        Time after which no further stage begins; the tree so far is then the result,
        with a warning. Ctrl-C has the same effect.
    verbose : bool, default=False
        Whether every stage is reported on standard error.

    Notes
    -----
    Like `ChowLiu`, but with the information that the classifier still lacks. The
    current model, at first naive Bayes, is fitted by penalised conditional likelihood.
    With residuals ``R[m, c] = 1[c = c_m] - P(c | x_m)`` and variances
    ``V = P (1 - P)`` the statistic of a pair of features is ::

        S_ij = sum_abc (sum of R)^2 / (sum of V + ridge)

    with sums over the samples in which x_i = a and x_j = b (times their weights), a
    score test of the pair's interaction. The pairs with the largest S that keep a
    forest (Kruskal) are joined, the model is fitted again from where it was, and so on.
    For k > 1 the graph is kept chordal with cliques of at most k + 1 features, and
    weights are those of pairs: `ConditionalLikelihood` with ``interactions=2`` goes on
    with the same model. The smallest residuals, together less than a thousandth of all,
    are left out.

    The statistic of a pair uses the samples in which both features are observed; P(c |
    x) of a sample with missing features leaves their factors out. Unlabelled samples do
    not count. The result has the fitted CPTs to start from; its trace has for every
    edge the stage, S, the number of pairs it was chosen from, the objective of the
    model that S comes from, and its part of the stage's time.

    Pairs with more cells than there are samples, such as two identifier columns, are
    not joined: almost nothing of their factors could be learned.

    The method is this library's own. Edges are added until none can be; that S falls
    below the value expected by chance is no reason to stop, since residuals of training
    samples are too small.

    Examples
    --------
    The class is the exclusive or of two features; the third is a copy of the first:

    >>> from tanager import BayesNetClassifier
    >>> X = [["a", "u", "a"], ["b", "v", "b"], ["a", "v", "a"], ["b", "u", "b"]] * 5
    >>> model = BayesNetClassifier(structure=ResidualTree(), parameters="rcl")
    >>> model = model.fit(X, [0, 0, 1, 1] * 5)
    >>> [edge for edge in model.network_.edges if edge[0] != "class"]
    [('x0', 'x1'), ('x1', 'x2')]
    """

    suits_many_bins: ClassVar[bool] = True
    takes_smoothing: ClassVar[bool] = True
    rounds = RoundCount(2, ((7, "stage"), (1, "evaluation")))

    def __init__(
        self,
        *,
        k: int = 1,
        stages: int = 8,
        C: float | str = 0.1,
        ridge: float | None = None,
        smooth: bool = False,
        pair_bins: int | None = None,
        root: str | int = 0,
        constraints: Constraints | None = None,
        max_seconds: float | None = None,
        verbose: bool = False,
    ) -> None:
        self.k = k
        self.stages = stages
        self.C = C
        self.ridge = ridge
        self.smooth = smooth
        self.pair_bins = pair_bins
        self.root = root
        self.constraints = constraints
        self.max_seconds = max_seconds
        self.verbose = verbose

    @property
    def order_matters(self) -> bool:
        """Whether samples are split into folds."""
        return is_word(self.C, "cv")

    def learn(
        self,
        data: CodedData,
        *,
        random_state: np.random.Generator | None = None,  # noqa: ARG002
    ) -> StructureResult:
        """Find the tree or k-tree; see `StructureLearner.learn`."""
        graph = self._make_graph(data.schema)
        with one_blas_thread():
            return self._grow(data, graph)

    def check(self, schema: Schema) -> None:
        """Raise for impossible arguments, an unknown root or impossible constraints."""
        self._make_graph(schema)

    def _grow(self, data: CodedData, graph: ChordalGraph) -> StructureResult:
        """Add edges in stages."""
        fits = _Fits(data, self.smooth, self.pair_bins)
        trace: list[dict[str, Any]] = []
        fit: _Fit | None = None

        def done() -> str:
            return f"{trace[-1]['stage'] if trace else 0} stages"

        with (
            watch(self, self.max_seconds, verbose=self.verbose, every=True),
            keep_best(self, done),
        ):
            # The fit is always that of the last complete stage.
            fit = fits.fit(graph, self.C)
            for better, steps in self._stages(fits, fit, graph):
                fit = better
                trace += steps
        if fit is None:
            fit = fits.start(graph, 1.0 if is_word(self.C, "cv") else float(self.C))
        structure = fit.model.structure
        named = []
        for step in trace:
            one, other = step.pop("edge")
            if one not in structure.parents[other]:
                one, other = other, one
            arc = {"parent": data.schema[one].name, "child": data.schema[other].name}
            named.append(arc | step)
        return StructureResult(structure, tuple(named), fit.model.to_cpts(fit.u))

    def _stages(
        self, fits: _Fits, fit: _Fit, graph: ChordalGraph
    ) -> Iterator[tuple[_Fit, list[dict[str, Any]]]]:
        """The fit after every stage, and the edges of the stage."""
        n_features = len(graph.candidates)
        k = min(self.k, n_features - 1)
        # Of the edges of a full k-tree.
        per_stage = ceil((k * n_features - k * (k + 1) // 2) / self.stages)
        for stage in range(1, self.stages + 1):
            begin = perf_counter()
            wanted = graph.candidates & fits.learnable
            n_pairs = int(np.count_nonzero(np.triu(wanted)))
            if not n_pairs:
                return
            ridge = 1.0 / fit.C if self.ridge is None else float(self.ridge)
            scores = fits.score_pairs(fit, wanted, ridge)
            # Rounding and the ends of searches decide no digit that is left: equal
            # statistics are equal, and go by lowest index; zeros are left out.
            largest = max(float(scores.max(initial=0.0)), TINY)
            rounded = np.round(scores / largest, DIGITS)
            edges = graph.add_best(np.where(rounded > 0.0, rounded, -np.inf), per_stage)
            if not edges:
                return
            objective, fit = fit.objective, fits.fit(graph, fit.C, fit)
            seconds = perf_counter() - begin
            yield (
                fit,
                [
                    {
                        "stage": stage,
                        "edge": edge,
                        "statistic": float(scores[edge]),
                        "pairs": n_pairs,
                        "objective": objective,
                        "seconds": seconds / len(edges),
                    }
                    for edge in edges
                ],
            )
            report(
                self, stage, self.stages, unit="stage", bound=True,
                note=f"{len(edges)} edges of {n_pairs:,} pairs",
                values={"objective": fit.objective},
            )  # fmt: skip

    def _make_graph(self, schema: Schema) -> ChordalGraph:
        """Check all arguments, and make the first graph."""
        check_whole("k", self.k, 1)
        check_whole("stages", self.stages, 1)
        if not is_word(self.C, "cv"):
            check_number("C", self.C, above=0, why="; 'cv' chooses it")
        if self.ridge is not None:
            check_number("ridge", self.ridge, above=0, why="; None is 1 / C")
        check_flag("smooth", self.smooth)
        check_whole("pair_bins", self.pair_bins, 1, none=True)
        check_number("max_seconds", self.max_seconds, above=0, none=True)
        check_flag("verbose", self.verbose)
        constraints = check_constraints(self.constraints).compile(
            schema, max_parents=self.k
        )
        root = schema.feature_index(self.root, "root")
        graph = ChordalGraph(self.k, constraints, root)
        graph.add_required(schema)
        return graph


@dataclass(frozen=True, eq=False)
class _Fit:
    """A model with factors of single features and pairs, fitted."""

    model: NetworkModel
    u: FloatArray
    C: float
    objective: float


class _Fits:
    """Fits of one dataset to growing graphs, and the statistics of pairs."""

    def __init__(self, data: CodedData, smooth: bool, pair_bins: int | None) -> None:
        self.data = data
        self.smooth = smooth
        self.pair_bins = pair_bins
        classes = data.count([(len(data.schema) - 1,)])
        if not classes.values.any():
            raise no_rows_error()
        # States of features, or groups of these.
        n_states = [variable.n_states for variable in data.schema][:-1]
        group_of: list[IntArray | None] = [None] * len(n_states)
        for j, r in enumerate(n_states):
            variable = data.schema[j]
            if pair_bins is None or not variable.ordered:
                continue
            if variable.n_values > pair_bins:
                apart = variable.missing_state
                n_states[j] = pair_bins + apart
                group_of[j] = state_groups(r, n_states[j], apart=apart)
        self._n_states = n_states
        # Pairs with no more cells than samples.
        sizes = np.array(n_states, dtype=np.float64)
        self.learnable = np.outer(sizes, sizes) <= max(data.n_samples, FEWEST_CELLS)
        self._residuals: PartitionedResiduals | None = None
        if data.in_parts:
            self._residuals = PartitionedResiduals(data, group_of, n_states)
            return
        self.blocks = tuple(data.blocks())
        rows = data.all_rows()
        self.labels, self.weights = rows.labels, rows.weights
        codes = np.array(rows.codes, order="C")
        for j, groups in enumerate(group_of):
            if groups is not None:
                codes[:, j] = groups[codes[:, j]]
        self._codes = codes

    def fit(
        self, graph: ChordalGraph, C: float | str, before: _Fit | None = None
    ) -> _Fit:
        """Fit the model of a graph, from the fit of a graph with fewer edges on."""
        model = self._model(graph)
        start: FloatArray | None = None
        if before is not None:
            start = model.coordinates.carry(before.model.coordinates, before.u)
        elif C == "cv":
            C, start = select_penalty(
                model,
                self.data,
                folds=FOLDS,
                max_iter=MAX_STEPS,
                monitor=Monitor("ResidualTree", unit="penalty"),
            )
        C = float(C)
        loss = model.loss_of(self.data, self.data.n_jobs)
        objective = PenalisedObjective(loss, model.read_coordinates, C)
        start = np.zeros(model.coordinates.n_in) if start is None else start
        u = reduce_gradient(objective, start, FALL, MAX_STEPS)
        value, _ = objective.value_and_gradient(u)
        return _Fit(model, u, C, objective.scale * value)

    def _model(self, graph: ChordalGraph) -> NetworkModel:
        schema = self.data.schema
        return NetworkModel(
            schema,
            Structure.class_rooted([*graph.parents(), ()], len(schema) - 1),
            2,
            smooth=self.smooth,
            pair_bins=self.pair_bins,
        )

    def start(self, graph: ChordalGraph, C: float) -> _Fit:
        """The model of a graph as it is before any step: all classes alike."""
        model = self._model(graph)
        return _Fit(model, np.zeros(model.coordinates.n_in), C, np.inf)

    def score_pairs(self, fit: _Fit, wanted: BoolArray, ridge: float) -> FloatArray:
        """Compute the statistics of the pairs that are wanted."""
        if self._residuals is not None:
            return self._residuals.pair_scores(fit.model, fit.u, wanted, ridge, DROPPED)
        n_jobs = self.data.n_jobs
        posterior = fit.model.posterior(fit.u, self.blocks, n_jobs)
        residuals = Residuals.of(posterior, self.labels, self.weights)
        return residuals.pair_scores(self._codes, self._n_states, wanted, ridge, n_jobs)


@dataclass(frozen=True, eq=False)
class Residuals:
    """Residuals ``1[c = c_m] - P(c | x_m)`` and variances ``P (1 - P)``, by class.

    Most samples are almost certain of most classes: small residuals are left out.
    `rows`, `residuals` and `variances`, both times the sample weight, have shape
    (n_entries,); the entries of class c are those from ``bounds[c]`` to
    ``bounds[c + 1]``, in order of the samples.
    """

    rows: IntArray
    bounds: IntArray
    residuals: FloatArray
    variances: FloatArray

    @classmethod
    def of(
        cls,
        posterior: FloatArray,
        labels: npt.NDArray[np.integer],
        weights: FloatArray | None = None,
        *,
        dropped: float = DROPPED,
    ) -> Residuals:
        """List the residuals, given P(c | x), shape (n_samples, n_classes).

        Unlabelled samples, whose label is the number of classes, have no residuals. The
        smallest residuals, in absolute value, are left out as long as they sum to no
        more than the fraction `dropped` of all. A variance is never larger than its
        residual, so no sum of either, over any samples, is off by more than that.
        """
        n_classes = posterior.shape[1]
        residuals = -posterior.T
        known = np.flatnonzero(labels < n_classes)
        residuals[labels[known], known] += 1.0
        residuals[:, labels >= n_classes] = 0.0
        variances = posterior.T * (1.0 - posterior.T)
        if weights is not None:
            residuals *= weights
            variances *= weights
        sizes = np.abs(residuals)
        ordered = np.sort(sizes, axis=None)
        sums = np.cumsum(ordered)
        small = int(np.searchsorted(sums, dropped * sums[-1], side="right"))
        # Equal ones are all kept: the order of the rows decides nothing.
        least = ordered[min(small, len(ordered) - 1)]
        classes, rows = np.nonzero((sizes >= least) & (sizes > 0.0))
        return cls(
            rows.astype(np.int64),
            np.searchsorted(classes, np.arange(n_classes + 1)).astype(np.int64),
            residuals[classes, rows],
            variances[classes, rows],
        )

    def pair_scores(
        self,
        codes: CodeArray,
        n_states: Sequence[int],
        wanted: BoolArray,
        ridge: float,
        n_jobs: int | None = None,
    ) -> FloatArray:
        """Compute the statistics of pairs of features, shape (n_features, n_features).

        ``S_ij = sum_abc (sum of R)^2 / (sum of V + ridge)`` over the samples with
        x_i = a and x_j = b; symmetric, -inf for pairs i < j that are not `wanted`.
        `codes` have shape (n_samples, n_features), in C order; the number of states
        means missing, and such a sample does not count for this feature's pairs.
        """
        from tanager.structure.residual import _kernels

        states = np.asarray(n_states, dtype=np.int64)
        offsets = np.cumsum(states + 1) - states - 1
        entries = (self.rows, self.bounds, self.residuals, self.variances)
        singles = np.zeros((len(self.bounds) - 1, 2 * int((states + 1).sum())))
        _kernels.single_sums(codes, *entries, offsets, singles)
        scores = np.full(wanted.shape, -np.inf)
        work = []
        for first in range(len(states)):
            others = np.flatnonzero(wanted[first, first + 1 :]) + first + 1
            # The sums of a batch of the feature's partners stay in the cache.
            cells = np.cumsum(states[others] + 1) * int(states[first] + 1)
            cuts = np.flatnonzero(np.diff(cells // BATCH_CELLS)) + 1
            work += [(first, part) for part in np.split(others, cuts) if len(part)]
        map_threads(
            lambda item: _kernels.score_statistics(
                codes, *entries, states, offsets, singles, *item, ridge, scores[item[0]]
            ),
            work,
            n_jobs,
        )
        both: FloatArray = np.maximum(scores, scores.T)
        return both
