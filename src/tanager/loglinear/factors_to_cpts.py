"""Conversion of fitted factors to CPTs with the same P(c | x)."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from itertools import combinations
from math import prod

import numpy as np

from tanager.errors import NetworkOnlyError, TableSizeError
from tanager.inference.triangulation import COSTS, Graph, elimination_steps
from tanager.loglinear.factor import Factor
from tanager.loglinear.fitted_factors import FactorTable, FactorTables
from tanager.loglinear.linear_maps import LinearMap, TableSums
from tanager.loglinear.weights_to_cpts import (
    FULL_CELLS,
    RIDGE,
    FullNormaliser,
    SumNormaliser,
)
from tanager.model.layout import FamilyLayout, Parameters
from tanager.model.schema import Schema
from tanager.model.structure import Structure
from tanager.types import FloatArray
from tanager.utils.threads import one_blas_thread

MAX_CONVERTED_CELLS = 10_000_000
"""Entries allowed in all CPTs together (80 MB)."""


def convert_factors(
    schema: Schema, factors: FactorTables
) -> tuple[Structure, Parameters]:
    """Find a network with the same P(c | x) as a sum of factors.

    The class, the last variable of `schema`, is a parent of every feature. The other
    parents of a feature are some of those with which it has a factor, joined to each
    other.

    Raises
    ------
    NetworkOnlyError
        If the features that share a factor form a cycle without a chord.
    TableSizeError
        If the CPTs would have more than `MAX_CONVERTED_CELLS` entries.

    Notes
    -----
    The joint distribution is ``P(c, x) ~ exp(prior_c + sum_t w_t[x_t, c] + b_t[x_t])``.
    The terms b_t, one for every cell of a factor, do not change P(c | x). They maximise
    the likelihood of the features: the probability of every cell becomes that of the
    training samples (`FactorTable.support`), except that the number of steps is
    limited, and that "not observed" is no state and is left out. Features without a
    common factor depend on each other through the class and through other features
    only. States that all factors merge into one bin are equally probable.
    """
    target = len(schema) - 1
    states = tuple(schema.n_states.tolist())
    structure = Structure.class_rooted(_direct(schema, factors), target)
    keys = [table.factor.key for table in factors.tables]
    layout = FamilyLayout(
        states,
        ((target,), *((*key, target) for key in keys)),
        (target, *(key[-1] for key in keys)),
        target,
    )
    normaliser = SumNormaliser(structure, layout, FULL_CELLS)
    try:
        for one in (normaliser.layout, layout):
            one.check_size(schema, MAX_CONVERTED_CELLS)
    except TableSizeError as error:
        raise TableSizeError(
            f"The factors have no CPTs of a reasonable size. {error} CPTs of "
            "FactorSearch(order=1) are small, and so are those of "
            'structure="tan-res".'
        ) from None
    sums = TableSums(layout, normaliser.layout, normaliser.into)
    terms = BinTerms(layout, [table.factor for table in factors.tables])
    weights = np.concatenate(
        [factors.log_prior, *(_by_state(table).ravel() for table in factors.tables)]
    )
    values = sums.apply(weights)
    seen = np.concatenate([np.empty(0), *map(_observed, factors.tables)])
    with one_blas_thread():
        if normaliser.layout.is_full(structure):
            # The same as by `normaliser`, but faster: 0.03 s, not 0.17 s, for adult.
            full = FullNormaliser(structure, normaliser.layout)
            return structure, full.fit_features(values, sums @ terms, seen, ridge=RIDGE)
        return structure, normaliser.fit_sums(values, sums @ terms, seen)


class BinTerms(LinearMap):
    """One term for every cell of factors, repeated for states of a bin and classes.

    Bins of "not observed" have no terms. `layout` has the class, then a table over the
    states of the features and the class for each of `factors`.

    Examples
    --------
    >>> from tanager.loglinear.factor import Axis
    >>> layout = FamilyLayout((3, 2), ((1,), (0, 1)), (1, 0), 1)
    >>> terms = BinTerms(layout, [Factor((Axis(0, np.array([0, 1, 0, 2]), 0),))])
    >>> terms.apply(np.array([1.0, 5.0]))
    array([0., 0., 1., 1., 5., 5., 1., 1.])
    """

    def __init__(self, layout: FamilyLayout, factors: Sequence[Factor]) -> None:
        self._layout = layout
        # The terms of every factor, and the one of every configuration of its features.
        self._tables = []
        self.n_in, self.n_out = 0, layout.n_cells
        for factor in factors:
            shape = factor.shape - 1
            bins = np.ix_(*(axis.bins[:-1] for axis in factor.axes))
            own = slice(self.n_in, self.n_in + prod(shape.tolist()))
            self._tables.append((own, np.ravel_multi_index(bins, shape)))
            self.n_in = own.stop

    def apply(self, x: FloatArray) -> FloatArray:
        """Repeat the terms; see `LinearMap.apply`."""
        out = np.zeros(self.n_out)
        for t, (own, places) in enumerate(self._tables, start=1):
            self._layout.table(out, t)[...] = x[own][places][..., None]
        return out

    def adjoint(self, y: FloatArray) -> FloatArray:
        """Sum over states and classes; see `LinearMap.adjoint`."""
        out = np.empty(self.n_in)
        for t, (own, places) in enumerate(self._tables, start=1):
            table = self._layout.table(y, t)
            mass = table @ np.ones(table.shape[-1])  # much faster than a sum
            size = own.stop - own.start
            out[own] = np.bincount(places.ravel(), mass.ravel(), size)
        return out


def chordless_cycle(factors: FactorTables) -> list[int]:
    """Features of a cycle of common factors without a chord, or none.

    Two features are joined if they have a common factor. Without such a cycle, as in a
    forest or a k-tree, the graph is chordal, and the factors can be converted to CPTs.
    """
    graph: Graph = {}
    for table in factors.tables:
        members = set(table.factor.key)
        for v in members:
            graph.setdefault(v, set()).update(members - {v})
    for v in sorted(graph):
        for start, end in combinations(sorted(graph[v]), 2):
            if end not in graph[start]:
                walk = _shortest_path(graph, start, end, {v, *graph[v]} - {end})
                if walk:
                    return [v, *walk]
    return []


def _shortest_path(
    graph: Graph, start: int, end: int, avoid: Collection[int]
) -> list[int]:
    """Nodes from start to end on a shortest path around `avoid`, or none."""
    before = {start: start}
    queue = deque([start])
    while queue:
        v = queue.popleft()
        if v == end:
            walk = [end]
            while walk[-1] != start:
                walk.append(before[walk[-1]])
            return walk[::-1]
        for u in sorted(graph[v]):
            if u not in before and u not in avoid:
                before[u] = v
                queue.append(u)
    return []


def _direct(schema: Schema, factors: FactorTables) -> list[tuple[int, ...]]:
    """Feature parents of every variable, joined to each other."""
    keys = [table.factor.key for table in factors.tables]
    joined = {pair for key in keys for pair in combinations(key, 2)}
    parents: list[tuple[int, ...]] = [()] * len(schema)
    # A chordal graph always has a feature whose neighbours are joined to each other:
    # the one that adds the fewest edges. The features left are a chordal graph, too.
    for v, clique in elimination_steps(schema.n_states.tolist(), keys, COSTS[0]):
        parents[v] = tuple(sorted(clique - {v}))
        if not joined.issuperset(combinations(parents[v], 2)):
            raise NetworkOnlyError(
                "These factors cannot be converted to CPTs: "
                f"{cycle_text(schema, chordless_cycle(factors))} Fit with "
                'structure=FactorSearch(order=1), "tan-res" or "2-tree-res" for a '
                "Network."
            )
    return parents


def cycle_text(schema: Schema, cycle: Sequence[int]) -> str:
    """Say in one sentence which cycle of features has no chord."""
    names = " - ".join(repr(schema.names[v]) for v in [*cycle, cycle[0]])
    return (
        f"the features {names} form a cycle, in which only neighbours have a common "
        "factor."
    )


def _by_state(table: FactorTable) -> FloatArray:
    """Log weights of a factor for every state of its features, the class last."""
    bins = np.ix_(*(axis.bins[:-1] for axis in table.factor.axes))
    return table.weights.reshape(*table.factor.shape, -1)[bins]


def _observed(table: FactorTable) -> FloatArray:
    """Distribution of the training samples over the cells of observed features.

    It is smoothed by one sample spread over all cells: nothing is impossible.
    """
    support = table.support.reshape(table.factor.shape)
    seen = support[(slice(-1),) * support.ndim].ravel()
    seen = seen + 1.0 / len(seen)
    distribution: FloatArray = seen / seen.sum()
    return distribution
