"""Calibration: how often predictions of a probability come true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tanager.errors import InputError
from tanager.plots.effect_curve import draw_strip, strip_heights
from tanager.plots.line_svg import LineChart
from tanager.plots.picture import Picture, PictureMixin
from tanager.plots.style import BLUE, STRIP, ink, make_axes, set_texts
from tanager.plots.svg import Panel
from tanager.types import FloatArray

Z = 1.959963984540054
"""Quantile of the normal distribution for intervals of 95 %."""

HISTOGRAM_STEPS = 25
"""Steps of the histogram of the predictions."""


@dataclass(frozen=True, eq=False)
class CalibrationCurve(PictureMixin):
    """Predicted and observed frequencies of an event, by bins of the prediction.

    Parameters
    ----------
    probability : ndarray of float64, shape (n_bins,)
        Mean predicted probability of every bin, increasing.
    frequency : ndarray of float64, shape (n_bins,)
        How often the event happened.
    low, high : ndarray of float64, shape (n_bins,)
        Ends of the Wilson interval of the frequency, 95 %.
    count : ndarray of float64, shape (n_bins,)
        Number of samples.
    histogram : ndarray of float64, shape (n_steps,)
        Number of predictions in every step of equal width from 0 to 1.

    Notes
    -----
    Bins hold about the same number of samples each; equal predictions are in one bin.

    Examples
    --------
    >>> curve = CalibrationCurve.of([0.1, 0.1, 0.9, 0.9], [0, 0, 1, 0], n_bins=2)
    >>> curve.probability, curve.frequency
    (array([0.1, 0.9]), array([0. , 0.5]))
    >>> round(curve.error, 3)
    0.25
    """

    probability: FloatArray
    frequency: FloatArray
    low: FloatArray
    high: FloatArray
    count: FloatArray
    histogram: FloatArray

    @classmethod
    def of(
        cls, probabilities: npt.ArrayLike, hits: npt.ArrayLike, n_bins: int = 10
    ) -> CalibrationCurve:
        """Group predictions into at most `n_bins` bins of about equal size."""
        p, hit = np.asarray(probabilities, float), np.asarray(hits, float)
        if p.ndim != 1 or p.shape != hit.shape or len(p) == 0:
            raise InputError(
                f"probabilities have shape {p.shape} and hits have {hit.shape}; give "
                "one of both for every sample, and at least one sample."
            )
        if not ((p >= 0) & (p <= 1)).all() or not np.isin(hit, (0.0, 1.0)).all():
            raise InputError("probabilities must be from 0 to 1, and hits 0 or 1.")
        edges = np.unique(np.quantile(p, np.linspace(0, 1, n_bins + 1)[1:-1]))
        place = np.searchsorted(edges, p, side="left")
        _, place = np.unique(place, return_inverse=True)
        count = np.bincount(place).astype(np.float64)
        rate = np.bincount(place, hit) / count
        centre = (rate + Z**2 / (2 * count)) / (1 + Z**2 / count)
        spread = np.sqrt(rate * (1 - rate) / count + Z**2 / (4 * count**2))
        half = Z * spread / (1 + Z**2 / count)
        mean = np.bincount(place, p) / count
        low, high = np.minimum(centre - half, rate), np.maximum(centre + half, rate)
        histogram = np.histogram(p, HISTOGRAM_STEPS, (0.0, 1.0))[0].astype(np.float64)
        return cls(mean, rate, low, high, count, histogram)

    @property
    def error(self) -> float:
        """Expected calibration error: mean absolute difference over the samples."""
        gaps = np.abs(self.frequency - self.probability)
        return float(np.average(gaps, weights=self.count))

    def picture(
        self,
        *,
        title: str | None = None,
        xlabel: str | None = "Predicted probability",
        ylabel: str | None = "Observed frequency",
    ) -> Picture:
        """Points with intervals, the diagonal, and the histogram at the bottom."""
        options = {"curve": self, "title": title, "xlabel": xlabel, "ylabel": ylabel}
        return Picture(_draw_axes, _draw_panel, options)


def draw_calibration(
    probabilities: npt.ArrayLike,
    hits: npt.ArrayLike,
    *,
    n_bins: int = 10,
    title: str | None = None,
    xlabel: str | None = "Predicted probability",
    ylabel: str | None = "Observed frequency",
    ax: Any = None,
) -> Any:
    """Draw observed frequencies against predicted probabilities.

    Parameters
    ----------
    probabilities : array-like of shape (n_samples,)
        Predicted probability of an event, for instance of a class.
    hits : array-like of 0 and 1, shape (n_samples,)
        Whether it happened.
    n_bins : int, default=10
        Bins of about equal size; see `CalibrationCurve`.
    title, xlabel, ylabel : str or None
        Texts; None for none.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib Axes
        Points with intervals of 95 %, the diagonal of perfect calibration, and a
        histogram of the predictions at the bottom.

    Raises
    ------
    InputError
        If matplotlib is not installed, or the data cannot be used.

    Examples
    --------
    >>> draw_calibration([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1])  # doctest: +SKIP
    <Axes: xlabel='Predicted probability', ylabel='Observed frequency'>
    """
    curve = CalibrationCurve.of(probabilities, hits, n_bins)
    return curve.plot(ax, title=title, xlabel=xlabel, ylabel=ylabel)


def _draw_axes(
    curve: CalibrationCurve,
    *,
    title: str | None,
    xlabel: str | None,
    ylabel: str | None,
    ax: Any,
) -> Any:
    ax = make_axes(ax, 3.8, 3.6)
    ax.plot([0, 1], [0, 1], color=ink(ax), linewidth=0.8, linestyle=":")
    ax.errorbar(
        curve.probability,
        curve.frequency,
        yerr=[curve.frequency - curve.low, curve.high - curve.frequency],
        fmt="o-",
        color=BLUE,
        markersize=4,
        linewidth=1.2,
        capsize=2,
    )
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    edges = np.linspace(0.0, 1.0, len(curve.histogram) + 1)
    draw_strip(ax, edges[:-1], edges[1:], curve.histogram)
    ax.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1.0])
    set_texts(ax, title=title, xlabel=xlabel, ylabel=ylabel)
    return ax


def _draw_panel(
    curve: CalibrationCurve,
    *,
    title: str | None,
    xlabel: str | None,
    ylabel: str | None,
) -> Panel:
    texts = {"title": title, "xlabel": xlabel, "ylabel": ylabel}
    chart = LineChart((0.0, 1.0), (0.0, 1.0), size=(230.0, 230.0), **texts)
    edges = np.linspace(0.0, 1.0, len(curve.histogram) + 1)
    heights = strip_heights(edges[:-1], edges[1:], curve.histogram)
    chart.strip(edges, 0.85 * STRIP * heights)
    chart.diagonal()
    for k, place in enumerate(curve.probability.tolist()):
        chart.interval(place, float(curve.low[k]), float(curve.high[k]), 0)
    chart.line(curve.probability, curve.frequency, 0)
    return chart.panel("Observed frequency by predicted probability")
