"""One page about all experiments, made from the cells that a run has left in a folder.

Nothing is measured for it, and the same cells make the same page, so that a page that
is kept with its cells can be checked.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.runner.catalogue import find, paper
from lab.runner.experiment import Experiment
from lab.runner.output import (
    ANSWERS,
    cells_file,
    made_by_of,
    read_saved,
    report_claim,
    shown,
)
from lab.runner.results import Results
from lab.views import Table, View, distance_of, view_of
from lab.views.unexplained_numbers import HEAD as HYPOTHESES
from tanager import InputError

MOST_ROWS = 40
"""Rows of a table above which the page only points to it."""

INTRODUCTION = """\
# Results

Tables and figures of papers, reproduced: what the paper claims, the rule by which the
claim is judged, the verdict, and how far our numbers are from the published ones.

    python -m lab reproduce NAME                           # measure one of them
    python -m lab reproduce --document docs/results.md     # make this page

A claim holds if all of its rule is met. It is inconclusive where a difference that
should be significant has the right sign only, or where the rule says so, and otherwise
it does not hold. Significant means p < 0.05 in a one-sided paired t-test over the
datasets, if the rule names nothing else. Rules are kept with the claims in
`lab/papers`; they were written down when the papers and most of our numbers were known.

In a verdict "A > B" says that A is ahead of B, "A >= B" that it is not significantly
behind, "A ~ B" that they are not apart by the rule. A distance is our number less the
published one, in the unit of the table (points of accuracy or error, if nothing else is
said); what was chosen on test data is named with it."""


NOT_EXPLAINED = """\
Published numbers that did not come out, each with the nearest of the hypotheses that
were drawn from the texts of the papers and tried; the sections of the experiments have
all of them. A hypothesis explains a number if ours comes within the tolerance of its
experiment. That is no proof that it is what was done, as it was chosen by the published
number; rules of greiner2005 were written after first trials of the same hypotheses.
About thirty variants were looked at, and those without cells are not counted. What no
hypothesis explains remains open."""


@dataclass(frozen=True)
class Known:
    """What is known of an experiment.

    Parameters
    ----------
    experiment : Experiment
        A table or figure.
    results : Results
        Those of its cells that are measured.
    view : View or None
        What they show; None if none is measured.
    """

    experiment: Experiment
    results: Results
    view: View | None

    @property
    def answer(self) -> str:
        """Whether the claim holds, in a word or two."""
        if self.view is None:
            return "not measured yet"
        return ANSWERS[self.view.holds] if self.experiment.claim else "no claim"

    @property
    def distance(self) -> str:
        """How far our numbers are from published ones, and what was chosen on tests."""
        if self.view is None:
            return ""
        told = self.view.distance
        if told is None:
            told = distance_of(self.view.tables[0])
        if self.experiment.chosen:
            told += f"; chosen on test data: {self.experiment.chosen}"
        return told

    @property
    def measured(self) -> str:
        """How many of the cells are measured."""
        planned = self.experiment.cells()
        if set(planned).isdisjoint(self.results.cells):
            planned = self.experiment.cells(quick=True)
            quick = " of a quick run" if len(self.results) else ""
        else:
            quick = ""
        return f"{len(self.results):,} of {len(planned):,}{quick}"


def page(folder: Path, names: Sequence[str], page_folder: Path) -> str:
    """What is known of some papers or experiments, in Markdown.

    Parameters
    ----------
    folder : Path
        Where `python -m lab reproduce` has written.
    names : sequence of str
        Papers or experiments.
    page_folder : Path
        The folder of the page, from which it points to other files.

    Returns
    -------
    str
        The page.

    Raises
    ------
    InputError
        If the folder is not there, a name is not known or a file is damaged.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as empty:
    ...     text = page(Path(empty), ["su2008/table1"], Path(empty))
    >>> print(text.splitlines()[-1])
    Not measured yet.
    """
    if not folder.is_dir():
        raise InputError(
            f"There is no folder '{folder}'; run `python -m lab reproduce` first, or "
            "name another one with --output."
        )
    every = [known(folder, experiment) for experiment in find(names)]
    lines = [INTRODUCTION, "", _overview(every), *_unexplained(every)]
    last = None
    for one in every:
        if one.experiment.paper != last:
            last = one.experiment.paper
            lines += ["", f"## {paper(last).title}"]
        lines += ["", *_section(one, folder, page_folder)]
    lines += _absent(dict.fromkeys(one.experiment.paper for one in every))
    if any(one.view is not None for one in every):
        lines += ["", "## Versions", "", *_versions(every, folder)]
    return "\n".join(lines) + "\n"


def known(folder: Path, experiment: Experiment) -> Known:
    """Read the cells of an experiment, as far as they belong to its plan of today."""
    saved = Results((), ())
    if cells_file(folder, experiment).is_file():
        saved = read_saved(folder, experiment)
    numbers = dict(saved)
    results = Results.of(experiment.cells(), numbers, saved.missing)
    if not len(results):
        results = Results.of(experiment.cells(quick=True), numbers)
    view = view_of(experiment, results) if len(results) else None
    return Known(experiment, results, view)


def _overview(every: Sequence[Known]) -> str:
    answers = [one.answer for one in every if one.view and one.experiment.claim]
    holds, fails, unsure = (answers.count(one) for one in ANSWERS.values())
    lines = [
        f"Of {len(every)} tables and figures {len(answers)} have a claim and are "
        f"measured. Verdicts: {holds} hold, {fails} do not hold, {unsure} "
        "inconclusive.",
        "",
        "| experiment | claim | rule | verdict | distance to the paper |",
        "| --- | --- | --- | --- | --- |",
    ]
    for one in every:
        experiment = one.experiment
        entries = (
            experiment.full_name,
            experiment.claim or experiment.title,
            experiment.rule,
            one.answer if one.answer == "no claim" else f"**{one.answer}**",
            one.distance,
        )
        line = " | ".join(entry.replace("|", "\\|") for entry in entries)
        lines.append(f"| {line} |")
    return "\n".join(lines)


def _unexplained(every: Sequence[Known]) -> list[str]:
    """Numbers that did not come out, with the nearest hypothesis of all tried."""
    tried = [
        (one.experiment.full_name, *row)
        for one in every
        if one.view is not None and one.experiment.view == "hypotheses"
        for row in one.view.tables[-1].rows
    ]
    if not tried:
        return []
    head = ("experiment", *HYPOTHESES)
    table = Table("", head, tuple(tried)).markdown
    return ["", "## Not explained", "", NOT_EXPLAINED, "", table]


def _absent(names: Iterable[str]) -> list[str]:
    """What cannot be reproduced, and why."""
    rows = [
        f"| {name}/{what} | {reason} |"
        for name in names
        for what, reason in paper(name).absent.items()
    ]
    if not rows:
        return []
    head = ["| table or figure | reason |", "| --- | --- |"]
    return ["", "## Not reproduced", "", *head, *rows]


def _section(one: Known, folder: Path, page_folder: Path) -> list[str]:
    experiment, view = one.experiment, one.view
    lines = [f"### {experiment.full_name}: {experiment.title}"]
    if view is None:
        return [*lines, "", f"**Claim.** {experiment.claim}", "", "Not measured yet."]
    lines += [*report_claim(experiment, view), "", f"**Distance.** {one.distance}."]
    # The first table is the whole one, for the CSV file; the next one sums it up.
    table = view.tables[min(1, len(view.tables) - 1)]
    if len(table.rows) <= MOST_ROWS:
        lines += ["", *shown(table)]
    own = folder / experiment.paper
    figure = own / f"{experiment.name}.svg"
    if view.draw is not None and figure.is_file():
        lines += ["", f"![{experiment.title}]({_link(figure, page_folder)})"]
    lines += ["", f"Cells measured: {one.measured}."]
    file = own / f"{experiment.name}.csv"
    if file.is_file():
        lines[-1] += f" All numbers: [{file.name}]({_link(file, page_folder)})."
    return lines


def _versions(every: Sequence[Known], folder: Path) -> list[str]:
    """What measured the cells, as the first line of their file says."""
    names: dict[str, list[str]] = {}
    for one in every:
        if one.view is not None:
            made_by = made_by_of(folder, one.experiment)
            names.setdefault(made_by, []).append(one.experiment.full_name)
    return [f"- {version}: {', '.join(of)}" for version, of in names.items()]


def _link(file: Path, page_folder: Path) -> str:
    return Path(os.path.relpath(file, page_folder)).as_posix()
