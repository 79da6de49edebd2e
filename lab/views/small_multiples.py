"""Figures of several small panels with the same lines in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lab.runner.results import Results
from lab.views.figure_style import COLOURS, LINES
from lab.views.table import Entry, Table, pivot

COLUMNS = 4
"""Most panels side by side."""


@dataclass(frozen=True)
class Line:
    """Numbers along an axis.

    Parameters
    ----------
    label : str
        What it shows.
    points : mapping from float to float
        Height by place, in rising order of places.
    """

    label: str
    points: Mapping[float, float]


Panels = Mapping[str, Sequence[Line]]


def line(label: str, results: Results, x: str, number: str, scale: float) -> Line:
    """Means of one of the numbers by a parameter of the cells."""
    points = {}
    for place in sorted(results.levels(x)):
        values = results.where(**{x: place}).values(number)
        points[float(place)] = scale * float(values.mean())
    return Line(label, points)


def wide(title: str, corner: str, lines: Sequence[Line], digits: int = 2) -> Table:
    """Lines as columns of a table, places as its rows.

    Examples
    --------
    >>> lines = [Line("a", {1.0: 0.5, 2.0: 0.7}), Line("b", {2.0: 0.6})]
    >>> print(wide("", "x", lines).markdown)
    | x | a | b |
    | --- | ---: | ---: |
    | 1 | 0.50 |  |
    | 2 | 0.70 | 0.60 |
    """
    places = {f"{x:g}": x for x in sorted({x for one in lines for x in one.points})}
    by_label = {one.label: one for one in lines}

    def entry(place: str, label: str) -> Entry:
        return by_label[label].points.get(places[place])

    return pivot(title, corner, list(places), list(by_label), entry, digits)


def draw(
    figure: Any,
    panels: Panels,
    x_label: str,
    y_label: str,
    *,
    log: bool = False,
    most: float | None = None,
) -> None:
    """Draw every panel with axes of its own, and one legend for all.

    If the greatest number that there can be is given, all have a range of the same
    length, so that steps compare.
    """
    n_columns = min(COLUMNS, len(panels))
    n_rows = -(-len(panels) // n_columns)
    if len(panels) > 1:
        figure.set_size_inches(2.4 * n_columns + 0.4, 2.1 * n_rows + 0.7)
    grid = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    for axes, (title, lines) in zip(grid, panels.items(), strict=False):
        for k, one in enumerate(lines):
            places, heights = list(one.points), list(one.points.values())
            axes.plot(
                places, heights, LINES[k], color=COLOURS[k], lw=1.4, label=one.label
            )
        if log:
            axes.set_xscale("log", base=2)
            axes.xaxis.set_major_formatter("{x:g}")
        if len(panels) > 1:
            axes.set_title(title, fontsize="small")
        axes.tick_params(labelsize="small")
        axes.spines[["top", "right"]].set_visible(False)
        axes.ticklabel_format(axis="y", useOffset=False)
    if most is not None:
        _make_same_height(grid[: len(panels)], most)
    figure.supxlabel(x_label, fontsize="small")
    figure.supylabel(y_label, fontsize="small")
    handles, labels = grid[0].get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside upper center",
        ncols=len(labels),
        frameon=False,
        fontsize="small",
    )


def _make_same_height(grid: Sequence[Any], most: float) -> None:
    """Give every panel a range as long as that of the one that needs most."""
    limits = [axes.get_ylim() for axes in grid]
    height = max(high - low for low, high in limits)
    for axes, (low, high) in zip(grid, limits, strict=True):
        top = min(0.5 * (low + high + height), most + 0.04 * height)
        axes.set_ylim(top - height, top)
