"""Curves of methods over a number that is varied."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lab.runner.experiment import Experiment
from lab.runner.results import Results
from lab.views.figure_style import COLOURS, MARKERS
from lab.views.table import Entry, Table, View, pivot
from tanager.compare import corrected_t_test
from tanager.types import FloatArray

HEAD = ("panel", "x", "curve", "published", "ours", "sd", "difference")
LEVEL = 0.05


@dataclass(frozen=True)
class Curve:
    """A method at some points.

    Parameters
    ----------
    values : mapping from float to ndarray of shape (n_repetitions,)
        What was measured at every point.
    """

    values: Mapping[float, FloatArray]

    @property
    def points(self) -> list[float]:
        """Where it was measured, in rising order."""
        return sorted(self.values)

    def mean(self, x: float) -> float:
        """Mean over the repetitions."""
        return float(self.values[x].mean())

    def deviation(self, x: float) -> float | None:
        """Standard deviation over the repetitions, if there are several."""
        values = self.values[x]
        return float(values.std(ddof=1)) if len(values) > 1 else None


Curves = Mapping[str, Curve]


def parameter_curves(experiment: Experiment, results: Results) -> View:
    """Means over repetitions against a parameter of the cells.

    Options of the experiment: ``x`` is that parameter, ``number`` the begin of the
    names of the measured numbers, the rest of which, after the structure of the cell,
    is the name of a curve; ``scale`` and ``digits`` of these; ``x_label``, ``y_label``
    and ``log`` (a logarithmic x axis) are for the figure. ``panels`` are tables with a
    ``title``, ``curves`` (all if left out), ``bands`` (whose deviation is drawn), and
    ``data``, where the cells are of several datasets. ``orderings`` are tables with
    ``panel`` (its title), ``left``, ``right``, and ``least`` and ``most``, between
    which points the claim is that the left curve is above the right one, in the mean,
    or, if it has ``within``, that neither is above the other by more.
    """
    options = experiment.options
    panels = [(one, curves_of(results, options, one)) for one in options["panels"]]
    panels = [(one, found) for one, found in panels if found]
    long: list[tuple[Entry, ...]] = [
        (panel["title"], x, name, None, curve.mean(x), curve.deviation(x), None)
        for panel, found in panels
        for name, curve in found.items()
        for x in curve.points
    ]
    digits = options.get("digits", 2)
    wide = [_wide(panel["title"], found, options, digits) for panel, found in panels]
    text, holds = _judged(panels, options.get("orderings", ()), digits)

    def draw(figure: Any) -> None:
        _draw(figure, panels, options)

    return View(
        (Table("", HEAD, tuple(long), digits), *wide),
        text,
        holds,
        draw if panels else None,
    )


def curves_of(
    results: Results, options: Mapping[str, Any], panel: Mapping[str, Any]
) -> dict[str, Curve]:
    """The curves of a panel, in its order."""
    if "data" in panel:
        results = results.where(data=panel["data"])
    begin, scale = options["number"], options.get("scale", 1.0)
    found: dict[str, dict[float, list[FloatArray]]] = {}
    for cell, numbers in results:
        structure = cell.parameters.get("structure")
        x = float(cell.parameters[options["x"]])  # type: ignore[arg-type]
        for name, value in numbers.items():
            if name.startswith(begin):
                own = name.removeprefix(begin).strip("_")
                label = "-".join(str(part) for part in (structure, own) if part)
                series = scale * np.atleast_1d(np.asarray(value, dtype=np.float64))
                found.setdefault(label, {}).setdefault(x, []).append(series)
    wanted = panel.get("curves", list(found))
    return {
        label: Curve({x: np.concatenate(parts) for x, parts in found[label].items()})
        for label in wanted
        if label in found
    }


def _wide(title: str, found: Curves, options: Mapping[str, Any], digits: int) -> Table:
    points = sorted({x for curve in found.values() for x in curve.points})
    shown = {f"{x:g}": x for x in points}

    def entry(x: str, label: str) -> Entry:
        curve = found[label]
        return curve.mean(shown[x]) if shown[x] in curve.values else None

    return pivot(title, options["x_label"], list(shown), list(found), entry, digits)


def _judged(
    panels: Sequence[tuple[Mapping[str, Any], Curves]],
    orderings: Sequence[Mapping[str, Any]],
    digits: int,
) -> tuple[str, bool | None]:
    """Claims that one curve is above another, in words and numbers."""
    said, holding = [], []
    for claim in orderings:
        for panel, found in panels:
            left, right = found.get(claim["left"]), found.get(claim["right"])
            other = claim.get("panel", panel["title"]) != panel["title"]
            if other or left is None or right is None:
                continue
            points = [
                x
                for x in left.points
                if x in right.values
                and claim.get("least", x) <= x <= claim.get("most", x)
            ]
            if points:
                where = f"{panel['title']}, " if len(panels) > 1 else ""
                relation, most = ">", claim.get("within")
                if most is None:
                    text, holds = above(left, right, points, digits)
                else:
                    relation = f"within {most:g} of"
                    text, holds = near(left, right, points, most, digits)
                pair = f"{claim['left']} {relation} {claim['right']}"
                said.append(f"{where}{pair}: {text}")
                holding.append(holds)
    return " ".join(said), all(holding) if holding else None


def above(
    left: Curve, right: Curve, points: Sequence[float], digits: int = 2
) -> tuple[str, bool]:
    """Whether one curve is above another in the mean of some points.

    Where both have as many repetitions, a one-sided paired t-test reports at how many
    points that is significant.

    Examples
    --------
    >>> low = Curve({1.0: np.array([1.0, 2.0]), 2.0: np.array([3.0, 4.0])})
    >>> high = Curve({1.0: np.array([1.5, 1.9]), 2.0: np.array([3.5, 4.6])})
    >>> above(high, low, [1.0, 2.0])
    ('yes, 2.88 and 2.50, at 2 of 2 points (significantly at 1).', True)
    """
    one, other = (float(np.mean([c.mean(x) for x in points])) for c in (left, right))
    higher = [x for x in points if left.mean(x) > right.mean(x)]
    clear = [
        x
        for x in higher
        if len(left.values[x]) == len(right.values[x]) > 1
        and corrected_t_test(left.values[x] - right.values[x], 0.0)[1] / 2 < LEVEL
    ]
    several = any(len(left.values[x]) > 1 for x in points)
    tested = f" (significantly at {len(clear)})" if several else ""
    return (
        f"{'yes' if one > other else 'no'}, {one:.{digits}f} and {other:.{digits}f}, "
        f"at {len(higher)} of {len(points)} points{tested}.",
        one > other,
    )


def near(
    left: Curve, right: Curve, points: Sequence[float], most: float, digits: int = 2
) -> tuple[str, bool]:
    """Whether neither of two curves is above the other by more, in the mean of points.

    Examples
    --------
    >>> low = Curve({1.0: np.array([1.0]), 2.0: np.array([3.0])})
    >>> high = Curve({1.0: np.array([1.5]), 2.0: np.array([3.5])})
    >>> near(low, high, [1.0, 2.0], 0.4)
    ('no, 2.00 and 2.50 at 2 points.', False)
    """
    one, other = (float(np.mean([c.mean(x) for x in points])) for c in (left, right))
    holds = abs(one - other) <= most
    return (
        f"{'yes' if holds else 'no'}, {one:.{digits}f} and {other:.{digits}f} at "
        f"{len(points)} points.",
        holds,
    )


def _stem(label: str) -> str:
    """A label without the kind of its tables.

    Examples
    --------
    >>> _stem("NB-ML"), _stem("TAN-OMI-CR-RCL"), _stem("SVM")
    ('NB', 'TAN-OMI-CR', 'SVM')
    """
    return re.sub("-(ML|CL|RCL)$", "", label)


def _draw(
    figure: Any,
    panels: Sequence[tuple[Mapping[str, Any], Curves]],
    options: Mapping[str, Any],
) -> None:
    """Panels side by side with one legend; a structure looks the same in all."""
    stems = list(dict.fromkeys(_stem(label) for _, found in panels for label in found))
    shown: dict[str, Any] = {}
    axes = np.atleast_1d(figure.subplots(1, len(panels)))
    for axis, (panel, found) in zip(axes, panels, strict=True):
        for label, curve in found.items():
            band = label in panel.get("bands", ())
            dashed = label.endswith("CL") and f"{_stem(label)}-ML" in found
            number = stems.index(_stem(label))
            shown[label] = _draw_curve(axis, curve, number, dashed=dashed, band=band)
        if options.get("log"):
            points = sorted({x for curve in found.values() for x in curve.points})
            axis.set_xscale("log")
            axis.set_xticks(points, [f"{x:g}" for x in points])
            axis.minorticks_off()
        else:
            axis.xaxis.get_major_locator().set_params(integer=True)
        axis.set_title(panel["title"], fontsize=10)
        axis.set_xlabel(options["x_label"])
        axis.set_ylabel(options["y_label"])
    figure.legend(
        list(shown.values()),
        list(shown),
        loc="outside lower center",
        ncols=min(5, len(shown)),
        frameon=False,
        fontsize=8,
    )


def _draw_curve(
    axis: Any, curve: Curve, number: int, *, dashed: bool, band: bool
) -> Any:
    """A line through the means, and the deviations around it if they are wanted."""
    x, colour = curve.points, COLOURS[number % len(COLOURS)]
    y = np.array([curve.mean(point) for point in x])
    (line,) = axis.plot(
        x,
        y,
        color=colour,
        marker=MARKERS[number % len(MARKERS)],
        linestyle="--" if dashed else "-",
        markersize=4,
    )
    if band:
        spread = np.array([curve.deviation(point) or 0.0 for point in x])
        axis.fill_between(x, y - spread, y + spread, color=colour, alpha=0.2, lw=0)
    return line
