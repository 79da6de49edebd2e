"""Bars of a conditional probability table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tanager.errors import InputError
from tanager.plots.bar_svg import cpt_panel
from tanager.plots.bars import ROW
from tanager.plots.heat_map import check_grid
from tanager.plots.picture import Picture
from tanager.plots.style import (
    COLOURS,
    add_legend,
    make_axes,
    set_texts,
    short_labels,
)
from tanager.plots.svg import Panel
from tanager.types import FloatArray

MAX_ROWS = 60
"""Configurations that are drawn."""


def draw_cpt(
    values: npt.ArrayLike,
    *,
    row_labels: Sequence[object],
    column_labels: Sequence[object],
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw P(variable | parents): a bar for every configuration of the parents.

    Parameters
    ----------
    values : array-like of shape (n_configurations, n_states)
        Probabilities; every row sums to one.
    row_labels : sequence, length n_configurations
        Labels of the configurations, for instance ``"old, rich"``.
    column_labels : sequence, length n_states
        Labels of the states, each of which is a segment of every bar.
    title : str or None, default=None
        Text above.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        If matplotlib is not installed, the shapes do not fit, or there are more than
        60 configurations.

    Examples
    --------
    >>> draw_cpt(
    ...     [[0.9, 0.1], [0.2, 0.8]],
    ...     row_labels=["dry", "rain"],
    ...     column_labels=["no", "yes"],
    ... )  # doctest: +SKIP
    <Axes: xlabel='probability'>
    """
    probabilities, colours = check_cpt(values, row_labels, column_labels)
    n_rows, n_states = probabilities.shape
    ax = make_axes(ax, 5.0, 1.1 + ROW * n_rows)
    ends = np.cumsum(probabilities, axis=1)
    rows = np.arange(n_rows)
    names = short_labels(column_labels, 20)
    for k, (colour, alpha) in enumerate(colours):
        ax.barh(
            rows,
            probabilities[:, k],
            left=ends[:, k] - probabilities[:, k],
            height=0.7,
            color=COLOURS[colour],
            alpha=alpha,
            label=names[k],
        )
    size = "small" if n_rows > 20 else None
    ax.set_yticks(rows, short_labels(row_labels), parse_math=False, fontsize=size)
    ax.set(xlim=(0, 1), ylim=(n_rows - 0.5, -0.5))
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    shown = range(n_states) if n_states <= 10 else (0, n_states - 1)
    handles, labels = ax.get_legend_handles_labels()
    add_legend(
        ax,
        handles=[handles[k] for k in shown],
        labels=[labels[k] for k in shown],
    )
    set_texts(ax, title=title, xlabel="probability", ylabel=None)
    return ax


def cpt_picture(
    values: npt.ArrayLike,
    *,
    row_labels: Sequence[object],
    column_labels: Sequence[object],
    title: str | None = None,
) -> Picture:
    """The picture of `draw_cpt`, for matplotlib and SVG."""
    given = {"row_labels": row_labels, "column_labels": column_labels, "title": title}
    return Picture(draw_cpt, _draw_panel, {"values": values, **given})


def _draw_panel(
    values: npt.ArrayLike,
    *,
    row_labels: Sequence[object],
    column_labels: Sequence[object],
    title: str | None,
) -> Panel:
    probabilities, colours = check_cpt(values, row_labels, column_labels)
    return cpt_panel(
        probabilities,
        row_labels=row_labels,
        column_labels=column_labels,
        colours=colours,
        title=title,
    )


def check_cpt(
    values: npt.ArrayLike,
    row_labels: Sequence[object],
    column_labels: Sequence[object],
) -> tuple[FloatArray, list[tuple[int, float]]]:
    """Check the shape of a CPT; return it, and colour and opacity of every state.

    Beyond the distinct colours, states run from dark to light.
    """
    found, _ = check_grid(values, row_labels, column_labels, None)
    n_rows, n_states = found.shape
    if n_rows > MAX_ROWS:
        raise InputError(
            f"{n_rows:,} configurations are too many for bars, at most {MAX_ROWS}; "
            "select rows, or draw a heat map."
        )
    if n_states <= len(COLOURS):
        return found, [(k, 1.0) for k in range(n_states)]
    return found, [(0, 1.0 - 0.85 * k / (n_states - 1)) for k in range(n_states)]
