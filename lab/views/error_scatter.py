"""Error of one method against error of another, a point for every dataset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lab.runner.experiment import Experiment
from lab.runner.results import Results
from lab.views.claims import p_text, t_tests, together, told, whole_sets, winner
from lab.views.figure_style import COLOURS, GREY, panels
from lab.views.published_scores import (
    HEAD,
    Key,
    Score,
    line,
    measured,
    published_means,
)
from lab.views.table import Entry, Table, View

PER_CENT = 100.0


def error_scatter(experiment: Experiment, results: Results) -> View:
    """Errors in per cent of pairs of methods, with deviations, ours and published.

    Options of the experiment: ``pairs`` are methods on the horizontal and the vertical
    axis, one pair for every panel; ``means`` names the experiment of the same paper
    with the published accuracies; ``claims`` are what the paper concludes, see `told`.
    """
    options = experiment.options
    pairs = [tuple(pair) for pair in options["pairs"]]
    methods = list(dict.fromkeys(method for pair in pairs for method in pair))
    ours = _errors(measured(results, "accuracy", PER_CENT, of_means=True))
    theirs = _errors(published_means(experiment))
    long = [line(key, ours, theirs) for key in ours if key[1] in methods]
    values = {key: score.value for key, score in ours.items()}
    said, holding, rows = [], [], []
    for across, up in pairs:
        tests = t_tests(values, [across, up], higher_is_better=False)
        rows.append(_counted(across, up, values))
        claims = [c for c in options.get("claims", ()) if {c[0], c[2]} == {across, up}]
        verdict, holds = told(tests, claims)
        if verdict:
            said.append(verdict)
            holding.append(holds)
        if tests is not None:
            better, p = winner(tests, across, up)
            rows[-1] = (*rows[-1][:-2], better, p_text(p))
    counts = Table(
        "Datasets on which either has the smaller error, and one-sided paired t-test",
        ("first", "second", "first smaller", "equal", "second smaller", "better", "p"),
        tuple(rows),
    )
    return View(
        (Table("", HEAD, tuple(long)), counts),
        " ".join(said),
        together(holding),
        lambda figure: _draw(figure, pairs, ours, theirs),
    )


def _errors(accuracies: Mapping[Key, Score]) -> dict[Key, Score]:
    return {
        key: Score(PER_CENT - score.value, score.deviation)
        for key, score in accuracies.items()
    }


def _counted(across: str, up: str, errors: Mapping[Key, float]) -> tuple[Entry, ...]:
    sets = whole_sets(errors, [across, up])
    differences = [errors[name, across] - errors[name, up] for name in sets]
    return (
        across,
        up,
        sum(d < 0 for d in differences),
        sum(d == 0 for d in differences),
        sum(d > 0 for d in differences),
        None,
        None,
    )


def _draw(
    figure: Any,
    pairs: list[tuple[str, str]],
    ours: Mapping[Key, Score],
    theirs: Mapping[Key, Score],
) -> None:
    for axes, (across, up) in zip(panels(figure, len(pairs)), pairs, strict=True):
        for scores, style in (
            (theirs, {"color": GREY, "mfc": "none", "ms": 4.0, "label": "published"}),
            (ours, {"color": COLOURS[0], "ms": 4.0, "label": "ours"}),
        ):
            values = {key: score.value for key, score in scores.items()}
            sets = whole_sets(values, [across, up])
            points = [(scores[name, across], scores[name, up]) for name in sets]
            axes.errorbar(
                [x.value for x, _ in points],
                [y.value for _, y in points],
                xerr=[x.deviation or 0.0 for x, _ in points],
                yerr=[y.deviation or 0.0 for _, y in points],
                fmt="o",
                elinewidth=0.7,
                **style,
            )
        most = max(axes.get_xlim()[1], axes.get_ylim()[1])
        axes.plot([0.0, most], [0.0, most], color=GREY, lw=0.7)
        limits = -0.02 * most, most
        axes.set(xlim=limits, ylim=limits, aspect="equal")
        axes.set(xlabel=f"error of {across}, %", ylabel=f"error of {up}, %")
        axes.legend(frameon=False, fontsize="small", loc="upper left")
