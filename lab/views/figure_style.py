"""What the figures of all views have in common."""

from __future__ import annotations

from typing import Any

BLUE, ORANGE, GREEN, PINK = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
GOLD, SKY, GREY = "#e69f00", "#56b4e9", "#767676"
"""Safe for colour-blind readers (Okabe and Ito). Grey is for what is only
there to compare with."""

COLOURS = (BLUE, ORANGE, GREEN, PINK, GOLD, SKY, GREY)
MARKERS = ("o", "s", "^", "D", "v", "P", "x")
LINES = ("-", "--", ":", "-.", "-", "--", ":")
"""In turn for curves; the lines so that of two equal ones both are seen."""


def panels(figure: Any, number: int) -> list[Any]:
    """Axes in rows of up to three, without a frame above and to the right."""
    columns = min(number, 3)
    rows = -(-number // columns)
    figure.set_size_inches(3.5 * columns, 3.7 * rows)
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for one in axes[number:]:
        one.set_visible(False)
    for one in axes[:number]:
        one.spines[["top", "right"]].set_visible(False)
    return list(axes[:number])
