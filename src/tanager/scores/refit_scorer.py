"""`RefitScorer`: run a parameter learner for every candidate structure."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from tanager.data import ArrayData
from tanager.data.coded_data import CodedData
from tanager.inference.engine import Engine
from tanager.model.layout import FamilyLayout, Parameters
from tanager.model.structure import Structure
from tanager.parameters import ParameterLearner
from tanager.scores.base import MoveScorer
from tanager.scores.function_scorer import ScoreFunction
from tanager.scores.moves import Best, Moves
from tanager.scores.scoring_data import LOWEST, ScoringData
from tanager.utils.threads import map_threads


class RefitScorer(MoveScorer):
    """Scores structures by the CPTs that a parameter learner fits to them.

    The learner starts from the present CPTs, unless it stops early, and, given `seed`,
    uses the same random numbers for every candidate. `rows` are the labelled samples of
    `data`, with folds.
    """

    def __init__(
        self,
        data: CodedData,
        rows: ScoringData,
        parents: Sequence[Sequence[int]],
        learner: ParameterLearner,
        function: ScoreFunction,
        seed: int,
    ) -> None:
        self.rows = rows
        self.learner = learner
        self.function = function
        self.seed = seed
        self.schema = data.schema
        self.parents = [tuple(of) for of in parents]
        labelled = ArrayData(
            data.schema,
            np.asfortranarray(rows.codes.T),
            rows.labels.astype(np.min_scalar_type(rows.n_classes)),
            rows.weights,
        )
        self._parts = [(labelled, labelled)]
        self._order = np.arange(len(rows.labels))
        if rows.n_folds > 1:
            folds = [np.flatnonzero(rows.slices == f) for f in range(rows.n_folds)]
            self._parts = list(labelled.split(folds))
            self._order = np.concatenate(folds)
        self._tables: list[Parameters] | None = None
        self._fit_present(None)

    def best(self, moves: Moves, *, above: float) -> Best:
        """Find the best move above a score; see `MoveScorer`."""
        return self._best([[moves[t]] for t in range(len(moves))], above)

    def best_together(self, moves: Moves, groups: Sequence[Sequence[int]]) -> Best:
        """Find the best group of moves; see `MoveScorer`."""
        return self._best([[moves[t] for t in group] for group in groups], -np.inf)

    def apply(self, child: int, parents: Sequence[int], score: float | None) -> None:
        """Give a feature new parents; see `MoveScorer`."""
        self.parents[child] = tuple(parents)
        self._fit_present(score)

    def _best(
        self, groups: Sequence[Sequence[tuple[int, tuple[int, ...]]]], above: float
    ) -> Best:
        def fit_and_score(group: Sequence[tuple[int, tuple[int, ...]]]) -> float:
            parents = list(self.parents)
            for child, of in group:
                parents[child] = of
            return self._value(self._fit(parents))

        if not groups:
            return Best(None, -np.inf, 0, 0)
        with _ignore_convergence():
            scores = np.array(map_threads(fit_and_score, groups, self.rows.n_jobs))
        index = int(scores.argmax())
        score = float(scores[index])
        visited = len(groups) * len(self._order)
        return Best(index if score > above else None, score, len(groups), visited)

    def _fit_present(self, score: float | None) -> None:
        with _ignore_convergence():
            self._tables = self._fit(self.parents)
        self.value = self._value(self._tables) if score is None else score

    def _fit(self, parents: Sequence[Sequence[int]]) -> list[Parameters]:
        """Fit the CPTs of a structure, one set for every fold."""
        structure = Structure.class_rooted([*parents, ()], len(parents))
        tables = []
        for number, (train, _) in enumerate(self._parts):
            start = None
            if self._tables is not None and not self.learner.stops_early:
                layout = FamilyLayout.of_structure(self.schema, structure)
                start = widen(self._tables[number], layout)
            tables.append(
                clone(self.learner).learn(
                    structure,
                    train,
                    start=start,
                    random_state=np.random.default_rng(self.seed),
                )
            )
        return tables

    def _value(self, tables: Sequence[Parameters]) -> float:
        log_joint = np.concatenate(
            [
                Engine(of).log_joint(test.codes)
                for of, (_, test) in zip(tables, self._parts, strict=True)
            ]
        )
        # Finite as with frequencies, also for samples that no class allows.
        log_joint = np.maximum(log_joint, LOWEST * len(self.schema))
        rows, order = self.rows, self._order
        value = self.function(log_joint, rows.labels[order], rows.score_weights[order])
        return float(self.function.round(value, rows))


@contextmanager
def _ignore_convergence() -> Iterator[None]:
    """Hide convergence warnings: these CPTs are only compared, and fitted again."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def widen(tables: Parameters, layout: FamilyLayout) -> Parameters:
    """Extend CPTs to a structure with other arcs.

    A new parent repeats the CPT for each of its states; a removed one is averaged out.
    """
    old = tables.layout
    if old == layout:
        return tables
    log_theta = np.empty(layout.n_cells)
    for index, axes in enumerate(layout.axes):
        owner = layout.owners[index]
        own = list(dict.fromkeys(v for t in old.tables_of(owner) for v in old.axes[t]))
        table = np.exp(tables.log_family(owner, own))
        for lost in [v for v in own if v not in axes]:
            table = table.mean(axis=own.index(lost))
            own.remove(lost)
        table = table.transpose([own.index(v) for v in axes if v in own])
        shape = [layout.n_states[v] if v in own else 1 for v in axes]
        with np.errstate(divide="ignore"):
            layout.table(log_theta, index)[...] = np.log(table.reshape(shape))
    return replace(tables, layout=layout, log_theta=log_theta)
