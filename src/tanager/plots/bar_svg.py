"""Horizontal bars and rows of dots as SVG, without matplotlib."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tanager.plots.bin_axis import nice_ticks
from tanager.plots.style import MAX_LABEL, check_errors, check_length
from tanager.plots.svg import Panel, cut_labels, element, text, text_width
from tanager.plots.svg import title as hint
from tanager.plots.svg_axes import (
    TICK,
    TITLE,
    WIDTH,
    Scale,
    bottom_axis,
    draw_heading,
    draw_legend,
    horizontal,
    rule,
    vertical,
)
from tanager.types import FloatArray

ROW, BAR = 20.0, 13.0
"""Heights of a row and of its bar, in pixels."""

NOTE = 62.0
"""Room for a number at the right of a bar."""


def bar_panel(
    labels: Sequence[object],
    values: npt.ArrayLike,
    *,
    errors: npt.ArrayLike | None = None,
    title: str | None = None,
    xlabel: str | None = None,
) -> Panel:
    """Draw a bar for every value; see `draw_bars`.

    Examples
    --------
    >>> bar_panel(["age", "sex"], [0.7, -0.2], xlabel="log odds").label
    'Bars: age, sex'
    """
    lengths = check_length("values", values, len(labels))
    sides = check_errors(errors, len(labels))
    rows = _Rows(labels, title, xlabel)
    ends = np.concatenate([lengths - sides[0], lengths + sides[1], [0.0]])
    rows.scale(float(ends.min()), float(ends.max()))
    for k, value in enumerate(lengths.tolist()):
        rows.bar(k, 0.0, value)
    if errors is not None:
        for k, value in enumerate(lengths.tolist()):
            rows.error(k, value - sides[0, k], value + sides[1, k])
    rows.line(0.0)
    return rows.panel("Bars")


def waterfall_panel(
    labels: Sequence[object],
    values: npt.ArrayLike,
    *,
    start: float,
    title: str | None = None,
    xlabel: str | None = None,
) -> Panel:
    """Draw how the parts of a sum lead to the total; see `draw_waterfall`.

    Examples
    --------
    >>> waterfall_panel(["age", "sex"], [0.7, -0.2], start=0.1).label
    'Waterfall: start, age, sex, total'
    """
    parts = check_length("values", values, len(labels))
    ends = start + np.concatenate([[0.0], np.cumsum(parts)])
    total = float(ends[-1])
    rows = _Rows(["start", *labels, "total"], title, xlabel, n_plain=1)
    rows.scale(float(ends.min()), float(ends.max()), room=NOTE)
    rows.line(start, dashed=True)
    rows.line(total)
    rows.note(0, start, f"{start:+.2f}")
    for k, part in enumerate(parts.tolist()):
        one, other = float(ends[k]), float(ends[k + 1])
        rows.bar(k + 1, one, other)
        rows.note(k + 1, max(one, other), f"{part:+.2f}")
        if k + 1 < len(parts):
            rows.join(k + 1, other)
    rows.note(len(parts) + 1, total, f"{total:+.2f}")
    return rows.panel("Waterfall")


def tornado_panel(
    labels: Sequence[object],
    low: npt.ArrayLike,
    high: npt.ArrayLike,
    *,
    base: float,
    title: str | None = None,
    xlabel: str | None = None,
) -> Panel:
    """Draw ranges around a common value; see `draw_tornado`.

    Examples
    --------
    >>> tornado_panel(["age", "sex"], [0.4, 0.1], [0.6, 0.8], base=0.5).label
    'Ranges: sex, age'
    """
    lower = check_length("low", low, len(labels))
    upper = check_length("high", high, len(labels))
    order = np.argsort(-np.abs(upper - lower), kind="stable").tolist()
    rows = _Rows([labels[k] for k in order], title, xlabel)
    ends = np.concatenate([lower, upper, [base]])
    rows.scale(float(ends.min()), float(ends.max()))
    for row, k in enumerate(order):
        for end, colour in ((lower[k], 1), (upper[k], 0)):
            rows.bar(row, base, float(end), colour)
    rows.line(base)
    return rows.panel("Ranges")


def dot_panel(
    labels: Sequence[object],
    values: npt.ArrayLike,
    *,
    title: str | None = None,
    xlabel: str | None = None,
) -> Panel:
    """Draw a row of dots for every label; see `draw_dots`.

    Examples
    --------
    >>> dot_panel(["NB", "TAN"], [[0.7, 0.8], [0.9, 0.8]]).label
    'Values: NB, TAN'
    """
    places = check_length("values", values, len(labels))
    rows = _Rows(labels, title, xlabel)
    rows.scale(float(places.min()), float(places.max()))
    for k, own in enumerate(places):
        rows.dots(k, own.tolist())
        rows.mark(k, float(own.mean()))
    return rows.panel("Values")


def cpt_panel(
    values: FloatArray,
    *,
    row_labels: Sequence[object],
    column_labels: Sequence[object],
    colours: Sequence[tuple[int, float]],
    title: str | None = None,
) -> Panel:
    """Draw a bar for every row of probabilities; see `draw_cpt`.

    `colours` are the number of the colour and the opacity of every column.
    """
    rows = _Rows(row_labels, title, "probability")
    rows.scale(0.0, 1.0)
    ends = np.cumsum(values, axis=1)
    for k, own in enumerate(values.tolist()):
        for state, length in enumerate(own):
            colour, opacity = colours[state]
            end = float(ends[k, state])
            rows.bar(k, end - length, end, colour, opacity)
    few = len(column_labels) <= 10
    shown = range(len(column_labels)) if few else (0, len(column_labels) - 1)
    rows.legend([column_labels[k] for k in shown], [colours[k] for k in shown])
    return rows.panel("Probabilities")


class _Rows:
    """A chart with a row for every label, the first one at the top."""

    def __init__(
        self,
        labels: Sequence[object],
        title: str | None,
        xlabel: str | None,
        n_plain: int = 0,
    ) -> None:
        self.labels = cut_labels(labels, MAX_LABEL)
        self.left = max(46.0, 10 + max(map(text_width, self.labels), default=0.0))
        self.top = TITLE if title else 4.0
        self.bottom = self.top + ROW * max(len(labels), 1) + 2
        self.height = self.bottom + TICK
        self.body: list[str] = []
        right = self.left + WIDTH
        if title:
            self.body.append(draw_heading(title, "", self.left, right))
        for k, label in enumerate(self.labels):
            plain = k < n_plain or k >= len(labels) - n_plain
            kind = "tng-faint tng-small" if plain else "tng-ink tng-small"
            shown = text(self.left - 6, self.middle(k), label, kind=kind, anchor="end")
            self.body.append(element("g", hint(labels[k]) + shown))
        if xlabel:
            self.height += TICK
            middle = self.left + WIDTH / 2
            self.body.append(
                text(middle, self.height - 8, xlabel, kind="tng-faint", anchor="middle")
            )

    def scale(self, low: float, high: float, room: float = 0.0) -> None:
        """Set the ends of the axis, and leave room for numbers at its right."""
        if not high > low:
            low, high = low - 1.0, high + 1.0
        per_pixel = (high - low) / (WIDTH - room - 8)

        def across(value: float) -> float:
            return self.left + 4 + (value - low) / per_pixel

        self.across: Scale = across
        end = high + room * per_pixel
        ticks = nice_ticks(low, end, 7)
        self.body += bottom_axis(ticks, across, self.top, self.bottom)

    def middle(self, row: int) -> float:
        """Height of the middle of a row."""
        return self.top + ROW * (row + 0.5)

    def bar(
        self,
        row: int,
        start: float,
        end: float,
        colour: int | None = None,
        opacity: float = 1.0,
    ) -> None:
        """Draw a bar; by default in the colour of its direction."""
        if colour is None:
            colour = 1 if end < start else 0
        low, high = sorted((self.across(start), self.across(end)))
        self.body.append(
            element(
                "rect",
                class_=f"tng-f{colour}",
                x=low,
                y=self.middle(row) - BAR / 2,
                width=max(high - low, 0.4),
                height=BAR,
                fill_opacity=None if opacity == 1.0 else f"{opacity:.2f}",
            )
        )

    def error(self, row: int, low: float, high: float) -> None:
        """Draw an error bar."""
        y, ends = self.middle(row), (self.across(low), self.across(high))
        path = horizontal(y, *ends) + "".join(vertical(x, y - 3, y + 3) for x in ends)
        self.body.append(rule(path, kind="tng-mark", width=1.2))

    def dots(self, row: int, values: Sequence[float]) -> None:
        """Draw a dot for every value."""
        for value in values:
            self.body.append(
                element(
                    "circle",
                    class_="tng-f0",
                    cx=self.across(value),
                    cy=self.middle(row),
                    r=3.0,
                    fill_opacity=0.35,
                )
            )

    def mark(self, row: int, value: float) -> None:
        """Draw a short vertical line."""
        y = self.middle(row)
        path = vertical(self.across(value), y - BAR / 2, y + BAR / 2)
        self.body.append(rule(path, kind="tng-mark", width=1.6))

    def join(self, row: int, value: float) -> None:
        """Draw a line from the end of a bar to the next row."""
        path = vertical(
            self.across(value), self.middle(row) + BAR / 2, self.middle(row + 1)
        )
        self.body.append(rule(path, width=0.6))

    def line(self, value: float, *, dashed: bool = False) -> None:
        """Draw a line through all rows."""
        path = vertical(self.across(value), self.top, self.bottom)
        dashes = "3 3" if dashed else None
        self.body.append(rule(path, dashes=dashes, opacity=0.8))

    def note(self, row: int, value: float, content: str) -> None:
        """Write a number at the right of a place."""
        x = self.across(value) + 5
        self.body.append(
            text(x, self.middle(row), content, kind="tng-ink tng-small tng-halo")
        )

    def legend(
        self, labels: Sequence[object], colours: Sequence[tuple[int, float]]
    ) -> None:
        """Name the colours below."""
        parts, used = draw_legend(
            labels,
            [colour for colour, _ in colours],
            self.height,
            left=self.left,
            right=self.left + WIDTH,
            opacities=[opacity for _, opacity in colours],
        )
        self.body += parts
        self.height += used

    def panel(self, kind: str) -> Panel:
        """All that was drawn."""
        label = f"{kind}: {', '.join(self.labels)}"
        return Panel(self.left + WIDTH + 8, self.height, "".join(self.body), label)
