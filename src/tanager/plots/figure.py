"""Matplotlib figures without pyplot: no global state, the same bytes every time."""

from __future__ import annotations

import os
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

from tanager.errors import InputError, listed
from tanager.plots.style import require_matplotlib
from tanager.utils.atomic_write import PathLike, check_writable, write_bytes

KINDS = ("svg", "pdf", "png")


def draw_figure(
    draw: Callable[[Any], object], path: PathLike | None = None, font_size: float = 9
) -> Any:
    """Make an empty matplotlib figure, `draw` on it and write it to files.

    A `path` that ends in .svg, .pdf or .png is one file; without such an ending there
    are an SVG and a PNG file. They are written all or not at all.
    """
    require_matplotlib()
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    paths = [] if path is None else _files(path)
    for file in paths:
        check_writable(file)
    # The salt makes the same numbers give the same file.
    with mpl.rc_context({"svg.hashsalt": "tanager", "font.size": font_size}):
        figure = Figure()
        FigureCanvasAgg(figure)
        draw(figure)
        contents = [_bytes(figure, file.suffix[1:].lower()) for file in paths]
    for file, content in zip(paths, contents, strict=True):
        write_bytes(file, content)
    return figure


def _files(path: PathLike) -> list[Path]:
    file = Path(path)
    ending = file.suffix[1:].lower()
    if ending in KINDS:
        return [file]
    # What follows a point in a name such as "alpha0.05" is no ending.
    if ending.isalpha():
        raise InputError(
            f"Cannot draw to '{os.fspath(path)}': the ending must be one of "
            f"{listed(KINDS)}, or left out for an SVG and a PNG file."
        )
    return [file.with_name(f"{file.name}.{kind}") for kind in ("svg", "png")]


def _bytes(figure: Any, kind: str) -> bytes:
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": None}
    buffer = BytesIO()
    figure.savefig(buffer, format=kind, dpi=200, metadata=dates[kind])
    return buffer.getvalue()
