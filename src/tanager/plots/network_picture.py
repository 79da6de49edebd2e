"""`NetworkPicture`: the boxes, lines and notes of a drawing of a network."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tanager.plots.layered_layout import (
    HEIGHT,
    LAYER_GAP,
    Point,
    lay_out_graph,
)
from tanager.plots.svg import cut_middle, text_width
from tanager.types import Edge, FloatArray

PADDING = 16.0
"""Room at the left and right of a label in its box, both together."""

THIN, THICK = 1.0, 4.5
"""Width of the weakest and of the strongest arc."""

MAX_CLASS_ARCS = 20
"""Arcs of the class that are drawn; more of them would hide the others."""


@dataclass(frozen=True, eq=False)
class NetworkGraph:
    """What a drawing of a network needs to know.

    Parameters
    ----------
    names : tuple of str
        Names of the variables.
    arcs : tuple of (int, int)
        Parents and children, or pairs without a direction.
    target : int or None, default=None
        The class.
    strengths : ndarray of float64, shape (n_arcs,), or None, default=None
        Strength of every arc, not below zero; those of the class do not count.
    importances : ndarray of float64, shape (n_variables,), or None, default=None
        Importance of every variable, not below zero; that of the class does not count.
    directed : bool, default=True
        Whether arcs have a direction.
    measures : tuple of two str, default=("", "")
        What strength and importance measure, for the notes.

    Examples
    --------
    >>> graph = NetworkGraph(("x", "y", "class"), ((2, 0), (2, 1), (0, 1)), target=2)
    >>> graph.class_children
    (0, 1)
    >>> graph.feature_arcs
    ((0, 1),)
    """

    names: tuple[str, ...]
    arcs: tuple[Edge, ...]
    target: int | None = None
    strengths: FloatArray | None = None
    importances: FloatArray | None = None
    directed: bool = True
    measures: tuple[str, str] = ("", "")

    @cached_property
    def class_children(self) -> tuple[int, ...]:
        """Features below a class that is drawn apart from them; none if it is not.

        The class is drawn apart if it is a root and a parent of most features, as in
        naive Bayes and its augmentations.
        """
        if self.target is None or any(child == self.target for _, child in self.arcs):
            return ()
        children = tuple(child for parent, child in self.arcs if parent == self.target)
        return children if 2 * len(children) >= len(self.names) - 1 else ()

    @cached_property
    def feature_arcs(self) -> tuple[Edge, ...]:
        """The arcs that are laid out."""
        if not self.class_children:
            return self.arcs
        return tuple(arc for arc in self.arcs if arc[0] != self.target)

    @cached_property
    def relative_strengths(self) -> FloatArray:
        """Strengths of `feature_arcs` from 0 to 1, shape (n_feature_arcs,)."""
        if self.strengths is None:
            return np.full(len(self.feature_arcs), 0.25)
        by_arc = dict(zip(self.arcs, self.strengths.tolist(), strict=True))
        return _relative(np.array([by_arc[arc] for arc in self.feature_arcs]))


@dataclass(frozen=True)
class Box:
    """A variable: its centre, its width, its label, and 0 to 1 for its importance."""

    x: float
    y: float
    width: float
    label: str
    name: str
    importance: float | None = None
    is_class: bool = False


@dataclass(frozen=True)
class Line:
    """An arc: the points that it passes, and 0 to 1 for its strength."""

    points: tuple[Point, ...]
    strength: float
    arrow: bool
    name: str

    @property
    def width(self) -> float:
        """Width in pixels."""
        return THIN + (THICK - THIN) * self.strength


@dataclass(frozen=True)
class NetworkPicture:
    """A drawing of a network as a value; lengths are pixels, y runs downwards.

    Parameters
    ----------
    boxes : tuple of Box
        The variables.
    lines : tuple of Line
        The arcs.
    faded : tuple of ((x, y), (x, y))
        Arcs of the class.
    notes : tuple of str
        Lines of text below.
    width, height : float
        Size without the notes.

    Examples
    --------
    >>> graph = NetworkGraph(("x", "y", "class"), ((2, 0), (2, 1), (0, 1)), target=2)
    >>> picture = NetworkPicture.of(graph)
    >>> [box.label for box in picture.boxes], len(picture.lines), len(picture.faded)
    (['x', 'y', 'class'], 1, 2)
    """

    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    faded: tuple[tuple[Point, Point], ...]
    notes: tuple[str, ...] = field(default=())
    width: float = 0.0
    height: float = 0.0

    @classmethod
    def of(cls, graph: NetworkGraph) -> NetworkPicture:
        """Lay a graph out."""
        n_nodes = len(graph.names)
        longest = 26 if n_nodes <= 30 else 18 if n_nodes <= 120 else 14
        labels = [cut_middle(name, longest) for name in graph.names]
        widths = [text_width(label) + PADDING for label in labels]
        apart = bool(graph.class_children)
        nodes = [v for v in range(n_nodes) if not apart or v != graph.target]
        place = {v: k for k, v in enumerate(nodes)}
        layout = lay_out_graph(
            [widths[v] for v in nodes],
            [(place[a], place[b]) for a, b in graph.feature_arcs],
        )
        shift = HEIGHT + LAYER_GAP if apart else 0.0
        width = max(layout.width, max(widths, default=0.0))
        importances = _importances(graph)
        x, y = layout.x.tolist(), layout.y.tolist()
        boxes = []
        for v, (name, label) in enumerate(zip(graph.names, labels, strict=True)):
            at = (width / 2, HEIGHT / 2)
            if v in place:
                at = (x[place[v]], y[place[v]] + shift)
            is_class = v == graph.target
            importance = None if is_class else importances[v]
            boxes.append(Box(*at, widths[v], label, name, importance, is_class))
        joint = "→" if graph.directed else "—"
        lines = tuple(
            Line(
                tuple((across, down + shift) for across, down in route),
                float(strength),
                graph.directed,
                f"{graph.names[a]} {joint} {graph.names[b]}",
            )
            for (a, b), route, strength in zip(
                graph.feature_arcs,
                layout.routes,
                graph.relative_strengths,
                strict=True,
            )
        )
        faded: tuple[tuple[Point, Point], ...] = ()
        if apart and len(graph.class_children) <= MAX_CLASS_ARCS:
            faded = tuple(
                ((width / 2, HEIGHT), (boxes[v].x, boxes[v].y - HEIGHT / 2))
                for v in graph.class_children
            )
        notes = _notes(graph, drawn=bool(faded))
        return cls(tuple(boxes), lines, faded, notes, width, layout.height + shift)

    @property
    def label(self) -> str:
        """What is seen, in words."""
        return f"Network of {len(self.boxes)} variables and {len(self.lines)} arcs"


def _relative(values: FloatArray) -> FloatArray:
    highest = values.max(initial=0.0)
    return values / highest if highest > 0 else np.zeros(len(values))


def _importances(graph: NetworkGraph) -> list[float | None]:
    if graph.importances is None:
        return [None] * len(graph.names)
    values = graph.importances.copy()
    if graph.target is not None:
        values[graph.target] = 0.0
    return list(_relative(values).tolist())


def _notes(graph: NetworkGraph, *, drawn: bool) -> tuple[str, ...]:
    """What is not seen: arcs of the class, and what widths and bars mean."""
    notes = []
    if graph.class_children and graph.target is not None:
        n_features = len(graph.names) - 1
        n_children = len(graph.class_children)
        which = "every feature"
        if n_children < n_features:
            which = f"{n_children} of {n_features} features"
        how = "faded" if drawn else "not drawn"
        joined = "a parent of" if graph.directed else "joined with"
        name = cut_middle(graph.names[graph.target], 30)
        notes.append(f"{name} is {joined} {which} ({how}).")
    if graph.strengths is not None and graph.feature_arcs:
        kind = "arcs" if graph.directed else "lines"
        notes.append(f"Width of {kind}: {graph.measures[0]}.")
    if graph.importances is not None:
        notes.append(f"Bars in boxes: {graph.measures[1]}.")
    return tuple(notes)
