"""Layered layout of a directed graph: every arc points down, no nodes overlap."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, sqrt

import numpy as np

from tanager.plots.layer_assignment import assign_layers
from tanager.plots.layer_order import Layers, reduce_crossings
from tanager.plots.layer_places import GAP, assign_places
from tanager.types import Edge, FloatArray

HEIGHT = 24.0
"""Height of a node."""

LAYER_GAP = 40.0
"""Distance of two layers."""

LANE = 7.0
"""Width that an arc takes in a layer which it passes."""

ASPECT = 2.2
"""Wanted ratio of width and height."""

LEAST_WIDTH = 640.0
"""Width up to which a layer is never continued in the next one."""

Point = tuple[float, float]


@dataclass(frozen=True, eq=False)
class GraphLayout:
    """Places of the nodes of a graph, y running downwards.

    Parameters
    ----------
    x, y : ndarray of float64, shape (n_nodes,)
        Centres of the nodes.
    routes : tuple of tuples of (x, y)
        For every arc the points from the bottom of its parent to the top of its child,
        between which it passes no node.
    width, height : float
        Size of the drawing, which begins at (0, 0).
    """

    x: FloatArray
    y: FloatArray
    routes: tuple[tuple[Point, ...], ...]
    width: float
    height: float


def lay_out_graph(
    widths: Sequence[float],
    arcs: Sequence[Edge],
    *,
    heights: Sequence[float] | None = None,
    max_width: float | None = None,
) -> GraphLayout:
    """Place the nodes of a directed acyclic graph in layers.

    Parameters
    ----------
    widths : sequence of float
        Widths of the nodes.
    arcs : sequence of (int, int)
        Parents and children.
    heights : sequence of float or None, default=None
        Heights of the nodes; None for `HEIGHT`.
    max_width : float or None, default=None
        Width that is wanted; a layer that would be wider is continued in the next one.
        None chooses it by the size of the graph.

    Returns
    -------
    GraphLayout
        Connected parts side by side, the largest ones first, then nodes without arcs in
        a grid. The same graph always gets the same layout.

    Raises
    ------
    InputError
        If the arcs form a cycle.

    Notes
    -----
    Sugiyama's method: nodes go to layers by the longest path that leads to them, those
    with more children than parents then down to their children; an arc over several
    layers gets a bend in each; sweeps by barycentres reduce the
    crossings (`reduce_crossings`). The places in a layer are then the least squares fit
    to the means of the neighbours' places with the least distances as constraints: an
    isotonic regression.

    Examples
    --------
    >>> layout = lay_out_graph([30.0, 30.0, 30.0], [(0, 1), (0, 2)])
    >>> layout.x, layout.y
    (array([37., 15., 59.]), array([12., 76., 76.]))
    >>> layout.routes[0]
    ((37.0, 24.0), (15.0, 64.0))
    """
    n_nodes = len(widths)
    if heights is None:
        heights = [HEIGHT] * n_nodes
    if max_width is None:
        area = sum(
            (width + GAP) * (height + 0.7 * LAYER_GAP)
            for width, height in zip(widths, heights, strict=True)
        )
        max_width = max(sqrt(ASPECT * area), max(widths, default=0.0), LEAST_WIDTH)
    parts, alone = _split_parts(n_nodes, arcs)
    x, y = np.zeros(n_nodes), np.zeros(n_nodes)
    routes: dict[Edge, list[Point]] = {}
    blocks = [
        _lay_out_part(part, widths, heights, own, max_width) for part, own in parts
    ]
    blocks.sort(key=lambda block: -block.width * block.height)
    limit = max([max_width, *(block.width for block in blocks)])
    if alone:
        blocks.append(_lay_out_grid(alone, widths, heights, limit))
    top = bottom = 0.0
    rows = _fill_rows(blocks, limit)
    right = max((_row_width(row) for row in rows), default=0.0)
    for row in rows:
        left = (right - _row_width(row)) / 2
        for block in row:
            for node, (across, down) in block.places.items():
                x[node], y[node] = left + across, top + down
            for arc, route in block.routes.items():
                routes[arc] = [(left + across, top + down) for across, down in route]
            bottom = max(bottom, top + block.height)
            left += block.width + 2 * GAP
        top = bottom + LAYER_GAP
    return GraphLayout(
        x, y, tuple(tuple(routes[arc]) for arc in arcs), float(right), float(bottom)
    )


@dataclass(frozen=True)
class _Block:
    """The layout of a connected part, from (0, 0)."""

    places: dict[int, Point]
    routes: dict[Edge, list[Point]]
    width: float
    height: float


def _fill_rows(blocks: Sequence[_Block], limit: float) -> list[list[_Block]]:
    """Put blocks side by side, in order, in rows of a width."""
    rows: list[list[_Block]] = []
    for block in blocks:
        if not rows or _row_width([*rows[-1], block]) > limit:
            rows.append([])
        rows[-1].append(block)
    return rows


def _row_width(row: Sequence[_Block]) -> float:
    return sum(block.width for block in row) + 2 * GAP * (len(row) - 1)


def _split_parts(
    n_nodes: int, arcs: Iterable[Edge]
) -> tuple[list[tuple[list[int], list[Edge]]], list[int]]:
    """Connected parts with their arcs, and the nodes without any."""
    root = list(range(n_nodes))

    def find(node: int) -> int:
        while root[node] != node:
            root[node] = root[root[node]]
            node = root[node]
        return node

    arcs = list(arcs)
    for one, other in arcs:
        low, high = sorted((find(one), find(other)))
        root[high] = low
    members: dict[int, list[int]] = {}
    for node in range(n_nodes):
        members.setdefault(find(node), []).append(node)
    own: dict[int, list[Edge]] = {}
    for arc in arcs:
        own.setdefault(find(arc[0]), []).append(arc)
    parts = [(nodes, own[r]) for r, nodes in members.items() if r in own]
    return parts, [nodes[0] for r, nodes in members.items() if r not in own]


def _lay_out_part(
    nodes: Sequence[int],
    widths: Sequence[float],
    heights: Sequence[float],
    arcs: Sequence[Edge],
    limit: float,
) -> _Block:
    """Lay out a connected part."""
    layers = assign_layers(nodes, widths, arcs, limit)
    row_of = {node: row for row, layer in enumerate(layers) for node in layer}
    # Bends are further nodes: their numbers follow those of all others.
    next_bend = len(widths)
    chains: dict[Edge, list[int]] = {}
    above: dict[int, list[int]] = {}
    below: dict[int, list[int]] = {}
    for parent, child in arcs:
        bends = list(range(next_bend, next_bend + row_of[child] - row_of[parent] - 1))
        next_bend += len(bends)
        chain = chains[parent, child] = [parent, *bends, child]
        for row, bend in enumerate(bends, row_of[parent] + 1):
            layers[row].append(bend)
        for upper, lower in pairwise(chain):
            below.setdefault(upper, []).append(lower)
            above.setdefault(lower, []).append(upper)
    visited = _depth_first(layers, above, below)
    layers = [sorted(layer, key=visited.__getitem__) for layer in layers]
    layers = reduce_crossings(layers, above, below)
    size = {
        node: widths[node] if node < len(widths) else LANE
        for layer in layers
        for node in layer
    }
    x = assign_places(layers, size, above, below, len(widths), limit)
    tops, bottoms = [0.0], []
    for layer in layers:
        high = max(heights[node] for node in layer if node < len(widths))
        bottoms.append(tops[-1] + high)
        tops.append(bottoms[-1] + LAYER_GAP)
    places = {
        node: (x[node], tops[row] + heights[node] / 2)
        for row, layer in enumerate(layers)
        for node in layer
        if node < len(widths)
    }
    routes = {}
    for arc, chain in chains.items():
        row = row_of[arc[0]]
        route = [(x[arc[0]], tops[row] + heights[arc[0]])]
        if heights[arc[0]] < bottoms[row] - tops[row]:
            route.append((x[arc[0]], bottoms[row]))
        for bend in chain[1:-1]:
            row += 1
            route += [(x[bend], tops[row]), (x[bend], bottoms[row])]
        routes[arc] = [*route, (x[arc[1]], tops[row + 1])]
    right = max(x[node] + size[node] / 2 for node in x)
    return _Block(places, routes, right, bottoms[-1])


def _depth_first(
    layers: Layers, above: Mapping[int, list[int]], below: Mapping[int, list[int]]
) -> dict[int, int]:
    """Number of every node in a depth-first walk: trees have no crossings then."""
    visited: dict[int, int] = {}
    for root in (node for layer in layers for node in layer if node not in above):
        stack = [root]
        while stack:
            node = stack.pop()
            if node not in visited:
                visited[node] = len(visited)
                stack += reversed(below.get(node, []))
    return visited


def _lay_out_grid(
    nodes: Sequence[int],
    widths: Sequence[float],
    heights: Sequence[float],
    limit: float,
) -> _Block:
    """Place nodes without arcs in rows and columns, in their order."""
    column = max(widths[node] for node in nodes) + GAP
    high = max(heights[node] for node in nodes)
    n_rows = ceil(len(nodes) / max(1, int((limit + GAP) // column)))
    n_columns = ceil(len(nodes) / n_rows)
    places = {}
    for k, node in enumerate(nodes):
        row, place = divmod(k, n_columns)
        middle = place * column + (column - GAP) / 2
        places[node] = (middle, row * (high + GAP / 2) + high / 2)
    height = n_rows * (high + GAP / 2) - GAP / 2
    return _Block(places, {}, n_columns * column - GAP, height)
