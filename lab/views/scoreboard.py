"""The scoreboard: means, ranks, pairs, costs and tables of all rivals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lab.runner.experiment import Experiment
from lab.runner.results import Results
from lab.scoreboard.rivals import OURS
from lab.views.claims import p_text
from lab.views.figure_style import BLUE, GREY, ORANGE
from lab.views.scoreboard_scores import DECIMALS, SCORES, ScoreTable
from lab.views.table import Entry, Table, View, pivot
from tanager.compare import (
    RankGroups,
    draw_ranks,
    holm,
    rank_groups,
    wilcoxon_signed_rank,
)
from tanager.compare import Results as Scores
from tanager.types import FloatArray

ALPHA = 0.05
KILOBYTE = 1000.0
MICROSECONDS = 1e6

FONT_SIZE, LETTER = 8, 5.0
"""Points of the letters in the figure of costs, and their mean width with a margin."""

POINTS_PER_INCH = 72

TITLES = {
    "accuracy": "accuracy, %",
    "log_loss": "log loss",
    "auc": "AUC, %",
    "brier": "Brier score",
    "calibration_error": "calibration error, %",
}
UNITS = {"accuracy": 100.0, "auc": 100.0, "calibration_error": 100.0}


def scoreboard_averages(experiment: Experiment, results: Results) -> View:  # noqa: ARG001
    """Means of all scores over the tables that all ranked rivals have in common."""
    scores = ScoreTable(results)
    whole: tuple[tuple[Entry, ...], ...] = tuple(
        (table, rival, *(scores.mean(table, rival, score) for score in SCORES))
        for table in scores.tables
        for rival in scores.rivals
        if scores.folds(table, rival)
    )
    lines: list[tuple[Entry, ...]] = []
    for rival in scores.rivals:
        means: list[Entry] = [None] * len(SCORES)
        if rival in scores.ranked and scores.common:
            means = [
                UNITS.get(score, 1.0) * scores.average(rival, score) for score in SCORES
            ]
        n_tables = sum(bool(scores.folds(table, rival)) for table in scores.tables)
        lines.append((rival, *means, f"{n_tables} of {len(scores.tables)}"))
    place = 1 + list(SCORES).index("log_loss")
    lines.sort(key=lambda line: (line[place] is None, line[place] or 0.0))
    head = ("rival", *TITLES.values(), "tables measured")
    title = f"Means over {len(scores.common)} tables"
    return View(
        (
            Table("", ("table", "rival", *SCORES), whole),
            Table(title, head, tuple(lines), 3),
        ),
        "",
        None,
    )


def scoreboard_ranks(experiment: Experiment, results: Results) -> View:
    """Average ranks by every score; the figure shows the one of option ``score``."""
    scores = ScoreTable(results)
    chosen = experiment.options.get("score", "log_loss")
    if len(scores.common) < 2 or len(scores.ranked) < 2:
        return View((Table("", ("rival", *TITLES.values()), ()),), "", None)
    groups = {score: _ranks(scores, score) for score in SCORES}
    ranks = {
        score: dict(zip(found.methods, found.average_ranks, strict=True))
        for score, found in groups.items()
    }
    table = pivot(
        f"Average ranks over {len(scores.common)} tables, 1 is best",
        "rival",
        groups[chosen].methods,
        [TITLES[score].removesuffix(", %") for score in SCORES],
        lambda rival, title: float(ranks[_score_of(title)][rival]),
    )
    return View((table,), "", None, lambda figure: draw_ranks(figure, groups[chosen]))


def _score_of(title: str) -> str:
    return next(s for s, own in TITLES.items() if own.removesuffix(", %") == title)


def _ranks(scores: ScoreTable, score: str) -> RankGroups:
    """Ranks over the common tables; rivals that Wilcoxon's tests do not part."""
    table = Scores.from_mapping(
        {
            (name, rival): [
                round(scores.mean(name, rival, score, scores.ranked), DECIMALS)
            ]
            for name in scores.common
            for rival in scores.ranked
        },
        higher_is_better=SCORES[score] > 0,
    )
    return rank_groups(table, test="wilcoxon", alpha=ALPHA)


