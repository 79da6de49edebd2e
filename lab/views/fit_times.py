"""Fit times compared with the published ones: seconds and ratios."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from lab.runner.experiment import Experiment
from lab.runner.results import Results
from lab.views.published_scores import Key, Score, measured, published
from lab.views.table import Table, View, pivot


def fit_times(experiment: Experiment, results: Results) -> View:
    """Seconds by dataset and method, and times relative to one method.

    Machines differ by any factor, so that ratios are compared: the geometric mean over
    the datasets of how many times as long a method takes.

    Options of the experiment: ``relative_to`` is the method whose time is one;
    ``number``, ``value`` and ``deviation`` as in `published_scores`; ``claims`` are
    such as ``["NB+ELR", ">", "NB+DFE"]``.
    """
    options = experiment.options
    unit = options["relative_to"]
    ours = measured(results, options.get("number", "seconds"), 1.0)
    theirs = published(experiment)
    sets = [s for s in _names(theirs, 0) if any(key[0] == s for key in ours)]
    methods = [m for m in _names(theirs, 1) if any(key[1] == m for key in ours)]
    head = ("dataset", "classifier", "published", "ours", "published ratio", "ratio")
    long = [
        (
            data,
            method,
            theirs[data, method].value,
            ours[data, method].value if (data, method) in ours else None,
            _ratio(theirs, data, method, unit),
            _ratio(ours, data, method, unit),
        )
        for data in sets
        for method in methods
    ]
    whole = [s for s in sets if all((s, m) in ours for m in methods)]
    rows, ratios = [], {}
    if whole and unit in methods:
        for method in methods:
            mine = _geometric(_ratio(ours, s, method, unit) for s in whole)
            other = _geometric(_ratio(theirs, s, method, unit) for s in whole)
            seconds = _geometric(ours[s, method].value for s in whole)
            before = _geometric(theirs[s, method].value for s in whole)
            ratios[method] = mine
            rows.append((method, before, seconds, f"{other:,.3g}", f"{mine:,.3g}"))
    mean = Table(
        f"Geometric means over the {len(whole)} datasets of which all is known; ratios "
        f"to {unit}",
        ("classifier", "published seconds", "ours", "published ratio", "ours"),
        tuple(rows),
        digits=4,
    )

    def entry(data: str, method: str) -> float | None:
        return ours[data, method].value if (data, method) in ours else None

    wide = pivot("Our seconds", "dataset", sets, methods, entry, digits=4)
    verdict, holds = _judged(ratios, options.get("claims", ()))
    told = ", ".join(f"{row[0]} {row[4]} (published {row[3]})" for row in rows)
    return View(
        (Table("", head, tuple(long)), mean, wide),
        verdict,
        holds,
        distance=f"times relative to {unit}: {told}" if told else None,
    )


def _names(scores: Mapping[Key, Score], k: int) -> list[str]:
    return list(dict.fromkeys(key[k] for key in scores))


def _ratio(
    scores: Mapping[Key, Score], data: str, method: str, unit: str
) -> float | None:
    if (data, method) not in scores or (data, unit) not in scores:
        return None
    return scores[data, method].value / scores[data, unit].value


def _geometric(values: Iterable[float | None]) -> float:
    return float(np.exp(np.mean(np.log([v for v in values if v is not None]))))


def _judged(
    ratios: Mapping[str, float], claims: Sequence[Sequence[str]]
) -> tuple[str, bool | None]:
    said, holding = [], []
    for left, relation, right in claims:
        if left in ratios and right in ratios:
            factor = ratios[left] / ratios[right]
            holding.append(factor > 1.0)
            answer = "yes" if holding[-1] else "no"
            said.append(
                f"{left} {relation} {right}: {answer}, {factor:,.3g} times as long."
            )
    return " ".join(said), all(holding) if holding else None
