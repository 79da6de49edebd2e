"""The curve of one feature: effects by bin with their errors and support."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tanager.errors import InputError
from tanager.plots.bin_axis import BinAxis
from tanager.plots.style import (
    COLOURS,
    STRIP,
    add_legend,
    check_length,
    ink,
    make_axes,
    set_texts,
    short_labels,
)
from tanager.types import FloatArray

BAND, BAND_OF_SEVERAL = 0.22, 0.1
"""Opacity of the band of errors of a single curve, and of one of several."""

MAX_BANDS = 3
"""Curves with bands; those of more would hide each other."""


def draw_curve(
    labels: Sequence[object],
    values: npt.ArrayLike,
    *,
    errors: npt.ArrayLike | None = None,
    support: npt.ArrayLike | None = None,
    cuts: npt.ArrayLike | None = None,
    line_labels: Sequence[object] | None = None,
    colours: Sequence[int] | None = None,
    title: str | None = None,
    xlabel: str | None = None,
    ylabel: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw the effect of every bin of a feature, and the samples in it.

    Numeric bins are steps along the real axis, with a band of plus and minus one
    standard error; categories are points with error bars. More than three lines have
    no errors, and errors much larger than the effects are cut off. Bars at the bottom
    show the support of every bin.

    Parameters
    ----------
    labels : sequence, length n_bins
        Labels of the bins.
    values : array-like of shape (n_bins,) or (n_bins, n_lines)
        Effects, for instance log odds, or log weights of several classes.
    errors : array-like, same shape, or None, default=None
        Standard errors.
    support : array-like of shape (n_bins,) or None, default=None
        Total weight of the samples in every bin.
    cuts : array-like of shape (n_numeric_bins - 1,) or None, default=None
        The increasing values between numeric bins, which come first; bins after them
        are drawn as points. None for categories. If the cut points have a long tail,
        the axis is stretched near their middle.
    line_labels : sequence, length n_lines, or None, default=None
        Names of the lines, for a legend.
    colours : sequence of int, length n_lines, or None, default=None
        Numbers of their colours, so that a class has the same one in all pictures.
    title, xlabel, ylabel : str or None, default=None
        Texts; None for none.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        If matplotlib is not installed, or the shapes do not fit.

    Examples
    --------
    >>> draw_curve(["young", "old"], [-0.3, 0.3], cuts=[40.0])  # doctest: +SKIP
    <Axes: >
    """
    effects, spread, samples = check_curve(len(labels), values, errors, support)
    bins = BinAxis.of(labels, check_cuts(len(labels), cuts))
    ax = make_axes(ax, 4.0, 2.8)
    limits = value_limits(effects, spread)
    n_lines = effects.shape[1]
    for k in range(n_lines):
        name = "" if line_labels is None else short_labels(line_labels)[k]
        band = None
        if spread is not None:
            signs = np.array([[-1.0], [1.0]])
            band = np.clip(effects[:, k] + signs * spread[:, k], *limits)
        shift = 0.04 * k
        colour = COLOURS[(colours[k] if colours else k) % len(COLOURS)]
        opacity = BAND if n_lines == 1 else BAND_OF_SEVERAL
        _draw_line(ax, bins, effects[:, k], band, name, colour, opacity, shift)
    ax.axhline(0.0, color=ink(ax), linewidth=0.6, alpha=0.6, zorder=0)
    ax.set_xlim(*bins.limits)
    ax.set_ylim(*limits)
    places = [place for place, _ in bins.ticks]
    ax.set_xticks(places, [text for _, text in bins.ticks], parse_math=False)
    if max((len(text) for _, text in bins.ticks), default=0) * len(places) > 50:
        ax.tick_params(axis="x", labelrotation=35)
        for text in ax.get_xticklabels():
            text.set(ha="right", rotation_mode="anchor", fontsize="small")
    if samples is not None:
        draw_strip(ax, bins.left, bins.right, samples)
    if line_labels is not None and n_lines > 1:
        add_legend(ax)
    set_texts(ax, title=title, xlabel=xlabel, ylabel=ylabel)
    return ax


