"""Equivalence classes of directed graphs, and how far apart two of them are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tanager.errors import InputError
from tanager.types import BoolArray


@dataclass(frozen=True, eq=False)
class Pattern:
    """A graph of directed and undirected edges: an equivalence class of networks.

    Networks with the same edges and the same colliders (x -> y <- z, x and z not
    joined) hold the same independences. Directions that all of them share are
    directed here, the others are not.

    Parameters
    ----------
    arcs : ndarray of bool, shape (n_nodes, n_nodes)
        ``arcs[i, j]``: the edge i -> j is directed.
    open : ndarray of bool, shape (n_nodes, n_nodes)
        Symmetric: the edge i - j is not directed.

    Examples
    --------
    >>> chain = Pattern.of_arcs(3, [(0, 1), (1, 2)])
    >>> collider = Pattern.of_arcs(3, [(0, 1), (2, 1)])
    >>> chain.arcs.any(), collider.open.any()
    (np.False_, np.False_)
    >>> structural_hamming_distance(chain, collider)
    2
    """

    arcs: BoolArray
    open: BoolArray

    @classmethod
    def of_arcs(cls, n_nodes: int, arcs: Iterable[tuple[int, int]]) -> Pattern:
        """The class of a directed acyclic graph given by its (parent, child) arcs."""
        graph = np.zeros((n_nodes, n_nodes), dtype=np.bool_)
        for parent, child in arcs:
            graph[parent, child] = True
        apart = ~(graph | graph.T)
        np.fill_diagonal(apart, val=False)
        # An arc into y is part of a collider if some parent of y is apart from x.
        directed = graph & ((apart.astype(np.float32) @ graph.astype(np.float32)) > 0)
        undirected = graph & ~directed
        undirected |= undirected.T
        while True:
            new = directions_that_follow(directed, undirected)
            if not new.any():
                return cls(directed, undirected)
            directed |= new
            undirected &= ~(new | new.T)

    @property
    def skeleton(self) -> BoolArray:
        """Which nodes an edge joins, directed or not; symmetric."""
        joined: BoolArray = self.arcs | self.arcs.T | self.open
        return joined


def structural_hamming_distance(one: Pattern, other: Pattern) -> int:
    """Number of pairs that are joined in one only, or in another way.

    Notes
    -----
    An edge too many, one too few, and one directed otherwise (or in only one of the
    two) count one each [1]_.

    References
    ----------
    .. [1] Tsamardinos, Brown, Aliferis (2006), The max-min hill-climbing Bayesian
       network structure learning algorithm.
    """
    if one.arcs.shape != other.arcs.shape:
        raise InputError(
            f"Expected two patterns over the same nodes, got one of {len(one.arcs)} "
            f"and one of {len(other.arcs)} nodes."
        )
    differ = (one.arcs != other.arcs) | (one.open != other.open)
    return int(np.triu(differ | differ.T).sum())


def directions_that_follow(arcs: BoolArray, undirected: BoolArray) -> BoolArray:
    """Directions that undirected edges must have, by one look at each rule.

    ``[i, j]`` of the result: the undirected edge i - j must become i -> j, or there is
    a new collider or a cycle. All arrays are bool, shape (n_nodes, n_nodes).

    The four rules of Meek (1995), Causal inference and causal explanation with
    background knowledge: with a - b undirected, a -> b follows from

    1. c -> a, where c and b are not joined;
    2. a -> c -> b;
    3. a - c -> b and a - d -> b, where c and d are not joined;
    4. a - c -> d -> b, where c and b are not joined, but a and d are.
    """
    joined = arcs | arcs.T | undirected
    apart = ~joined
    np.fill_diagonal(apart, val=False)
    whole, far = arcs.astype(np.float32), apart.astype(np.float32)
    follows = (whole.T @ far + whole @ whole) > 0
    for b in np.flatnonzero(arcs.any(axis=0) & undirected.any(axis=0)):
        into = np.flatnonzero(arcs[:, b])
        near = undirected[:, into].astype(np.float32)
        follows[:, b] |= ((near @ far[np.ix_(into, into)]) * near).any(axis=1)
        first = np.flatnonzero(apart[:, b])
        steps = undirected[:, first].astype(np.float32) @ whole[np.ix_(first, into)]
        follows[:, b] |= (steps * joined[:, into]).any(axis=1)
    found: BoolArray = follows & undirected
    return found
