"""A heat map of the effects of two features."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt

from tanager.errors import InputError
from tanager.plots.style import diverging_map, ink, make_axes, set_texts, short_labels
from tanager.types import FloatArray

MAX_TICKS = 12
"""Labels along an axis; with more bins, every second, third, ... one has a label."""


def draw_heat_map(
    values: npt.ArrayLike,
    *,
    row_labels: Sequence[object],
    column_labels: Sequence[object],
    support: npt.ArrayLike | None = None,
    title: str | None = None,
    axis_names: tuple[str, str] | None = None,
    ax: Any = None,
) -> Any:
    """Draw a table of effects as colours, zero in the colour of the background.

    Parameters
    ----------
    values : array-like of shape (n_rows, n_columns)
        Effects, for instance log odds; not a number for none.
    row_labels, column_labels : sequence
        Labels of the rows, the first one at the top, and of the columns.
    support : array-like of shape (n_rows, n_columns) or None, default=None
        Total weight of the samples in every cell. Cells without samples are hatched.
    title : str or None, default=None
        Text above.
    axis_names : tuple of two str or None, default=None
        Names of the rows' and of the columns' feature.
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
    >>> draw_heat_map(
    ...     [[0.2, -0.2], [-0.2, 0.2]],
    ...     row_labels=["a", "b"],
    ...     column_labels=["u", "v"],
    ... )  # doctest: +SKIP
    <Axes: >
    """
    values, support = check_grid(values, row_labels, column_labels, support)
    ax = make_axes(ax, 4.2, 3.4)
    largest = float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
    image = ax.imshow(
        values,
        cmap=diverging_map(ax),
        vmin=-largest,
        vmax=largest,
        aspect="auto",
        interpolation="nearest",
    )
    if support is not None and (support <= 0).any():
        empty = np.ma.masked_where(support > 0, np.zeros(values.shape))
        edges = [np.arange(size + 1) - 0.5 for size in values.shape]
        ax.pcolor(
            edges[1], edges[0], empty, hatch="////", facecolor="none",
            edgecolor=ink(ax), alpha=0.35, linewidth=0, cmap=diverging_map(ax),
            vmin=-largest, vmax=largest,
        )  # fmt: skip
    _set_ticks(ax.set_yticks, row_labels)
    _set_ticks(
        ax.set_xticks, column_labels, rotation=35, ha="right", rotation_mode="anchor"
    )
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    bar = ax.figure.colorbar(image, ax=ax, fraction=0.06, pad=0.03)
    bar.outline.set_visible(False)
    rows, columns = axis_names or (None, None)
    set_texts(ax, title=title, xlabel=columns, ylabel=rows)
    return ax


def check_grid(
    values: npt.ArrayLike,
    row_labels: Sequence[object],
    column_labels: Sequence[object],
    support: npt.ArrayLike | None,
) -> tuple[FloatArray, FloatArray | None]:
    """Check that a grid has a row and a column for every label."""
    grid = np.asarray(values, dtype=np.float64)
    counts = None if support is None else np.asarray(support, dtype=np.float64)
    shape = (len(row_labels), len(column_labels))
    for name, array in (("values", grid), ("support", counts)):
        if array is not None and (array.shape != shape or 0 in shape):
            raise InputError(
                f"{name} have shape {array.shape}, but there are {shape[0]} row labels "
                f"and {shape[1]} column labels; give one value for every pair of them."
            )
    return grid, counts


def tick_places(n_labels: int, most: int = MAX_TICKS) -> range:
    """Positions of the labels that are shown."""
    return range(0, n_labels, max(1, ceil(n_labels / most)))


def _set_ticks(set_ticks: Any, labels: Sequence[object], **style: Any) -> None:
    places = tick_places(len(labels))
    shown = short_labels([labels[k] for k in places], 18)
    set_ticks(list(places), shown, parse_math=False, fontsize="small", **style)
