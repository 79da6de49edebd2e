"""Errors of many settings against the weight of the margin, with lower hulls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lab.runner.experiment import Experiment
from lab.runner.results import Results
from lab.views.claims import together
from lab.views.figure_style import COLOURS, GREY, MARKERS, panels
from lab.views.setting_errors import WORDS, AllTried, Tried, least, tried_of
from lab.views.table import Entry, Table, View

HEAD = ("panel", "curve", "log10_lambda", "published", "ours", "difference")
ONCE = "others, once each"
"""Random seeds under one setting alone: no curves."""

OTHERS = "others"
"""Random seeds that have no colour of their own."""
GREY_ONES = (ONCE, OTHERS)

Groups = Mapping[str, list[Tried]]
Panel = Mapping[str, Any]
Point = tuple[float, float]

N_COLOURS = len(COLOURS) - 1
"""The last one is for what is only there to compare with."""

TOP = 2.5
"""Errors are drawn up to so many times the least one of the panel."""


def margin_weight_hulls(experiment: Experiment, results: Results) -> View:
    """Points of settings and the lower part of their convex hull, in panels.

    Options of the experiment: ``panels`` are tables with ``title``, ``set``,
    ``methods``, ``by``, the parameter of which every value has a colour (``method`` if
    left out), and ``seeds``, whether settings that differ by the seed alone are
    compared; a panel needs two settings. ``orderings`` are tables with ``left``,
    ``right``, ``panels`` (titles; all if left out) and ``fraction``: the claim is that
    this fraction of the settings of the left curve, or at least one, are below all of
    the right one. ``spreads`` are tables with ``panel``, ``left`` and ``right``: under
    equal weights random seeds by the seed differ less for the left method than for the
    right one. Curves with less than ``fewest`` settings are not judged.
    """
    options = experiment.options
    tried = tried_of(results)
    found = [(panel, groups_of(tried, panel)) for panel in options["panels"]]
    found = [one for one in found if sum(map(len, one[1].values())) > 1]
    points: list[tuple[Entry, ...]] = [
        (panel["title"], curve, one.log10_lambda, None, one.error, None)
        for panel, groups in found
        for curve, of in groups.items()
        for one in sorted(of, key=lambda one: one.log10_lambda)
    ]
    summary = Table(
        "Errors in per cent over the settings",
        ("panel", "curve", "settings", "least", "median", "most"),
        tuple(
            (panel["title"], curve, len(of), *_levels(of))
            for panel, groups in found
            for curve, of in groups.items()
        ),
    )
    tables = [Table("", HEAD, tuple(points)), summary]
    by_seed = seed_table(tried, [panel for panel, _ in found if panel.get("seeds")])
    if by_seed.rows:
        tables.append(by_seed)
    fewest = options["fewest"]
    claims = [
        *(_ordered(found, one, fewest) for one in options.get("orderings", ())),
        *(_spread(found, tried, one, fewest) for one in options.get("spreads", ())),
    ]
    told = [(text, holds) for text, holds in claims if text]

    def draw(figure: Any) -> None:
        _draw(figure, found)

    return View(
        tuple(tables),
        " ".join(text for text, _ in told),
        together([holds for _, holds in told]),
        draw if found else None,
    )


def groups_of(tried: AllTried, panel: Panel) -> Groups:
    """Settings of a panel by what colours them."""
    by = panel.get("by", "method")
    found: dict[str, list[Tried]] = {}
    for method in panel["methods"]:
        for one in tried.get((panel["set"], method), []):
            found.setdefault(str(one.parameters.get(by, "")), []).append(one)
    if by != "seed":
        return found
    several = {f"seed {seed}": of for seed, of in found.items() if len(of) > 1}
    once = [one for of in found.values() if len(of) == 1 for one in of]
    return several | ({ONCE: once} if once else {})


def with_colours(groups: Groups) -> Groups:
    """As many curves as there are colours, those of the lowest errors, and the others.

    Examples
    --------
    >>> def tried(error):
    ...     return [Tried({}, np.array([error]), np.array([error]), 1.0)]
    >>> groups = {f"seed {n}": tried(9.0 - n) for n in range(9)}
    >>> with_colours(groups).keys()
    dict_keys(['seed 3', 'seed 4', 'seed 5', 'seed 6', 'seed 7', 'seed 8', 'others'])
    """
    curves = [name for name in groups if name != ONCE]
    if len(curves) <= N_COLOURS:
        return groups
    best = sorted(curves, key=lambda name: least(groups[name]))[:N_COLOURS]
    rest = [one for name in groups if name not in best for one in groups[name]]
    return {**{name: groups[name] for name in curves if name in best}, OTHERS: rest}


def lower_hull(points: Sequence[Point]) -> list[Point]:
    """Corners of the lower part of the convex hull, from left to right.

    Examples
    --------
    >>> lower_hull([(0.0, 3.0), (1.0, 1.0), (2.0, 2.5), (3.0, 2.0), (1.0, 4.0)])
    [(0.0, 3.0), (1.0, 1.0), (3.0, 2.0)]
    """
    hull: list[Point] = []
    lowest = {x: min(b for a, b in points if a == x) for x, _ in points}
    for x, y in sorted(lowest.items()):
        while len(hull) > 1 and not _turns_left(hull[-2], hull[-1], (x, y)):
            hull.pop()
        hull.append((x, y))
    return hull


def _turns_left(one: Point, two: Point, three: Point) -> bool:
    return (two[0] - one[0]) * (three[1] - one[1]) > (two[1] - one[1]) * (
        three[0] - one[0]
    )


def equal_weights(tried: Sequence[Tried]) -> list[list[Tried]]:
    """Settings that differ by their seed alone, in groups of at least two."""
    found: dict[str, list[Tried]] = {}
    for one in tried:
        found.setdefault(one.weights, []).append(one)
    return [of for of in found.values() if len(of) > 1]


def seed_table(tried: AllTried, panels_of: Sequence[Panel]) -> Table:
    """Errors of random seeds of order and candidates, all else being equal."""
    rows = [
        (panel["title"], method, _lambda(of[0]), len(of), *_levels(of))
        for panel in panels_of
        for method in panel["methods"]
        for of in equal_weights(tried.get((panel["set"], method), []))
    ]
    head = ("panel", "method", "lambda", "seeds", "lowest", "median", "most")
    return Table(
        "Random seeds of order and candidates under equal weights", head, tuple(rows)
    )


def _lambda(one: Tried) -> str:
    return f"{one.parameters['lambda_']:.3g}"


def _levels(tried: Sequence[Tried]) -> tuple[float, float, float]:
    errors = [one.error for one in tried]
    return min(errors), float(np.median(errors)), max(errors)


def _ordered(
    found: Sequence[tuple[Panel, Groups]], claim: Mapping[str, Any], fewest: int
) -> tuple[str, bool | None]:
    left, right, fraction = claim["left"], claim["right"], claim.get("fraction", 0.0)
    said: list[str] = []
    holding: list[bool | None] = []
    for panel, groups in found:
        title = panel["title"]
        if title not in claim.get("panels", [title]):
            continue
        if left in groups and right in groups:
            border, n_settings = least(groups[right]), len(groups[left])
            below = sum(one.error < border for one in groups[left])
            enough = min(n_settings, len(groups[right])) >= fewest
            holding.append(below >= max(1, fraction * n_settings) if enough else None)
            too_few = "" if enough else ", inconclusive"
            said.append(f"{title} {below} of {n_settings} below {border:.2f}{too_few}")
    if not said:
        return "", None
    holds = together(holding)
    return (
        f"{left} below the best of {right}: {WORDS[holds]} ({'; '.join(said)}).",
        holds,
    )


def _spread(
    found: Sequence[tuple[Panel, Groups]],
    tried: AllTried,
    claim: Mapping[str, Any],
    fewest: int,
) -> tuple[str, bool | None]:
    """Whether random seeds matter less for one method than for another one."""
    panel = next((p for p, _ in found if p["title"] == claim["panel"]), None)
    if panel is None:
        return "", None
    both = [tried.get((panel["set"], claim[side]), []) for side in ("left", "right")]
    left, right = map(_deviation, both)
    if left is None or right is None:
        return "", None
    holds = left < right if min(map(len, both)) >= fewest else None
    return (
        f"{panel['title']}, random seeds under equal weights differ less for "
        f"{claim['left']} than for {claim['right']}: {WORDS[holds]}, standard "
        f"deviations {left:.2f} and {right:.2f}.",
        holds,
    )


def _deviation(tried: Sequence[Tried]) -> float | None:
    """Pooled standard deviation over random seeds under equal weights."""
    groups = [np.array([one.error for one in of]) for of in equal_weights(tried)]
    if not groups:
        return None
    squares = sum(float(((of - of.mean()) ** 2).sum()) for of in groups)
    return float(np.sqrt(squares / sum(len(of) - 1 for of in groups)))


def _draw(figure: Any, found: Sequence[tuple[Panel, Groups]]) -> None:
    found = [(panel, with_colours(groups)) for panel, groups in found]
    # Where methods are the curves of all panels, they have the same colours in all.
    alike = all(panel.get("by", "method") == "method" for panel, _ in found)
    names = list(dict.fromkeys(name for _, groups in found for name in groups))
    shown = {}
    for one, (panel, groups) in zip(panels(figure, len(found)), found, strict=True):
        for k, (name, of) in enumerate(groups.items()):
            place = names.index(name) if alike else k
            colour, marker = COLOURS[place % N_COLOURS], MARKERS[place % N_COLOURS]
            layer = 2
            if name in GREY_ONES:  # below the others
                colour, marker, layer = GREY, "x", 1
            points = [(setting.log10_lambda, setting.error) for setting in of]
            (shown[name],) = one.plot(
                *zip(*points, strict=True),
                marker,
                color=colour,
                ms=4,
                zorder=layer,
                label=name,
            )
            if name not in GREY_ONES:
                one.plot(*zip(*lower_hull(points), strict=True), color=colour, lw=1)
        lowest = min(least(of) for of in groups.values())
        one.set_ylim(top=min(one.get_ylim()[1], TOP * lowest))
        one.set(title=panel["title"], xlabel="log10 lambda", ylabel="test error, %")
        if not alike:
            # Below the axes: points can be anywhere in them.
            below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.2)}
            one.legend(**below, ncols=2, frameon=False, fontsize="small")
    if alike:
        where = "outside lower center"
        figure.legend(shown.values(), shown, loc=where, ncols=3, frameon=False)
