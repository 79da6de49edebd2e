"""`write_comparison`: models side by side as one HTML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import inf

from scipy.special import stdtrit

from tanager.compare import RankGroups, Results, rank_groups
from tanager.compare.diagram import rank_panel
from tanager.plots.svg import inline_svg
from tanager.report.assessment import Estimate
from tanager.report.html_page import make_page
from tanager.types import FloatArray
from tanager.utils.atomic_write import PathLike, check_writable, write_text

MAX_PAIRS = 12
"""Pairs of features that are listed for a model."""

WIDTH, LEFT, ROW, RIGHT = 380, 128, 26, 14  # of the chart of intervals


@dataclass(frozen=True, eq=False)
class ComparedMetric:
    """The values of one metric for all models and folds.

    Parameters
    ----------
    title : str
        Name of the metric.
    values : ndarray of float64, shape (n_models, n_folds)
        The values.
    sign : int
        1 if higher is better, -1 if lower is, 0 for a time.
    digits : int, default=3
        Decimals to show.
    most : float, default=inf
        Largest possible value; the least is 0. Intervals end there.
    """

    title: str
    values: FloatArray
    sign: int
    digits: int = 3
    most: float = inf


@dataclass(frozen=True, eq=False)
class Comparison:
    """Models that were evaluated on the same folds.

    Parameters
    ----------
    title, description : str
        Heading, and how the models were evaluated.
    models : tuple of str
        Their names; the first is the baseline.
    metrics : tuple of ComparedMetric
        The first one is also compared by ranks.
    facts : tuple of (name, text of every model)
        Further columns of the table, such as the number of parameters.
    edges : tuple of mappings from pairs of names to int, default=()
        For every model the pairs of features that it joins, and in how many folds.
    test_ratio : float
        Test samples over training samples in a fold, for the intervals.
    """

    title: str
    description: str
    models: tuple[str, ...]
    metrics: tuple[ComparedMetric, ...]
    facts: tuple[tuple[str, tuple[str, ...]], ...] = ()
    edges: tuple[Mapping[tuple[str, str], int], ...] = ()
    test_ratio: float = 0.0


def write_comparison(path: PathLike, comparison: Comparison) -> None:
    """Write the page of a comparison, whole or not at all."""
    check_writable(path)
    write_text(path, comparison_text(comparison))


def comparison_text(comparison: Comparison) -> str:
    """The HTML of a comparison: a table, intervals of every metric and ranks."""
    charts = [
        f"<figure>{_draw_intervals(comparison, metric)}"
        f"<figcaption>{escape(_caption(metric))}</figcaption></figure>"
        for metric in comparison.metrics
    ]
    body = [
        f"<header><h1>{escape(comparison.title)}</h1>",
        f'<p id="subtitle">{escape(comparison.description)}</p></header>',
        '<main><section><h2>Scores</h2><div class="scroll">',
        _table(comparison),
        '</div><p class="note">Mean over folds with its 95 % interval (Nadeau and '
        "Bengio's correction for overlapping training sets); the best mean is bold."
        "</p></section>",
        '<section><h2>Intervals</h2><div class="gallery">',
        *charts,
        "</div></section>",
        _ranks(comparison),
        _structures(comparison),
        "</main>",
    ]
    return make_page(comparison.title, "\n".join(body))


def estimate_fold_mean(values: FloatArray, test_ratio: float) -> Estimate:
    """Mean over folds with the interval of the corrected t-test.

    Notes
    -----
    With mean m, sample variance s^2 and n folds the interval is
    m ± t sqrt((1 / n + test_ratio) s^2), t the 97.5 % quantile of Student's
    distribution with n - 1 degrees of freedom. A single fold has none.

    Examples
    --------
    >>> import numpy as np
    >>> found = estimate_fold_mean(np.array([0.1, 0.2, 0.3, 0.2, 0.2]), 0.25)
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (0.2, 0.068, 0.332)
    """
    mean, n_folds = float(values.mean()), len(values)
    if n_folds < 2:
        return Estimate(mean, mean, mean)
    variance = (1 / n_folds + test_ratio) * float(values.var(ddof=1))
    half = float(stdtrit(n_folds - 1, 0.975)) * variance**0.5
    return Estimate(mean, mean - half, mean + half)


def _caption(metric: ComparedMetric) -> str:
    better = {1: "higher is better", -1: "lower is better", 0: "time"}[metric.sign]
    return f"{metric.title} ({better})"


def _estimates(comparison: Comparison, metric: ComparedMetric) -> list[Estimate]:
    found = [estimate_fold_mean(v, comparison.test_ratio) for v in metric.values]
    least = min(0.0, float(metric.values.min()))
    return [
        Estimate(e.value, max(e.low, least), min(e.high, metric.most)) for e in found
    ]


def _table(comparison: Comparison) -> str:
    """Means and intervals, a row for every model."""
    titles = [m.title for m in comparison.metrics] + [n for n, _ in comparison.facts]
    head = "".join(f'<th scope="col">{escape(t)}</th>' for t in ["Model", *titles])
    columns = []
    for metric in comparison.metrics:
        found = _estimates(comparison, metric)
        means = metric.values.mean(axis=1)
        best = (metric.sign or -1) * means
        columns.append(
            [
                _cell(estimate, metric.digits, bool(best[k] == best.max()))
                for k, estimate in enumerate(found)
            ]
        )
    for _, texts in comparison.facts:
        columns.append([f'<td class="number">{escape(text)}</td>' for text in texts])
    rows = [
        f'<tr><th scope="row">{escape(name)}</th>{"".join(c[k] for c in columns)}</tr>'
        for k, name in enumerate(comparison.models)
    ]
    return (
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


def _cell(estimate: Estimate, digits: int, is_best: bool) -> str:
    mean = f"{estimate.value:.{digits}f}"
    mean = f"<strong>{mean}</strong>" if is_best else mean
    if estimate.low == estimate.high:
        return f'<td class="number">{mean}</td>'
    span = f"{estimate.low:.{digits}f} to {estimate.high:.{digits}f}"
    return f'<td class="number">{mean} <span class="note">{span}</span></td>'


def _draw_intervals(comparison: Comparison, metric: ComparedMetric) -> str:
    """A point with its interval for every model, and the folds as dots."""
    found = _estimates(comparison, metric)
    low = min([*(e.low for e in found), float(metric.values.min())])
    high = max([*(e.high for e in found), float(metric.values.max())])
    span = (high - low) or 1.0
    height = ROW * len(found) + 34

    def place(value: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * (value - low) / span, 1)

    parts = [
        f'<svg class="chart" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{escape(metric.title)} of every model">'
    ]
    for k, (name, estimate) in enumerate(zip(comparison.models, found, strict=True)):
        y = ROW * k + 18
        shown = name if len(name) <= 19 else name[:18] + "…"
        parts.append(
            f'<text x="{LEFT - 10}" y="{y + 4}" text-anchor="end">'
            f"{escape(shown)}</text>"
        )
        parts += [
            f'<circle class="dot" cx="{place(float(v))}" cy="{y}" r="2.5"/>'
            for v in metric.values[k]
        ]
        parts.append(
            f'<line class="whisker" x1="{place(estimate.low)}" y1="{y}" '
            f'x2="{place(estimate.high)}" y2="{y}"/>'
            f'<circle class="point" cx="{place(estimate.value)}" cy="{y}" r="5"/>'
        )
    base = ROW * len(found) + 8
    parts.append('<g class="axis">')
    parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{base}" y2="{base}"/>')
    for value, anchor in ((low, "start"), (high, "end")):
        text = f"{value:.{metric.digits}f}"
        parts.append(
            f'<text x="{place(value)}" y="{base + 16}" '
            f'text-anchor="{anchor}">{text}</text>'
        )
    return "".join([*parts, "</g></svg>"])


def _ranks(comparison: Comparison) -> str:
    """The critical-difference diagram of the first metric over the folds."""
    metric = comparison.metrics[0]
    n_models, n_folds = metric.values.shape
    if n_models < 2 or n_folds < 2:
        return ""
    groups = _rank_groups(comparison.models, metric)
    diagram = inline_svg(rank_panel(groups), class_="chart")
    note = (
        f"Average ranks by {metric.title.lower()} over the folds; bars join models "
        "that the Nemenyi test does not separate at 5 %. Folds share training samples, "
        "so the test is optimistic; the intervals above are corrected for that."
    )
    return (
        "<section><h2>Ranks</h2>"
        f'<div class="narrow-wide">{diagram}</div>'
        f'<p class="note">{escape(note)}</p></section>'
    )


def _structures(comparison: Comparison) -> str:
    """The pairs of features that every model joins, the most stable ones first."""
    if not any(comparison.edges):
        return ""
    n_folds = comparison.metrics[0].values.shape[1]
    head = ["Model", "Joined pairs per fold", "In every fold", "Most stable pairs"]
    rows = []
    for name, counts in zip(comparison.models, comparison.edges, strict=True):
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        shown = [f"{a} - {b} ({n})" for (a, b), n in ranked[:MAX_PAIRS]]
        more = f", and {len(ranked) - MAX_PAIRS:,} others" if ranked[MAX_PAIRS:] else ""
        cells = [
            f'<th scope="row">{escape(name)}</th>',
            f'<td class="number">{sum(counts.values()) / n_folds:.1f}</td>',
            f'<td class="number">{sum(n == n_folds for n in counts.values())}</td>',
            f"<td>{escape((', '.join(shown) or 'none') + more)}</td>",
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    titles = "".join(f'<th scope="col">{escape(text)}</th>' for text in head)
    return (
        '<section><h2>Structures</h2><div class="scroll"><table><thead><tr>'
        f"{titles}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
        '<p class="note">Pairs of features that share an arc or a factor, with the '
        f"number of folds, of {n_folds}.</p></section>"
    )


def _rank_groups(models: Sequence[str], metric: ComparedMetric) -> RankGroups:
    scores = {
        (f"fold {fold}", name): float(metric.values[k, fold])
        for k, name in enumerate(models)
        for fold in range(metric.values.shape[1])
    }
    return rank_groups(Results.from_mapping(scores, higher_is_better=metric.sign > 0))
