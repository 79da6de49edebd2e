"""`SuperParent` (TAN-SuperParent, 2-tree-SuperParent): the best parent of many."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from math import comb
from time import perf_counter

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.data.round_count import RoundCount
from tanager.errors import InputError
from tanager.model.schema import Schema
from tanager.scores import Score
from tanager.structure.constraints import Constraints
from tanager.structure.search.search_loop import Candidates, Search, SearchLearner
from tanager.types import BoolArray, IndexArray
from tanager.utils.validation import check_whole

MAX_GROUPS = 200_000
"""Most groups of children of one superparent that are compared."""


class SuperParent(SearchLearner):
    """The SuperParent search and its k-tree form.

    Parameters
    ----------
    k : int, default=1
        Feature parents a feature may have.
    score, treewidth
        As in `GreedyKTree`.
    n_children : int or None, default=None
        Number of arcs kept in a step; None means k.
    constraints, max_seconds, verbose
        As in `GreedyKTree`.

    Notes
    -----
    Each step makes every feature in turn a parent of all features that have fewer than
    k feature parents, where that creates no cycle; the feature with the best score is
    the superparent. Of its arcs, the `n_children` that score best together are kept if
    they increase the score; otherwise the search ends ([1]_ section 4.4.2; [2]_ for
    k = 1). With `treewidth`, children are those features that may all get the
    superparent at once, and the arcs kept leave the parents of every feature adjacent.

    With the classification rate, the margin of every sample under every superparent is
    bounded from one step to the next if 8 bytes per sample and feature fit into 256 MB,
    and only samples whose class may have changed are classified again; the result is
    the same.

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

    rounds = RoundCount(4, ((3, "step"), (1, "group of new families")))

    def __init__(
        self,
        k: int = 1,
        *,
        score: str | Score | Callable[..., float] = "cr",
        treewidth: bool = False,
        n_children: int | None = None,
        constraints: Constraints | None = None,
        max_seconds: float | None = None,
        verbose: bool = False,
    ) -> None:
        self.k = k
        self.score = score
        self.treewidth = treewidth
        self.n_children = n_children
        self.constraints = constraints
        self.max_seconds = max_seconds
        self.verbose = verbose

    def check(self, schema: Schema) -> None:
        """Refuse invalid arguments."""
        super().check(schema)
        check_whole("n_children", self.n_children, least=1, none=True)

    def _candidates(
        self,
        search: Search,
        data: CodedData,  # noqa: ARG002
        random: np.random.Generator,  # noqa: ARG002
    ) -> Iterator[Candidates]:
        while True:
            allowed = search.new_arcs(self.k)
            if self.treewidth:
                adjacent, present = search.adjacent(), search.arcs()
                for parent, near in enumerate(adjacent):
                    allowed[parent] = _joinable(allowed[parent], near, present)
            if not allowed.any():
                return
            yield self._children_of_best(search, np.argwhere(allowed))

    def _children_of_best(self, search: Search, arcs: IndexArray) -> Candidates:
        """Find the best superparent; its arcs are the candidates."""
        began = perf_counter()
        moves = search.additions(arcs)
        borders = np.flatnonzero(np.diff(arcs[:, 0])) + 1
        of_parent = np.split(np.arange(len(arcs)), borders)
        first = search.scorer.best_superparent(
            moves,
            [list(some) for some in of_parent],
            [int(arcs[some[0], 0]) for some in of_parent],
        )
        assert first.index is not None
        mine = of_parent[first.index]
        notes = {
            "superparent": search.schema[int(arcs[mine[0], 0])].name,
            "superparent_score": first.score,
            "superparent_candidates": first.candidates,
            "superparent_samples_visited": first.samples_visited,
            "superparent_samples_looked_up": first.samples_looked_up,
        }
        kept = min(self.n_children or self.k, len(mine))
        if kept == 1 and not self.treewidth:
            own = search.additions(arcs[mine])
            return Candidates(own, began=began, notes=notes)
        number = comb(len(mine), kept)
        if number > MAX_GROUPS:
            raise InputError(
                f"There are {number:,} ways to keep {kept} of {len(mine)} arcs, more "
                f"than the {MAX_GROUPS:,} that can be compared. Use n_children=1, or a "
                "smaller value than now."
            )
        groups = list(combinations(mine.tolist(), kept))
        if self.treewidth:
            near = set(np.flatnonzero(search.adjacent()[arcs[mine[0], 0]]).tolist())
            child = dict(zip(mine.tolist(), arcs[mine, 1].tolist(), strict=True))
            # Parents of a child that must become children of the superparent, too.
            needed = {t: set(search.parents[child[t]]) - near for t in child}
            groups = [
                group
                for group in groups
                if all(needed[t] <= {child[u] for u in group} for t in group)
            ]
        return Candidates(moves, groups, began=began, notes=notes)


def _joinable(children: BoolArray, near: BoolArray, arcs: BoolArray) -> BoolArray:
    """Return the most children that a superparent can have at once.

    `near` are the features adjacent to the superparent, and ``arcs[i, j]`` says that i
    is a parent of j. The parents of a child must be near, or children themselves.
    """
    while True:
        far = ~(near | children)
        kept: BoolArray = children & ~arcs[far].any(axis=0)
        if (kept == children).all():
            return kept
        children = kept
