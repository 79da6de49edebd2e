"""Colours and axes that all pictures share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tanager.errors import InputError
from tanager.types import FloatArray
from tanager.utils.text import shorten

BLUE, ORANGE, GREEN, PINK = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
GOLD, SKY, GREY = "#e69f00", "#56b4e9", "#767676"
"""Distinct for colour-blind readers (Okabe and Ito), readable on white and on dark."""

COLOURS = (
    BLUE, ORANGE, GREEN, PINK, GOLD, SKY, GREY, "#5b4bb7", "#882255", "#6b3e26",
)  # fmt: skip
"""In turn for the lines and segments of a picture."""

FOR, AGAINST = BLUE, ORANGE
"""Of what is above zero, and of what is below."""

MAX_LABEL = 44
"""Characters of a label."""

STRIP = 0.16
"""Height of the histogram at the bottom of a picture, as a fraction of its height."""


def require_matplotlib() -> None:
    """Raise an error that names the extra if matplotlib is not installed."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise InputError(
            "Drawing needs matplotlib, which is not installed: pip install "
            "tanager[plot]."
        ) from error
    del mpl


def make_axes(ax: Any, width: float, height: float) -> Any:
    """The given axes, or those of a new pyplot figure of a size in inches."""
    if ax is None:
        require_matplotlib()
        from matplotlib import pyplot as plt

        _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def ink(ax: Any) -> Any:
    """Colour of the labels of axes: dark, or light under a dark style sheet."""
    return ax.xaxis.label.get_color()


def diverging_map(ax: Any) -> Any:
    """Colour map with the background of the axes in its middle."""
    from matplotlib.colors import LinearSegmentedColormap

    colours = [AGAINST, ax.get_facecolor(), FOR]
    return LinearSegmentedColormap.from_list("tanager", colours)


def set_texts(
    ax: Any, *, title: str | None, xlabel: str | None, ylabel: str | None
) -> None:
    """Write title and names of the axes as they are, without mathematical markup."""
    if title is not None:
        ax.set_title(shorten(title, 72), fontsize="medium", parse_math=False)
    if xlabel is not None:
        ax.set_xlabel(shorten(xlabel, 72), parse_math=False)
    if ylabel is not None:
        ax.set_ylabel(shorten(ylabel, 72), parse_math=False)


def add_legend(ax: Any, **options: Any) -> None:
    """Add a legend at the right, whose texts are shown as they are."""
    place = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
    legend = ax.legend(frameon=False, fontsize="small", **place, **options)
    for text in legend.get_texts():
        text.set_parse_math(False)


def short_labels(labels: Sequence[object], width: int = MAX_LABEL) -> list[str]:
    """Write labels on one short line each."""
    return [shorten(str(label), width) for label in labels]


def check_length(name: str, given: npt.ArrayLike, n_labels: int) -> FloatArray:
    """Take an array as floats, and check that it has an entry for every label."""
    array = np.asarray(given, dtype=np.float64)
    if array.ndim == 0 or len(array) != n_labels:
        raise InputError(
            f"{name} has shape {array.shape}, but there are {n_labels} labels; give "
            "one entry for every label."
        )
    return array


def check_errors(errors: npt.ArrayLike | None, n_labels: int) -> FloatArray:
    """Lengths of error bars below and above the values, shape (2, n_labels).

    `errors` have one of these shapes: (n_labels,) or (2, n_labels); None is zero.
    """
    if errors is None:
        return np.zeros((2, n_labels))
    around = np.asarray(errors, dtype=np.float64)
    sides = around if around.shape[:-1] == (2,) else [around]
    half = np.stack([check_length("errors", side, n_labels) for side in sides])
    return np.broadcast_to(half, (2, n_labels))
