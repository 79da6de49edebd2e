"""Curves as text: lines of braille characters, or of letters without Unicode."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from tanager.errors import InputError
from tanager.plots.bin_axis import nice_ticks, number_text
from tanager.types import IntArray
from tanager.utils.text import escape_controls, one_line, shorten

HEIGHT = 14
"""Lines of a curve without its axis."""

MAX_NAME = 16
"""Characters of the name of a line, at its right end."""

MARGIN = 0.06
"""Part of the range of the cut points that is shown outside of them."""

BRAILLE = 0x2800
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bits of the dots of a braille character: four rows of two."""

Painter = Callable[[str, int], str]
"""Gives a text the colour of a line."""


def curve_text(
    cuts: npt.ArrayLike,
    values: npt.ArrayLike,
    names: Sequence[object],
    *,
    width: int = 80,
    height: int = HEIGHT,
    ascii: bool = False,
    paint: Painter | None = None,
) -> str:
    """Draw step functions of one feature as text.

    Parameters
    ----------
    cuts : array-like of shape (n_bins - 1,)
        Increasing values between the bins; at least one.
    values : array-like of shape (n_bins, n_lines)
        Heights in the bins.
    names : sequence of n_lines names
        What the lines are; written at their right ends.
    width, height : int
        Characters of a line, and lines without the axis.
    ascii : bool, default=False
        Whether only characters of ASCII are used: a line is then drawn with the first
        letter or digit of its name, or its number where two names begin alike.
    paint : callable or None, default=None
        Colours the text of a line by its number, for terminals.

    Returns
    -------
    str

    Examples
    --------
    >>> heights = [[-1], [0], [1], [2]]
    >>> print(curve_text([1, 2, 3], heights, ["wet"], width=44, height=4, ascii=True))
     2 |                                 ww wet
       |                  wwwwwwwwwwwwwww
     0 |--wwwwwwwwwwwwwwww-----------------
    -1 |ww
       +-----------------------------------
          1               2              3
    """
    at, heights = np.asarray(cuts, dtype=float), np.asarray(values, dtype=float)
    if at.ndim != 1 or heights.shape != (len(at) + 1, len(names)) or not len(at):
        raise InputError(
            "A curve needs cut points, and values of shape (n_cuts + 1, n_names): got "
            f"{at.shape}, {heights.shape} and {len(names)} names."
        )
    labels = [shorten(escape_controls(one_line(str(name))), MAX_NAME) for name in names]
    low, high = min(0.0, heights.min()), max(0.0, heights.max())
    high = high if high > low else low + 1.0
    marks = {round(_row(y, low, high, height)): f"{y:.2g}" for y in (high, low, 0.0)}
    left = max(map(len, marks.values())) + 2
    n_columns = max(width - left - max(map(len, labels)) - 2, 8)
    span = (at[-1] - at[0]) or abs(at[0]) or 1.0
    start, stop = at[0] - MARGIN * span, at[-1] + MARGIN * span
    across, down = (1, 1) if ascii else (2, 4)
    places = start + (np.arange(n_columns * across) + 0.5) / (n_columns * across) * (
        stop - start
    )
    bins = np.searchsorted(at, places)
    canvas = np.zeros((height, n_columns), dtype=np.int64)
    owner = np.full((height, n_columns), -1)
    ends = []
    for k in range(len(names)):
        levels = (high - heights[bins, k]) / (high - low) * (height * down - 1)
        rows = np.rint(levels).astype(np.int64)
        ends.append(int(rows[-1]) // down)
        _draw_line(canvas, owner, rows, k, across, down)
    letters = _letters(labels)
    zero = round(_row(0.0, low, high, height))
    tails = _place_names(ends, height)
    paint = paint or (lambda text, _: text)
    bar, dash, corner = "|-+" if ascii else "│┄└"
    lines = []
    for row in range(height):
        cells = []
        for column in range(n_columns):
            k = int(owner[row, column])
            if k < 0:
                cells.append(dash if row == zero else " ")
            else:
                dots = letters[k] if ascii else chr(BRAILLE + canvas[row, column])
                cells.append(paint(dots, k))
        text = f"{marks.get(row, '').rjust(left - 2)} {bar}{''.join(cells)}"
        found = [k for k, place in enumerate(tails) if place == row]
        text += "".join(f" {paint(labels[k], k)}" for k in found)
        lines.append(text.rstrip())
    edge = "-" if ascii else "─"
    lines.append(" " * (left - 1) + corner + edge * n_columns)
    lines.append(" " * left + _tick_line(start, stop, n_columns))
    return "\n".join(lines)


def _row(value: float, low: float, high: float, height: int) -> float:
    return (high - value) / (high - low) * (height - 1)


def _draw_line(
    canvas: IntArray,
    owner: IntArray,
    rows: IntArray,
    k: int,
    across: int,
    down: int,
) -> None:
    """Draw one line into the bits of `canvas`; steps are joined."""
    before = rows[0]
    for x, y in enumerate(rows.tolist()):
        first, last = sorted((y, before + (y > before) - (y < before)))
        for dot in range(first, last + 1) if y != before else (y,):
            cell = dot // down, x // across
            canvas[cell] |= DOTS[dot % down][x % across]
            owner[cell] = k
        before = y


def _letters(labels: Sequence[str]) -> list[str]:
    """A character for every line: the first of its name, unless two are the same."""
    first = [next((c for c in label if c.isalnum()), "*") for label in labels]
    if len(set(first)) == len(first) and all(c.isascii() for c in first):
        return first
    return [str((k + 1) % 10) for k in range(len(labels))]


def _place_names(ends: Sequence[int], height: int) -> list[int]:
    """Rows of the names: those of the ends of the lines, without two in one row."""
    order = sorted(range(len(ends)), key=lambda k: ends[k])
    rows = [0] * len(ends)
    least = 0
    for k in order:
        rows[k] = least = max(ends[k], least)
        least += 1
    most = height - 1
    for k in reversed(order):
        rows[k] = max(min(rows[k], most), 0)
        most = rows[k] - 1
    return rows


def _tick_line(start: float, stop: float, n_columns: int) -> str:
    """Numbers below the axis, each in the middle of its place."""
    line = [" "] * (n_columns + 8)
    free = 0
    for tick in nice_ticks(start, stop, max(n_columns // 10, 2)):
        text = number_text(tick)
        place = round((tick - start) / (stop - start) * n_columns) - len(text) // 2
        if place >= free:
            line[place : place + len(text)] = text
            free = place + len(text) + 1
    return "".join(line).rstrip()
