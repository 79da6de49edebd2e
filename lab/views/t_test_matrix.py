"""A matrix of one-sided paired t-tests over the datasets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import t as student

from lab.runner.experiment import Experiment
from lab.runner.results import Results
from lab.views.claims import together
from lab.views.pooled_counts import pooled_counts
from lab.views.random_order_accuracy import orders_of
from lab.views.table import Entry, Table, View, pivot
from tanager.compare import PairTests, paired_t_tests
from tanager.compare import Results as Scores

BEST = "TAN-RO-CR-ML"
"""The random order with the highest score on the training samples."""


def t_test_matrix(experiment: Experiment, results: Results) -> View:
    """One-sided paired t-tests of methods compared with the published significances.

    Options of the experiment: ``methods`` in the order of the paper, of which those
    that are known are compared, on the datasets that all of them are known on;
    ``clear`` are pairs (worse, better) that the paper finds significant, and
    ``not_clear`` pairs that it does not; ``instead`` maps names of ours to the
    published ones they stand for. Nothing is decided before ``n_sets`` are known.

    The published numbers seem to be not p-values but half the density of Student's
    distribution at t (see `t_test_matrix`), so that of ours stands compared with them.
    """
    options = experiment.options
    scores = {key: one.percent for key, one in pooled_counts(results).items()}
    for data, orders in orders_of(results).items():
        scores[data, BEST] = orders.highest.percent
    known = {method for _, method in scores}
    methods = [method for method in options["methods"] if method in known]
    every = dict.fromkeys(data for data, _ in scores)
    sets = [data for data in every if all((data, m) in scores for m in methods)]
    if len(sets) < 2 or len(methods) < 2:
        return View((Table("", HEAD, ()),), "", None)
    chosen = {(data, m): scores[data, m] for data in sets for m in methods}
    tests = paired_t_tests(Scores.from_mapping(chosen))
    ours = {theirs: name for name, theirs in options.get("instead", {}).items()}
    paper = {
        (ours.get(row["row"], row["row"]), ours.get(row["column"], row["column"])): row
        for row in experiment.published
    }
    lines = [
        _line(tests, len(sets), i, j, paper)
        for i in range(len(methods))
        for j in range(i + 1, len(methods))
    ]
    text, holds = _judged(tests, options.get("clear", ()), options.get("not_clear", ()))
    alike = _alike(lines)
    return View(
        (Table("", HEAD, tuple(lines)), _matrix(tests, len(sets)), _halves(lines)),
        " ".join(part for part in (text, alike) if part),
        holds if len(sets) >= options["n_sets"] else None,
        distance=alike.removesuffix(".") or None,
    )


HEAD = ("row", "column", "published", "arrow", "ours", "arrow", "difference", "t", "p")


def half_density(statistic: float, n_sets: int) -> float:
    """Half the density of Student's distribution at a statistic.

    Examples
    --------
    >>> round(half_density(0.0, 25), 3)
    0.197
    """
    return float(student.pdf(statistic, n_sets - 1) / 2)


def _line(
    tests: PairTests,
    n_sets: int,
    i: int,
    j: int,
    paper: Mapping[tuple[str, str], Mapping[str, str]],
) -> tuple[Entry, ...]:
    pair = tests.methods[i], tests.methods[j]
    statistic, p = float(tests.statistics[i, j]), float(tests.p_values[i, j])
    ours = half_density(statistic, n_sets) if np.isfinite(statistic) else 0.0
    theirs = paper.get(pair)
    published = float(theirs["significance"]) if theirs else None
    return (
        *pair,
        published,
        theirs["arrow"] if theirs else None,
        ours,
        arrow(statistic, p < tests.alpha),
        None if published is None else ours - published,
        statistic if np.isfinite(statistic) else None,
        p,
    )


def arrow(statistic: float, significant: bool) -> str:
    """Up to the method of the column if it is better, left to that of the row.

    Examples
    --------
    >>> arrow(-3.0, True), arrow(0.5, False), arrow(0.0, False)
    ('⇑', '←', '=')
    """
    if statistic == 0.0:
        return "="
    if statistic > 0:
        return "⇐" if significant else "←"
    return "⇑" if significant else "↑"


def _matrix(tests: PairTests, n_sets: int) -> Table:
    """The p-values with arrows, above the diagonal."""
    place = {name: k for k, name in enumerate(tests.methods)}

    def entry(row: str, column: str) -> Entry:
        i, j = place[row], place[column]
        if i >= j:
            return None
        p = float(tests.p_values[i, j])
        return f"{arrow(float(tests.statistics[i, j]), p < tests.alpha)} {p:.2g}"

    title = (
        f"One-sided p-values over {n_sets} datasets; arrows point to the better method"
    )
    return pivot(title, "", tests.methods[:-1], tests.methods[1:], entry)


def _halves(lines: Sequence[tuple[Entry, ...]]) -> Table:
    """Half the density at t, as printed in the paper, and the published number."""
    entries = {(str(line[0]), str(line[1])): line for line in lines}
    rows = list(dict.fromkeys(row for row, _ in entries))
    columns = list(dict.fromkeys(column for _, column in entries))

    def entry(row: str, column: str) -> Entry:
        line = entries.get((row, column))
        if line is None or line[4] is None:
            return None
        theirs = "" if line[2] is None else f" ({line[3]}{line[2]:.3g})"
        return f"{line[5]}{line[4]:.3g}{theirs}"

    return pivot("Half the density at t: ours (published)", "", rows, columns, entry)


def _judged(
    tests: PairTests,
    clear: Sequence[Sequence[str]],
    not_clear: Sequence[Sequence[str]],
) -> tuple[str, bool | None]:
    """Which of the published findings are found here, too."""
    said, holding = [], []
    claims = [(*pair, True) for pair in clear] + [(*pair, False) for pair in not_clear]
    for worse, better, expected in claims:
        if worse in tests.methods and better in tests.methods:
            i, j = tests.methods.index(worse), tests.methods.index(better)
            found = tests.better(better, worse)
            above = tests.statistics[i, j] < 0
            where = "above" if above else "not above"
            # Ahead, though not significantly, neither confirms nor contradicts.
            unsure = expected and above and not found
            holding.append(None if unsure else found == expected)
            said.append(
                f"{better} is {'significantly ' if found else ''}{where} {worse}, "
                f"p = {tests.p_values[i, j]:.2g}."
            )
    return " ".join(said), together(holding)


def _alike(lines: Sequence[tuple[Entry, ...]]) -> str:
    """How many published arrows point the same way as ours."""
    both = [line for line in lines if line[3]]
    if not both:
        return ""
    same = sum(_direction(line[3]) == _direction(line[5]) for line in both)
    return (
        f"Of {len(both)} published arrows that can be read {same} point the same way."
    )


def _direction(shown: Entry) -> bool:
    return shown in ("⇑", "↑")
