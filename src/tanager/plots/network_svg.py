"""Drawings of networks as SVG, without matplotlib."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from tanager.plots.layered_layout import HEIGHT, Point
from tanager.plots.network_picture import Box, Line, NetworkGraph, NetworkPicture
from tanager.plots.svg import Panel, element, number, text, text_width, title

HEAD = 6.0
"""Length of the head of an arrow."""

NOTE = 16.0
"""Height of a line of notes."""


def network_panel(graph: NetworkGraph) -> Panel:
    """Draw a network as SVG elements.

    Examples
    --------
    >>> panel = network_panel(NetworkGraph(("a", "b"), ((0, 1),)))
    >>> panel.label
    'Network of 2 variables and 1 arcs'
    """
    picture = NetworkPicture.of(graph)
    body = [
        element(
            "path",
            class_="tng-line",
            d=f"M{_point(start)}L{_point(end)}",
            stroke_opacity=0.28,
            stroke_width=0.8,
        )
        for start, end in picture.faded
    ]
    body += [
        element(
            "rect",
            class_="tng-line",
            x=frame.x - frame.width / 2,
            y=frame.y - frame.height / 2,
            width=frame.width,
            height=frame.height,
            rx=8.0,
            stroke_opacity=0.5,
        )
        for frame in picture.frames
    ]
    body += map(_line, picture.lines)
    body += map(_box, picture.boxes)
    top = picture.height + NOTE
    for k, note in enumerate(picture.notes):
        body.append(text(0, top + k * NOTE, note, kind="tng-faint tng-small"))
    width = max([picture.width, *map(text_width, picture.notes)])
    height = picture.height + (
        NOTE * (len(picture.notes) + 0.5) if picture.notes else 0
    )
    return Panel(width, height, "".join(body), picture.label)


def curve_segments(points: Sequence[Point]) -> Iterator[tuple[Point, Point, Point]]:
    """Yield the control points of cubic curves through points, vertical at each."""
    for (x, y), (next_x, next_y) in pairwise(points):
        middle = (y + next_y) / 2
        yield (x, middle), (next_x, middle), (next_x, next_y)


def line_end(line: Line) -> tuple[tuple[Point, ...], tuple[Point, ...]]:
    """Points of a line without its arrow head, and the corners of the head, if any."""
    if not line.arrow:
        return line.points, ()
    x, y = line.points[-1]
    half = HEAD / 2 + line.width / 4
    head = ((x - half, y - HEAD), (x + half, y - HEAD), (x, y))
    return (*line.points[:-1], (x, y - HEAD)), head


def line_opacity(line: Line) -> float:
    """Opacity of a line: weak ones are fainter."""
    return 0.45 + 0.5 * line.strength


def _point(point: Point) -> str:
    return f"{number(point[0])} {number(point[1])}"


def _line(line: Line) -> str:
    points, head = line_end(line)
    path = f"M{_point(points[0])}" + "".join(
        f"C{_point(one)} {_point(two)} {_point(end)}"
        for one, two, end in curve_segments(points)
    )
    drawing = element(
        "path", class_="tng-line", d=path, stroke_width=round(line.width, 2)
    )
    if head:
        corners = " ".join(f"{number(x)},{number(y)}" for x, y in head)
        drawing += element("polygon", class_="tng-head", points=corners)
    return element("g", title(line.name) + drawing, opacity=line_opacity(line))


def _box(box: Box) -> str:
    left, top = box.x - box.width / 2, box.y - HEIGHT / 2
    drawing = element(
        "rect",
        class_="tng-class" if box.is_class else "tng-node",
        x=left,
        y=top,
        width=box.width,
        height=HEIGHT,
        rx=6.0,
    )
    if box.importance:
        drawing += element(
            "rect",
            class_="tng-f0",
            x=left + 4,
            y=top + HEIGHT - 4,
            width=max((box.width - 8) * box.importance, 1.0),
            height=2.5,
            rx=1.0,
        )
    kind = "tng-ink tng-title" if box.is_class else "tng-ink"
    lift = 1.0 if box.importance else 0.0
    drawing += text(box.x, box.y - lift, box.label, kind=kind, anchor="middle")
    return element("g", title(box.name) + drawing)
