"""Drawings of structures and of the steps of their learners."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from matplotlib import pyplot as plt
from matplotlib.patches import Circle, FancyArrowPatch

from lab.illustrations.style import INK

CHOSEN = "#0072b2"
CLASS = "#d55e00"
RADIUS = 0.2
Point = tuple[float, float]
Arc = tuple[str, str]

ROW: Mapping[str, Point] = {
    "C": (1.5, 1.1),
    "1": (0.0, 0.0),
    "2": (1.0, 0.0),
    "3": (2.0, 0.0),
    "4": (3.0, 0.0),
}
"""The class above four features."""

SQUARE: Mapping[str, Point] = {
    "1": (0.0, 1.0),
    "2": (1.5, 1.0),
    "3": (0.0, 0.0),
    "4": (1.5, 0.0),
}
"""Four features alone."""


class Panel:
    """One drawing of nodes and arcs.

    Parameters
    ----------
    axis : matplotlib Axes
        Where to draw.
    nodes : mapping of str to (x, y)
        Places of the nodes; "C" is the class, the others are features.
    """

    def __init__(self, axis: Any, nodes: Mapping[str, Point] = ROW) -> None:
        self.axis = axis
        self.nodes = nodes
        axis.set_aspect("equal")
        axis.axis("off")
        for name, place in nodes.items():
            colour = CLASS if name == "C" else INK
            axis.add_patch(
                Circle(place, RADIUS, fill=False, edgecolor=colour, linewidth=1.3)
            )
            label = "C" if name == "C" else rf"$X_{name}$"
            axis.text(*place, label, ha="center", va="center", color=colour, fontsize=9)
        xs, ys = zip(*nodes.values(), strict=True)
        axis.set_xlim(min(xs) - 0.5, max(xs) + 0.5)
        axis.set_ylim(min(ys) - (1.1 if "C" in nodes else 0.5), max(ys) + 0.3)

    def class_arcs(self) -> Panel:
        """Thin arcs from the class to every feature."""
        for name in self.nodes:
            if name != "C":
                self.arc("C", name, color=CLASS, linewidth=0.7, alpha=0.7)
        return self

    def arcs(self, arcs: Iterable[Arc], bend: float = 0.0, **style: Any) -> Panel:
        """Arcs between features."""
        for parent, child in arcs:
            self.arc(parent, child, bend, **style)
        return self

    def arc(self, parent: str, child: str, bend: float = 0.0, **style: Any) -> None:
        """An arc; a positive bend lets it go below the features, left to right."""
        style = {"color": CHOSEN, "linewidth": 1.8, "arrowstyle": "-|>"} | style
        self.axis.add_patch(
            FancyArrowPatch(
                self.nodes[parent],
                self.nodes[child],
                mutation_scale=9,
                connectionstyle=f"arc3,rad={bend}",
                shrinkA=13,
                shrinkB=13,
                **style,
            )
        )

    def note(self, text: str, place: Point, **style: Any) -> None:
        """A few words."""
        style = {"ha": "center", "va": "center", "fontsize": 8} | style
        self.axis.text(*place, text, **style)


CANDIDATE: dict[str, Any] = {"color": INK, "linewidth": 1.0, "linestyle": (0, (3, 2))}
"""How an arc that is only considered looks."""


def _panels(titles: Iterable[str], nodes: Mapping[str, Point] = ROW) -> Any:
    titles = list(titles)
    figure, axes = plt.subplots(
        1, len(titles), figsize=(2.7 * len(titles), 1.75), squeeze=False
    )
    panels = []
    for axis, title in zip(axes[0], titles, strict=True):
        panels.append(Panel(axis, nodes))
        if title:
            axis.set_title(title, fontsize=9)
    return figure, panels


def naive_bayes() -> Any:
    """The class alone is a parent."""
    figure, (panel,) = _panels([""])
    panel.class_arcs()
    return figure


def tree() -> Any:
    """One feature parent each, and what the weights of a spanning tree are."""
    figure, (weights, found) = _panels(["information of pairs", "tree"])
    weights.class_arcs()
    for (one, other), width, bend in (
        (("1", "2"), 3.2, 0.0),
        (("2", "3"), 2.2, 0.0),
        (("3", "4"), 0.6, 0.0),
        (("2", "4"), 2.6, 0.35),
        (("1", "3"), 0.9, 0.55),
    ):
        weights.arc(
            one, other, bend, color=INK, linewidth=width, arrowstyle="-", alpha=0.8
        )
    found.class_arcs().arcs([("1", "2"), ("2", "3")]).arcs([("2", "4")], 0.4)
    return figure


def k_tree() -> Any:
    """Two feature parents."""
    figure, (panel,) = _panels([""])
    panel.class_arcs().arcs([("1", "2"), ("2", "3"), ("3", "4")])
    panel.arcs([("1", "3"), ("2", "4")], 0.45)
    return figure


def greedy() -> Any:
    """All arcs that may be added are compared, one is."""
    figure, (first, second) = _panels(
        ["candidates", "the best one, then again"], SQUARE
    )
    pairs = [(a, b) for a in "1234" for b in "1234" if a != b]
    first.arcs(pairs, 0.13, **CANDIDATE)
    # X4 has its parent now, and an arc back would close a cycle.
    left = [(a, b) for a, b in pairs if b != "4" and (a, b) != ("4", "3")]
    second.arcs(left, 0.13, **CANDIDATE).arcs([("3", "4")])
    return figure


def superparent() -> Any:
    """First a parent of all, then the child that gains most by it."""
    figure, (first, second) = _panels(["the best parent of all", "its best child"])
    first.arcs([("2", "1"), ("2", "3")], **CANDIDATE)
    first.arcs([("2", "4")], 0.4, **CANDIDATE)
    second.arcs([("2", "4")], 0.4)
    for panel in (first, second):
        panel.class_arcs()
    return figure


def order() -> Any:
    """Parents come from the features before."""
    figure, (panel,) = _panels([""])
    panel.class_arcs().arcs([("1", "2")])
    panel.arcs([("1", "3")], 0.45)
    panel.arcs([("3", "4")], **CANDIDATE)
    panel.arcs([("1", "4"), ("2", "4")], 0.45, **CANDIDATE)
    panel.note("order of the features", (1.5, -0.95))
    return figure


def kdb() -> Any:
    """The k earlier features that are nearest."""
    figure, (panel,) = _panels([""])
    panel.class_arcs().arcs([("1", "2"), ("2", "3"), ("3", "4")])
    panel.arcs([("1", "3"), ("1", "4")], 0.45)
    panel.note("information about the class falls", (1.5, -0.95))
    return figure


def residual() -> Any:
    """A tree grown in stages by the residuals of the current model."""
    figure, (first, second, third) = _panels(
        ["residuals of naive Bayes", "fit, residuals again", "tree"]
    )
    plain: dict[str, Any] = {"color": INK, "arrowstyle": "-", "alpha": 0.8}
    first.arc("1", "2", linewidth=1.2, **plain)
    first.arc("2", "3", linewidth=2.4, **plain)
    first.arc("2", "4", 0.4, linewidth=3.4, **plain)
    second.arc("2", "4", 0.4, arrowstyle="-")
    second.arc("1", "2", linewidth=2.8, **plain)
    second.arc("2", "3", linewidth=0.7, **plain)
    second.arc("1", "3", 0.5, linewidth=1.6, **plain)
    third.arcs([("1", "2")]).arcs([("2", "4")], 0.4).arcs([("1", "3")], 0.5)
    for panel in (first, second, third):
        panel.class_arcs()
    return figure


DRAWINGS = {
    "naive-bayes": naive_bayes,
    "tree": tree,
    "k-tree": k_tree,
    "greedy": greedy,
    "superparent": superparent,
    "order": order,
    "kdb": kdb,
    "residual": residual,
}
"""All drawings by name."""
