"""Maximum spanning trees, undirected and directed, on a dense matrix of weights."""

from __future__ import annotations

import numpy as np

from tanager.structure.constraints import ArcMasks
from tanager.types import FloatArray, IntArray


def spanning_tree(weights: FloatArray, root: int) -> IntArray:
    """Maximum spanning tree of a symmetric matrix, directed away from `root`.

    Returns the parent of every node, -1 for the root. Prim's algorithm in O(n^2): in a
    tie the lowest node joins first, with its first possible parent.

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


def spanning_arborescence(weights: FloatArray, root: int) -> IntArray:
    """Maximum spanning arborescence of a directed matrix, as parents, -1 for `root`.

    ``weights[i, j]`` is the weight of i -> j, -inf where there is no such arc; every
    node must be reachable from the root.

    Chu and Liu (1965), Edmonds (1967): every node takes its best parent. Each cycle is
    contracted to one node, whose entering arcs lose the weight of the arc they replace,
    until there is no cycle. The cycles are expanded in reverse order.
    """
    inner = weights.astype(np.float64)
    np.fill_diagonal(inner, -np.inf)
    # The original arc behind every arc of the merged graph, and the merged node that
    # every original node is in.
    indices: IntArray = np.indices(inner.shape)
    tails, heads = indices[0], indices[1]
    inside = np.arange(len(weights))
    merges: list[tuple[IntArray, list[tuple[int, int, int]]]] = []
    while True:
        top = int(inside[root])
        best = np.argmax(inner, axis=0).astype(np.int64)
        best[top] = -1
        arcs = [
            (j, int(tails[p, j]), int(heads[p, j]))
            for j, p in enumerate(best)
            if p >= 0
        ]
        cycles = _find_cycles(best)
        if not cycles:
            break
        members = {j for cycle in cycles for j in cycle}
        merges.append((inside, [arc for arc in arcs if arc[0] in members]))
        alone = [j for j in range(len(inner)) if j not in members]
        groups = [np.array([j]) for j in alone] + [np.array(sorted(c)) for c in cycles]
        given_up = np.zeros(len(inner))
        for j in members:
            given_up[j] = inner[best[j], j]
        merged_into = np.empty(len(inner), dtype=np.int64)
        for number, group in enumerate(groups):
            merged_into[group] = number
        inside = merged_into[inside]
        inner, tails, heads = _contract(inner - given_up, tails, heads, groups)
    parent = np.full(len(weights), -1, dtype=np.int64)
    for _, tail, head in arcs:
        parent[head] = tail
    for node_of, cycle_arcs in reversed(merges):
        # A cycle keeps its arcs but for the member by which it is entered.
        entered = set(node_of[parent >= 0].tolist())
        for member, tail, head in cycle_arcs:
            if member not in entered:
                parent[head] = tail
    return parent


def _contract(
    weights: FloatArray, tails: IntArray, heads: IntArray, groups: list[IntArray]
) -> tuple[FloatArray, IntArray, IntArray]:
    """The best arc between every two groups of nodes, and the original arcs behind."""
    by_tail = [group[np.argmax(weights[group], axis=0)] for group in groups]
    columns = np.arange(len(weights))
    rows = np.array([weights[tail, columns] for tail in by_tail])
    best_head = np.array(
        [group[np.argmax(rows[:, group], axis=1)] for group in groups]
    ).T
    index = np.arange(len(groups))[:, None]
    best_tail = np.array(by_tail)[index, best_head]
    merged = rows[index, best_head]
    np.fill_diagonal(merged, -np.inf)
    return merged, tails[best_tail, best_head], heads[best_tail, best_head]


def constrained_forest(
    weights: FloatArray, root: int, constraints: ArcMasks
) -> IntArray:
    """Forest of maximum weight under constraints, as parents, -1 for roots.

    `weights`, of the arcs i -> j, are not negative; a node has at most one required
    parent. In this order: all required arcs, as few roots as possible, maximum weight,
    `root` is a root.
    """
    n_nodes = len(weights)
    # An artificial root turns the forest into an arborescence. Steps above any sum of
    # weights rank required arcs before the number of roots, and that before weights.
    step = 1.0 + n_nodes * float(weights.max(initial=0.0))
    arcs = np.where(constraints.allowed, weights + step, -np.inf)
    arcs = np.where(constraints.required, weights + step * 2 * n_nodes, arcs)
    whole = np.zeros((n_nodes + 1, n_nodes + 1))
    whole[:n_nodes, :n_nodes] = arcs
    whole[n_nodes, root] = 1e-9
    parent = spanning_arborescence(whole, n_nodes)[:n_nodes]
    parent[parent == n_nodes] = -1
    return parent


def _find_cycles(parent: IntArray) -> list[list[int]]:
    """All cycles in a map from nodes to parents (-1: none)."""
    seen = np.full(len(parent), -1)
    cycles: list[list[int]] = []
    for start in range(len(parent)):
        node = start
        while node >= 0 and seen[node] < 0:
            seen[node] = start
            node = int(parent[node])
        if node >= 0 and seen[node] == start:
            cycle = [node]
            above = int(parent[node])
            while above != node:
                cycle.append(above)
                above = int(parent[above])
            cycles.append(cycle)
    return cycles