def scoreboard_pairs(experiment: Experiment, results: Results) -> View:  # noqa: ARG001
    """The default against each rival, over the tables on which both are measured."""
    scores = ScoreTable(results)
    others = [r for r in scores.rivals if r != OURS and scores.shared(OURS, r)]
    columns: list[list[Entry]] = []
    for score in ("accuracy", "log_loss"):
        ahead = {rival: scores.gains(OURS, rival, score) for rival in others}
        p_values = holm([wilcoxon_signed_rank(ahead[rival])[2] for rival in others])
        scale = UNITS.get(score, 1.0) * SCORES[score]
        columns += [
            [f"{(ahead[r] > 0).sum()} / {(ahead[r] < 0).sum()}" for r in others],
            [f"{scale * float(ahead[r].mean()):+.3f}" for r in others],
            [p_text(float(p)) for p in p_values],
            [
                f"**{_verdict(ahead[rival], float(p))}**"
                for rival, p in zip(others, p_values, strict=True)
            ],
        ]
    tables = [len(scores.shared(OURS, rival)) for rival in others]
    head: tuple[str, ...] = ("rival", "tables")
    for name in ("accuracy", "log loss"):
        unit = ", points" if name == "accuracy" else ""
        head += (f"{name}: better / worse", f"mean difference{unit}", "p", "default is")
    table = Table("", head, tuple(zip(others, tables, *columns, strict=True)))
    differences = {rival: -scores.gains(OURS, rival, "log_loss") for rival in others}
    if not others:
        return View((table,), "", None)
    return View(
        (table,), "", None, lambda figure: _draw_differences(figure, differences)
    )


def _verdict(ahead: FloatArray, p: float) -> str:
    """The rule of the page: tables in favour, and a significant test."""
    in_favour, against = int((ahead > 0).sum()), int((ahead < 0).sum())
    if p >= ALPHA or in_favour == against:
        return "not apart"
    return "ahead" if in_favour > against else "behind"


MOST_SHOWN = 0.5


def _draw_differences(figure: Any, differences: Mapping[str, FloatArray]) -> None:
    """A dot for every table: log loss of the default less that of a rival."""
    figure.set_size_inches(7.0, 0.9 + 0.34 * len(differences))
    axes = figure.add_subplot()
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.axvline(0.0, color=GREY, lw=0.8)
    for place, values in enumerate(differences.values()):
        shown = np.clip(values, -MOST_SHOWN, MOST_SHOWN)
        colours = np.where(values < 0, BLUE, ORANGE)
        axes.scatter(shown, np.full(len(values), -place), s=16, c=colours, alpha=0.65)
        axes.plot([np.clip(np.median(values), -MOST_SHOWN, MOST_SHOWN)] * 2,
                  [-place - 0.3, -place + 0.3], color="black", lw=1.2)  # fmt: skip
    axes.set_yticks(-np.arange(len(differences)), list(differences))
    axes.tick_params(left=False)
    axes.set_xlim(-MOST_SHOWN * 1.05, MOST_SHOWN * 1.05)
    axes.set_xlabel(
        f"log loss of the default less that of the rival, within ±{MOST_SHOWN:g}\n"
        "(left of zero the default is better; bars are medians)"
    )


def scoreboard_tables(experiment: Experiment, results: Results) -> View:
    """A score by table and rival; where there is none, the reason.

    Options of the experiment: ``score``, ``digits`` and ``scale``.
    """
    scores = ScoreTable(results)
    options = experiment.options
    score, digits = options["score"], options.get("digits", 3)
    scale = options.get("scale", 1)
    best_sign = SCORES.get(score, -1.0)

    def shown(table: str) -> list[str]:
        values = {
            rival: round(scale * scores.mean(table, rival, score), digits)
            for rival in scores.rivals
            if scores.folds(table, rival)
        }
        # Folds differ: a rival measured in some of them is not compared with others.
        folds = {rival: len(scores.folds(table, rival)) for rival in values}
        most = max(folds.values(), default=0)
        whole = [rival for rival in values if folds[rival] == most]
        best = max((best_sign * values[rival] for rival in whole), default=0.0)
        return [
            _marked(
                values[rival],
                digits,
                best=rival in whole and best_sign * values[rival] == best,
                partly=rival not in whole,
            )
            if rival in values
            else scores.kind_of_reason(table, rival)
            for rival in scores.rivals
        ]

    rows = tuple((_size(scores, table), *shown(table)) for table in scores.tables)
    return View((Table("", ("table", *scores.rivals), rows),), "", None)


def _size(scores: ScoreTable, table: str) -> str:
    n_samples, short = scores.n_samples(table), table.rpartition("/")[2]
    return short if n_samples is None else f"{short} ({n_samples:,})"


def _marked(value: float, digits: int, *, best: bool, partly: bool) -> str:
    text = f"{value:.{digits}f}"
    if partly:
        return f"({text})"
    return f"**{text}**" if best else text


