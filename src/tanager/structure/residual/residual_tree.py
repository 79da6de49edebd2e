"""`ResidualTree` (TAN-RES): the tree of what the classifier has not explained."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from tanager.data.coded_data import CodedData, RowBlock
from tanager.loglinear.coordinates import Coordinates, group_codes
from tanager.loglinear.design import Reading
from tanager.loglinear.family_conversion import FULL_CELLS
from tanager.loglinear.normalisation import Normaliser
from tanager.loglinear.solver import PenalisedLikelihood, PenaltyPath
from tanager.loglinear.weight_tables import WeightTables
from tanager.model.layout import MAX_CELLS, FamilyLayout, Parameters
from tanager.model.schema import Schema
from tanager.model.structure import Structure
from tanager.optim import Monitor, stratified_folds
from tanager.scores.scoring_data import no_rows_error
from tanager.structure.base import StructureLearner, StructureResult
from tanager.structure.constraints import Constraints, check_constraints
from tanager.structure.residual.chordal_graph import ChordalGraph
from tanager.structure.residual.pair_statistics import Residuals, posteriors
from tanager.structure.search.search_loop import warn_interrupted, warn_out_of_time
from tanager.structure.trees.tree_learner import root_position
from tanager.types import BoolArray, CodeArray, FloatArray
from tanager.utils.threads import one_blas_thread
from tanager.utils.validation import check_flag, check_number, check_whole

FALL = 0.2
"""The gradient of a fit falls to this share: its residuals need not be exact."""

MAX_STEPS = 500
"""Steps of a fit at most."""

FOLDS = 3
"""Folds of ``C="cv"``."""

FEWEST_CELLS = 100
"""Pairs of at most so many cells are joined however few rows there are."""

DIGITS = 6
"""Digits of the statistics, relative to the largest, that tell pairs apart."""


class ResidualTree(StructureLearner):
    """Tree or k-tree of what the classifier has not explained yet (TAN-RES).

    Parameters
    ----------
    k : int, default=1
        Feature parents at most; 1 makes a tree. The parents of a feature are joined to
        each other (true k-trees).
    stages : int, default=8
        Portions in which edges are added. After each of them the weights are fitted
        again, so that later edges see what earlier ones leave. 1 takes all edges from
        the residuals of naive Bayes.
    C : float or "cv", default=0.1
        Weight of the data against an L2 penalty in these fits, as in
        `ConditionalLikelihood`. A strong
        penalty, whatever that of the tables will be, leaves residuals that are not yet
        fitted away. "cv" chooses it once, for naive Bayes, by cross-validated
        conditional likelihood in 3 folds.
    ridge : float or None, default=None
        Added to the variances in the statistics: the larger, the less cells with few
        rows count. None is 1 / C, with which a statistic is twice what a Newton step on
        every weight by itself would gain in the penalised objective.
    smooth, pair_bins
        As in `ConditionalLikelihood`, for these fits; statistics are over groups of
        states, too.
    root : str or int, default=0
        The feature without a feature parent, by name or position; under constraints,
        where they leave the choice.
    constraints : Constraints or None, default=None
        Arcs that must, and must not, be in the structure.
    max_seconds : float or None, default=None
        Time after which no further stage begins; the tree so far is then the result,
        and a warning says so. So it is on Ctrl-C.
    verbose : bool, default=False
        Whether every stage is told on standard error.

    Notes
    -----
    Like `ChowLiu`, but with the information that the classifier still lacks. The
    current model, at first naive Bayes, is fitted by penalised conditional likelihood.
    With residuals ``R[m, c] = 1[c = c_m] - P(c | x_m)`` and variances
    ``V = P (1 - P)`` the statistic of a pair of features is ::

        S_ij = sum_abc (sum of R)^2 / (sum of V + ridge)

    with sums over the rows in which x_i = a and x_j = b (times their weights), a score
    test of the pair's interaction. The pairs with the largest S that keep a forest
    (Kruskal) are joined, the model is fitted again from where it was, and so on. For
    k > 1 the graph is kept chordal with cliques of at most k + 1 features, and weights
    are those of pairs: `ConditionalLikelihood` with ``interactions=2`` goes on with
    the same model.
    Residuals that are together less than a thousandth of all are left out.

    A pair is summed over the rows in which both features are observed; in P(c | x) of a
    row with missing features their tables are left out. Rows without a label do not
    count. The result has the fitted tables to start from; its trace tells of every edge
    the stage, S, the number of pairs it was chosen from, the objective of the model
    that S comes from, and its share of the stage's time.

    Pairs with more cells than there are rows, such as two columns that name rows, are
    not joined: almost nothing of their tables could be learned.

    The method is this library's own. Edges are added until none can be; that S falls
    below the value expected by chance is no reason to stop, since residuals of fitted
    rows are too small.

    Examples
    --------
    The class is the exclusive or of two features; the third is a copy of the first:

    >>> from tanager import BayesNetClassifier
    >>> X = [["a", "u", "a"], ["b", "v", "b"], ["a", "v", "a"], ["b", "u", "b"]] * 5
    >>> model = BayesNetClassifier(structure=ResidualTree(), parameters="cl")
    >>> model = model.fit(X, [0, 0, 1, 1] * 5)
    >>> [edge for edge in model.network_.edges if edge[0] != "class"]
    [('x0', 'x1'), ('x1', 'x2')]
    """

    suits_many_bins: ClassVar[bool] = True
    takes_smoothing: ClassVar[bool] = True

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
        """Whether rows are dealt into folds."""
        return self.C == "cv"

    def learn(
        self,
        data: CodedData,
        *,
        random_state: np.random.Generator | None = None,  # noqa: ARG002
    ) -> StructureResult:
        """Find the tree or k-tree; see `StructureLearner.learn`."""
        graph = self._graph(data.schema)
        with one_blas_thread():
            return self._grown(data, graph)

    def check(self, schema: Schema) -> None:
        """Refuse arguments, a root or constraints that cannot be."""
        self._graph(schema)

    def _grown(self, data: CodedData, graph: ChordalGraph) -> StructureResult:
        """Add edges in stages."""
        ends = np.inf if self.max_seconds is None else perf_counter() + self.max_seconds
        fits = _Fits(data, self.smooth, self.pair_bins)
        model = fits.first(graph, self.C)
        portion = ceil(graph.most_edges / self.stages)
        found: list[dict[str, Any]] = []
        try:
            for stage in range(1, self.stages + 1):
                begin = perf_counter()
                wanted = graph.candidates & fits.learnable
                n_pairs = int(np.count_nonzero(np.triu(wanted)))
                if not n_pairs:
                    break
                if begin > ends:
                    warn_out_of_time(self, stage - 1)
                    break
                scores = self._scores(fits, model, wanted)
                edges = graph.add_best(_told_apart(scores), portion)
                if not edges:
                    break
                objective = model.objective
                model = fits.next(graph, model)
                seconds = (perf_counter() - begin) / len(edges)
                found += [
                    {
                        "stage": stage,
                        "edge": edge,
                        "statistic": float(scores[edge]),
                        "pairs": n_pairs,
                        "objective": objective,
                        "seconds": seconds,
                    }
                    for edge in edges
                ]
                if self.verbose:
                    print(
                        f"stage {stage}: {len(edges)} edges of {n_pairs:,} pairs; "
                        f"objective {model.objective:.6g}, "
                        f"{perf_counter() - begin:.2f} s",
                        file=sys.stderr,
                        flush=True,
                    )
        except KeyboardInterrupt:
            # The model is that of the last stage that was done.
            warn_interrupted(self, found[-1]["stage"] if found else 0)
        return StructureResult(
            model.structure, tuple(_told(found, model, data.schema)), model.tables()
        )

    def _scores(self, fits: _Fits, model: _Model, wanted: BoolArray) -> FloatArray:
        """The statistics of the pairs that are wanted."""
        residuals = Residuals.of(fits.posteriors(model), fits.labels, fits.weights)
        ridge = 1.0 / model.C if self.ridge is None else self.ridge
        return residuals.pair_scores(*fits.coarse_codes, wanted, ridge, fits.n_jobs)

    def _graph(self, schema: Schema) -> ChordalGraph:
        """The graph to begin with, after all arguments are checked."""
        check_whole("k", self.k, 1)
        check_whole("stages", self.stages, 1)
        if self.C != "cv":
            check_number("C", self.C, above=0, why="; 'cv' chooses it")
        if self.ridge is not None:
            check_number("ridge", self.ridge, above=0, why="; None is 1 / C")
        check_flag("smooth", self.smooth)
        check_whole("pair_bins", self.pair_bins, 1, none=True)
        check_number("max_seconds", self.max_seconds, above=0, none=True)
        check_flag("verbose", self.verbose)
        constraints = check_constraints(self.constraints).compile(
            schema,
            max_parents=self.k,
        )
        root = root_position(self.root, schema)
        graph = ChordalGraph.empty(self.k, constraints, root)
        graph.add_required(schema)
        return graph


@dataclass(frozen=True, eq=False)
class _Model:
    """A fitted model: weights of single features and of the pairs of a graph."""

    structure: Structure
    tables_of: WeightTables
    coordinates: Coordinates
    vector: FloatArray
    C: float
    objective: float

    @property
    def weights(self) -> FloatArray:
        return self.coordinates.weights(self.vector)

    def tables(self) -> Parameters | None:
        """Proper tables with the same P(c | x), unless they are too large."""
        families = self.tables_of.families
        if self.tables_of.stay_sums(FULL_CELLS) or families.n_cells > MAX_CELLS:
            return None
        weights = self.tables_of.added_up(self.weights)
        return Parameters(
            families, Normaliser(self.structure, families).normalise(weights)[0]
        )


class _Fits:
    """Fits of one data set's rows to growing graphs."""

    def __init__(self, data: CodedData, smooth: bool, bins: int | None) -> None:
        self.data = data
        self.schema = data.schema
        self.smooth = smooth
        self.bins = bins
        self.n_jobs = data.n_jobs
        self.blocks: tuple[RowBlock, ...] = tuple(data.blocks())
        self.labels = np.concatenate([block.labels for block in self.blocks])
        parts = [block.weights for block in self.blocks if block.weights is not None]
        self.weights = np.concatenate(parts) if parts else None
        known = self.labels < self.schema.n_classes
        if self.weights is not None:
            known &= self.weights > 0
        if not known.any():
            raise no_rows_error()

    def first(self, graph: ChordalGraph, C: float | str) -> _Model:
        """Fit the graph to begin with; choose C if that is asked for."""
        structure, tables, coordinates = self._described(graph)
        start, value = np.zeros(coordinates.n_coordinates), C
        if isinstance(value, str):
            value, start = self._chosen(coordinates)
        return self._fitted(structure, tables, coordinates, start, float(value))

    def _chosen(self, coordinates: Coordinates) -> tuple[float, FloatArray]:
        """The penalty that predicts held-out rows best, and where to start with it."""
        n_classes = self.schema.n_classes
        folds = stratified_folds(self.labels, n_classes, FOLDS)
        if not folds:  # nothing can be held out
            return 1.0, np.zeros(coordinates.n_coordinates)
        reading = Reading(coordinates)
        parts = [
            (reading.rows(rest.blocks()), reading.rows(held.blocks()))
            for rest, held in self.data.split(folds)
        ]
        path = PenaltyPath(
            parts, reading.coordinates, MAX_STEPS, self.n_jobs, Monitor()
        )
        return path.search()

    def next(self, graph: ChordalGraph, model: _Model) -> _Model:
        """Fit a graph with more edges, from where the model before ended."""
        structure, tables, coordinates = self._described(graph)
        start = coordinates.carried(model.coordinates, model.vector)
        return self._fitted(structure, tables, coordinates, start, model.C)

    def _described(
        self, graph: ChordalGraph
    ) -> tuple[Structure, WeightTables, Coordinates]:
        """A graph as a structure, with its tables of weights for pairs."""
        structure = Structure.class_rooted([*graph.parents(), ()], len(self.schema) - 1)
        families = FamilyLayout.of_families(
            self.schema.n_states.tolist(), structure.families, structure.target
        )
        tables = WeightTables.of(families, 2)
        tables.tables.check_size(self.schema)
        coordinates = Coordinates.of(
            tables.tables, self.schema, smooth=self.smooth, bins=self.bins
        )
        return structure, tables, coordinates

    def _fitted(
        self,
        structure: Structure,
        tables: WeightTables,
        coordinates: Coordinates,
        start: FloatArray,
        C: float,
    ) -> _Model:
        reading = Reading(coordinates)
        rows = reading.rows(self.blocks, self.n_jobs)
        problem = PenalisedLikelihood(rows, reading.coordinates, C)
        _, gradient = problem.value_and_gradient(start)
        low = FALL * float(np.abs(gradient).max())
        vector, _ = problem.minimised(
            start, MAX_STEPS, lambda _, gradient: float(np.abs(gradient).max()) <= low
        )
        value, _ = problem.value_and_gradient(vector)
        objective = problem.scale * value
        return _Model(structure, tables, coordinates, vector, C, objective)

    def posteriors(self, model: _Model) -> FloatArray:
        """P(c | x) of every row, shape (n_rows, n_classes)."""
        return posteriors(
            model.tables_of.tables, model.weights, self.blocks, self.n_jobs
        )

    @cached_property
    def learnable(self) -> BoolArray:
        """Pairs of which rows can tell something: no more cells than rows."""
        n_groups = np.array(self.coarse_codes[1], dtype=np.float64)
        return np.outer(n_groups, n_groups) <= max(len(self.labels), FEWEST_CELLS)

    @cached_property
    def coarse_codes(self) -> tuple[CodeArray, list[int]]:
        """Codes of states or of the groups they are in, in rows; and their numbers."""
        codes = np.ascontiguousarray(
            np.concatenate([block.codes for block in self.blocks])
        )
        n_states = [variable.n_states for variable in self.schema][:-1]
        for j, r in enumerate(n_states):
            if self.bins is not None and self.schema[j].ordered and r > self.bins:
                codes[:, j] = group_codes(r, self.bins, codes.dtype)[codes[:, j]]
                n_states[j] = self.bins
        return codes, n_states


def _told_apart(scores: FloatArray) -> FloatArray:
    """Statistics without the digits that rounding and the ends of searches decide.

    Equal ones are then equal, and go by lowest index; pairs without any are left out.
    """
    largest = float(scores.max(initial=0.0))
    if not largest > 0.0:
        return np.full_like(scores, -np.inf)
    rounded = np.round(scores / largest, DIGITS)
    return np.where(rounded > 0.0, rounded, -np.inf)


def _told(
    found: Sequence[Mapping[str, Any]], model: _Model, schema: Schema
) -> list[dict[str, Any]]:
    """The trace, with edges as arcs by name."""
    told = []
    for step in found:
        one, other = step["edge"]
        if one not in model.structure.parents[other]:
            one, other = other, one
        arc = {"parent": schema[one].name, "child": schema[other].name}
        told.append(arc | {key: step[key] for key in step if key != "edge"})
    return told
