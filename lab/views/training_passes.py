"""What becomes of learners that are trained on the same samples repeatedly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lab.runner.experiment import Experiment
from lab.runner.results import Results
from lab.views.figure_style import GREY
from lab.views.small_multiples import Line, draw, line, wide
from lab.views.table import Entry, Table, View

TRUE = 1.0 / 3.0
"""P(+ | 0, 0, 0) in the five samples."""

HALF = 0.5
"""Below it the five samples are classified correctly."""

PASS = 5
"""Rows in a pass."""


def duplicate_features(experiment: Experiment, results: Results) -> View:
    """P(+ | 0, 0, 0) step by step, of learners with and without pseudo-counts.

    The published rows have the columns ``learner`` and ``probability``: what the text
    says it goes to, by tables without pseudo-counts.
    """
    theirs = {r["learner"]: float(r["probability"]) for r in experiment.published}
    lines, rows, ends = [], [], {}
    for cell in results.cells:
        learner, alpha = str(cell.parameters["learner"]), cell.parameters["alpha"]
        series = results.where(learner=learner, alpha=alpha).values("probability")
        label = learner if alpha == 0 else f"{learner}, {alpha:g} in every cell"
        lines.append(Line(label, dict(enumerate(series.tolist(), start=1))))
        ends[label] = float(series[-1])
        other = theirs.get(label)
        difference = None if other is None else ends[label] - other
        rows.append((label, len(series), other, ends[label], difference))
    head = ("learner", "steps", "published", "ours", "difference")
    each_pass = [
        Line(one.label, {x: p for x, p in one.points.items() if x % PASS == 0})
        for one in lines
    ]
    holds = None
    verdict = ""
    if {"FE", "DFE"} <= set(ends):
        nearer = abs(ends["DFE"] - TRUE) < abs(ends["FE"] - TRUE)
        holds = nearer and ends["DFE"] < HALF < ends["FE"]
        verdict = (
            f"FE ends at {ends['FE']:.3f} and DFE at {ends['DFE']:.3f}; the relative "
            f"frequency is {TRUE:.3f}, and below {HALF:g} the samples are classified "
            "correctly."
        )

    def drawn(figure: Any) -> None:
        draw(figure, {"": lines}, "samples learned", "P(+ | 0, 0, 0)")
        figure.axes[0].axhline(TRUE, color=GREY, lw=0.8, zorder=0)

    return View(
        (
            Table("", head, tuple(rows), digits=3),
            Table("At the end", head, tuple(rows), digits=3),
            wide("After every pass", "samples learned", each_pass, digits=3),
        ),
        verdict,
        holds,
        drawn if lines else None,
    )


def training_passes(experiment: Experiment, results: Results) -> View:
    """Training and test accuracy by the number of passes, a panel for each dataset.

    Options of the experiment: ``scale`` makes numbers the unit of the paper; ``sets``
    are those in the figure; the claim is that test accuracy is nowhere more than
    ``tolerance`` from that after one pass, on all datasets but those in ``slow``. The
    published rows have the columns ``dataset``, ``passes`` and ``accuracy``.
    """
    options = experiment.options
    theirs = {
        (row["dataset"], float(row["passes"])): float(row["accuracy"])
        for row in experiment.published
    }
    panels: dict[str, list[Line]] = {}
    for data in results.levels("data"):
        of_set = results.where(data=data)
        panels[data.rpartition("/")[2]] = [
            line(f"{kind} samples", of_set, "passes", kind, options["scale"])
            for kind in ("training", "test")
        ]
    rows: list[tuple[Entry, ...]] = []
    for name, (training, test) in panels.items():
        for x, accuracy in test.points.items():
            other = theirs.get((name, x))
            difference = None if other is None else accuracy - other
            rows.append((name, int(x), other, accuracy, difference, training.points[x]))
    head = ("dataset", "passes", "published", "ours", "difference", "training samples")
    verdict, holds = _steady(panels, options.get("slow", ()), options["tolerance"])
    changes = _changes(panels)
    shown = {name: lines for name, lines in panels.items() if name in options["sets"]}
    after = Table(
        "Test accuracy after one pass, and where it differs most after more",
        ("dataset", "one pass", "largest change", "passes"),
        tuple(
            (name, test.points[min(test.points)], *changes[name])
            for name, (_, test) in panels.items()
        ),
    )
    tests = [Line(name, test.points) for name, (_, test) in panels.items()]
    trained = [Line(name, training.points) for name, (training, _) in panels.items()]

    def drawn(figure: Any) -> None:
        most = options["scale"]
        draw(figure, shown, "passes", "accuracy, %", log=True, most=most)

    return View(
        (
            Table("", head, tuple(rows)),
            after,
            wide("Accuracy on test data", "passes", tests),
            wide("Accuracy on training data", "passes", trained),
        ),
        verdict,
        holds,
        drawn if shown else None,
    )


def _changes(panels: Mapping[str, Sequence[Line]]) -> dict[str, tuple[float, int]]:
    """Largest change of the test accuracy after one pass, and after how many."""
    changes = {}
    for name, (_, test) in panels.items():
        first = test.points[min(test.points)]
        far = max(test.points, key=lambda x: abs(test.points[x] - first))
        changes[name] = test.points[far] - first, int(far)
    return changes


def _steady(
    panels: Mapping[str, Sequence[Line]], slow: Sequence[str], tolerance: float
) -> tuple[str, bool | None]:
    """Whether more passes change the test accuracy, and where."""
    changes = _changes(panels)
    if set(changes) <= set(slow):
        return "", None
    far = {name: one for name, one in changes.items() if abs(one[0]) > tolerance}
    parts = [f"{name} {by:+.2f} ({at})" for name, (by, at) in far.items()]
    points = f"{tolerance:g} point{'' if tolerance == 1 else 's'}"
    return (
        f"More passes change the test accuracy after one by more than {points} on "
        f"{len(far)} of {len(changes)} datasets (largest change, after how many "
        f"passes): {', '.join(parts) or 'none'}.",
        set(far) <= set(slow),
    )
