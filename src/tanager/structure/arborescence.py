"""Maximum spanning trees, undirected and directed, on a dense matrix of weights."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tanager.structure.constraints import Constraints


def spanning_tree(weights: npt.NDArray[np.float64], root: int) -> npt.NDArray[np.int64]:
    """Maximum spanning tree of a symmetric matrix, directed away from `root`.

    Parameters
    ----------
    weights : ndarray of float64, shape (n, n)
        Symmetric; the diagonal is not read.
    root : int
        The node without a parent.

    Returns
    -------
    ndarray of int64, shape (n,)
        Parent of every node, -1 for the root.

    Notes
    -----
    Prim's algorithm in O(n^2). Among equal weights the lowest node joins first, and
    keeps the first parent that offered it.

    Examples
    --------
    >>> spanning_tree(np.array([[0, 3, 1], [3, 0, 2], [1, 2, 0]], dtype=float), 0)
    array([-1,  0,  1])
    """
    n_nodes = len(weights)
    parent = np.full(n_nodes, -1, dtype=np.int64)
    outside = np.ones(n_nodes, dtype=np.bool_)
    best = np.full(n_nodes, -np.inf)
    node = root
    for _ in range(n_nodes - 1):
        outside[node] = False
        better = outside & (weights[node] > best)
        best[better] = weights[node][better]
        parent[better] = node
        node = int(np.argmax(np.where(outside, best, -np.inf)))
    return parent


def spanning_arborescence(
    weights: npt.NDArray[np.float64], root: int
) -> npt.NDArray[np.int64]:
    """Maximum spanning arborescence of a directed matrix, from `root`.

    Parameters
    ----------
    weights : ndarray of float64, shape (n, n)
        ``weights[i, j]`` is the weight of i -> j, -inf where there is no such arc;
        every node must be within reach of the root. The diagonal is not read.
    root : int
        The node without a parent.

    Returns
    -------
    ndarray of int64, shape (n,)
        Parent of every node, -1 for the root.

    Notes
    -----
    Chu and Liu (1965), Edmonds (1967): every node takes its best parent; a cycle is
    merged into one node, whose entering arcs lose what the cycle gives up, and the
    smaller problem is solved the same way. O(n^3) at worst.
    """
    n_nodes = len(weights)
    inner = weights.astype(np.float64)
    np.fill_diagonal(inner, -np.inf)
    parent: npt.NDArray[np.int64] = np.argmax(inner, axis=0).astype(np.int64)
    parent[root] = -1
    cycle = _cycle(parent)
    if not cycle:
        return parent
    inside = np.zeros(n_nodes, dtype=np.bool_)
    inside[cycle] = True
    members = np.array(sorted(cycle))
    others = np.flatnonzero(~inside)
    given_up = inner[parent[members], members]
    # The merged node comes last: arcs into it remember which member they enter, arcs
    # out of it which member they leave.
    into = inner[np.ix_(others, members)] - given_up[None, :]
    out_of = inner[np.ix_(members, others)]
    enters = members[np.argmax(into, axis=1)]
    leaves = members[np.argmax(out_of, axis=0)]
    small = np.full((len(others) + 1, len(others) + 1), -np.inf)
    small[:-1, :-1] = inner[np.ix_(others, others)]
    small[:-1, -1] = into.max(axis=1)
    small[-1, :-1] = out_of.max(axis=0)
    solved = spanning_arborescence(small, int(np.searchsorted(others, root)))
    merged = len(others)
    for position, node in enumerate(others):
        above = solved[position]
        if above == merged:
            parent[node] = leaves[position]
        elif above >= 0:
            parent[node] = others[above]
    entry = solved[merged]
    parent[enters[entry]] = others[entry]
    return parent


def constrained_forest(
    weights: npt.NDArray[np.float64], root: int, constraints: Constraints
) -> npt.NDArray[np.int64]:
    """Forest of greatest weight that keeps to the constraints.

    Parameters
    ----------
    weights : ndarray of float64, shape (n, n)
        Non-negative weights of the arcs i -> j.
    root : int
        The node to be without a parent where the choice is free.
    constraints : Constraints
        Arcs that must and may be used; at most one required parent per node.

    Returns
    -------
    ndarray of int64, shape (n,)
        Parent of every node, -1 for roots. All required arcs are there, then as few
        roots as possible, then the greatest weight, then `root` is a root.
    """
    n_nodes = len(weights)
    # An artificial node above all makes a forest one arborescence. Steps beyond any sum
    # of weights put required arcs before the number of roots, and that before weights.
    step = 1.0 + n_nodes * float(weights.max(initial=0.0))
    arcs = np.where(constraints.allowed, weights + step, -np.inf)
    arcs = np.where(constraints.required, weights + step * 2 * n_nodes, arcs)
    whole = np.zeros((n_nodes + 1, n_nodes + 1))
    whole[:n_nodes, :n_nodes] = arcs
    whole[n_nodes, root] = 1e-9
    parent = spanning_arborescence(whole, n_nodes)[:n_nodes]
    parent[parent == n_nodes] = -1
    return parent


def _cycle(parent: npt.NDArray[np.int64]) -> list[int]:
    """Nodes of one cycle in a map from nodes to parents, or nothing."""
    seen = np.zeros(len(parent), dtype=np.int64)
    for start in range(len(parent)):
        node = start
        while node >= 0 and seen[node] == 0:
            seen[node] = start + 1
            node = int(parent[node])
        if node >= 0 and seen[node] == start + 1:
            cycle = [node]
            above = int(parent[node])
            while above != node:
                cycle.append(above)
                above = int(parent[above])
            return cycle
    return []
