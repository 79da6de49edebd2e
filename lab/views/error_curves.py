"""Errors of some methods along a parameter, a panel for every part of the cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lab.runner.experiment import Experiment
from lab.runner.results import Results
from lab.views.claims import t_tests, together, told
from lab.views.figure_style import COLOURS, LINES, MARKERS, panels
from lab.views.table import Entry, Table, View

PER_CENT = 100.0


@dataclass(frozen=True)
class Point:
    """Mean error at a place, its deviation, and of how many cells."""

    x: float
    error: float
    deviation: float | None
    n: int


@dataclass(frozen=True)
class Panel:
    """Lines of some methods."""

    title: str
    label: str
    lines: Mapping[str, Sequence[Point]]
    log: bool

    @property
    def places(self) -> list[float]:
        """Where any line has a point."""
        return sorted({point.x for line in self.lines.values() for point in line})


def error_curves(experiment: Experiment, results: Results) -> View:
    """Errors in per cent by a parameter of the cells.

    Options of the experiment: ``panels`` are tables with a ``title``, the parameter
    ``x`` and its ``label``, ``where`` (parameters of the cells that belong to it),
    ``methods``, ``claims`` (see `told`), and ``log`` if the axis is logarithmic.
    Cells have either an ``error`` or an ``accuracy``. Claims are tested over the
    repetitions, of which every one is the mean along the axis.
    """
    shown, long, tables, said, holding = [], [], [], [], []
    for option in experiment.options["panels"]:
        cells = results.where(**option.get("where", {}))
        methods = [m for m in option["methods"] if m in cells.levels("method")]
        lines = {m: _line(cells.where(method=m), option["x"]) for m in methods}
        panel = Panel(option["title"], option["label"], lines, option.get("log", False))
        shown.append(panel)
        long += [
            (panel.title, method, point.x, point.error, point.deviation, point.n)
            for method, line in lines.items()
            for point in line
        ]
        if lines:
            tables.append(_table(panel))
        tests = t_tests(_by_repetition(cells, methods), methods, higher_is_better=False)
        verdict, holds = told(tests, option.get("claims", ()))
        if verdict:
            said.append(f"{panel.title}: {verdict}")
            holding.append(holds)
    head = ("panel", "classifier", "x", "error", "sd of the mean", "cells")
    return View(
        (Table("", head, tuple(long)), *tables),
        " ".join(said),
        together(holding),
        lambda figure: _draw(figure, shown),
    )


def errors_of(cells: Results) -> list[float]:
    """Errors of cells in per cent."""
    return [
        PER_CENT * float(n["error"] if "error" in n else 1.0 - n["accuracy"])  # type: ignore[arg-type,operator]
        for n in cells.numbers
    ]


def _line(cells: Results, x: str) -> list[Point]:
    line = []
    for place in sorted(cells.levels(x)):
        errors = errors_of(cells.where(**{x: place}))
        n = len(errors)
        mean = sum(errors) / n
        squares = sum((error - mean) ** 2 for error in errors)
        deviation = (squares / (n - 1) / n) ** 0.5 if n > 1 else None
        line.append(Point(float(place), mean, deviation, n))
    return line


def _by_repetition(
    cells: Results, methods: Sequence[str]
) -> dict[tuple[str, str], float]:
    """Mean errors over the cells of a repetition."""
    means = {}
    for repeat in cells.levels("repeat"):
        for method in methods:
            errors = errors_of(cells.where(repeat=repeat, method=method))
            if errors:
                means[str(repeat), method] = sum(errors) / len(errors)
    return means


def _table(panel: Panel) -> Table:
    found = {
        (point.x, method): point.error
        for method, line in panel.lines.items()
        for point in line
    }
    rows: list[tuple[Entry, ...]] = [
        (f"{x:g}", *(found.get((x, method)) for method in panel.lines))
        for x in panel.places
    ]
    head = (panel.label, *panel.lines)
    return Table(f"{panel.title}, error in per cent", head, tuple(rows))


def _draw(figure: Any, shown: Sequence[Panel]) -> None:
    for axes, panel in zip(panels(figure, len(shown)), shown, strict=True):
        for k, (method, line) in enumerate(panel.lines.items()):
            axes.errorbar(
                [point.x for point in line],
                [point.error for point in line],
                yerr=[point.deviation or 0.0 for point in line],
                label=method,
                color=COLOURS[k],
                marker=MARKERS[k],
                ls=LINES[k],
                ms=4.0,
                lw=1.2,
                elinewidth=0.7,
                capsize=2.0,
            )
        if panel.log:
            axes.set_xscale("log")
        labels = [f"{x:g}" for x in panel.places]
        axes.set_xticks(panel.places, labels, fontsize="small")
        axes.minorticks_off()
        axes.set_title(panel.title, fontsize="medium")
        axes.set(xlabel=panel.label, ylabel="error, %")
        axes.set_ylim(bottom=0.0)
        if panel.lines:
            axes.legend(frameon=False, fontsize="small")
