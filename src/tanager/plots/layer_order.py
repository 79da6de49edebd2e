"""Order of the nodes in the layers of a drawing: fewer arcs that cross."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence
from itertools import pairwise

MAX_SWEEPS = 24
"""Passes down and up through the layers."""

PATIENCE = 4
"""Passes without fewer crossings after which the order is final."""

Layers = list[list[int]]
Neighbours = Mapping[int, Sequence[int]]


def reduce_crossings(layers: Layers, above: Neighbours, below: Neighbours) -> Layers:
    """Order the nodes of every layer by the barycentres of their neighbours.

    Parameters
    ----------
    layers : list of lists of int
        Nodes of every layer, from top to bottom.
    above, below : mapping from node to nodes
        Neighbours in the previous and in the next layer.

    Returns
    -------
    list of lists of int
        The order with the fewest crossings that was found; the given one if none is
        better.

    References
    ----------
    Sugiyama, Tagawa, Toda (1981), Methods for visual understanding of hierarchical
    system structures, IEEE Transactions on Systems, Man, and Cybernetics 11.

    Examples
    --------
    >>> above, below = {2: [1], 3: [0]}, {0: [3], 1: [2]}
    >>> reduce_crossings([[0, 1], [2, 3]], above, below)
    [[0, 1], [3, 2]]
    """
    best = [list(layer) for layer in layers]
    fewest = count_crossings(best, below)
    current, waited = [list(layer) for layer in layers], 0
    for sweep in range(MAX_SWEEPS):
        if not fewest or waited == PATIENCE:
            break
        downwards = sweep % 2 == 0
        rows = range(1, len(layers)) if downwards else range(len(layers) - 2, -1, -1)
        neighbours = above if downwards else below
        for row in rows:
            fixed = current[row - 1 if downwards else row + 1]
            current[row] = _sort_by_barycentre(current[row], fixed, neighbours)
        crossings = count_crossings(current, below)
        waited += 1
        if crossings < fewest:
            best, fewest, waited = [list(layer) for layer in current], crossings, 0
    return best


def count_crossings(layers: Layers, below: Neighbours) -> int:
    """Count the pairs of arcs between adjacent layers that cross."""
    crossings = 0
    for upper, lower in pairwise(layers):
        place = {node: k for k, node in enumerate(lower)}
        seen: list[int] = []
        for node in upper:
            ends = sorted(place[other] for other in below.get(node, ()))
            # Arcs of nodes further left that end further right are crossed.
            crossings += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return crossings


def _sort_by_barycentre(
    row: Sequence[int], fixed: Sequence[int], neighbours: Neighbours
) -> list[int]:
    """Order a layer by the mean places of its neighbours in the fixed layer.

    Nodes without neighbours there keep their places.
    """
    place = {node: k for k, node in enumerate(fixed)}
    means = {
        node: sum(place[other] for other in neighbours[node]) / len(neighbours[node])
        for node in row
        if neighbours.get(node)
    }
    moving = iter(sorted(means, key=means.__getitem__))
    return [next(moving) if node in means else node for node in row]
