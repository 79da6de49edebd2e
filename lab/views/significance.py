"""Which differences between methods are significant: published, and ours."""

from __future__ import annotations

from lab.runner.experiment import Experiment
from lab.runner.results import Results
from lab.views.claims import t_tests, told, whole_sets, winner
from lab.views.published_scores import measured, published_means
from lab.views.table import Entry, Table, View, pivot
from tanager.compare import PairTests

ALPHA = 0.05


def significance(experiment: Experiment, results: Results) -> View:
    """One-sided paired t-tests over the datasets compared with the published ones.

    Options of the experiment: ``methods`` in their order; ``number`` and ``scale`` as
    of `published_scores`; ``means`` names the experiment of the same paper with the
    published means, from which the tests are made again; ``claims`` are what the paper
    concludes, see `told`. Rows of the published file are ``row``, ``column``,
    ``winner`` and ``p``.
    """
    options = experiment.options
    found = measured(results, options.get("number", "accuracy"), options["scale"])
    ours = {key: score.value for key, score in found.items()}
    methods = [m for m in options["methods"] if any(key[1] == m for key in ours)]
    sets = whole_sets(ours, methods)
    tests = t_tests(ours, methods)
    again = _from_published_means(experiment)
    long = []
    for line in experiment.published:
        pair = line["row"], line["column"]
        theirs = line["winner"], float(line["p"])
        mine = _winner(tests, *pair)
        long.append(
            (*pair, *theirs, *mine, _agrees(theirs, mine), *_winner(again, *pair))
        )
    head = (
        "row", "column", "published winner", "published p", "our winner", "our p",
        "same verdict", "winner by published means", "p by published means",
    )  # fmt: skip
    said, holds = told(tests, options.get("claims", ()))
    compared = [line[6] for line in long if line[6] is not None]
    distance = None
    if compared:
        distance = (
            f"{compared.count('yes')} of {len(compared)} comparisons have the "
            "published verdict (the same one significantly better, or neither)"
        )
        said += f" On {len(sets)} datasets {distance}."
    against = [line for line in long if line[7] not in (None, line[2])]
    if compared and against:
        pairs = ", ".join(f"{line[0]} and {line[1]}" for line in against)
        said += (
            f" {len(against)} of the {len(long)} published arrows point away from the "
            f"method with the higher published mean: {pairs}."
        )
    shown = [Table("Published, and ours", head, tuple(long), 3)]
    if tests is not None:
        shown.append(
            _matrix(tests, f"Ours, over {len(sets)} datasets of which all is known")
        )
    tables = Table("", head, tuple(long)), *shown
    return View(tables, said.strip(), holds, distance=distance)


def _from_published_means(experiment: Experiment) -> PairTests | None:
    means = {key: score.value for key, score in published_means(experiment).items()}
    return t_tests(means, experiment.options["methods"])


def _winner(
    tests: PairTests | None, row: str, column: str
) -> tuple[str | None, float | None]:
    if tests is None or row not in tests.methods or column not in tests.methods:
        return None, None
    return winner(tests, row, column)


def _agrees(
    theirs: tuple[str, float], mine: tuple[str | None, float | None]
) -> str | None:
    """Whether both have the same winner, or neither is significant."""
    if mine[1] is None:
        return None
    significant = theirs[1] < ALPHA, mine[1] < ALPHA
    same = significant[0] == significant[1] and (
        not significant[0] or theirs[0] == mine[0]
    )
    return "yes" if same else "no"


def _matrix(tests: PairTests, title: str) -> Table:
    """Arrows as in the paper: to the row or up to the column, double if significant."""
    place = {method: k for k, method in enumerate(tests.methods)}

    def entry(row: str, column: str) -> Entry:
        return tests.entry(row, column) if place[column] < place[row] else ""

    return pivot(title, "", tests.methods[1:], tests.methods[:-1], entry)
