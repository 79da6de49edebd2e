"""Kernel for the directed forest of greatest weight over lists of candidate arcs."""

from __future__ import annotations

import numpy as np

from tanager.types import FloatArray, IntArray
from tanager.utils.jit import kernel

ForestWorkspace = tuple[IntArray, IntArray, FloatArray]
"""Arrays that `best_forest` writes to while it works, made by `forest_workspace`."""


def forest_workspace(n_nodes: int, n_candidates: int) -> ForestWorkspace:
    """Make the scratch arrays of `best_forest`; concurrent calls need one each."""
    # Merges make fewer groups than there are nodes; "no parent" has the last place.
    return (
        np.empty((7, 2 * n_nodes), dtype=np.int64),
        np.empty(n_candidates, dtype=np.int64),
        np.empty(n_candidates, dtype=np.float64),
    )


@kernel
def best_forest(weights, child, parent, n_nodes, workspace, chosen):
    """Find the choice of one candidate per node without a cycle and of greatest sum.

    Candidate a gives ``child[a]``, ascending, the parent ``parent[a]``, -1 for none, at
    ``weights[a]``, -inf if it must not be chosen. A node may lack the candidate without
    a parent; one that is its own parent is never chosen. Writes the position of every
    node's candidate to `chosen`; returns False if every choice has a cycle or a node
    has no candidate.

    Chu and Liu (1965), Edmonds (1967), along one path at a time: go from a node to
    the parent in its best candidate, and so on, until a root or a node of an earlier
    path is met. A node met again closes a cycle. It is merged into a group, whose
    entering arcs lose what its members give up for them, and the path goes on from
    there. In the end the groups are opened again, last ones first, where the forest
    enters them. Where no cycle arises this is one look at every candidate.

    A group keeps one arc from each node or group outside, so all merges together look
    at O(n_nodes^2) arcs besides the candidates. Ties go to the first candidate.
    """
    nodes, following, left = workspace
    # Of every node and, from n_nodes on, every group: the best entering arc, the list
    # of entering arcs, the path on which it was met.
    best = nodes[0]
    first = nodes[1]
    path = nodes[2]
    # The group that it lies in directly, -1 for none, and one farther on the way to
    # the outermost, itself for none.
    within = nodes[3]
    outer = nodes[4]
    # The arc kept from it while a cycle is merged, -1 at all other times, and the
    # nodes and groups of which one is kept.
    kept = nodes[5]
    sources = nodes[6]
    _take_best(weights, child, parent, n_nodes, first, best)
    for v in range(2 * n_nodes):
        path[v] = -1
        within[v] = -1
        outer[v] = v
        kept[v] = -1
    end = n_nodes
    for start in range(n_nodes):
        node = _outermost(outer, start)
        while path[node] < 0 or path[node] == start:
            if path[node] == start:
                _merge(
                    weights, child, parent, n_nodes, node, end, best, first, within,
                    outer, kept, sources, following, left,
                )  # fmt: skip
                node = end
                end += 1
            path[node] = start
            if best[node] < 0:
                return False
            above = parent[best[node]]
            if above < 0:
                break
            node = _outermost(outer, above)
    _open_groups(child, n_nodes, end, best, within)
    for v in range(n_nodes):
        chosen[v] = best[v]
    return True


@kernel
def _take_best(weights, child, parent, n_nodes, first, best):
    """Best candidate of every node by itself (-1: none), and where its list starts."""
    a = 0
    for v in range(n_nodes):
        first[v] = a
        best[v] = -1
        most = -np.inf
        while a < child.shape[0] and child[a] == v:
            if weights[a] > most and parent[a] != v:
                most = weights[a]
                best[v] = a
            a += 1


@kernel
def _outermost(outer, node):
    """The outermost group around a node, with the way to it made shorter."""
    while outer[node] != node:
        outer[node] = outer[outer[node]]
        node = outer[node]
    return node


@kernel
def _merge(
    weights, child, parent, n_nodes, entry, group, best, first, within, outer, kept,
    sources, following, left,
):  # fmt: skip
    """Merge the cycle of best arcs through `entry` into a new group.

    The arcs of a node are its candidates, side by side. Those of a group are a list:
    ``following[a]`` is the arc after a, -1 at the end, and ``left[a]`` what is left of
    its weight after the arcs given up for it.
    """
    member = entry
    while within[member] != group:
        within[member] = group
        member = _outermost(outer, parent[best[member]])
    n_sources = 0
    while True:
        above = _outermost(outer, parent[best[member]])
        single = member < n_nodes
        given_up = weights[best[member]] if single else left[best[member]]
        a = first[member]
        while a >= 0:
            source = 2 * n_nodes - 1
            if parent[a] >= 0:
                source = _outermost(outer, parent[a])
            value = (weights[a] if single else left[a]) - given_up
            if value > -np.inf and within[source] != group:
                left[a] = value
                rival = kept[source]
                if rival < 0:
                    sources[n_sources] = source
                    n_sources += 1
                    kept[source] = a
                elif value > left[rival] or (value == left[rival] and a < rival):
                    kept[source] = a
            if not single:
                a = following[a]
            elif a + 1 < child.shape[0] and child[a + 1] == member:
                a += 1
            else:
                a = -1
        member = above
        if member == entry:
            break
    # All members are read: from now on they are found in the group.
    while member != group:
        outer[member] = group
        member = _outermost(outer, parent[best[member]])
    best[group] = -1
    first[group] = -1
    for s in range(n_sources):
        a = kept[sources[s]]
        kept[sources[s]] = -1
        following[a] = first[group]
        first[group] = a
        top = best[group]
        if top < 0 or left[a] > left[top] or (left[a] == left[top] and a < top):
            best[group] = a


@kernel
def _open_groups(child, n_nodes, end, best, within):
    """Hand the arc by which each group is entered down to the member it enters."""
    for group in range(end - 1, n_nodes - 1, -1):
        node = child[best[group]]
        if best[node] == best[group]:
            continue
        while node != group:
            best[node] = best[group]
            node = within[node]