def check_curve(
    n_bins: int,
    values: npt.ArrayLike,
    errors: npt.ArrayLike | None,
    support: npt.ArrayLike | None,
) -> tuple[FloatArray, FloatArray | None, FloatArray | None]:
    """Check the shapes of a curve; values and errors become (n_bins, n_lines)."""
    effects = check_length("values", values, n_bins)
    spread = None if errors is None else check_length("errors", errors, n_bins)
    samples = None if support is None else check_length("support", support, n_bins)
    if spread is not None and spread.shape != effects.shape:
        raise InputError(
            f"errors have shape {spread.shape}, but values have {effects.shape}; give "
            "one for every value."
        )
    if effects.ndim == 1:
        effects = effects[:, None]
        spread = None if spread is None else spread[:, None]
    if effects.shape[1] > MAX_BANDS:
        spread = None
    return effects, spread, samples


def value_limits(effects: FloatArray, spread: FloatArray | None) -> tuple[float, float]:
    """Ends of the axis of values: zero, all effects and their errors.

    Errors that are much larger than the effects do not count in full.
    """
    low = float(np.nanmin(effects, initial=0.0))
    high = float(np.nanmax(effects, initial=0.0))
    if spread is not None:
        room = high - low
        low = max(float(np.nanmin(effects - spread, initial=low)), low - room)
        high = min(float(np.nanmax(effects + spread, initial=high)), high + room)
    margin = 0.05 * (high - low) or 1.0
    return low - margin, high + margin


def check_cuts(n_bins: int, cuts: npt.ArrayLike | None) -> FloatArray | None:
    """Check that cut points increase and are fewer than bins."""
    if cuts is None:
        return None
    found = np.asarray(cuts, dtype=np.float64)
    if found.ndim != 1 or len(found) >= n_bins or (np.diff(found) <= 0).any():
        raise InputError(
            f"cuts must be increasing values between the {n_bins} bins, got an array "
            f"of shape {found.shape}; give fewer cuts than bins."
        )
    return found


def draw_strip(ax: Any, left: FloatArray, right: FloatArray, support: Any) -> None:
    """Draw bars of the support along the bottom, below everything else.

    A height is the square root of the support per length: rare bins stay visible.
    """
    low, high = ax.get_ylim()
    # No ticks where the bars are.
    ax.set_yticks([tick for tick in ax.get_yticks() if low <= tick <= high])
    ax.set_ylim(low - (high - low) * STRIP / (1 - STRIP), high)
    heights = strip_heights(left, right, np.asarray(support, dtype=np.float64))
    ax.bar(
        left,
        0.85 * STRIP * heights,
        right - left,
        align="edge",
        color=ink(ax),
        alpha=0.25,
        linewidth=0,
        transform=ax.get_xaxis_transform(),
        label="_support",
    )


def strip_heights(
    left: FloatArray, right: FloatArray, support: FloatArray
) -> FloatArray:
    """Heights of the bars of `draw_strip`, from 0 to 1."""
    roots: FloatArray = np.sqrt(np.maximum(support, 0.0) / (right - left))
    return roots / (float(roots.max(initial=0.0)) or 1.0)


def _draw_line(
    ax: Any,
    bins: BinAxis,
    values: FloatArray,
    band: FloatArray | None,
    label: str,
    colour: str,
    opacity: float,
    shift: float,
) -> None:
    """Draw one curve: steps of the intervals, points of the other bins."""
    inside, others = bins.is_interval, ~bins.is_interval
    named = {"label": label} if label else {}
    if inside.any():
        edges = np.append(bins.left[inside], bins.right[inside][-1])
        own = values[inside]
        ax.stairs(own, edges, baseline=None, color=colour, linewidth=1.6, **named)
        named = {}
        if band is not None:
            lower, upper = band[:, inside]
            ax.stairs(
                upper, edges, baseline=lower, color=colour, fill=True, linewidth=0,
                alpha=opacity,
            )  # fmt: skip
    if others.any():
        ax.errorbar(
            bins.middle[others] + shift * (bins.right - bins.left)[others],
            values[others],
            yerr=None if band is None else np.abs(band - values)[:, others],
            fmt="o",
            color=colour,
            markersize=4,
            capsize=2,
            **named,
        )
