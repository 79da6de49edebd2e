"""Colours and lines of figures, told apart with any kind of colour vision."""

from __future__ import annotations

INK = "#767676"
BLUE = "#0072b2"
SKY = "#56b4e9"
ORANGE = "#d55e00"
PINK = "#cc79a7"
GREEN = "#009e73"
GOLD = "#e69f00"
"""Colours by Okabe and Ito; ink is for what is only there to compare with."""

MARKERS = ("s", "o", "^", "D", "v", "x", "P")
COLOURS = (BLUE, ORANGE, GREEN, PINK, SKY, GOLD, INK)
"""In turn for curves that have no colour of their own."""
