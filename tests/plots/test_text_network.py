"""Networks as text: lines join what they should, within the width."""

from __future__ import annotations

import numpy as np
import pytest

from tanager.plots.network_picture import NetworkGraph
from tanager.plots.text_network import network_text

ASIA = NetworkGraph(
    ("asia", "tub", "smoke", "lung", "bronc", "either", "xray", "dysp"),
    ((0, 1), (2, 3), (2, 4), (1, 5), (3, 5), (5, 6), (5, 7), (4, 7)),
)


def random_tree(n, seed):
    random = np.random.default_rng(seed)
    arcs = tuple((int(random.integers(0, child)), child) for child in range(1, n))
    return NetworkGraph(tuple(f"v{k:02d}" for k in range(n)), arcs)


MOVES = {
    "│": "ud", "─": "lr", "┘": "ul", "└": "ur", "┐": "dl", "┌": "dr", "┴": "ulr",
    "┬": "dlr", "┤": "udl", "├": "udr", "┼": "udlr", "▼": "ud",
}  # fmt: skip
STEPS = {"u": (-1, 0), "d": (1, 0), "l": (0, -1), "r": (0, 1)}


def drawn_arcs(text, names):
    """Pairs of boxes that lines join, from the bottom of one to the top of another.

    A horizontal line goes on behind a vertical one.
    """
    rows = text.split("\n")
    width = max(map(len, rows))
    cells = [row.ljust(width) for row in rows]
    boxes = {}
    for r, row in enumerate(cells):
        for name in names:
            c = row.find(f"│ {name} │")
            if c >= 0:
                for k in range(c, c + len(name) + 4):
                    boxes[r - 1, k] = boxes[r, k] = boxes[r + 1, k] = name
                boxes[name] = (r, c, len(name) + 4)
    found = set()
    for name in names:
        r, c, size = boxes[name]
        below = [
            (r + 2, k, "d")
            for k in range(c, c + size)
            if r + 2 < len(cells) and "u" in MOVES.get(cells[r + 2][k], "")
        ]
        seen = set(below)
        while below:
            row, column, _ = state = below.pop()
            if (row, column) in boxes:
                found.add((name, boxes[row, column]))
                continue
            came = {"u": "d", "d": "u", "l": "r", "r": "l"}[state[2]]
            mark = cells[row][column]
            open_ = set(MOVES.get(mark, "")) - {came}
            if mark == "│" and state[2] in "lr":
                open_ = {state[2]}
            for move in open_ - {"u"}:
                next_ = (row + STEPS[move][0], column + STEPS[move][1], move)
                if next_ not in seen:
                    seen.add(next_)
                    below.append(next_)
    return found


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("seed", range(4))
def test_lines_join_children_of_a_tree(width, seed):
    graph = random_tree(9, seed)
    text = network_text(graph, width=width)
    expected = {(graph.names[a], graph.names[b]) for a, b in graph.arcs}
    assert drawn_arcs(text, graph.names) == expected, text
    assert text.count("▼") == len(graph.arcs)


def test_every_variable_is_drawn_within_the_width():
    text = network_text(ASIA, width=60)
    assert all(f"│ {name} │" in text for name in ASIA.names)
    assert max(map(len, text.split("\n"))) <= 60


def test_characters_of_ascii():
    text = network_text(ASIA, ascii=True)
    assert text.isascii()
    assert text.count("v\n") or "v " in text
    assert "+------+" in text


def test_a_class_that_most_features_have_is_drawn_apart():
    arcs = ((2, 0), (2, 1), (0, 1))
    tan = NetworkGraph(("x", "y", "class"), arcs, target=2)
    text = network_text(tan)
    assert text.startswith("class is a parent of every feature.\n\n")
    assert "│ class │" not in text
    star = NetworkGraph(("x", "y", "class"), arcs[:2], target=2)
    assert "│ class │" in network_text(star)


def test_a_network_without_arcs_and_long_names():
    text = network_text(NetworkGraph(("a\nb", "x" * 60), ()))
    assert "│ a b │" in text
    assert max(map(len, text.split("\n"))) <= 80
