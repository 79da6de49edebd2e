"""The critical-difference diagram of average ranks."""

from __future__ import annotations

from math import ceil
from typing import Any

from tanager.compare.ranks import RankGroups
from tanager.errors import InputError
from tanager.plots.figure import draw_figure
from tanager.plots.style import ink
from tanager.utils.atomic_write import PathLike

FONT = 9  # points
MARGIN, GAP, ROW, BAR, TICK = 0.08, 0.08, 0.21, 0.09, 0.05  # inches
LEAST_AXIS, AXIS_PER_RANK, LARGEST_AXIS = 3.0, 0.45, 8.0
MOST_TICKS = 20


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
    if len(groups.methods) < 2:
        raise InputError("A diagram of ranks needs at least 2 methods.")
    return draw_figure(lambda figure: draw_ranks(figure, groups), path, FONT)


def draw_ranks(figure: Any, groups: RankGroups) -> None:
    """Draw the diagram on an empty figure and set its size."""
    # Lengths are inches, y runs downwards.
    figure.set_layout_engine("none")
    renderer = figure.canvas.get_renderer()
    n = len(groups.methods)
    labels = [
        f"{' '.join(name.split())} ({rank:.2f})"
        for name, rank in zip(groups.methods, groups.average_ranks, strict=True)
    ]
    widths = [_width(figure, renderer, label) for label in labels]
    n_right = ceil(n / 2)
    length = min(max(LEAST_AXIS, AXIS_PER_RANK * (n - 1)), LARGEST_AXIS)
    # The axis begins where the labels of the worse half end.
    left = MARGIN + max(widths[n_right:], default=0.0) + 2 * GAP
    right = left + length
    bars = _levels(groups, left, length)
    n_levels = 1 + max((level for *_, level in bars), default=-1)
    axis_y = MARGIN + ROW + (2 * ROW if groups.critical_difference is not None else 0)
    first_row = axis_y + TICK + BAR * (n_levels + 1) + ROW / 2
    ruler = (groups.critical_difference or 0.0) * length / (n - 1)
    width = max(right + 2 * GAP + max(widths[:n_right]), left + ruler) + MARGIN
    height = first_row + ROW * (n_right - 1) + ROW / 2 + MARGIN
    figure.set_size_inches(width, height)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set(xlim=(0, width), ylim=(height, 0))

    def line(xs: list[float], ys: list[float], thick: float = 0.8) -> None:
        axes.plot(xs, ys, color=ink(axes), linewidth=thick, solid_capstyle="butt")

    def text(x: float, y: float, content: str, across: str, up: str) -> None:
        axes.text(x, y, content, ha=across, va=up, parse_math=False)

    line([left, right], [axis_y, axis_y])
    step = 1 + (n - 1) // MOST_TICKS
    for rank in range(1, n + 1, step):
        x = _place(rank, n, left, length)
        line([x, x], [axis_y - TICK, axis_y])
        text(x, axis_y - 1.6 * TICK, str(rank), "center", "bottom")
    if groups.critical_difference is not None:
        y = MARGIN + ROW + TICK
        line([left, left + ruler], [y, y])
        for x in (left, left + ruler):
            line([x, x], [y - TICK, y + TICK])
        shown = f"critical difference {groups.critical_difference:.2f}"
        text(left, y - 1.6 * TICK, shown, "left", "bottom")
    for start, end, level in bars:
        y = axis_y + TICK + BAR * (level + 1)
        line([start, end], [y, y], 2.5)
    for k, (label, rank) in enumerate(zip(labels, groups.average_ranks, strict=True)):
        x = _place(rank, n, left, length)
        if k < n_right:
            y, end, across = first_row + ROW * k, right + GAP, "left"
        else:
            y, end, across = first_row + ROW * (n - 1 - k), left - GAP, "right"
        line([x, x, end], [axis_y, y, y])
        text(end + (GAP if k < n_right else -GAP) / 2, y, label, across, "center")


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
