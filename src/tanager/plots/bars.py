"""Horizontal bars of values, of the parts of a sum and of ranges; rows of dots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tanager.plots.bar_svg import bar_panel, dot_panel, tornado_panel, waterfall_panel
from tanager.plots.picture import Picture
from tanager.plots.style import (
    AGAINST,
    BLUE,
    FOR,
    check_errors,
    check_length,
    ink,
    make_axes,
    set_texts,
    short_labels,
)

ROW = 0.27
"""Height of a row in inches."""


def draw_bars(
    labels: Sequence[object],
    values: npt.ArrayLike,
    *,
    errors: npt.ArrayLike | None = None,
    title: str | None = None,
    xlabel: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw a horizontal bar for every value, the first one at the top.

    Parameters
    ----------
    labels : sequence of str, length n
        What the bars are of.
    values : array-like of shape (n,)
        Lengths of the bars; those below zero have another colour.
    errors : array-like of shape (n,) or (2, n), or None, default=None
        Half lengths of error bars, or their lengths below and above the values.
    title, xlabel : str or None, default=None
        Texts; None for none.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        If matplotlib is not installed, or the lengths differ.

    Examples
    --------
    >>> draw_bars(["age", "sex"], [0.7, -0.2], xlabel="log odds")  # doctest: +SKIP
    <Axes: xlabel='log odds'>
    """
    lengths = check_length("values", values, len(labels))
    ax = _row_axes(ax, labels)
    rows = np.arange(len(labels))
    ax.barh(rows, lengths, height=0.7, color=_signs(lengths))
    if errors is not None:
        half = check_errors(errors, len(labels))
        ax.errorbar(lengths, rows, xerr=half, fmt="none", ecolor=ink(ax), capsize=2)
    ax.axvline(0.0, color=ink(ax), linewidth=0.8)
    set_texts(ax, title=title, xlabel=xlabel, ylabel=None)
    return ax


