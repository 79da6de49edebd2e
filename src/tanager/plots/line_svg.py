"""Lines by two numeric axes as SVG, without matplotlib."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tanager.plots.bin_axis import nice_ticks, number_text
from tanager.plots.style import COLOURS
from tanager.plots.svg import Panel, element, number, text, text_width
from tanager.plots.svg_axes import (
    HEIGHT,
    TICK,
    TITLE,
    WIDTH,
    bottom_axis,
    draw_heading,
    draw_legend,
    rule,
    side_axis,
    vertical,
)
from tanager.types import FloatArray

MAX_MARKED = 40
"""Points of a line up to which each has a mark."""


class LineChart:
    """A chart of lines and points; limits are (low, high) of the axes."""

    def __init__(
        self,
        x_limits: tuple[float, float],
        y_limits: tuple[float, float],
        *,
        title: str | None = None,
        xlabel: str | None = None,
        ylabel: str | None = None,
        size: tuple[float, float] = (WIDTH, HEIGHT),
    ) -> None:
        self.x_limits, self.y_limits = _apart(*x_limits), _apart(*y_limits)
        self.width, self.tall = size
        ticks = nice_ticks(*self.y_limits, 6)
        widest = max(text_width(number_text(tick)) for tick in ticks)
        self.left = widest + (26 if ylabel else 12)
        self.top = TITLE if title else 8.0
        self.bottom = self.top + self.tall
        self.height = self.bottom + TICK
        self.body: list[str] = []
        right = self.left + self.width
        if title:
            self.body.append(draw_heading(title, "", self.left, right))
        self.body += side_axis(ticks, self.up, self.left, right)
        across = nice_ticks(*self.x_limits, 8)
        self.body += bottom_axis(across, self.across, self.top, self.bottom)
        if ylabel:
            y = self.top + self.tall / 2
            turned = f"rotate(-90 9 {number(y)})"
            self.body.append(
                text(9, y, ylabel, kind="tng-faint", anchor="middle", transform=turned)
            )
        if xlabel:
            self.height += TICK
            middle = self.left + self.width / 2
            self.body.append(
                text(middle, self.height - 8, xlabel, kind="tng-faint", anchor="middle")
            )

    def across(self, value: float) -> float:
        """Where a value is along the horizontal axis."""
        low, high = self.x_limits
        return self.left + self.width * (value - low) / (high - low)

    def up(self, value: float) -> float:
        """Where a value is along the vertical axis."""
        low, high = self.y_limits
        return self.bottom - self.tall * (value - low) / (high - low)

    def line(self, xs: FloatArray, ys: FloatArray, colour: int) -> None:
        """Draw a line, with a mark at each of few points."""
        places = [
            (self.across(x), self.up(y))
            for x, y in zip(xs.tolist(), ys.tolist(), strict=True)
        ]
        path = "M" + "L".join(f"{number(x)} {number(y)}" for x, y in places)
        kind = f"tng-s{colour % len(COLOURS)}"
        self.body.append(
            element("path", class_=kind, d=path, fill="none", stroke_width=1.6)
        )
        if len(places) <= MAX_MARKED:
            fill = f"tng-f{colour % len(COLOURS)}"
            self.body += [
                element("circle", class_=fill, cx=x, cy=y, r=2.8) for x, y in places
            ]

    def diagonal(self) -> None:
        """Draw a dotted line from corner to corner."""
        path = (
            f"M{number(self.left)} {number(self.bottom)}"
            f"L{number(self.left + self.width)} {number(self.top)}"
        )
        self.body.append(rule(path, dashes="2 3"))

    def interval(self, x: float, low: float, high: float, colour: int) -> None:
        """Draw a vertical error bar."""
        place = self.across(x)
        path = vertical(place, self.up(low), self.up(high))
        kind = f"tng-s{colour}"
        self.body.append(element("path", class_=kind, d=path, stroke_width=1.2))

    def strip(self, edges: FloatArray, heights: FloatArray) -> None:
        """Draw a histogram at the bottom; heights are fractions of the chart's."""
        bars = []
        for k, height in enumerate((heights * self.tall).tolist()):
            if height > 0:
                start, end = (
                    self.across(float(edges[k])),
                    self.across(float(edges[k + 1])),
                )
                bars.append(
                    f"M{number(start)} {number(self.bottom)}v-{number(height)}"
                    f"H{number(end)}V{number(self.bottom)}z"
                )
        if bars:
            self.body.append(
                element("path", class_="tng-faint", d="".join(bars), opacity=0.45)
            )

    def legend(self, labels: Sequence[object], colours: Sequence[int]) -> None:
        """Name the lines below."""
        right = self.left + self.width
        parts, used = draw_legend(
            labels, colours, self.height, left=self.left, right=right
        )
        self.body += parts
        self.height += used

    def panel(self, label: str) -> Panel:
        """All that was drawn."""
        return Panel(
            self.left + self.width + 12, self.height, "".join(self.body), label
        )


def _apart(low: float, high: float) -> tuple[float, float]:
    """Limits that differ, with a little room where they are equal."""
    if high > low:
        return low, high
    room = max(abs(low), 1.0) * 0.5
    return low - room, high + room


def padded(values: FloatArray) -> tuple[float, float]:
    """Limits of values, with some room beyond both ends."""
    low, high = float(np.min(values)), float(np.max(values))
    room = 0.05 * (high - low)
    return low - room, high + room
