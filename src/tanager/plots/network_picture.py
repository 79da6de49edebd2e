"""`NetworkPicture`: the boxes, lines and notes of a drawing of a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, sqrt

import numpy as np

from tanager.plots.layered_layout import (
    HEIGHT,
    LAYER_GAP,
    Point,
    lay_out_graph,
)
from tanager.plots.svg import cut_labels, cut_middle, text_width
from tanager.types import Edge, FloatArray

PADDING = 16.0
"""Room at the left and right of a label in its box, both together."""

THIN, THICK = 1.0, 4.5
"""Width of the weakest and of the strongest arc."""

MAX_CLASS_ARCS = 20
"""Arcs of the class that are drawn; more of them would hide the others."""

MAX_UNGROUPED = 40
"""Variables up to which every arc is drawn to its own child."""

MIN_GROUP = 5
"""Children of one parent alone, without children, that share a frame and an arc."""

ROW, INSET = HEIGHT + 5.0, 6.0
"""Height of a row in a frame, and the room around its boxes."""


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
    def strongest_arcs(self) -> tuple[Edge, ...]:
        """The arcs that are drawn: all, or the strongest ones where there are many."""
        per_node, least = (1.3, 120) if self.directed else (0.75, 45)
        limit = max(least, int(per_node * len(self.names)))
        arcs = self.feature_arcs
        if len(arcs) <= limit or self.strengths is None:
            return arcs
        strengths = np.array([self._strength_of[arc] for arc in arcs])
        order = np.argsort(-strengths, kind="stable")[:limit]
        return tuple(arcs[k] for k in np.sort(order))

    def relative_strengths(self, arcs: Sequence[Edge]) -> list[float]:
        """Strengths of some arcs from 0 to 1."""
        if self.strengths is None:
            return [0.25] * len(arcs)
        values = np.array([self._strength_of[arc] for arc in arcs], dtype=np.float64)
        return list(_relative(values).tolist())

    @cached_property
    def _strength_of(self) -> dict[Edge, float]:
        if self.strengths is None:
            return {}
        return dict(zip(self.arcs, self.strengths.tolist(), strict=True))


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
class Frame:
    """A rectangle around some boxes: its centre and size."""

    x: float
    y: float
    width: float
    height: float


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
    frames : tuple of Frame
        Around children of one parent alone that have no children themselves.
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
    frames: tuple[Frame, ...]
    notes: tuple[str, ...]
    width: float
    height: float

    @classmethod
    def of(cls, graph: NetworkGraph) -> NetworkPicture:
        """Lay a graph out."""
        n_nodes = len(graph.names)
        longest = 26 if n_nodes <= 60 else 18 if n_nodes <= 120 else 14
        labels = cut_labels(graph.names, longest)
        widths = [text_width(label) + PADDING for label in labels]
        apart = bool(graph.class_children)
        kept = graph.strongest_arcs
        groups = _group_leaves(graph, kept, widths) if n_nodes > MAX_UNGROUPED else []
        member_of = {v: group for group in groups for v in group.members}
        alone = [
            v
            for v in range(n_nodes)
            if v not in member_of and not (apart and v == graph.target)
        ]
        place = {v: k for k, v in enumerate(alone)}
        place |= {v: len(alone) + k for k, g in enumerate(groups) for v in g.members}
        arcs: dict[Edge, list[int]] = {}
        for k, (parent, child) in enumerate(kept):
            arcs.setdefault((place[parent], place[child]), []).append(k)
        layout = lay_out_graph(
            [*(widths[v] for v in alone), *(group.width for group in groups)],
            list(arcs),
            heights=[*(HEIGHT for _ in alone), *(group.height for group in groups)],
        )
        shift = HEIGHT + LAYER_GAP if apart else 0.0
        width = max(layout.width, max(widths, default=0.0))
        x, y = layout.x.tolist(), (layout.y + shift).tolist()
        importances = _importances(graph)
        boxes = []
        for v, (name, label) in enumerate(zip(graph.names, labels, strict=True)):
            at = (width / 2, HEIGHT / 2)
            if v in place:
                at = (x[place[v]], y[place[v]])
            if v in member_of:
                at = member_of[v].place(v, *at)
            is_class = v == graph.target
            importance = None if is_class else importances[v]
            boxes.append(Box(*at, widths[v], label, name, importance, is_class))
        strengths = graph.relative_strengths(kept)
        lines = tuple(
            Line(
                tuple((across, down + shift) for across, down in route),
                max(strengths[k] for k in which),
                graph.directed,
                _line_name(graph, [kept[k] for k in which]),
            )
            for which, route in zip(arcs.values(), layout.routes, strict=True)
        )
        frames = tuple(
            Frame(x[k], y[k], group.width, group.height)
            for k, group in enumerate(groups, len(alone))
        )
        faded: tuple[tuple[Point, Point], ...] = ()
        if apart and len(graph.class_children) <= MAX_CLASS_ARCS:
            faded = tuple(
                ((width / 2, HEIGHT), (boxes[v].x, boxes[v].y - HEIGHT / 2))
                for v in graph.class_children
            )
        notes = _notes(graph, len(kept), drawn=bool(faded), framed=bool(frames))
        return cls(
            tuple(boxes), lines, faded, frames, notes, width, layout.height + shift
        )

    @property
    def label(self) -> str:
        """What is seen, in words."""
        return f"Network of {len(self.boxes)} variables and {len(self.lines)} arcs"


@dataclass(frozen=True)
class _Group:
    """Features that share a frame, in rows of `n_columns` cells."""

    members: tuple[int, ...]
    cell: float
    n_columns: int

    @property
    def width(self) -> float:
        return self.n_columns * self.cell + 2 * INSET - 5.0

    @property
    def height(self) -> float:
        return ceil(len(self.members) / self.n_columns) * ROW + 2 * INSET - 5.0

    def place(self, variable: int, x: float, y: float) -> Point:
        """Centre of a member's box in the frame around (x, y)."""
        row, column = divmod(self.members.index(variable), self.n_columns)
        left, top = x - self.width / 2 + INSET, y - self.height / 2 + INSET
        across = left + column * self.cell + (self.cell - 5.0) / 2
        return across, top + row * ROW + HEIGHT / 2


