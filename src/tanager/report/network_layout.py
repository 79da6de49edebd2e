"""Where a page draws the variables and arcs of a network."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tanager.network import AnyNetwork
from tanager.plots import NetworkGraph, lay_out_graph
from tanager.plots.layered_layout import LAYER_GAP

FIRST_NODES = 40
"""Features that are shown first, the most important; a second drawing has all."""

NODE_WIDTH, NODE_HEIGHT = 124.0, 30.0
"""Size of a node; `page/graph_view.js` draws it."""


def describe_layouts(network: AnyNetwork) -> dict[str, Any]:
    """Header entries: one drawing, or that of the most important features and of all.

    The layout is that of `tanager.plots`.
    """
    graph = network.graph
    features = [v for v in range(len(graph.names)) if v != graph.target]
    importances = np.zeros(len(graph.names))
    if graph.importances is not None:
        importances = graph.importances
    ranked = sorted(features, key=lambda v: -importances[v])
    drawings = [features]
    if len(features) > FIRST_NODES:
        drawings = [sorted(ranked[:FIRST_NODES]), features]
    return {
        "ranked": ranked,
        "layouts": [_draw(_restrict(graph, members)) for members in drawings],
        "arc_measure": graph.measures[0],
    }


def _restrict(
    graph: NetworkGraph, members: list[int]
) -> tuple[NetworkGraph, list[int]]:
    """The graph of some features and the class, and the positions of its variables."""
    kept = members if graph.target is None else [*members, graph.target]
    place = {v: k for k, v in enumerate(kept)}
    chosen = [k for k, arc in enumerate(graph.arcs) if set(arc) <= set(place)]
    arcs = tuple((place[graph.arcs[k][0]], place[graph.arcs[k][1]]) for k in chosen)
    small = replace(
        graph,
        names=tuple(graph.names[v] for v in kept),
        arcs=arcs,
        target=None if graph.target is None else place[graph.target],
        strengths=None if graph.strengths is None else graph.strengths[chosen],
        importances=None,
    )
    return small, kept


def _draw(found: tuple[NetworkGraph, list[int]]) -> dict[str, Any]:
    """Places of nodes, routes of arcs, and the features below a class drawn apart."""
    graph, kept = found
    is_apart = bool(graph.class_children)
    laid = [k for k in range(len(kept)) if not (is_apart and k == graph.target)]
    place = {k: i for i, k in enumerate(laid)}
    arcs = graph.strongest_arcs
    layout = lay_out_graph(
        [NODE_WIDTH] * len(laid),
        [(place[a], place[b]) for a, b in arcs],
        heights=[NODE_HEIGHT] * len(laid),
    )
    shift = NODE_HEIGHT + LAYER_GAP if is_apart else 0.0
    nodes = [
        [kept[k], round(x), round(y + shift)]
        for k, x, y in zip(laid, layout.x.tolist(), layout.y.tolist(), strict=True)
    ]
    if is_apart and graph.target is not None:
        nodes.append([kept[graph.target], round(layout.width / 2), NODE_HEIGHT / 2])
    return {
        "nodes": nodes,
        "arcs": [
            [
                kept[a],
                kept[b],
                round(strength, 2),
                [round(c) for x, y in route for c in (x, y + shift)],
            ]
            for (a, b), strength, route in zip(
                arcs, graph.relative_strengths(arcs), layout.routes, strict=True
            )
        ],
        "class_children": [kept[k] for k in graph.class_children],
        "n_arcs": len(graph.feature_arcs),
    }
