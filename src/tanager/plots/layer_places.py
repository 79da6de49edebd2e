"""Places of the nodes along their layers: near their neighbours, and apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from tanager.plots.layer_order import Layers

GAP = 14.0
"""Least distance of two nodes of a layer."""

SWEEPS = 10
"""Passes that move the nodes towards their neighbours."""

STRAIGHT = 4.0
"""Weight of bends of arcs, in units of that of nodes: long arcs should be straight."""


def assign_places(
    layers: Layers,
    size: Mapping[int, float],
    above: Mapping[int, list[int]],
    below: Mapping[int, list[int]],
    n_nodes: int,
    limit: float,
) -> dict[int, float]:
    """Places along x: near the neighbours, in order, and apart."""
    x: dict[int, float] = {}
    apart: list[list[float]] = []
    for layer in layers:
        distances = [
            (size[one] + size[other]) / 2 + _distance(one, other, n_nodes)
            for one, other in pairwise(layer)
        ]
        apart.append(distances)
        place = -sum(distances) / 2
        for node, distance in zip(layer, [*distances, 0.0], strict=True):
            x[node] = place
            place += distance
    # Straight arcs would make the drawing wider and wider.
    wanted_width = max(limit, max(map(sum, apart)))

    def move(row: int, *neighbours: Mapping[int, list[int]]) -> None:
        wanted, weights = [], []
        shrink = min(1.0, wanted_width / (max(x.values()) - min(x.values()) or 1.0))
        for node in layers[row]:
            others = [other for near in neighbours for other in near.get(node, ())]
            mean = sum(x[other] for other in others) / max(len(others), 1)
            wanted.append(shrink * (mean if others else x[node]))
            weights.append((STRAIGHT if node >= n_nodes else 1.0) if others else 0.05)
        places = fit_places(wanted, weights, apart[row])
        x.update(zip(layers[row], places, strict=True))

    rows = range(len(layers))
    for _ in range(SWEEPS):
        for row in rows:
            move(row, above)
        for row in reversed(rows):
            move(row, below)
    for row in reversed(rows):
        move(row, above, below)
    first = min(x[node] - size[node] / 2 for node in x)
    return {node: place - first for node, place in x.items()}


def _distance(one: int, other: int, n_nodes: int) -> float:
    """Least distance of two neighbours of a layer: bends may be near each other."""
    return 2.0 if one >= n_nodes and other >= n_nodes else GAP


def fit_places(
    wanted: Sequence[float], weights: Sequence[float], apart: Sequence[float]
) -> list[float]:
    """Places near wanted ones, in order, neighbours at least `apart`.

    Least squares: the pool-adjacent-violators algorithm on the places minus the least
    distances before them.

    Examples
    --------
    >>> fit_places([0.0, 0.0], [1.0, 1.0], [10.0])
    [-5.0, 5.0]
    """
    before = [0.0]
    for distance in apart:
        before.append(before[-1] + distance)
    # Pools: mean place, weight, number of members.
    pools: list[tuple[float, float, int]] = []
    for goal, weight, start in zip(wanted, weights, before, strict=True):
        pool = (goal - start, weight, 1)
        while pools and pools[-1][0] >= pool[0]:
            mean, heavy, count = pools.pop()
            total = heavy + pool[1]
            middle = (mean * heavy + pool[0] * pool[1]) / total
            pool = (middle, total, count + pool[2])
        pools.append(pool)
    means = [mean for mean, _, count in pools for _ in range(count)]
    return [mean + start for mean, start in zip(means, before, strict=True)]
