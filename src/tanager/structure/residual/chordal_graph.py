"""`ChordalGraph`: edges between features, added so that families stay cliques."""

from __future__ import annotations

import numpy as np

from tanager.errors import InputError
from tanager.model.schema import Schema
from tanager.model.structure import Structure
from tanager.structure.constraints import ArcMasks
from tanager.types import BoolArray, Edge, FloatArray, IntArray


class ChordalGraph:
    """An undirected graph over features in which no cycle lacks a chord.

    Such a graph can be directed so that the parents of every feature are joined to each
    other. With k = 1 it is a forest.

    No clique has more than k + 1 features, no feature more than k parents.
    `constraints` are the arcs that must and may be used, `allowed` those that may be
    used where their edge is, and `root` is the feature to be without parents where the
    choice is free. `adjacent`, the edges, and `shared`, the numbers of common
    neighbours, have shape (n_features, n_features); `component` (n_features,) has a
    number for every connected part.

    Notes
    -----
    An edge {u, v} keeps a chordal graph chordal if and only if the common neighbours of
    u and v separate the two; they are then joined to each other, and with u and v they
    form the only new clique.

    Examples
    --------
    >>> free = ArcMasks(~np.eye(4, dtype=bool), np.zeros((4, 4), dtype=bool))
    >>> graph = ChordalGraph(1, free)
    >>> weights = np.array([[0, 5, 4, 0], [5, 0, 3, 1], [4, 3, 0, 2], [0, 1, 2, 0.0]])
    >>> graph.add_best(weights, 9)
    [(0, 1), (0, 2), (2, 3)]
    >>> graph.parents()
    [(), (0,), (0,), (2,)]
    """

    def __init__(self, k: int, constraints: ArcMasks, root: int = 0) -> None:
        n_features = len(constraints.allowed)
        self.k = k
        self.constraints = constraints
        self.allowed: BoolArray = constraints.allowed & ~constraints.required.T
        self.root = root
        self.adjacent = np.zeros((n_features, n_features), dtype=np.bool_)
        self.shared = np.zeros((n_features, n_features), dtype=np.int64)
        self.component = np.arange(n_features, dtype=np.int64)

    @property
    def candidates(self) -> BoolArray:
        """Pairs that may still be joined, some of them only after others are."""
        candidates: BoolArray = (self.allowed | self.allowed.T) & ~self.adjacent
        if self.k == 1:
            candidates &= self.component[:, None] != self.component[None, :]
        return candidates

    def add_best(self, weights: FloatArray, wanted: int) -> list[Edge]:
        """Add up to `wanted` edges, always the heaviest that may be added.

        `weights`, shape (n_features, n_features), are symmetric; pairs of weight -inf
        are left out, and of equal weights the pair with the lowest features comes
        first. Returns the edges added, in order, the lower feature first.
        """
        from tanager.structure.residual import _kernels

        heads, tails = np.nonzero(np.triu(self.candidates & (weights > -np.inf), 1))
        order = np.argsort(-weights[heads, tails], kind="stable")
        heads, tails = heads[order].astype(np.int64), tails[order].astype(np.int64)
        added = np.empty(max(wanted, 0), dtype=np.int64)
        found = _kernels.add_edges(
            self.adjacent, self.shared, self.component, heads, tails, self.k, wanted,
            self.allowed, self.constraints.is_free, self.root, added,
        )  # fmt: skip
        return [(int(heads[e]), int(tails[e])) for e in added[:found]]

    def add_required(self, schema: Schema) -> list[Edge]:
        """Add the required arcs, and the edges between parents that they imply.

        Raises `InputError` if no graph with cliques of k + 1 features holds them.
        """
        from tanager.structure.residual import _kernels

        required = self.constraints.required
        parents = [set(np.flatnonzero(column).tolist()) for column in required.T]
        order = Structure(tuple(map(tuple, map(sorted, parents)))).topological_order
        rank = {v: place for place, v in enumerate(order)}
        for child in reversed(order):
            # Parents are joined to each other: the later takes the earlier ones.
            joined = sorted(parents[child], key=rank.__getitem__)
            for place, later in enumerate(joined):
                parents[later].update(joined[:place])
        edges = sorted(
            (min(p, child), max(p, child))
            for child, of in enumerate(parents)
            for p in of
        )
        for i, j in edges:
            _kernels.join(self.adjacent, self.shared, self.component, i, j)
        if edges and len(self._order()) < len(self.adjacent):
            names = [
                (schema[int(i)].name, schema[int(j)].name)
                for i, j in np.argwhere(required)
            ]
            raise InputError(
                f"The required arcs {names} do not fit into a graph whose features "
                f"have at most k={self.k} parents, joined to each other by allowed "
                "arcs. Raise k, drop some arcs, or require those between these "
                "parents."
            )
        return edges

    def parents(self) -> list[tuple[int, ...]]:
        """Feature parents of every feature, joined to each other."""
        order = self._order()
        place = np.empty(len(self.adjacent), dtype=np.int64)
        place[order] = np.arange(len(self.adjacent))
        return [
            tuple(np.flatnonzero(self.adjacent[v] & (place > place[v])).tolist())
            for v in range(len(self.adjacent))
        ]

    def _order(self) -> IntArray:
        """Features, children first, as many as can be ordered."""
        from tanager.structure.residual import _kernels

        order = np.empty(len(self.adjacent), dtype=np.int64)
        found = _kernels.eliminate(
            self.adjacent, self.allowed, self.k, self.root, order
        )
        return order[:found]
