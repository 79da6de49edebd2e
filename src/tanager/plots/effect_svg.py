"""Curves and heat maps as SVG, without matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tanager.plots.bin_axis import BinAxis, nice_ticks, number_text
from tanager.plots.effect_curve import (
    BAND,
    BAND_OF_SEVERAL,
    check_curve,
    check_cuts,
    strip_heights,
    value_limits,
)
from tanager.plots.heat_map import check_grid, tick_places
from tanager.plots.style import COLOURS, STRIP
from tanager.plots.svg import (
    Panel,
    cut_labels,
    cut_middle,
    element,
    number,
    text,
    text_width,
)
from tanager.plots.svg_axes import (
    HEIGHT,
    LEFT,
    TICK,
    TITLE,
    WIDTH,
    Scale,
    draw_heading,
    draw_legend,
    tick_texts,
)
from tanager.types import FloatArray

SCALE = 52.0
"""Width of the scale of colours with its numbers."""

LEVELS = 24
"""Steps of a colour."""


def curve_panel(
    labels: Sequence[object],
    values: npt.ArrayLike,
    *,
    errors: npt.ArrayLike | None = None,
    support: npt.ArrayLike | None = None,
    cuts: npt.ArrayLike | None = None,
    line_labels: Sequence[object] | None = None,
    colours: Sequence[int] | None = None,
    heading: str = "",
    unit: str = "",
) -> Panel:
    """Draw the curve of one feature; see `draw_curve`.

    `heading` is a line of text above, `unit` says what the values are.

    Examples
    --------
    >>> curve_panel(["low", "high"], [-1.0, 1.0], cuts=[10.0], heading="age").label
    'Curve of age'
    """
    effects, spread, samples = check_curve(len(labels), values, errors, support)
    bins = BinAxis.of(labels, check_cuts(len(labels), cuts))
    low, high = value_limits(effects, spread)
    left, right = bins.limits
    floor = TITLE + HEIGHT * (1 - STRIP if samples is not None else 1)

    def across(place: float) -> float:
        return LEFT + WIDTH * (place - left) / (right - left)

    def up(value: float) -> float:
        return TITLE + (floor - TITLE) * (high - value) / (high - low)

    body = [
        draw_heading(heading, unit, LEFT, LEFT + WIDTH),
        *_value_axis(low, high, up),
    ]
    if samples is not None:
        body.append(_strip(bins, samples, across))
    places = list(colours or range(effects.shape[1]))
    opacity = BAND if effects.shape[1] == 1 else BAND_OF_SEVERAL
    for k in range(effects.shape[1]):
        own = None if spread is None else spread[:, k]
        curve = _Curve(bins, across, up, floor, k, places[k] % len(COLOURS), opacity)
        body += curve.draw(effects[:, k], own)
    ticks, height = _place_ticks(bins, across)
    body += ticks
    height += TITLE + HEIGHT
    if line_labels is not None and effects.shape[1] > 1:
        legend, used = draw_legend(line_labels, places, height)
        body += legend
        height += used
    return Panel(LEFT + WIDTH + 8, height, "".join(body), f"Curve of {heading}")


def heat_map_panel(
    values: npt.ArrayLike,
    *,
    row_labels: Sequence[object],
    column_labels: Sequence[object],
    support: npt.ArrayLike | None = None,
    axis_names: tuple[str, str] | None = None,
    heading: str = "",
    unit: str = "",
) -> Panel:
    """Draw a table of effects as colours; see `draw_heat_map`.

    Examples
    --------
    >>> heat_map_panel([[0.5]], row_labels=["a"], column_labels=["b"]).width > 300
    True
    """
    grid, samples = check_grid(values, row_labels, column_labels, support)
    n_rows, n_columns = grid.shape
    largest = float(np.nanmax(np.abs(grid), initial=0.0)) or 1.0
    rows = cut_labels([row_labels[k] for k in tick_places(n_rows)], 14)
    left = max(LEFT, max(map(text_width, rows)) + 22)
    width = LEFT + WIDTH + 8 - left - SCALE  # in all as wide as a curve
    step_x, step_y = width / n_columns, HEIGHT / n_rows
    body = [draw_heading(heading, unit, left, left + width)]
    body.append(_cells(grid, samples, largest, left, width))
    body.append(
        element("rect", class_="tng-line", x=left, y=TITLE, width=width, height=HEIGHT,
                stroke_opacity=0.4)
    )  # fmt: skip
    for k, label in zip(tick_places(n_rows), rows, strict=True):
        y = TITLE + (k + 0.5) * step_y
        body.append(text(left - 5, y, label, kind="tng-faint tng-small", anchor="end"))
    bottom = TITLE + HEIGHT
    places = tick_places(n_columns, 8)
    names = cut_labels([column_labels[k] for k in places], 14)
    middles = [left + (k + 0.5) * step_x for k in places]
    ticks, used = tick_texts(names, middles, bottom)
    body += ticks
    if axis_names is not None:
        one, other = (cut_middle(name, 26) for name in axis_names)
        y = TITLE + HEIGHT / 2
        turned = f"rotate(-90 9 {number(y)})"
        body.append(text(9, y, one, anchor="middle", transform=turned))
        body.append(text(left + width / 2, bottom + used + 8, other, anchor="middle"))
        used += TICK
    body += _colour_scale(left + width + 10, largest)
    size = LEFT + WIDTH + 8, bottom + used
    return Panel(*size, "".join(body), f"Heat map of {heading}")


def _value_axis(low: float, high: float, up: Scale) -> list[str]:
    """Labels at the left, and a line at zero."""
    parts = [
        text(LEFT - 6, up(tick), number_text(tick), kind="tng-faint tng-small",
             anchor="end")
        for tick in nice_ticks(low, high, 6)
    ]  # fmt: skip
    path = f"M{number(LEFT)} {number(up(0.0))}h{number(WIDTH)}"
    parts.append(
        element("path", class_="tng-line", d=path, stroke_width=0.8, stroke_opacity=0.6)
    )
    return parts


def _strip(bins: BinAxis, support: FloatArray, across: Scale) -> str:
    """Bars of the support; see `draw_strip`."""
    heights = 0.85 * STRIP * HEIGHT * strip_heights(bins.left, bins.right, support)
    bars = []
    for left, right, height in zip(bins.left, bins.right, heights, strict=True):
        if height > 0:
            start, end = across(float(left)), across(float(right))
            up = number(float(height))
            bars.append(f"M{number(start)} {number(TITLE + HEIGHT)}v-{up}"
                        f"H{number(end)}v{up}z")  # fmt: skip
    return element("path", class_="tng-faint", d="".join(bars) or "M0 0", opacity=0.45)


def _cells(
    grid: FloatArray,
    samples: FloatArray | None,
    largest: float,
    left: float,
    width: float,
) -> str:
    """Coloured cells; those of one colour are one path. Empty ones have a line."""
    step_y, step_x = HEIGHT / len(grid), width / grid.shape[1]
    has_none = np.zeros(grid.shape, bool) if samples is None else samples <= 0
    strength = np.abs(grid) / largest * np.where(has_none, 0.35, 1.0)
    level = np.rint(LEVELS * np.nan_to_num(strength)).astype(int)
    paths: dict[tuple[str, int], list[str]] = {}
    lines = []
    for i, j in np.ndindex(grid.shape):
        corner = f"M{number(left + j * step_x)} "
        if level[i, j]:
            kind = "tng-f1" if grid[i, j] < 0 else "tng-f0"
            cell = f"h{number(step_x)}v{number(step_y)}h-{number(step_x)}z"
            own = paths.setdefault((kind, int(level[i, j])), [])
            own.append(f"{corner}{number(TITLE + i * step_y)}{cell}")
        if has_none[i, j]:
            lines.append(f"{corner}{number(TITLE + (i + 1) * step_y)}"
                         f"l{number(step_x)}-{number(step_y)}")  # fmt: skip
    parts = [
        element("path", class_=kind, d="".join(own), fill_opacity=f"{of / LEVELS:.3g}")
        for (kind, of), own in sorted(paths.items())
    ]
    drawing = element("g", "".join(parts), shape_rendering="crispEdges")
    if lines:
        drawing += element(
            "path", class_="tng-line", d="".join(lines), stroke_opacity=0.35,
            stroke_width=0.7,
        )  # fmt: skip
    return drawing


@dataclass(frozen=True)
class _Curve:
    """How one of several curves is drawn."""

    bins: BinAxis
    across: Scale
    up: Scale
    floor: float
    place: int
    colour: int
    opacity: float

    def draw(self, values: FloatArray, errors: FloatArray | None) -> list[str]:
        """Steps with a band for intervals, points with error bars for other bins."""
        line, fill = f"tng-s{self.colour}", f"tng-f{self.colour}"
        inside = np.flatnonzero(self.bins.is_interval).tolist()
        others = np.flatnonzero(~self.bins.is_interval).tolist()
        parts = []
        if inside and errors is not None:
            outline = self._steps(values + errors, inside)
            outline += self._steps(values - errors, inside)[::-1]
            path = f"M{'L'.join(outline)}Z"
            parts.append(
                element("path", class_=fill, d=path, fill_opacity=self.opacity)
            )
        if inside:
            path = f"M{'L'.join(self._steps(values, inside))}"
            parts.append(
                element("path", class_=line, d=path, fill="none", stroke_width=1.6)
            )
        for k in others:
            x = self.across(float(self.bins.middle[k])) + 3.0 * self.place
            if errors is not None:
                ends = [self._height(values[k] + sign * errors[k]) for sign in (1, -1)]
                path = f"M{number(x)} {number(ends[0])}V{number(ends[1])}"
                parts.append(element("path", class_=line, d=path, stroke_width=1.2))
            y = self._height(values[k])
            parts.append(element("circle", class_=fill, cx=x, cy=y, r=3.0))
        return parts

    def _steps(self, heights: FloatArray, bins: Sequence[int]) -> list[str]:
        """Corners of a step function; neighbours of one height are one step."""
        points: list[str] = []
        last = None
        for k in bins:
            height = f"{self._height(heights[k]):.1f}"
            ends = [self.across(float(side[k])) for side in self._sides]
            if height == last:
                points[-1] = f"{ends[1]:.1f} {height}"
            else:
                points += [f"{end:.1f} {height}" for end in ends]
            last = height
        return points

    @property
    def _sides(self) -> tuple[FloatArray, FloatArray]:
        return self.bins.left, self.bins.right

    def _height(self, value: float) -> float:
        """Where a value is; errors may end beyond the chart, where they are cut off."""
        return min(max(self.up(float(value)), TITLE), self.floor)


def _place_ticks(bins: BinAxis, across: Scale) -> tuple[list[str], float]:
    """Labels below a curve, and their height."""
    names = [label for _, label in bins.ticks]
    places = [across(place) for place, _ in bins.ticks]
    return tick_texts(names, places, TITLE + HEIGHT)


def _colour_scale(left: float, largest: float) -> list[str]:
    """A bar of colours with three numbers."""
    n_steps = 20
    step = HEIGHT / n_steps
    parts = []
    for k in range(n_steps):
        value = 1 - 2 * (k + 0.5) / n_steps
        parts.append(
            element("rect", class_="tng-f1" if value < 0 else "tng-f0", x=left,
                    y=TITLE + k * step, width=9.0, height=step + 0.3,
                    fill_opacity=f"{abs(value):.2f}")
        )  # fmt: skip
    for value, y in ((largest, 5.0), (0.0, HEIGHT / 2), (-largest, HEIGHT - 5)):
        shown = f"{value:+.2g}" if value else "0"
        parts.append(text(left + 13, TITLE + y, shown, kind="tng-faint tng-small"))
    return parts
