"""A network as text: boxes in layers, joined by lines of box-drawing characters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from tanager.plots.layered_layout import GraphLayout, lay_out_graph
from tanager.plots.network_picture import NetworkGraph
from tanager.utils.text import escape_controls, one_line, shorten

CELL = 8.0
"""Pixels of the layout for the width of a character."""

BOX = 3
"""Lines of a box."""

MAX_NAME = 24
"""Characters of a name in a box."""

NARROWER = (1.0, 0.8, 0.6, 0.4)
"""Fractions of the width that are tried, as bends need room besides the boxes."""

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
_LINES = {
    0: " ", UP: "│", DOWN: "│", UP | DOWN: "│",
    LEFT: "─", RIGHT: "─", LEFT | RIGHT: "─",
    UP | LEFT: "┘", UP | RIGHT: "└", DOWN | LEFT: "┐", DOWN | RIGHT: "┌",
    UP | LEFT | RIGHT: "┴", DOWN | LEFT | RIGHT: "┬", UP | DOWN | LEFT: "┤",
    UP | DOWN | RIGHT: "├", UP | DOWN | LEFT | RIGHT: "┼",
}  # fmt: skip
"""Characters by the directions in which lines leave them."""

_PLAIN = str.maketrans("│─┘└┐┌┴┬┤├┼▼", "|-+++++++++v")
"""Characters for terminals without Unicode."""

Bus = tuple[int, tuple[int, ...]]
"""Lines between two layers from one column above to some below."""


def network_text(graph: NetworkGraph, *, width: int = 80, ascii: bool = False) -> str:
    """Draw a network as text.

    Parameters
    ----------
    graph : NetworkGraph
        What is drawn. A class that is a parent of most features is drawn apart, without
        lines, if there are other arcs.
    width : int, default=80
        Characters of a line. More are taken where the network needs them.
    ascii : bool, default=False
        Whether only characters of ASCII are used.

    Returns
    -------
    str
        Parents are above their children.

    Examples
    --------
    >>> graph = NetworkGraph(("rain", "wet", "slow"), ((0, 1), (0, 2)))
    >>> print(network_text(graph, ascii=True))
         +------+
         | rain |
         +------+
             |
        +----+----+
        v         v
     +-----+  +------+
     | wet |  | slow |
     +-----+  +------+
    """
    names = [shorten(escape_controls(one_line(name)), MAX_NAME) for name in graph.names]
    apart = bool(graph.class_children) and bool(graph.feature_arcs)
    arcs = graph.strongest_arcs if apart or not graph.class_children else graph.arcs
    nodes = [v for v in range(len(names)) if not (apart and v == graph.target)]
    place = {v: k for k, v in enumerate(nodes)}
    arcs = tuple((place[parent], place[child]) for parent, child in arcs)
    labels = [names[v] for v in nodes]
    sizes = [CELL * (len(label) + 5) for label in labels]
    lines: list[str] = []
    for factor in NARROWER:
        layout = lay_out_graph(sizes, arcs, max_width=CELL * width * factor)
        drawn = _draw(labels, layout, arcs, directed=graph.directed)
        if not lines or _width(drawn) < _width(lines):
            lines = drawn
        if _width(lines) <= width:
            break
    if apart:
        assert graph.target is not None
        name, total = names[graph.target], len(graph.class_children)
        which = "every feature" if total == len(names) - 1 else f"{total} features"
        joined = "a parent of" if graph.directed else "joined with"
        lines = [f"{name} is {joined} {which}.", "", *lines]
    left_out = len(graph.feature_arcs) - len(arcs)
    if left_out > 0:
        lines += ["", f"{left_out:,} weaker arcs are not drawn."]
    text = "\n".join(lines)
    return text.translate(_PLAIN) if ascii else text


def _width(lines: Sequence[str]) -> int:
    return max(map(len, lines), default=0)


def _draw(
    labels: Sequence[str],
    layout: GraphLayout,
    arcs: Sequence[tuple[int, int]],
    *,
    directed: bool,
) -> list[str]:
    """Boxes at the columns of a layout, and channels of lines between the layers."""
    levels = sorted(set(layout.y.tolist()))
    layer = [levels.index(y) for y in layout.y.tolist()]
    centre = [round(x / CELL) for x in layout.x.tolist()]
    left = [c - (len(label) + 4) // 2 for c, label in zip(centre, labels, strict=True)]
    shift = -min(0, *left)
    centre, left = [c + shift for c in centre], [c + shift for c in left]
    # Columns that every arc has in the layers from its parent to its child.
    chains: list[list[int]] = []
    for (parent, child), route in zip(arcs, layout.routes, strict=True):
        n_bends = layer[child] - layer[parent] - 1
        bends = [round(x / CELL) + shift for x, _ in route[-1 - 2 * n_bends : -1 : 2]]
        chains.append([centre[parent], *bends, centre[child]])
    passing: list[set[int]] = [set() for _ in levels]
    buses: list[dict[int, list[int]]] = [{} for _ in levels]
    heads: list[set[int]] = [set() for _ in levels]
    for (parent, child), chain in zip(arcs, chains, strict=True):
        for level, (above, below) in enumerate(pairwise(chain), layer[parent]):
            buses[level].setdefault(above, []).append(below)
            if level + 1 < layer[child]:
                passing[level + 1].add(below)
            else:
                heads[level].add(below)
    right = max(a + len(label) + 4 for a, label in zip(left, labels, strict=True))
    right = max([right, *(column + 1 for chain in chains for column in chain)])
    lines: list[str] = []
    for level in range(len(levels)):
        rows = [[" "] * right for _ in range(BOX)]
        for column in passing[level]:
            for row in rows:
                row[column] = "│"
        for node, label in enumerate(labels):
            if layer[node] == level:
                edge = "─" * (len(label) + 2)
                for row, text in zip(
                    rows, (f"┌{edge}┐", f"│ {label} │", f"└{edge}┘"), strict=True
                ):
                    row[left[node] : left[node] + len(text)] = text
        lines += ["".join(row).rstrip() for row in rows]
        if level + 1 < len(levels):
            given = {above: tuple(below) for above, below in buses[level].items()}
            lines += _channel(given, heads[level] if directed else set(), right)
    return lines


def _channel(
    buses: dict[int, tuple[int, ...]], heads: set[int], width: int
) -> list[str]:
    """Lines between two layers: every bus has a row of its own where it meets others.

    Where lines of two buses cross, the vertical one is drawn. `heads` are the columns
    at the bottom that end in an arrow.
    """
    if not buses:
        return [""]
    rows = _assign_rows(buses)
    n_rows = max(rows.values()) + 1
    canvas = [[0] * width for _ in range(n_rows + 2)]
    passes: set[tuple[int, int]] = set()  # where a line passes that of another bus
    for above, below in buses.items():
        row = rows[above] + 1
        for r in range(row):
            _join(canvas, r, above)
        first, last = min(above, *below), max(above, *below)
        for column in range(first, last):
            canvas[row][column] |= RIGHT
            canvas[row][column + 1] |= LEFT
        passes |= {(row, c) for c in range(first, last + 1)} - {
            (row, c) for c in (above, *below)
        }
        for column in below:
            for r in range(row, n_rows + 1):
                _join(canvas, r, column)
    text = [[_LINES[cell] for cell in row] for row in canvas]
    for r, column in passes:
        if canvas[r][column] & (UP | DOWN):
            text[r][column] = "│"
    for column in heads:
        text[-1][column] = "▼"
    return ["".join(row).rstrip() for row in text]


def _join(canvas: list[list[int]], row: int, column: int) -> None:
    """Draw a line from a row down to the next one."""
    canvas[row][column] |= DOWN
    canvas[row + 1][column] |= UP


def _assign_rows(buses: dict[int, tuple[int, ...]]) -> dict[int, int]:
    """Rows of the horizontal lines, so that no two of them touch.

    A bus that starts in the column in which another ends is above it, where that is
    possible: its line down would else run into the other's.
    """
    span = {a: (min(a, *below), max(a, *below)) for a, below in buses.items()}
    ends = {column for below in buses.values() for column in below}
    order = sorted(buses, key=lambda a: (a not in ends - set(buses[a]), span[a]))
    rows: dict[int, int] = {}
    for above in order:
        taken = {
            rows[other]
            for other in rows
            if span[other][0] <= span[above][1] and span[above][0] <= span[other][1]
        }
        rows[above] = next(row for row in range(len(buses)) if row not in taken)
    return rows
