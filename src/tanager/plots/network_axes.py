"""Drawings of networks with matplotlib."""

from __future__ import annotations

from typing import Any

from tanager.plots.layered_layout import HEIGHT
from tanager.plots.network_picture import Box, Line, NetworkGraph, NetworkPicture
from tanager.plots.network_svg import NOTE, curve_segments, line_end, line_opacity
from tanager.plots.style import AGAINST, FOR, GREY, ink, make_axes, set_texts
from tanager.plots.svg import FONT, text_width

INCH = 100.0
"""Pixels of a picture in an inch of a figure."""

MARGIN = 10.0
"""Pixels around a picture."""


def draw_network(
    graph: NetworkGraph, *, title: str | None = None, ax: Any = None
) -> Any:
    """Draw a network by the layered layout.

    Parameters
    ----------
    graph : NetworkGraph
        Names, arcs and their strengths.
    title : str or None, default=None
        Text above.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a figure of the right size. In given axes, labels
        become smaller with the drawing.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        If matplotlib is not installed.

    Examples
    --------
    >>> graph = NetworkGraph(("a", "b"), ((0, 1),))
    >>> draw_network(graph)  # doctest: +SKIP
    <Axes: >
    """
    picture = NetworkPicture.of(graph)
    width, height = picture_size(picture)
    ax = make_axes(ax, width / INCH, height / INCH)
    ax.set(xlim=(-MARGIN, width - MARGIN), ylim=(height - MARGIN, -MARGIN))
    ax.set_aspect("equal")
    ax.set_axis_off()
    frame = ax.get_window_extent()
    # Points of the figure in a pixel of the picture.
    scale = min(frame.width / width, frame.height / height) * 72 / ax.figure.dpi
    for start, end in picture.faded:
        xs, ys = zip(start, end, strict=True)
        ax.plot(xs, ys, color=ink(ax), linewidth=0.8 * scale, alpha=0.2, zorder=1)
    for frame in picture.frames:
        style = {"facecolor": "none", "edgecolor": ink(ax), "alpha": 0.5, "zorder": 1}
        size = frame.width, frame.height
        _draw_rectangle(ax, frame.x, frame.y, *size, 0.8 * scale, **style)
    for line in picture.lines:
        _draw_line(ax, line, scale)
    for box in picture.boxes:
        _draw_box(ax, box, scale)
    for k, note in enumerate(picture.notes):
        _write(
            ax, 0.0, picture.height + NOTE * (k + 1), note, 0.9 * scale, "left", 0.75
        )
    set_texts(ax, title=title, xlabel=None, ylabel=None)
    return ax


def picture_size(picture: NetworkPicture) -> tuple[float, float]:
    """Width and height of a picture with its notes and margins, in pixels."""
    notes = NOTE * (len(picture.notes) + 0.5) if picture.notes else 0.0
    width = max([picture.width, *map(text_width, picture.notes)])
    return width + 2 * MARGIN, picture.height + notes + 2 * MARGIN


def fill_figure(figure: Any, graph: NetworkGraph) -> None:
    """Draw a network on an empty figure and set its size."""
    width, height = picture_size(NetworkPicture.of(graph))
    figure.set_size_inches(width / INCH, height / INCH)
    draw_network(graph, ax=figure.add_axes((0, 0, 1, 1)))


def _draw_line(ax: Any, line: Line, scale: float) -> None:
    from matplotlib.patches import PathPatch, Polygon
    from matplotlib.path import Path

    points, head = line_end(line)
    vertices, codes = [points[0]], [Path.MOVETO]
    for segment in curve_segments(points):
        vertices += segment
        codes += [Path.CURVE4] * 3
    style: dict[str, Any] = {"alpha": line_opacity(line), "zorder": 2}
    path = Path(vertices, codes)
    ax.add_patch(
        PathPatch(path, fill=False, edgecolor=GREY, linewidth=line.width * scale,
                  capstyle="butt", **style)
    )  # fmt: skip
    if head:
        ax.add_patch(Polygon(head, facecolor=GREY, linewidth=0, **style))


def _draw_box(ax: Any, box: Box, scale: float) -> None:
    from matplotlib.patches import Rectangle

    _draw_rectangle(
        ax,
        box.x,
        box.y,
        box.width,
        HEIGHT,
        (2.0 if box.is_class else 0.8) * scale,
        facecolor=ax.figure.get_facecolor(),
        edgecolor=AGAINST if box.is_class else ink(ax),
        zorder=3,
    )
    if box.importance:
        length = max((box.width - 8) * box.importance, 1.0)
        corner = (box.x - box.width / 2 + 4, box.y + HEIGHT / 2 - 4)
        ax.add_patch(
            Rectangle(corner, length, 2.5, facecolor=FOR, linewidth=0, zorder=4)
        )
    lift = 1.0 if box.importance else 0.0
    weight = "bold" if box.is_class else "normal"
    _write(ax, box.x, box.y - lift, box.label, scale, "center", 1.0, weight=weight)


def _draw_rectangle(
    ax: Any,
    x: float,
    y: float,
    width: float,
    height: float,
    line: float,
    **style: Any,
) -> None:
    """Draw a rectangle with round corners around (x, y)."""
    from matplotlib.patches import FancyBboxPatch

    shape = "round,pad=0,rounding_size=6"
    corner = (x - width / 2, y - height / 2)
    patch = FancyBboxPatch(
        corner, width, height, boxstyle=shape, linewidth=line, **style
    )
    ax.add_patch(patch)


def _write(
    ax: Any,
    x: float,
    y: float,
    text: str,
    scale: float,
    across: str,
    alpha: float,
    **style: Any,
) -> None:
    size = 0.95 * FONT * scale
    ax.text(x, y, text, ha=across, va="center", fontsize=size, color=ink(ax),
            alpha=alpha, parse_math=False, zorder=5, **style)  # fmt: skip
