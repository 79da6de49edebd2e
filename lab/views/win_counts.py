"""On how many datasets one method is better than another, published and ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lab.runner.experiment import Experiment
from lab.runner.results import Results
from lab.views.table import Table, View, pivot
from tanager import compare

Pair = tuple[str, str]

HEAD = ("row", "column", "published", "ours", "difference in wins", "in losses")


class Counts(NamedTuple):
    """On how many datasets one method wins, ties and loses against another."""

    wins: int
    ties: int
    losses: int

    def __str__(self) -> str:
        return f"{self.wins}/{self.ties}/{self.losses}"


def win_counts(experiment: Experiment, results: Results) -> View:
    """Wins, ties and losses by the corrected t-test compared with the published ones.

    Options of the experiment: ``number`` is the measured one; ``claims`` are such as
    ``["NB+DFE", ">", "NB+FE"]``, more wins than losses, with ``">>"`` for wins without
    a loss, or with ``"~"`` for numbers of them that differ by at most ``tolerance``;
    they are judged when all datasets are there. The published rows have columns
    ``row``, ``column``, ``win``, ``tie`` and ``loss``.
    """
    options = experiment.options
    theirs = {
        (row["row"], row["column"]): Counts(
            int(row["win"]), int(row["tie"]), int(row["loss"])
        )
        for row in experiment.published
    }
    methods = list(dict.fromkeys(method for pair in theirs for method in pair))
    scores = common(results, methods, options.get("number", "accuracy"))
    if scores is None:
        return View((Table("", HEAD, ()),), "", None)
    ours = counted(scores, corrected=True)
    plain = counted(scores, corrected=False)
    n_published = sum(next(iter(theirs.values())))
    long = [
        (*pair, str(of), str(own), own.wins - of.wins, own.losses - of.losses)
        for pair, of in theirs.items()
        for own in (ours[pair],)
    ]

    def entry(row: str, column: str) -> str:
        if (row, column) not in ours:
            return ""
        return f"{ours[row, column]} ({theirs[row, column]})"

    def plain_entry(row: str, column: str) -> str:
        return str(plain.get((row, column), ""))

    said = f"Ours on {scores.n_datasets} datasets (published on {n_published})"
    tables = (
        Table("", HEAD, tuple(long)),
        pivot(said, "wins/ties/losses", methods[:-1], methods[1:], entry),
        pivot(
            "Ours by the plain paired t-test, which takes overlapping training samples "
            "for independent",
            "wins/ties/losses",
            methods[:-1],
            methods[1:],
            plain_entry,
        ),
    )
    claims = options.get("claims", ())
    verdict, holds = _judged(ours, claims, options.get("tolerance", 2))
    whole = scores.n_datasets == n_published
    by = {f"{line[0]} against {line[1]}": (line[4], line[5]) for line in long}
    far = max(by, key=lambda pair: max(map(abs, by[pair])))
    exact = sum(one == (0, 0) for one in by.values())
    distance = (
        f"{exact} of {len(by)} pairs have the published wins and losses; at most "
        f"{max(map(abs, by[far]))} datasets apart ({far})"
    )
    return View(tables, verdict, holds if whole else None, distance=distance)


def common(
    results: Results, methods: Sequence[str], number: str
) -> compare.Results | None:
    """Scores of all methods on those sets of which all have the same repetitions.

    None if there is no such set. Sets with fewer repetitions than others are left out.
    """
    found: dict[tuple[str, str], list[float]] = {}
    repeats: dict[str, int] = {}
    for data in results.levels("data"):
        of_set = results.where(data=data)
        known = [of_set.where(method=method) for method in methods]
        same = {tuple(one.levels("repeat")) for one in known}
        if len(same) == 1 and len(known[0]):
            name = data.rpartition("/")[2]
            repeats[name] = len(known[0])
            for method, one in zip(methods, known, strict=True):
                found[name, method] = one.values(number).tolist()
    if not repeats:
        return None
    most = max(repeats.values())
    kept = {key: scores for key, scores in found.items() if repeats[key[0]] == most}
    return compare.Results.from_mapping(kept, n_repeats=most)


def counted(scores: compare.Results, *, corrected: bool) -> dict[Pair, Counts]:
    """Wins, ties and losses of every pair, by the corrected or the plain t-test."""
    found = compare.win_tie_loss(scores, test_ratio=None if corrected else 0.0)
    kinds = found.wins, found.ties, found.losses
    return {
        (first, second): Counts(*(int(kind[i, j]) for kind in kinds))
        for i, first in enumerate(found.methods)
        for j, second in enumerate(found.methods)
        if i < j
    }


def _judged(
    ours: Mapping[Pair, Counts], claims: Sequence[Sequence[str]], tolerance: int
) -> tuple[str, bool | None]:
    said, holding = [], []
    for left, relation, right in claims:
        own = ours.get((left, right)) or Counts(*reversed(ours[right, left]))
        ahead = own.wins - own.losses
        if relation == "~":
            holding.append(abs(ahead) <= tolerance)
        else:
            holding.append(ahead > 0 and (relation == ">" or own.losses == 0))
        answer = "yes" if holding[-1] else "no"
        said.append(f"{left} {relation} {right}: {answer}, {own}.")
    return " ".join(said), all(holding) if holding else None
