"""Learning traces: values by iteration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tanager.errors import InputError
from tanager.plots.style import COLOURS, add_legend, make_axes, set_texts, short_labels

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
    ax = make_axes(ax, 4.5, 2.8)
    for place, key in enumerate(keys):
        points = [
            (entry[x] if x else k, entry[key])
            for k, entry in enumerate(trace)
            if _is_number(entry.get(key)) and (x is None or _is_number(entry.get(x)))
        ]
        across, up = np.array(points, dtype=np.float64).reshape(-1, 2).T
        marker = "o" if len(points) <= 40 else ""
        ax.plot(
            across,
            up,
            marker=marker,
            markersize=3.5,
            color=COLOURS[place % len(COLOURS)],
            linewidth=1.4,
            label=short_labels([_words(key)])[0],
        )
    if len(keys) > 1:
        add_legend(ax)
    xlabel = "step" if x is None else _words(x)
    ylabel = _words(keys[0]) if len(keys) == 1 else None
    set_texts(ax, title=title, xlabel=xlabel, ylabel=ylabel)
    return ax


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def _words(key: str) -> str:
    return key.replace("_", " ")