def draw_waterfall(
    labels: Sequence[object],
    values: npt.ArrayLike,
    *,
    start: float,
    title: str | None = None,
    xlabel: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw how the parts of a sum lead from a start to the total, from top to bottom.

    Parameters
    ----------
    labels : sequence of str, length n
        Names of the parts.
    values : array-like of shape (n,)
        The parts, for instance contributions to the log odds.
    start : float
        Where the first bar begins, for instance the log odds of the prior.
    title, xlabel : str or None, default=None
        Texts; None for none.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> draw_waterfall(["age", "sex"], [0.7, -0.2], start=0.1)  # doctest: +SKIP
    <Axes: >
    """
    parts = check_length("values", values, len(labels))
    ax = _row_axes(ax, labels, n_more=1)
    rows = np.arange(len(labels))
    ends = start + np.cumsum(parts)
    begins = ends - parts
    total = float(ends[-1]) if len(ends) else float(start)
    ax.barh(rows, parts, left=begins, height=0.7, color=_signs(parts))
    for row, end in zip(rows[:-1], ends[:-1], strict=True):
        ax.plot([end, end], [row, row + 1], color=ink(ax), linewidth=0.6, alpha=0.6)
    ax.axvline(start, color=ink(ax), linewidth=0.8, linestyle=":")
    ax.axvline(total, color=ink(ax), linewidth=1.2)
    places = np.maximum(begins, ends)
    for row, place in enumerate(places.tolist()):
        _note(ax, place, row, f"{parts[row]:+.2f}")
    _note(ax, start, -1, f"start {start:+.2f}")
    _note(ax, total, len(labels), f"total {total:+.2f}")
    low, high = np.min([start, total, *ends]), np.max([start, total, *ends])
    # Room for the numbers at the right.
    room = max(high - low, 1e-9)
    ax.set_xlim(low - 0.06 * room, high + 0.22 * room)
    ax.set_ylim(len(labels) + 0.5, -1.5)
    set_texts(ax, title=title, xlabel=xlabel, ylabel=None)
    return ax


def draw_tornado(
    labels: Sequence[object],
    low: npt.ArrayLike,
    high: npt.ArrayLike,
    *,
    base: float,
    title: str | None = None,
    xlabel: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw ranges around a common value, the widest one at the top.

    Parameters
    ----------
    labels : sequence of str, length n
        What the ranges are of, for instance entries of CPTs.
    low, high : array-like of shape (n,)
        The results at the two ends of what `labels` name; `low` may be the larger.
    base : float
        The result with nothing changed.
    title, xlabel : str or None, default=None
        Texts; None for none.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> draw_tornado(["age", "sex"], [0.4, 0.1], [0.6, 0.8], base=0.5)  # doctest: +SKIP
    <Axes: >
    """
    lower = check_length("low", low, len(labels))
    upper = check_length("high", high, len(labels))
    order = np.argsort(-np.abs(upper - lower), kind="stable")
    ax = _row_axes(ax, [labels[k] for k in order])
    rows = np.arange(len(labels))
    for ends, colour, label in ((lower, AGAINST, "low"), (upper, FOR, "high")):
        lengths = ends[order] - base
        ax.barh(rows, lengths, left=base, height=0.7, color=colour, label=label)
    ax.axvline(base, color=ink(ax), linewidth=0.8)
    set_texts(ax, title=title, xlabel=xlabel, ylabel=None)
    return ax


def draw_dots(
    labels: Sequence[object],
    values: npt.ArrayLike,
    *,
    title: str | None = None,
    xlabel: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw a row of dots for every label, the first one at the top, and their means.

    Parameters
    ----------
    labels : sequence of str, length n
        Names of the rows.
    values : array-like of shape (n, n_values)
        What the dots are of, for instance the scores of a model in every fold.
    title, xlabel : str or None, default=None
        Texts; None for none.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> draw_dots(["NB", "TAN"], [[0.7, 0.8], [0.9, 0.8]])  # doctest: +SKIP
    <Axes: >
    """
    places = check_length("values", values, len(labels))
    ax = _row_axes(ax, labels)
    for row, own in enumerate(places):
        level = np.full(len(own), row)
        ax.plot(own, level, "o", color=BLUE, alpha=0.35, markersize=4)
        ax.plot(own.mean(), row, "|", color=ink(ax), markersize=14)
    set_texts(ax, title=title, xlabel=xlabel, ylabel=None)
    return ax


def bar_picture(
    labels: Sequence[object], values: npt.ArrayLike, **options: Any
) -> Picture:
    """The picture of `draw_bars`, for matplotlib and SVG."""
    return Picture(
        draw_bars, bar_panel, {"labels": labels, "values": values, **options}
    )


def waterfall_picture(
    labels: Sequence[object], values: npt.ArrayLike, **options: Any
) -> Picture:
    """The picture of `draw_waterfall`, for matplotlib and SVG."""
    given = {"labels": labels, "values": values, **options}
    return Picture(draw_waterfall, waterfall_panel, given)


def tornado_picture(
    labels: Sequence[object], low: npt.ArrayLike, high: npt.ArrayLike, **options: Any
) -> Picture:
    """The picture of `draw_tornado`, for matplotlib and SVG."""
    given = {"labels": labels, "low": low, "high": high, **options}
    return Picture(draw_tornado, tornado_panel, given)


def dot_picture(
    labels: Sequence[object], values: npt.ArrayLike, **options: Any
) -> Picture:
    """The picture of `draw_dots`, for matplotlib and SVG."""
    given = {"labels": labels, "values": values, **options}
    return Picture(draw_dots, dot_panel, given)


def _row_axes(ax: Any, labels: Sequence[object], n_more: int = 0) -> Any:
    """Axes with a row for every label, the first one at the top."""
    n_rows = len(labels) + 2 * n_more
    ax = make_axes(ax, 5.5, 0.8 + ROW * n_rows)
    ax.set_yticks(np.arange(len(labels)), short_labels(labels), parse_math=False)
    ax.set_ylim(max(len(labels), 1) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    return ax


def _signs(values: Any) -> list[str]:
    return [AGAINST if value < 0 else FOR for value in values]


def _note(ax: Any, x: float, row: float, text: str) -> None:
    """Write a number at the right of a place."""
    ax.annotate(
        text,
        (x, row),
        xytext=(4, 0),
        textcoords="offset points",
        va="center",
        fontsize="small",
    )
