"""Lowest errors over many settings compared with the published ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lab.runner.experiment import Experiment
from lab.runner.results import Results
from lab.views.claims import together
from lab.views.setting_errors import (
    WEIGHTS,
    WORDS,
    AllTried,
    Tried,
    chosen,
    least,
    sets_of,
    tried_of,
)
from lab.views.table import Entry, Table, View, distance_of, pivot

HEAD = (
    "dataset",
    "method",
    "published",
    "ours, lowest",
    "difference",
    "ours, chosen",
    "difference",
    "settings",
    "epochs",
    "seconds",
)


def lowest_errors(experiment: Experiment, results: Results) -> View:
    """Errors by dataset and method: the least one, and that of a setting chosen fairly.

    The least test error over settings is what the paper gives; that of the setting
    with the lowest error on held-out samples from the training samples can be hoped for
    on new rows. Options of the experiment: ``methods`` in their order; ``instead`` maps
    names of ours to the published ones; ``tolerance`` in points; ``orderings`` are
    tables with ``left``, ``right`` and ``sets`` (all if left out), the claim being that
    the left method has the lower error; a method with less than ``fewest`` settings is
    not judged.
    """
    options = experiment.options
    tried = tried_of(results)
    paper = published(experiment)
    keys = [
        (name, method)
        for name in sets_of(tried)
        for method in options["methods"]
        if (name, method) in tried
    ]
    long = Table("", HEAD, tuple(_line(key, tried, paper) for key in keys))

    def entry(method: str, name: str) -> str:
        of = tried.get((name, method))
        ours = f"{least(of):.2f} / {chosen(of):.2f}" if of else ""
        theirs = paper.get((name, method))
        return ours if theirs is None else f"{ours} ({theirs:.2f})".strip()

    wide = pivot(
        "Lowest error in per cent / that of the setting chosen by validation "
        "(published)",
        "method",
        [m for m in options["methods"] if any(key[1] == m for key in keys)],
        sets_of(tried),
        entry,
    )
    said, holds = judged(tried, options["orderings"], options["fewest"])
    tolerance = options["tolerance"]
    sides = {"lowest errors": 4, "errors of settings chosen on held-out samples": 6}
    near = [_near(long, side, place, tolerance) for side, place in sides.items()]
    return View(
        (long, wide),
        " ".join(part for part in (said, *near) if part),
        holds,
        distance="; ".join(
            f"{side}, {distance_of(_with_settings(long, place))}"
            for side, place in sides.items()
        ),
    )


def errors_by_start(experiment: Experiment, results: Results) -> View:
    """Errors by dataset, method, initial parameters and number of epochs.

    A setting is weights of the loss and a learning rate; a run is a setting with a
    random tree, or random order and candidates. Options: see `lowest_errors`.
    """
    paper = published(experiment)
    groups: dict[tuple[str, str, str, int], list[Tried]] = {}
    for (name, method), tried in tried_of(results).items():
        for one in tried:
            start, epochs = one.parameters.get("start"), one.parameters.get("epochs")
            key = (name, method, str(start or ""), int(epochs or 0))  # type: ignore[arg-type]
            groups.setdefault(key, []).append(one)
    methods = experiment.options["methods"]
    names = list(dict.fromkeys(name for name, *_ in groups))
    rows = []
    for key in sorted(
        groups, key=lambda k: (names.index(k[0]), methods.index(k[1]), k)
    ):
        name, method, start, epochs = key
        of, theirs = groups[key], paper.get((name, method))
        weights = {tuple(one.parameters.get(w) for w in WEIGHTS) for one in of}
        rows.append(
            (
                name,
                method,
                "" if theirs is None else f"{theirs:.2f}",
                _with_difference(least(of), theirs),
                _with_difference(chosen(of), theirs),
                len(weights),
                len(of),
                epochs,
                start,
                f"{np.median([s for one in of for s in one.all_seconds]):.3g}",
            )
        )
    head = (
        "dataset",
        "method",
        "published, lowest",
        "ours, lowest",
        "ours, validated",
        "settings",
        "runs",
        "epochs",
        "start",
        "time (s)",
    )
    return View((Table("", head, tuple(rows)),), "", None, distance="see table1")


def _with_difference(ours: float, theirs: float | None) -> str:
    """Our error and how much it is above the published one."""
    return f"{ours:.2f}" + ("" if theirs is None else f" ({ours - theirs:+.2f})")


def published(experiment: Experiment) -> dict[tuple[str, str], float]:
    """Published errors in per cent by our names of datasets and methods."""
    options = experiment.options
    instead = options.get("instead", {})
    rows = {
        (row["dataset"], row["method"]): float(row["error"])
        for row in experiment.published
    }
    found = {
        (name, method): rows.get((name, instead.get(method, method)))
        for name in dict.fromkeys(name for name, _ in rows)
        for method in options["methods"]
    }
    return {key: error for key, error in found.items() if error is not None}


def _line(
    key: tuple[str, str], tried: AllTried, paper: Mapping[tuple[str, str], float]
) -> tuple[Entry, ...]:
    of, theirs = tried[key], paper.get(key)
    best, fair = least(of), chosen(of)
    epochs = sorted({int(one.parameters.get("epochs", 0)) for one in of})  # type: ignore[arg-type]
    return (
        *key,
        theirs,
        best,
        None if theirs is None else best - theirs,
        fair,
        None if theirs is None else fair - theirs,
        len(of),
        ", ".join(map(str, epochs)),
        float(np.median([one.seconds for one in of])),
    )


def judged(
    tried: AllTried, orderings: Sequence[Mapping[str, Any]], fewest: int
) -> tuple[str, bool | None]:
    """Claims about pairs of methods in words, and whether all hold by lowest errors."""
    said, holding = [], []
    for ordering in orderings:
        left, right = ordering["left"], ordering["right"]
        sets = [
            name
            for name in ordering.get("sets", sets_of(tried))
            if (name, left) in tried and (name, right) in tried
        ]
        if not sets:
            continue
        pairs = [Pair(tried[name, left], tried[name, right]) for name in sets]
        holding.append(together([pair.holds(fewest) for pair in pairs]))
        numbers = ", ".join(
            f"{name} {pair.told(fewest)}"
            for name, pair in zip(sets, pairs, strict=True)
        )
        said.append(
            f"{left} below {right}: {WORDS[holding[-1]]} ({numbers}); by chosen "
            f"settings on {sum(pair.fair for pair in pairs)} of {len(sets)} datasets, "
            f"by as many settings of both on {sum(pair.even for pair in pairs)}."
        )
    return " ".join(said), together(holding)


@dataclass(frozen=True)
class Pair:
    """Settings of two methods on a dataset, in the order of the plan."""

    left: list[Tried]
    right: list[Tried]

    def holds(self, fewest: int) -> bool | None:
        """Whether the left method has the lower lowest error.

        More settings can only lower an error, so the method with the higher one is the
        one that needs enough of them; otherwise None.
        """
        below = least(self.left) < least(self.right)
        return below if enough(self.right if below else self.left, fewest) else None

    @property
    def fair(self) -> bool:
        """The same for settings chosen by held-out samples."""
        return chosen(self.left) < chosen(self.right)

    @property
    def even(self) -> bool:
        """The same for the first settings of both: the least of more is lower."""
        n_settings = min(len(self.left), len(self.right))
        return least(self.left[:n_settings]) < least(self.right[:n_settings])

    def told(self, fewest: int) -> str:
        """Both lowest errors."""
        too_few = "" if self.holds(fewest) is not None else ", inconclusive"
        return f"{least(self.left):.2f} and {least(self.right):.2f}{too_few}"


def enough(tried: list[Tried], fewest: int) -> bool:
    """Whether there are enough settings to judge by; some methods have none."""
    return len(tried) >= fewest or "lambda_" not in tried[0].parameters


def _with_settings(long: Table, place: int) -> Table:
    """Methods that have settings, and one of the two differences."""
    return Table(
        "",
        ("dataset", "method", "difference"),
        tuple((*row[:2], row[place]) for row in long.rows if row[8] != "0"),
    )


def _near(long: Table, side: str, place: int, tolerance: float) -> str:
    """How many errors of methods with settings are near the published ones."""
    found = {
        f"{row[0]} {row[1]}": row[2]
        for row in _with_settings(long, place).rows
        if isinstance(row[2], float)
    }
    if not found:
        return ""
    far = [
        f"{name} {by:+.3f}" for name, by in found.items() if abs(by) > tolerance + 1e-9
    ]
    return (
        f"Of {len(found)} {side} {len(found) - len(far)} are within {tolerance:g} "
        f"points of the published ones" + (f"; not {', '.join(far)}." if far else ".")
    )
