"""`OrderBased` (OMI-CR, OMISP-CR, OCR-CR, RO-CR): parents among earlier features."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, combinations
from math import comb

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.data.information import conditional_information
from tanager.data.round_count import RoundCount
from tanager.errors import InputError
from tanager.model.schema import Schema
from tanager.scores import Moves, Score
from tanager.structure.base import StructureResult
from tanager.structure.constraints import Constraints
from tanager.structure.orders.feature_orders import (
    check_order,
    feature_order,
    known_precedence,
)
from tanager.structure.search.search_loop import Candidates, Search, SearchLearner
from tanager.types import BoolArray, FloatArray, IntArray
from tanager.utils.progress import watch
from tanager.utils.validation import check_number, check_whole

MAX_SETS = 20_000_000
"""Most sets of parents of one feature that are compared."""


class OrderBased(SearchLearner):
    """Order the features, then choose the best parents of each among earlier ones.

    Parameters
    ----------
    order : str or sequence of names, default="omi"
        "omi": by mutual information with the class given the earlier features;
        "omisp": given a single earlier feature; "ocr": by the classification rate of
        all features so far; "ro": random; "min-omi": as "omi", least informative first;
        or the names of all features.
    score : str, Score or callable, default="cr"
        As in `GreedyKTree`.
    k : int, default=1
        Feature parents of a feature: all sets of this many earlier features are scored.
    max_candidates : int or None, default=None
        If given, consider only this many earlier features as parents, those with the
        highest conditional mutual information with the feature.
    treewidth : bool, default=False
        Whether the parents of every feature must be adjacent to each other, so that
        the structure is a true k-tree and marginalisation stays cheap.
    smoothing : float, default=0.0
        Smoothing of the entropies of "omi", "omisp" and "min-omi", below 1; the epsilon
        of [1]_, section 5.1. See `Notes`.
    n_orders : int, default=1
        Number of orders to try, within `max_seconds` together; the one with the best
        score is kept. Useful for "ro"; `learn_all` returns the results of all.
    constraints, max_seconds, verbose
        As in `GreedyKTree`; the order respects the constraints, and `max_seconds` does
        not interrupt its computation.

    Notes
    -----
    Algorithm 1 and section 5 of [1]_. Features later in the order have only the class
    as parent while those of an earlier one are chosen; the best set is kept if it
    increases the score. For k = 1 the arc from the first to the second feature is
    given, and the first comparison is against nothing, as in Algorithm 1. Ties go to
    the set with the lowest features.

    With `smoothing` epsilon, the entropy of a joint variable is
    ``-sum p log p - n epsilon log(epsilon)``, the sum over the values that occur, n the
    number of possible ones that do not. As n is exponential in the number of features,
    the order soon depends on the numbers of states alone.

    References
    ----------
    .. [1] Pernkopf, Bilmes (2010), Efficient heuristics for discriminative structure
       learning of Bayesian network classifiers.

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 5
    >>> model = BayesNetClassifier(structure=OrderBased(), parameters="ml")
    >>> model.fit(X, [0, 1, 1, 0] * 5).network_.edges
    (('class', 'x0'), ('class', 'x1'), ('x0', 'x1'))
    """

    rounds = RoundCount(6, ((2, "step"), (1, "group of new families")))

    def __init__(
        self,
        order: str | Sequence[str] = "omi",
        *,
        score: str | Score | Callable[..., float] = "cr",
        k: int = 1,
        max_candidates: int | None = None,
        treewidth: bool = False,
        smoothing: float = 0.0,
        n_orders: int = 1,
        constraints: Constraints | None = None,
        max_seconds: float | None = None,
        verbose: bool = False,
    ) -> None:
        self.order = order
        self.score = score
        self.k = k
        self.max_candidates = max_candidates
        self.treewidth = treewidth
        self.smoothing = smoothing
        self.n_orders = n_orders
        self.constraints = constraints
        self.max_seconds = max_seconds
        self.verbose = verbose

    def check(self, schema: Schema) -> None:
        """Refuse invalid arguments."""
        super().check(schema)
        check_number("smoothing", self.smoothing, least=0, below=1)
        check_whole("n_orders", self.n_orders, least=1)
        check_whole("max_candidates", self.max_candidates, least=1, none=True)
        check_order(
            schema, self.order, before=known_precedence(schema, self.constraints)
        )
        if not self.treewidth and self._masks(schema).is_free:
            last = len(schema) - 2  # features before the last one
            considered = min(last, self.max_candidates or last)
            _check_number("the last one", considered, min(self.k, considered))

    def learn(
        self, data: CodedData, *, random_state: np.random.Generator | None = None
    ) -> StructureResult:
        """Return the best of `n_orders` results; see `SearchLearner.learn`."""
        searches = self._run_all(data, random_state)
        scores = [search.scorer.value for search in searches]
        return searches[int(np.argmax(scores))].result

    def learn_all(
        self, data: CodedData, *, random_state: np.random.Generator | None = None
    ) -> list[StructureResult]:
        """Return the results of all `n_orders` orders.

        They show how much scores and structures depend on the order. There are fewer
        after `max_seconds` or Ctrl-C.
        """
        return [search.result for search in self._run_all(data, random_state)]

    def _run_all(
        self, data: CodedData, random_state: np.random.Generator | None
    ) -> list[Search]:
        """Run one search after the other until one is stopped early."""
        self.check(data.schema)
        random = np.random.default_rng(random_state)
        searches: list[Search] = []
        with watch(self, self.max_seconds, verbose=self.verbose, every=True) as mine:
            while len(searches) < self.n_orders and all(
                search.is_complete for search in searches
            ):
                if self.n_orders > 1:
                    mine.announce(len(searches) + 1, self.n_orders, "order")
                searches.append(self._run(data, random))
        return searches

    def _max_steps(self, n_features: int) -> int:
        """One step for every feature but the first of the order."""
        return n_features - 1

    def _candidates(
        self, search: Search, data: CodedData, random: np.random.Generator
    ) -> Iterator[Candidates]:
        before = known_precedence(data.schema, self.constraints)
        order = feature_order(
            data,
            self.order,
            random_state=random,
            before=before,
            smoothing=float(self.smoothing),
        ).tolist()
        information = None
        if self.max_candidates is not None:
            information = np.round(conditional_information(data), 12)
        first = True
        for place in range(1, len(order)):
            child = order[place]
            earlier = self._earlier(search, np.sort(order[:place]), child, information)
            sets = self._parent_sets(search, child, earlier)
            if not len(sets):
                continue
            moves = Moves(np.full(len(sets), child), sets)
            # For k = 1 the arc between the first two features is given, and the next
            # comparison is against nothing.
            above = -np.inf if self.k == 1 and (place == 1 or first) else None
            first = first and self.k == 1 and place == 1
            yield Candidates(moves, above=above, ends_search=False)

    def _earlier(
        self,
        search: Search,
        earlier: IntArray,
        child: int,
        information: FloatArray | None,
    ) -> IntArray:
        """Select the features before `child` that may become its parents."""
        allowed = search.constraints.allowed[earlier, child]
        earlier = earlier[allowed & ~np.isin(earlier, search.parents[child])]
        if information is not None:
            best = np.argsort(-information[earlier, child], kind="stable")
            earlier = np.sort(earlier[best[: self.max_candidates]])
        return earlier

    def _parent_sets(self, search: Search, child: int, earlier: IntArray) -> IntArray:
        """Sets of parents of a feature, new ones first, padded by -1."""
        present = np.array(search.parents[child], dtype=np.int64)
        size = min(self.k - len(present), len(earlier))
        if size < 1:
            return np.empty((0, 0), dtype=np.int64)
        if not self.treewidth or size + len(present) == 1:
            _check_number(f"{search.schema[child].name!r}", len(earlier), size)
            return _join_present(_subsets(earlier, size), present, size)
        adjacent = search.adjacent()
        earlier = earlier[adjacent[earlier][:, present].all(axis=1)]
        padded = [
            _join_present(np.array(sets, dtype=np.int64), present, size)
            for sets in _cliques(adjacent, earlier.tolist(), size)
            if sets
        ]
        width = size + len(present)
        return np.vstack([*padded, np.empty((0, width), dtype=np.int64)])


def _check_number(which: str, earlier: int, size: int) -> None:
    """Raise `InputError` where a feature has too many sets of parents."""
    number = comb(earlier, size)
    if number > MAX_SETS:
        raise InputError(
            f"Of the features, {which} has {number:,} sets of {size} features before "
            f"it, more than the {MAX_SETS:,} that can be compared. Use a smaller k, "
            "max_candidates to consider fewer features, or treewidth=True."
        )


def _cliques(
    adjacent: BoolArray, features: list[int], most: int
) -> list[list[tuple[int, ...]]]:
    """Features joined among each other, by size up to `most`.

    Below `most` only those that no further feature can be added to. A k-tree has few of
    them.
    """
    chosen = np.zeros(len(adjacent), dtype=np.bool_)
    chosen[features] = True
    later = {
        feature: set((np.flatnonzero(row[feature:]) + feature).tolist())
        for feature, row in zip(features, adjacent[features] & chosen, strict=True)
    }
    # Every clique with the features that may be added to it.
    grown: list[tuple[tuple[int, ...], set[int]]]
    grown = [((feature,), later[feature]) for feature in features]
    levels = [[clique for clique, _ in grown]]
    for _ in range(most - 1):
        grown = [
            ((*clique, feature), common & later[feature])
            for clique, common in grown
            for feature in sorted(common)
        ]
        levels.append([clique for clique, _ in grown])
    for place, large in enumerate(levels[1:]):
        parts = {part for clique in large for part in combinations(clique, place + 1)}
        levels[place] = [clique for clique in levels[place] if clique not in parts]
    return levels


def _subsets(features: IntArray, size: int) -> IntArray:
    """All subsets of a size, in lexicographic order, shape (n_sets, size)."""
    flat = np.fromiter(
        chain.from_iterable(combinations(features.tolist(), size)), dtype=np.int64
    )
    return flat.reshape(-1, size)


def _join_present(sets: IntArray, present: IntArray, size: int) -> IntArray:
    """Sets together with the present parents, padded by -1."""
    kept = np.broadcast_to(present, (len(sets), len(present)))
    padding = np.full((len(sets), size - sets.shape[1]), -1, dtype=np.int64)
    return np.hstack([sets, kept, padding])