def scoreboard_costs(experiment: Experiment, results: Results) -> View:  # noqa: ARG001
    """Times and sizes, medians over the tables that ranked rivals have in common."""
    scores = ScoreTable(results)
    tables = scores.common
    lines = []
    for rival in scores.ranked if tables else ():
        fits = np.array([scores.mean(t, rival, "fit_seconds") for t in tables])
        walls = np.array([scores.mean(t, rival, "fit_wall_seconds") for t in tables])
        rates = [
            MICROSECONDS
            * scores.mean(t, rival, "predict_seconds")
            / scores.mean(t, rival, "n_test")
            for t in tables
        ]
        lines.append(
            (
                rival,
                float(np.median(fits)),
                float(fits.max()),
                float(fits.sum()),
                float(walls.sum()),
                float(np.median(rates)),
                _median(scores, tables, rival, "model_bytes", KILOBYTE),
                _median(scores, tables, rival, "n_parameters", 1.0),
            )
        )
    lines.sort(key=lambda line: line[3])
    head = (
        "rival", "fit, median s", "fit, max s", "fit, sum s", "fit, sum wall s",
        "predict, µs per sample", "model, kB", "parameters",
    )  # fmt: skip
    shown = tuple((line[0], *map(_three_digits, line[1:])) for line in lines)
    title = f"Medians over {len(tables)} tables"
    points = {line[0]: line[3] for line in lines}
    draw = None
    if len(tables) > 1 and len(lines) > 1:
        groups = _ranks(scores, "log_loss")
        ranks = dict(zip(groups.methods, groups.average_ranks, strict=True))

        def draw(figure: Any) -> None:
            _draw_costs(figure, points, ranks)

    return View(
        (Table("", head, tuple(lines)), Table(title, head, shown)), "", None, draw
    )


def _median(
    scores: ScoreTable, tables: Sequence[str], rival: str, number: str, unit: float
) -> float | None:
    known = [scores.optional_mean(table, rival, number) for table in tables]
    values = [value for value in known if value is not None]
    return float(np.median(values)) / unit if values else None


def _three_digits(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _draw_costs(
    figure: Any, seconds: Mapping[str, float], ranks: Mapping[str, float]
) -> None:
    """Average rank by log loss against the time of all fits."""
    figure.set_size_inches(7.0, 4.6)
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    for rival, x in seconds.items():
        ours = rival.startswith(OURS)
        axes.plot(x, ranks[rival], "o" if ours else "s", color=BLUE if ours else ORANGE)
    axes.set_xscale("log")
    axes.margins(x=0.35, y=0.1)
    axes.invert_yaxis()
    places = axes.transData.transform([(x, ranks[r]) for r, x in seconds.items()])
    places *= POINTS_PER_INCH / figure.dpi
    for (rival, x), place in zip(seconds.items(), places, strict=True):
        # A label that would cover another point is on the left of its own.
        right, up = (places - place).T
        covers = (right > 0) & (right < LETTER * len(rival)) & (abs(up) < 2 * LETTER)
        left = bool(covers.any())
        axes.annotate(
            rival, (x, ranks[rival]), (-5 if left else 5, 4), fontsize=FONT_SIZE,
            textcoords="offset points", ha="right" if left else "left",
        )  # fmt: skip
    axes.set_xlabel("processor seconds of all fits (logarithmic)")
    axes.set_ylabel("average rank by log loss (best at the top)")


def scoreboard_coverage(experiment: Experiment, results: Results) -> View:  # noqa: ARG001
    """How many cells of every rival are measured, and why the others are not."""
    scores = ScoreTable(results)
    lines: list[tuple[Entry, ...]] = []
    for rival in scores.rivals:
        own = results.where(rival=rival)
        kinds = Counter(scores.kind(reason) for reason in own.missing.values())
        failed = Counter(
            f"{reason[:90]}" for reason in own.missing.values()
            if scores.kind(reason) == "failed"
        )  # fmt: skip
        where = sorted(
            {str(cell.parameters["data"]).rpartition("/")[2]
             for cell, reason in own.missing.items()
             if scores.kind(reason) in ("time limit", "memory limit", "failed")}
        )  # fmt: skip
        lines.append(
            (
                rival,
                f"{len(own)} of {len(own) + len(own.missing)}",
                kinds["time limit"],
                kinds["memory limit"],
                kinds["failed"],
                kinds[""],
                ", ".join(where),
                "; ".join(failed),
            )
        )
    n_planned = len(results) + len(results.missing)
    title = f"{len(results):,} of {n_planned:,} cells are measured"
    sums = [sum(int(line[k] or 0) for line in lines) for k in (2, 3, 4, 5)]
    lines.append(("all", f"{len(results):,} of {n_planned:,}", *sums, "", ""))
    head = (
        "rival", "measured", "time limit", "memory limit", "failed", "not yet",
        "on", "reasons of failures",
    )  # fmt: skip
    return View((Table(title, head, tuple(lines)),), "", None)
