"""The critical-difference diagram of average ranks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Any

from tanager.compare.ranks import RankGroups
from tanager.errors import InputError
from tanager.plots.figure import draw_figure
from tanager.plots.style import ink
from tanager.plots.svg import Panel, cut_middle, number, text_width, write_svg
from tanager.plots.svg import text as svg_text
from tanager.plots.svg_axes import rule
from tanager.utils.atomic_write import PathLike

FONT = 9  # points
MARGIN, GAP, ROW, BAR, TICK = 0.08, 0.08, 0.21, 0.09, 0.05  # inches
LEAST_AXIS, AXIS_PER_RANK, LARGEST_AXIS = 3.0, 0.45, 8.0
MOST_TICKS = 20
MAX_NAME = 40  # characters
PIXELS = 96.0  # per inch


def critical_difference_diagram(
    groups: RankGroups, path: PathLike | None = None
) -> Any:
    """Draw average ranks, the best on the right, with bars over equal methods.

    Parameters
    ----------
    groups : RankGroups
        From `rank_groups`.
    path : str or path, default=None
        Where to write the figure: a name that ends in .svg, .pdf or .png, or one
        without such an ending, for a vector graphic (.svg) and an image (.png).

    Returns
    -------
    matplotlib.figure.Figure
        The figure, which a notebook shows.

    Raises
    ------
    InputError
        If matplotlib is not installed or the files cannot be written; then none is.

    References
    ----------
    J. Demšar (2006), Statistical comparisons of classifiers over multiple datasets,
    JMLR 7, Figure 1.

    Examples
    --------
    >>> import numpy as np
    >>> from tanager.compare import RankGroups
    >>> groups = RankGroups(
    ...     methods=("TAN", "2-tree", "NB"),
    ...     average_ranks=np.array([1.3, 1.9, 2.8]),
    ...     groups=(("TAN", "2-tree"), ("2-tree", "NB")),
    ...     alpha=0.05,
    ...     critical_difference=1.05,
    ... )
    >>> critical_difference_diagram(groups)  # doctest: +SKIP
    <Figure size ... with 1 Axes>
    """
    _check_size(groups)
    return draw_figure(lambda figure: draw_ranks(figure, groups), path, FONT)


def draw_ranks(figure: Any, groups: RankGroups) -> None:
    """Draw the diagram on an empty figure and set its size."""
    figure.set_layout_engine("none")
    renderer = figure.canvas.get_renderer()
    diagram = _lay_out(groups, lambda label: _width(figure, renderer, label))
    figure.set_size_inches(diagram.width, diagram.height)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set(xlim=(0, diagram.width), ylim=(diagram.height, 0))
    for points, thick in diagram.lines:
        xs, ys = zip(*points, strict=True)
        width = 2.5 if thick else 0.8
        axes.plot(xs, ys, color=ink(axes), linewidth=width, solid_capstyle="butt")
    for x, y, content, across in diagram.texts:
        axes.text(x, y, content, ha=across, va="center", parse_math=False)


def rank_diagram_svg(groups: RankGroups) -> str:
    """Draw the same diagram as SVG text, without matplotlib.

    Parameters
    ----------
    groups : RankGroups
        From `rank_groups`.

    Returns
    -------
    str
        An SVG document, light or dark by the preference of its reader.

    Examples
    --------
    >>> import numpy as np
    >>> ranks = RankGroups(("a", "b"), np.array([1.2, 1.8]), (("a", "b"),), 0.05, 0.9)
    >>> rank_diagram_svg(ranks)[:4]
    '<svg'
    """
    return write_svg(rank_panel(groups), margin=4.0)


def rank_panel(groups: RankGroups) -> Panel:
    """Draw the same diagram as SVG elements; see `rank_diagram_svg`."""
    _check_size(groups)
    diagram = _lay_out(groups, lambda label: text_width(label) / PIXELS)
    body = []
    for points, thick in diagram.lines:
        places = (f"{number(PIXELS * x)} {number(PIXELS * y)}" for x, y in points)
        body.append(rule(f"M{'L'.join(places)}", width=3.5 if thick else 1.0))
    for x, y, content, across in diagram.texts:
        anchor = {"left": "start", "center": "middle", "right": "end"}[across]
        body.append(svg_text(PIXELS * x, PIXELS * y, content, anchor=anchor))
    label = f"Critical-difference diagram of {', '.join(groups.methods)}"
    size = PIXELS * diagram.width, PIXELS * diagram.height
    return Panel(*size, "".join(body), label)


@dataclass(frozen=True)
class _Diagram:
    """Lines and texts of a diagram; lengths are inches, y runs downwards.

    A line is its points, and whether it is thick; a text its place, content and
    horizontal alignment.
    """

    width: float
    height: float
    lines: list[tuple[list[tuple[float, float]], bool]]
    texts: list[tuple[float, float, str, str]]


def _lay_out(groups: RankGroups, width_of: Callable[[str], float]) -> _Diagram:
    """Place lines and texts; `width_of` is the width of a text in inches."""
    n = len(groups.methods)
    labels = [
        f"{cut_middle(name, MAX_NAME)} ({rank:.2f})"
        for name, rank in zip(groups.methods, groups.average_ranks, strict=True)
    ]
    widths = [width_of(label) for label in labels]
    n_right = ceil(n / 2)
    length = min(max(LEAST_AXIS, AXIS_PER_RANK * (n - 1)), LARGEST_AXIS)
    # The axis begins where the labels of the worse half end.
    left = MARGIN + max(widths[n_right:], default=0.0) + 2 * GAP
    right = left + length
    bars = _levels(groups, left, length)
    n_levels = 1 + max((level for *_, level in bars), default=-1)
    axis_y = MARGIN + ROW + (2 * ROW if groups.critical_difference is not None else 0)
    first_row = axis_y + TICK + BAR * (n_levels + 1) + ROW / 2
    lines = [([(left, axis_y), (right, axis_y)], False)]
    texts = []
    for rank in range(1, n + 1, 1 + (n - 1) // MOST_TICKS):
        x = _place(rank, n, left, length)
        lines.append(([(x, axis_y - TICK), (x, axis_y)], False))
        texts.append((x, axis_y - TICK - ROW / 2, str(rank), "center"))
    end_of_ruler = left
    if groups.critical_difference is not None:
        end_of_ruler += groups.critical_difference * length / (n - 1)
        y = MARGIN + ROW + TICK
        lines.append(([(left, y), (end_of_ruler, y)], False))
        for x in (left, end_of_ruler):
            lines.append(([(x, y - TICK), (x, y + TICK)], False))
        shown = f"critical difference {groups.critical_difference:.2f}"
        texts.append((left, y - TICK - ROW / 2, shown, "left"))
    for start, end, level in bars:
        y = axis_y + TICK + BAR * (level + 1)
        lines.append(([(start, y), (end, y)], True))
    for k, (label, rank) in enumerate(zip(labels, groups.average_ranks, strict=True)):
        x = _place(rank, n, left, length)
        if k < n_right:
            y, end, across = first_row + ROW * k, right + GAP, "left"
        else:
            y, end, across = first_row + ROW * (n - 1 - k), left - GAP, "right"
        lines.append(([(x, axis_y), (x, y), (end, y)], False))
        texts.append((end + (GAP if k < n_right else -GAP) / 2, y, label, across))
    return _Diagram(
        max(right + 2 * GAP + max(widths[:n_right]), end_of_ruler) + MARGIN,
        first_row + ROW * (n_right - 1) + ROW / 2 + MARGIN,
        lines,
        texts,
    )


def _check_size(groups: RankGroups) -> None:
    if len(groups.methods) < 2:
        raise InputError("A diagram of ranks needs at least 2 methods.")


def _place(rank: float, n: int, left: float, length: float) -> float:
    """Where on the axis a rank is: n at its left end, 1 at its right end."""
    return left + length * (n - float(rank)) / (n - 1)


def _levels(
    groups: RankGroups, left: float, length: float
) -> list[tuple[float, float, int]]:
    """Start, end and level of the bar of every group; none touches another."""
    n = len(groups.methods)
    rank_of = dict(zip(groups.methods, groups.average_ranks, strict=True))
    place_of = {name: _place(rank, n, left, length) for name, rank in rank_of.items()}
    spans = []
    for members in groups.groups:
        first = min(place_of[name] for name in members)
        last = max(place_of[name] for name in members)
        # A little longer than the ranks, but never as far as another method.
        before = [first - place for place in place_of.values() if place < first]
        after = [place - last for place in place_of.values() if place > last]
        start = first - min(TICK, min(before, default=1.0) / 2)
        end = last + min(TICK, min(after, default=1.0) / 2)
        spans.append((start, end))
    bars: list[tuple[float, float, int]] = []
    ends: list[float] = []
    for start, end in sorted(spans):
        free = [level for level, last in enumerate(ends) if last + TICK < start]
        level = free[0] if free else len(ends)
        ends[level : level + 1] = [end]
        bars.append((start, end, level))
    return bars


def _width(figure: Any, renderer: Any, label: str) -> float:
    """Width of a label in inches."""
    shown = figure.text(0, 0, label, parse_math=False)
    pixels = shown.get_window_extent(renderer).width
    shown.remove()
    return float(pixels / figure.dpi)
