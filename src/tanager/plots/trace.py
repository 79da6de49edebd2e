"""Learning traces: values by iteration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tanager.errors import InputError
from tanager.plots.line_svg import MAX_MARKED, LineChart, padded
from tanager.plots.picture import Picture
from tanager.plots.style import COLOURS, add_legend, make_axes, set_texts, short_labels
from tanager.plots.svg import Panel
from tanager.types import FloatArray

X_KEYS = ("iteration", "epoch", "step", "seconds")
"""What may be the horizontal axis of a trace, in this order."""

LOSS_KEYS = ("held_out_loss", "objective", "loss", "score", "log_likelihood",
             "held_out_error", "error", "weight")  # fmt: skip
"""What is drawn of a trace by default: the first one that it has."""


def draw_trace(
    trace: Sequence[Mapping[str, Any]],
    *,
    y: str | Sequence[str] | None = None,
    x: str | None = None,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw how a value changed while a model was learned.

    Parameters
    ----------
    trace : sequence of mappings
        Entries of ``model.trace_["structure"]`` or ``model.trace_["parameters"]``.
    y : str, sequence of str or None, default=None
        The keys to draw; None takes the held-out loss, the objective or the score.
        Entries without a number under a key are left out.
    x : str or None, default=None
        The key along the axis, for instance ``"seconds"``; None takes the iteration,
        or the position in the trace.
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
        If matplotlib is not installed, or the trace has no such numbers.

    Examples
    --------
    >>> trace = [{"iteration": 1, "loss": 0.7}, {"iteration": 2, "loss": 0.4}]
    >>> draw_trace(trace)  # doctest: +SKIP
    <Axes: xlabel='iteration', ylabel='loss'>
    """
    return trace_picture(trace, y=y, x=x, title=title).plot(ax)


def trace_picture(
    trace: Sequence[Mapping[str, Any]],
    *,
    y: str | Sequence[str] | None = None,
    x: str | None = None,
    title: str | None = None,
) -> Picture:
    """The picture of `draw_trace`, for matplotlib and SVG.

    Examples
    --------
    >>> trace = [{"iteration": 1, "loss": 0.7}, {"iteration": 2, "loss": 0.4}]
    >>> trace_picture(trace).panel().label
    'loss by iteration'
    """
    known = list(dict.fromkeys(key for entry in trace for key in entry))
    numeric = [key for key in known if any(_is_number(e.get(key)) for e in trace)]
    if y is None:
        y = [key for key in LOSS_KEYS if key in numeric][:1]
    keys = [y] if isinstance(y, str) else list(y)
    missing = [key for key in (*keys, *([x] if x else [])) if key not in numeric]
    if missing or not keys:
        wanted = f" under {missing[0]!r}" if missing else ""
        raise InputError(
            f"The trace has no numbers{wanted} to draw. Its keys with numbers: "
            f"{', '.join(numeric) or 'none'}; give one as y."
        )
    x = x or next((key for key in X_KEYS if key in numeric and key not in keys), None)
    lines = {}
    for key in keys:
        points = [
            (entry[x] if x else k, entry[key])
            for k, entry in enumerate(trace)
            if _is_number(entry.get(key)) and (x is None or _is_number(entry.get(x)))
        ]
        lines[_words(key)] = np.array(points, dtype=np.float64).reshape(-1, 2).T
    xlabel = "step" if x is None else _words(x)
    options = {"lines": lines, "xlabel": xlabel, "title": title}
    return Picture(_draw_axes, _draw_panel, options)


def _draw_axes(
    lines: Mapping[str, FloatArray], *, xlabel: str, title: str | None, ax: Any
) -> Any:
    ax = make_axes(ax, 4.5, 2.8)
    for place, (name, (across, up)) in enumerate(lines.items()):
        ax.plot(
            across,
            up,
            marker="o" if len(up) <= MAX_MARKED else "",
            markersize=3.5,
            color=COLOURS[place % len(COLOURS)],
            linewidth=1.4,
            label=short_labels([name])[0],
        )
    if len(lines) > 1:
        add_legend(ax)
    set_texts(ax, title=title, xlabel=xlabel, ylabel=_only_name(lines))
    return ax


def _draw_panel(
    lines: Mapping[str, FloatArray], *, xlabel: str, title: str | None
) -> Panel:
    points = np.concatenate(list(lines.values()), axis=1)
    chart = LineChart(
        padded(points[0]),
        padded(points[1]),
        title=title,
        xlabel=xlabel,
        ylabel=_only_name(lines),
    )
    for place, (across, up) in enumerate(lines.values()):
        chart.line(across, up, place)
    if len(lines) > 1:
        chart.legend(list(lines), range(len(lines)))
    return chart.panel(f"{', '.join(lines)} by {xlabel}")


def _only_name(lines: Mapping[str, FloatArray]) -> str | None:
    """The name of a single line, which is then that of the axis."""
    return next(iter(lines)) if len(lines) == 1 else None


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def _words(key: str) -> str:
    return key.replace("_", " ")
