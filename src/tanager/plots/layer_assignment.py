"""Layers of the nodes of a directed acyclic graph, with bounded width."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tanager.errors import InputError
from tanager.plots.layer_order import Layers
from tanager.plots.layer_places import GAP
from tanager.types import Edge


def assign_layers(
    nodes: Sequence[int], widths: Sequence[float], arcs: Sequence[Edge], limit: float
) -> Layers:
    """Layers by longest path; a full one goes on in the next (Coffman and Graham)."""
    parents: dict[int, set[int]] = {node: set() for node in nodes}
    children: dict[int, list[int]] = {node: [] for node in nodes}
    for parent, child in arcs:
        parents[child].add(parent)
        children[parent].append(child)
    order = [node for node in nodes if not parents[node]]
    waiting = {node: len(parents[node]) for node in nodes}
    for node in order:  # grows
        for child in dict.fromkeys(children[node]):
            waiting[child] -= 1
            if not waiting[child]:
                order.append(child)
    if len(order) < len(nodes):
        raise InputError("The arcs form a cycle, so that they cannot all point down.")
    depth: dict[int, int] = {}
    for node in reversed(order):
        depth[node] = 1 + max((depth[child] for child in children[node]), default=0)
    layers: Layers = []
    waiting = {node: len(parents[node]) for node in nodes}
    ready = [node for node in nodes if not waiting[node]]
    while ready:
        # Those with the longest way to go come first; others can wait.
        ready.sort(key=lambda node: (-depth[node], node))
        layer: list[int] = []
        used = 0.0
        while ready and (not layer or used + widths[ready[0]] <= limit):
            used += widths[ready[0]] + GAP
            layer.append(ready.pop(0))
        layers.append(layer)
        for node in layer:
            for child in dict.fromkeys(children[node]):
                waiting[child] -= 1
                if not waiting[child]:
                    ready.append(child)
    _lower_sources(layers, order, parents, children, widths, limit)
    return layers


def _lower_sources(
    layers: Layers,
    order: Sequence[int],
    parents: Mapping[int, set[int]],
    children: Mapping[int, list[int]],
    widths: Sequence[float],
    limit: float,
) -> None:
    """Move nodes with more children than parents down to just above their children.

    This shortens arcs. The first layer stays filled, and no layer gets too wide.
    """
    row_of = {node: row for row, layer in enumerate(layers) for node in layer}
    used = [sum(widths[node] + GAP for node in layer) for layer in layers]
    for node in reversed(order):
        if len(parents[node]) >= len(children[node]):
            continue
        start, width = row_of[node], widths[node] + GAP
        lowest = min(row_of[child] for child in children[node]) - 1
        for row in range(lowest, start, -1):
            if used[row] + width <= limit and len(layers[start]) > 1:
                layers[start].remove(node)
                layers[row].append(node)
                row_of[node] = row
                used[start] -= width
                used[row] += width
                break
