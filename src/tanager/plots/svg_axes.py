"""Headings, axes, tick labels and legends of SVG pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tanager.plots.bin_axis import number_text
from tanager.plots.style import COLOURS
from tanager.plots.svg import cut_middle, element, number, text, text_width, title

WIDTH, HEIGHT = 300.0, 190.0
"""Size of a chart without its margins, in pixels."""

TITLE, TICK, LEFT = 24.0, 18.0, 46.0
"""Height of the title and of a line of tick labels, width of the labels at the left."""

Scale = Callable[[float], float]
"""Pixels of a value."""


def draw_heading(heading: str, unit: str, left: float, right: float) -> str:
    """Title, and at the right what the values are, as far as there is room."""
    unit = cut_middle(unit, 30)
    room = right - (text_width(unit) + 8 if unit else 0.0)
    shown = cut_middle(heading, max(40, int(room / 7.5)))
    start = min(left, max(0.0, right - 1.1 * text_width(shown) - text_width(unit) - 8))
    parts = text(start, 9, shown, kind="tng-ink tng-title")
    if unit:
        parts += text(right, 9, unit, kind="tng-faint tng-small", anchor="end")
    return element("g", title(heading) + parts)


def rule(
    path: str,
    *,
    kind: str = "tng-line",
    width: float = 0.8,
    opacity: float | None = None,
    dashes: str | None = None,
) -> str:
    """A thin line along a path."""
    return element(
        "path",
        class_=kind,
        d=path,
        stroke_width=width,
        stroke_opacity=opacity,
        stroke_dasharray=dashes,
    )


def vertical(x: float, top: float, bottom: float) -> str:
    """Path of a vertical line."""
    return f"M{number(x)} {number(top)}V{number(bottom)}"


def horizontal(y: float, left: float, right: float) -> str:
    """Path of a horizontal line."""
    return f"M{number(left)} {number(y)}H{number(right)}"


def bottom_axis(
    ticks: Sequence[float], across: Scale, top: float, bottom: float
) -> list[str]:
    """Numbers below a chart, with a faint line upwards from each."""
    parts = []
    for tick in ticks:
        path = vertical(across(tick), top, bottom)
        parts.append(rule(path, opacity=0.18))
        parts.append(
            text(across(tick), bottom + 10, number_text(tick), anchor="middle",
                 kind="tng-faint tng-small")
        )  # fmt: skip
    return parts


def side_axis(
    ticks: Sequence[float], up: Scale, left: float, right: float
) -> list[str]:
    """Numbers at the left of a chart, with a faint line to the right from each."""
    parts = []
    for tick in ticks:
        path = horizontal(up(tick), left, right)
        parts.append(rule(path, opacity=0.18))
        parts.append(
            text(left - 6, up(tick), number_text(tick), anchor="end",
                 kind="tng-faint tng-small")
        )  # fmt: skip
    return parts


def tick_texts(
    names: Sequence[str], places: Sequence[float], top: float
) -> tuple[list[str], float]:
    """Labels in a line, or turned where they would touch; and their height."""
    kind = "tng-faint tng-small"
    widths = [0.92 * text_width(name) for name in names]
    touch = any(
        places[k] + widths[k] / 2 + 4 > places[k + 1] - widths[k + 1] / 2
        for k in range(len(names) - 1)
    )
    if not touch:
        parts = [
            text(x, top + 10, name, kind=kind, anchor="middle")
            for x, name in zip(places, names, strict=True)
        ]
        return parts, TICK
    parts = [
        text(x + 3, top + 8, name, kind=kind, anchor="end",
             transform=f"rotate(-35 {number(x + 3)} {number(top + 8)})")
        for x, name in zip(places, names, strict=True)
    ]  # fmt: skip
    return parts, 12 + 0.58 * max(widths, default=0.0)


def draw_legend(
    line_labels: Sequence[object],
    colours: Sequence[int],
    top: float,
    *,
    left: float = LEFT,
    right: float = LEFT + WIDTH,
    opacities: Sequence[float] | None = None,
) -> tuple[list[str], float]:
    """Names of the lines in rows, and their height."""
    parts = []
    x, y = left, top + 8
    for k, label in enumerate(line_labels):
        name = cut_middle(str(label), 18)
        width = text_width(name) + 26
        if x > left and x + width > right:
            x, y = left, y + TICK
        parts.append(
            element("rect", class_=f"tng-f{colours[k] % len(COLOURS)}", x=x, y=y - 4.0,
                    width=10.0, height=8.0,
                    fill_opacity=None if opacities is None else f"{opacities[k]:.2f}")
        )  # fmt: skip
        parts.append(text(x + 14, y, name, kind="tng-ink tng-small"))
        x += width
    return parts, y + TICK - top