def _group_leaves(
    graph: NetworkGraph, arcs: Sequence[Edge], widths: Sequence[float]
) -> list[_Group]:
    """Group the children of one parent alone that have no children themselves."""
    parents: dict[int, list[int]] = {}
    for parent, child in arcs:
        parents.setdefault(child, []).append(parent)
    has_children = {parent for parent, _ in arcs}
    leaves: dict[int, list[int]] = {}
    for child in sorted(parents):
        if (
            len(parents[child]) == 1
            and child not in has_children
            and child != graph.target
        ):
            leaves.setdefault(parents[child][0], []).append(child)
    groups = []
    for members in leaves.values():
        if len(members) >= MIN_GROUP:
            cell = max(widths[v] for v in members) + 5.0
            n_columns = max(2, round(sqrt(1.6 * len(members) * ROW / cell)))
            groups.append(_Group(tuple(members), cell, n_columns))
    return groups


def _line_name(graph: NetworkGraph, arcs: Sequence[Edge]) -> str:
    """What a line joins: two variables, or a parent and several children."""
    joint = "→" if graph.directed else "—"
    below = graph.names[arcs[0][1]] if len(arcs) == 1 else f"{len(arcs)} features"
    return f"{graph.names[arcs[0][0]]} {joint} {below}"


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


def _notes(
    graph: NetworkGraph, n_lines: int, *, drawn: bool, framed: bool
) -> tuple[str, ...]:
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
    kind = "arcs" if graph.directed else "lines"
    n_arcs = len(graph.feature_arcs)
    if n_lines < n_arcs:
        notes.append(f"The strongest {n_lines:,} of {n_arcs:,} {kind} are drawn.")
    if framed:
        end = "arc to its frame" if graph.directed else "line to its frame"
        notes.append(f"Features in a frame are joined with the start of the {end}.")
    if graph.strengths is not None and graph.feature_arcs:
        notes.append(f"Width of {kind}: {graph.measures[0]}.")
    if graph.importances is not None:
        notes.append(f"Bars in boxes: {graph.measures[1]}.")
    return tuple(notes)
