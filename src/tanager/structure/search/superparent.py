"""`SuperParent` (TAN-SuperParent, 2-tree-SuperParent): a parent for all, then one."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import comb
from time import perf_counter

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.errors import InputError
from tanager.model.schema import Schema
from tanager.scores import Score
from tanager.structure.constraints import Constraints
from tanager.structure.search.search_loop import Search, SearchLearner
from tanager.utils.validation import check_whole

MAX_GROUPS = 200_000
"""Groups of children of one superparent that may be compared."""


class SuperParent(SearchLearner):
    """The SuperParent search and its k-tree form.

    Parameters
    ----------
    k : int, default=1
        Feature parents a feature may have.
    score : str, Score or callable, default="cr"
        As in `GreedyKTree`.
    n_children : int or None, default=None
        Arcs that are kept at a time; None means k.
    constraints, max_seconds, verbose
        As in `GreedyKTree`.

    Notes
    -----
    In turn: every feature is made a parent of all features that have fewer than k
    feature parents, where that makes no cycle; the one with the best score is the
    superparent. Of its arcs, the `n_children` that score best together are kept, if
    they raise the score; otherwise the search ends ([1]_ section 4.4.2; [2]_ for k =
    1).

    By classification rate, how sure every row is under every superparent is kept
    between two bounds from one step to the next, where there is room (8 bytes for
    every row and feature, at most 256 MB), and only rows that may have turned are
    classified anew; the result is the same.

    References
    ----------
    .. [1] Pernkopf, Bilmes (2010), Efficient heuristics for discriminative structure
       learning of Bayesian network classifiers.
    .. [2] Keogh, Pazzani (1999), Learning augmented Bayesian classifiers.

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 5
    >>> model = BayesNetClassifier(structure=SuperParent(), parameters="ml")
    >>> model.fit(X, [0, 1, 1, 0] * 5).network_.edges
    (('class', 'x0'), ('class', 'x1'), ('x0', 'x1'))
    """

    def __init__(
        self,
        k: int = 1,
        *,
        score: str | Score | Callable[..., float] = "cr",
        n_children: int | None = None,
        constraints: Constraints | None = None,
        max_seconds: float | None = None,
        verbose: bool = False,
    ) -> None:
        self.k = k
        self.score = score
        self.n_children = n_children
        self.constraints = constraints
        self.max_seconds = max_seconds
        self.verbose = verbose

    def check(self, schema: Schema) -> None:
        """Refuse arguments that cannot be."""
        super().check(schema)
        check_whole("n_children", self.n_children, least=1, none=True)

    def _check_number(self, children: int, kept: int) -> None:
        number = comb(children, kept)
        if number > MAX_GROUPS:
            raise InputError(
                f"There are {number:,} ways to keep {kept} of {children} arcs, more "
                f"than the {MAX_GROUPS:,} that can be compared. Use n_children=1, or a "
                "smaller number than now."
            )

    def _search(
        self,
        search: Search,
        data: CodedData,  # noqa: ARG002 - the scorer has the rows
        random: np.random.Generator,  # noqa: ARG002
    ) -> None:
        while self._step(search):
            pass

    def _step(self, search: Search) -> bool:
        """Keep the best arcs of the best superparent; whether there are better ones."""
        scorer = search.scorer
        began = perf_counter()
        arcs = np.argwhere(search.new_arcs(self.k))
        if not len(arcs):
            return False
        moves = search.adding(arcs)
        borders = np.flatnonzero(np.diff(arcs[:, 0])) + 1
        of_parent = np.split(np.arange(len(arcs)), borders)
        first = scorer.best_superparent(
            moves,
            [list(some) for some in of_parent],
            [int(arcs[some[0], 0]) for some in of_parent],
        )
        assert first.index is not None
        mine = of_parent[first.index]
        kept = min(self.n_children or self.k, len(mine))
        if kept == 1:
            own = search.adding(arcs[mine])
            second = scorer.best(own, above=scorer.value)
            chosen = [] if second.index is None else [own[second.index]]
        else:
            self._check_number(len(mine), kept)
            groups = list(combinations(mine.tolist(), kept))
            second = scorer.best_together(moves, groups)
            assert second.index is not None
            better = second.score > scorer.value
            chosen = [moves[t] for t in groups[second.index]] if better else []
        search.make(
            chosen,
            second,
            began,
            superparent=search.schema[int(arcs[mine[0], 0])].name,
            superparent_score=first.score,
            superparent_candidates=first.candidates,
            superparent_rows_visited=first.rows_visited,
            superparent_rows_looked_up=first.rows_looked_up,
        )
        return bool(chosen)
