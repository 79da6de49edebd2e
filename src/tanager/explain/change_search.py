"""`ChangeSearch`: the cheapest change of a few features that changes the class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np

from tanager.explain.odds_conversion import log_weights_of
from tanager.explain.terms import Term
from tanager.types import CodeArray, FloatArray, IndexArray, IntArray

MARGIN = 1e-9
"""Log odds by which the new class must exceed every other one."""

GRID_CELLS = 1_000_000
"""Cells of a grid of changes, over states and classes, that is evaluated at once."""

PRECISION = 1e-9
"""A change is cheaper than another one if it costs this much less."""

N_MULTIPLIERS = 24
"""Lagrange multipliers tried for the lower bounds on costs."""


@dataclass(frozen=True, order=True)
class FoundChange:
    """A change that works: ordered by its cost, then by the log odds it reaches.

    `features` and `codes` say what becomes of a sample.
    """

    cost: float
    negative_margin: float
    features: tuple[int, ...] = field(compare=False)
    codes: tuple[int, ...] = field(compare=False)


@dataclass(frozen=True, eq=False)
class ChangeSearch:
    """Branch and bound over sets of up to three features of an additive model.

    Parameters
    ----------
    terms : sequence of Term
        Tables whose sum gives the log weights of a sample, up to a constant.
    log_weights : ndarray of float64, shape (n_classes,)
        Log weights of the sample.
    row : ndarray of unsigned int, shape (n_features,)
        The sample.
    states : dict from int to ndarray of int64
        For every feature that may change the codes that it may change to.
    costs : dict from int to ndarray of float64
        What each of these changes costs.

    Notes
    -----
    Let m be the log odds of the new class against the present one. A change of the
    features S adds to m the sum of ``g_j(b_j)`` over S, what single changes add, and
    an interaction of every pair and triple of S that shares a term. The maxima of all
    of these give an upper bound on m, and sets of features for which it is negative
    are left out. For the others, any multiplier lambda >= 0 gives a lower bound on the
    cost (weak duality):

        sum_j min_b (c_j(b) - lambda g_j(b)) + lambda need,

    where `need` is what the single changes must add at least. Sets are visited by
    increasing bounds until these reach the cost of the best change so far; a visited
    set is solved by enumeration of the states that the bounds leave.
    """

    terms: Sequence[Term]
    log_weights: FloatArray
    row: CodeArray
    states: dict[int, IntArray]
    costs: dict[int, FloatArray]

    @cached_property
    def features(self) -> list[int]:
        """The features that may change."""
        return sorted(j for j, codes in self.states.items() if len(codes))

    @cached_property
    def _by_feature(self) -> dict[int, list[Term]]:
        found: dict[int, list[Term]] = {j: [] for j in self.features}
        for term in self.terms:
            for j in term.features.tolist():
                if j in found:
                    found[j].append(term)
        return found

    @cached_property
    def _gains(self) -> dict[int, FloatArray]:
        """What single changes add to the log weights, (n_states, n_classes) each."""
        return {j: self._interaction((j,)) for j in self.features}

    @cached_property
    def _groups(self) -> dict[int, list[tuple[int, ...]]]:
        """Pairs and triples of features that share a term, by their number."""
        found: dict[int, set[tuple[int, ...]]] = {2: set(), 3: set()}
        for term in self.terms:
            free = sorted(set(term.features.tolist()).intersection(self.features))
            for size, groups in found.items():
                groups.update(combinations(free, size))
        return {size: sorted(groups) for size, groups in found.items()}

    @cached_property
    def _highest(self) -> dict[tuple[int, ...], FloatArray]:
        """The most that interactions add to the log odds of every class."""
        current = int(self.log_weights.argmax())
        found = {}
        for group in (*self._groups[2], *self._groups[3]):
            values = self._interaction(group)
            odds = values - values[..., current, None]
            found[group] = odds.max(axis=tuple(range(len(group))))
        return found

    def _interaction(self, group: tuple[int, ...]) -> FloatArray:
        """What a change of all of a group adds beyond changes of some of it.

        The shape is (states of each feature..., n_classes); the sum over all subsets of
        a set of features is the effect of changing the set.
        """
        shape = [len(self.states[j]) for j in group]
        n_classes = len(self.log_weights)
        total = np.zeros((*shape, n_classes))
        for term in self._by_feature[group[0]]:
            if not set(group) <= set(term.features.tolist()):
                continue
            for size in range(len(group) + 1):
                for part in combinations(group, size):
                    sign = (-1.0) ** (len(group) - size)
                    cells = self._cells(term, group, part)
                    total += sign * log_weights_of(term.weights[cells], n_classes)
        return total

    def _cells(
        self, term: Term, group: tuple[int, ...], changed: tuple[int, ...]
    ) -> IntArray:
        """Cells of a term when some features of a group take all of their states."""
        cells = np.zeros([1] * len(group), dtype=np.int64)
        for axis, j in enumerate(term.features.tolist()):
            lookup = term.lookup[axis]
            if j in changed:
                shape = [1] * len(group)
                shape[group.index(j)] = -1
                cells = cells + lookup[self.states[j]].reshape(shape)
            else:
                cells = cells + lookup[self.row[j]]
        return cells

    def best(
        self, size: int, target: int, incumbent: FoundChange | None = None
    ) -> FoundChange | None:
        """The cheapest change of `size` features after which `target` is predicted.

        Changes that cost no less than `incumbent` are not looked for; it is returned if
        there is none.
        """
        if len(self.features) < size:
            return incumbent
        bounds = ChangeBounds.of(self, target)
        for cost_bounds, sets in bounds.blocks(size):
            order = np.argsort(cost_bounds, kind="stable")
            for place in order.tolist():
                if incumbent and cost_bounds[place] >= incumbent.cost - PRECISION:
                    break
                group = tuple(self.features[k] for k in sets[place].tolist())
                found = self._solve(group, target, bounds, incumbent)
                if found is not None:
                    incumbent = found
        return incumbent

    def _solve(
        self,
        group: tuple[int, ...],
        target: int,
        bounds: ChangeBounds,
        incumbent: FoundChange | None,
    ) -> FoundChange | None:
        """The cheapest change of one set of features, if cheaper than `incumbent`."""
        limit = np.inf if incumbent is None else incumbent.cost - PRECISION
        gains = [bounds.gains[j] for j in group]
        most = [float(gain.max()) for gain in gains]
        least = [float(self.costs[j].min()) for j in group]
        slack = bounds.start + bounds.extra(group)
        kept: list[IntArray] = []
        for place, j in enumerate(group):
            reach = gains[place] + (sum(most) - most[place]) + slack
            cost = self.costs[j] + (sum(least) - least[place])
            kept.append(np.flatnonzero((reach > 0) & (cost < limit)))
        if not all(map(len, kept)):
            return None
        groups = [part for size in (2, 3) for part in combinations(group, size)]
        shared = set(self._groups[2]) | set(self._groups[3])
        tables = {part: self._interaction(part) for part in groups if part in shared}
        tables |= {(j,): self._gains[j] for j in group}
        n_classes = len(self.log_weights)
        rest = n_classes * int(np.prod([len(codes) for codes in kept[1:]]))
        step = max(1, GRID_CELLS // rest)
        best: FoundChange | None = None
        for start in range(0, len(kept[0]), step):
            axes = [kept[0][start : start + step], *kept[1:]]
            found = self._solve_grid(group, axes, tables, target, limit)
            if found is not None and (best is None or found < best):
                best, limit = found, found.cost
        return best

    def _solve_grid(
        self,
        group: tuple[int, ...],
        axes: Sequence[IntArray],
        tables: dict[tuple[int, ...], FloatArray],
        target: int,
        limit: float,
    ) -> FoundChange | None:
        """The best cell of a grid of changes that costs less than `limit`."""
        total: FloatArray = self.log_weights.reshape([1] * len(group) + [-1])
        cost: FloatArray = np.zeros([1] * len(group))
        for part, values in tables.items():
            places = [group.index(j) for j in part]
            picked = values[np.ix_(*(axes[k] for k in places))]
            shape = [len(axes[k]) if k in places else 1 for k in range(len(group))]
            total = total + picked.reshape(*shape, -1)
        for place, j in enumerate(group):
            shape = [1] * len(group)
            shape[place] = -1
            cost = cost + self.costs[j][axes[place]].reshape(shape)
        others = np.delete(total, target, axis=-1).max(axis=-1)
        margin = total[..., target] - others
        works = (margin > MARGIN) & (cost < limit)
        if not works.any():
            return None
        cheapest = np.where(works, cost, np.inf).min()
        ranked = np.where(works & (cost <= cheapest + 1e-12), margin, -np.inf)
        cell = np.unravel_index(int(ranked.argmax()), ranked.shape)
        codes = [
            int(self.states[j][axes[place][cell[place]]])
            for place, j in enumerate(group)
        ]
        return FoundChange(float(cost[cell]), -float(margin[cell]), group, tuple(codes))


@dataclass(frozen=True, eq=False)
class ChangeBounds:
    """Upper bounds on log odds and lower bounds on costs of sets of features.

    `start` are the log odds of the new class against the present one, `gains` what
    single changes add, and `most` their maxima; `pairs`, shape (n, n), and `triples`
    the maxima of interactions. Features are counted among those that may change.
    """

    start: float
    features: list[int]
    gains: dict[int, FloatArray]
    most: FloatArray
    pairs: FloatArray
    triples: dict[tuple[int, ...], float]
    multipliers: FloatArray
    dual: FloatArray

    @classmethod
    def of(cls, search: ChangeSearch, target: int) -> ChangeBounds:
        """Compute the bounds for one new class."""
        features = search.features
        place = {j: k for k, j in enumerate(features)}
        current = int(search.log_weights.argmax())

        def odds(values: FloatArray) -> FloatArray:
            return np.asarray(values[..., target] - values[..., current])

        gains = {j: odds(search._gains[j]) for j in features}
        most = np.array([gains[j].max() for j in features])
        pairs = np.zeros((len(features), len(features)))
        for i, j in search._groups[2]:
            highest = search._highest[i, j][target]
            pairs[place[i], place[j]] = pairs[place[j], place[i]] = highest
        triples = {
            tuple(place[j] for j in group): float(search._highest[group][target])
            for group in search._groups[3]
        }
        multipliers = _multipliers(gains, search.costs)
        dual = np.array(
            [
                (search.costs[j] - multipliers[:, None] * gains[j]).min(axis=1)
                for j in features
            ]
        )
        start = float(odds(search.log_weights))
        return cls(start, features, gains, most, pairs, triples, multipliers, dual)

    def extra(self, group: tuple[int, ...]) -> float:
        """The most that the interactions within a set of features may add."""
        places = [self.features.index(j) for j in group]
        total = sum(float(self.pairs[a, b]) for a, b in combinations(places, 2))
        return total + self.triples.get(tuple(places), 0.0)

    def blocks(self, size: int) -> Iterator[tuple[FloatArray, IntArray]]:
        """Sets of features that may suffice, with lower bounds on their costs.

        The sets, shape (n_sets, size), are positions among `features`.
        """
        n = len(self.features)
        if size == 1:
            sets = np.arange(n)[:, None]
            yield self._bound(sets, np.zeros(n))
        elif size == 2:
            sets = np.stack(np.triu_indices(n, 1), axis=1)
            yield self._bound(sets, self.pairs[sets[:, 0], sets[:, 1]])
        else:
            order = np.argsort(-self.most, kind="stable")
            highest = max(0.0, *self.triples.values()) if self.triples else 0.0
            highest += 3 * max(0.0, float(self.pairs.max()))
            for place in range(n - 2):
                # The members of a triple by decreasing maxima: first, later, later.
                first, rest = int(order[place]), order[place + 1 :]
                top = self.start + highest + self.most[first] + self.most[rest[0]]
                later = np.sort(rest[top + self.most[rest] > 0])
                if len(later) > 1:
                    yield self._bound(*self._triples_from(first, later))

    def _triples_from(
        self, first: int, later: IndexArray
    ) -> tuple[IntArray, FloatArray]:
        """All triples of `first` and two of `later`, with what interactions may add."""
        one, two = (later[side] for side in np.triu_indices(len(later), 1))
        sets = np.sort(np.stack([np.full(len(one), first), one, two], axis=1), axis=1)
        extra = self.pairs[first, one] + self.pairs[first, two] + self.pairs[one, two]
        for group, highest in self.triples.items():
            if first in group:
                extra = extra + highest * (sets == group).all(axis=1)
        return sets, extra

    def _bound(self, sets: IntArray, extra: FloatArray) -> tuple[FloatArray, IntArray]:
        """Leave out sets that cannot suffice, and bound the costs of the others."""
        enough = self.start + extra + self.most[sets].sum(axis=1) > 0
        sets, need = sets[enough], -self.start - extra[enough]
        bounds = np.full(len(sets), -np.inf)
        for k, multiplier in enumerate(self.multipliers.tolist()):
            dual = self.dual[sets, k].sum(axis=1) + multiplier * need
            np.maximum(bounds, dual, out=bounds)
        return bounds - 1e-12 * (1 + np.abs(bounds)), sets  # rounding errors


def _multipliers(
    gains: dict[int, FloatArray], costs: dict[int, FloatArray]
) -> FloatArray:
    """Zero and a geometric grid between the least and the greatest cost per gain."""
    rates = [costs[j][gain > 0] / gain[gain > 0] for j, gain in gains.items()]
    every = np.concatenate(rates) if rates else np.empty(0)
    every = every[np.isfinite(every) & (every > 0)]
    if not len(every):
        return np.zeros(1)
    low, high = every.min(), np.quantile(every, 0.9) + every.min()
    return np.concatenate([[0.0], np.geomspace(low, high, N_MULTIPLIERS)])
