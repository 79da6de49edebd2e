"""`BinAxis`: where the bins of a feature are, with ticks; for every kind of picture."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

import numpy as np

from tanager.plots.svg import cut_labels
from tanager.types import BoolArray, FloatArray

MAX_TICKS = 6
"""Ticks along the values of a numeric feature."""

MAX_DATES = 4
"""Ticks along dates and times, whose labels are long."""

LONG_TAIL = 12.0
"""Range of the cut points, in units of that of their middle half, above which the axis
is stretched near its middle."""

MARGIN = 0.06
"""Least length of the two outer bins of a numeric feature, which have no end of their
own, as a fraction of the rest of the axis."""


_INTERVAL = re.compile(r"\(.+, (.+)\]")


@dataclass(frozen=True, eq=False)
class BinAxis:
    """Places of the bins of a feature along an axis.

    Numeric bins are intervals of the real axis, followed by bins without an interval
    (missing values); the bins of categories are unit steps. Places are those of a
    linear axis, or are stretched by ``asinh((x - centre) / width)``, so that a long
    tail does not hide the rest.

    Parameters
    ----------
    left, right : ndarray of float64, shape (n_bins,)
        Ends of every bin, in places along the axis.
    is_interval : ndarray of bool, shape (n_bins,)
        Whether the bin is an interval of numbers.
    ticks : tuple of (float, str)
        Places and labels.

    Examples
    --------
    >>> axis = BinAxis.of(["a", "b", "missing"], np.array([10.0]))
    >>> axis.is_interval, axis.ticks[-1][1]
    (array([ True,  True, False]), 'missing')
    """

    left: FloatArray
    right: FloatArray
    is_interval: BoolArray
    ticks: tuple[tuple[float, str], ...]

    @classmethod
    def of(
        cls,
        labels: Sequence[object],
        cuts: FloatArray | None,
        *,
        max_label: int = 14,
        max_labels: int = 20,
    ) -> BinAxis:
        """Place bins by their cut points, or side by side if these are None."""
        n_bins = len(labels)
        if cuts is None:
            left = np.arange(n_bins, dtype=np.float64) - 0.5
            # With many categories, every second, third, ... one is labelled.
            step = max(1, ceil(n_bins / max_labels))
            shown = range(0, n_bins, step)
            texts = cut_labels([labels[k] for k in shown], max_label)
            ticks = tuple(zip(map(float, shown), texts, strict=True))
            return cls(left, left + 1.0, np.zeros(n_bins, dtype=bool), ticks)
        scale = AxisScale.of(cuts)
        inner = scale.place(cuts)
        length = float(inner[-1] - inner[0]) if len(inner) > 1 else 0.0
        if len(inner) == 1:
            length = abs(float(inner[0])) or 1.0
        # Of few bins the outer ones are longer.
        fraction = max(MARGIN, 0.5 / max(len(inner) - 1, 1))
        margin = fraction * length
        first = inner[0] - margin if len(inner) else 0.0
        last = inner[-1] + margin if len(inner) else 1.0
        edges = np.array([first, *inner, last])
        n_others = n_bins - len(inner) - 1
        width = 0.05 * (last - first)
        starts = last + width + 1.8 * width * np.arange(n_others)
        numbers = scale.ticks(edges, MAX_TICKS) if len(inner) else ()
        if ends := _end_texts(labels[: len(inner)]):
            numbers = _end_ticks(inner, ends)
        texts = cut_labels(labels[len(inner) + 1 :], max_label)
        others = tuple(zip((starts + width / 2).tolist(), texts, strict=True))
        return cls(
            np.concatenate([edges[:-1], starts]),
            np.concatenate([edges[1:], starts + width]),
            np.arange(n_bins) <= len(inner),
            (*numbers, *others),
        )

    @property
    def middle(self) -> FloatArray:
        """Middles of the bins."""
        return (self.left + self.right) / 2

    @property
    def limits(self) -> tuple[float, float]:
        """Ends of the axis, with some room where it ends in a bin of no interval."""
        low, high = float(self.left[0]), float(self.right[-1])
        room = 0.0 if self.is_interval[-1] else 0.02 * (high - low)
        return low - (0.0 if self.is_interval[0] else room), high + room


@dataclass(frozen=True)
class AxisScale:
    """A linear axis, or one that is stretched near the centre of the cut points."""

    centre: float = 0.0
    width: float | None = None

    @classmethod
    def of(cls, cuts: FloatArray) -> AxisScale:
        """Stretch the axis if the cut points have a long tail."""
        if len(cuts) < 4:
            return cls()
        low, centre, high = np.quantile(cuts, [0.25, 0.5, 0.75])
        if cuts[-1] - cuts[0] <= LONG_TAIL * (high - low):
            return cls()
        return cls(float(centre), float(high - low))

    def place(self, values: FloatArray) -> FloatArray:
        """Places of values."""
        if self.width is None:
            return values
        return np.arcsinh((values - self.centre) / self.width)

    def value(self, place: float) -> float:
        """The value at a place."""
        if self.width is None:
            return place
        return self.centre + self.width * float(np.sinh(place))

    def ticks(self, edges: FloatArray, most: int) -> tuple[tuple[float, str], ...]:
        """Places of round values along an axis, with their labels."""
        low, high = float(edges[0]), float(edges[-1])
        if self.width is None:
            values = nice_ticks(low, high, most)
        else:
            spread = np.linspace(edges[1], edges[-2], most)
            values = sorted({_round(self.value(float(place))) for place in spread})
        places = self.place(np.array(values, dtype=np.float64)).tolist()
        return tuple(
            (place, number_text(value))
            for place, value in zip(places, values, strict=True)
            if low <= place <= high
        )


def _end_texts(labels: Sequence[object]) -> list[str]:
    """Upper ends of intervals if these are dates or times, not numbers."""
    found = [_INTERVAL.fullmatch(str(label)) for label in labels]
    texts = [match[1] for match in found if match is not None]
    if len(texts) < len(found) or all(map(_is_number, texts)):
        return []
    return texts


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _end_ticks(
    places: FloatArray, texts: Sequence[str]
) -> tuple[tuple[float, str], ...]:
    """Ticks at the cut points nearest to evenly spread places."""
    spread = np.linspace(places[0], places[-1], min(MAX_DATES, len(places)))
    near = np.abs(places[:, np.newaxis] - spread).argmin(axis=0)
    chosen = sorted(set(near.tolist()))
    labels = shorten_times([texts[k] for k in chosen])
    return tuple(
        (float(places[k]), label) for k, label in zip(chosen, labels, strict=True)
    )


def shorten_times(texts: Sequence[str]) -> list[str]:
    """Dates with times as dates alone if these differ, as times if all are equal.

    Examples
    --------
    >>> shorten_times(["2024-05-01 08:00", "2024-06-01 12:30"])
    ['2024-05-01', '2024-06-01']
    >>> shorten_times(["2024-05-01 08:00", "2024-05-01 12:30"])
    ['08:00', '12:30']
    """
    parts = [text.split(" ") for text in texts]
    if not all(len(part) == 2 and part[0].count("-") == 2 for part in parts):
        return list(texts)
    dates = {date for date, _ in parts}
    if len(dates) == len(parts):
        return [date for date, _ in parts]
    return [time for _, time in parts] if len(dates) == 1 else list(texts)


def nice_ticks(low: float, high: float, most: int) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten, at most `most` of them.

    Examples
    --------
    >>> nice_ticks(0.3, 4.2, 6)
    [1.0, 2.0, 3.0, 4.0]
    """
    if not high > low:
        return [low]
    power = 10.0 ** floor(log10((high - low) / most))
    for factor in (1, 2, 5, 10, 20):
        step = factor * power
        first, last = ceil(low / step), floor(high / step)
        if last - first < most:
            break
    return [round(k * step, 12) if abs(step) > 1e-9 else k * step
            for k in range(first, last + 1)]  # fmt: skip


def _round(value: float) -> float:
    """A value with one significant digit."""
    return float(f"{value:.1g}")


def number_text(value: float) -> str:
    """A number in few characters: 1500, 20k, 3M.

    Examples
    --------
    >>> [number_text(x) for x in (0.25, 1500.0, 20000.0, 3e6)]
    ['0.25', '1500', '20k', '3M']
    """
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= (size if size > 1e3 else 1e4):
            return f"{value / size:.6g}{letter}"
    return f"{value + 0.0:.6g}"
