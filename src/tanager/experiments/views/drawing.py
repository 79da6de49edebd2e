"""What the figures of all views have in common."""

from __future__ import annotations

from typing import Any

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Colours that are told apart with any kind of colour vision (Okabe and Ito)."""

MARKERS = ("o", "s", "^", "D", "v", "P")

GREY = "#767676"


def panels(figure: Any, number: int) -> list[Any]:
    """Axes side by side, without a frame above and to the right."""
    if number > 2:
        figure.set_size_inches(3.4 * number, 3.8)
    axes = figure.subplots(1, number, squeeze=False)[0]
    for one in axes:
        one.spines[["top", "right"]].set_visible(False)
    return list(axes)
