"""``tanager names`` and ``tanager datasets``."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import click

from tanager.cli._options import paper_option

if TYPE_CHECKING:
    from tanager.datasets import DatasetInfo


@click.command(short_help="List the names of the methods.")
@click.argument("pattern", required=False)
@paper_option
def names(pattern: str | None, paper: str | None) -> None:
    """List the names of the methods, or those that match PATTERN.

    PATTERN is a part of a name, or has wildcards: tan, "*-ML". A name is a structure
    and a parameter learner; all combinations are possible, and "-" and "+" are the
    same, but for the structure TAN, which needs the "+".
    """
    from tanager import registry
    from tanager.cli._terminal import list_text, print_text
    from tanager.errors import unknown_name

    known = registry.names(paper)
    found = [name for name in known if _matches(name, pattern)]
    if not found:
        raise unknown_name("method", pattern, known)
    print_text(list_text([(name, registry.describe(name, paper)) for name in found]))


@click.command(short_help="List the datasets of the catalogue, or describe one.")
@click.argument("name", required=False)
@click.option(
    "--source",
    metavar="SOURCE",
    help="Only datasets of this source: local, sklearn, generator, keel or openml.",
)
def datasets(name: str | None, source: str | None) -> None:
    """List the datasets of the catalogue, or describe the dataset NAME.

    NAME may have wildcards, such as "uci25/*". Commands accept these names as DATA.
    """
    from tanager import datasets as catalogue
    from tanager.cli._terminal import print_text
    from tanager.errors import InputError

    if name is not None and not any(mark in name for mark in "*?["):
        print_text(_about(catalogue.info(name)))
        return
    found = [
        catalogue.info(full) for full in catalogue.names(source) if _matches(full, name)
    ]
    if not found:
        raise InputError(
            f"No dataset matches {name!r}; 'tanager datasets' lists all of them."
        )
    print_text(_overview(found))


def _overview(found: Sequence[DatasetInfo]) -> str:
    """A line for every dataset; where that is too wide, with only one source."""
    from tanager.cli._terminal import line_width
    from tanager.utils.text import table_text

    rows = [
        [
            entry.name,
            f"{entry.rows:,}",
            str(entry.attributes),
            str(entry.numeric),
            str(entry.classes),
            f"{entry.missing:,}",
            ", ".join(entry.sources),
        ]
        for entry in found
    ]
    head = ["Name", "Rows", "Features", "Numeric", "Classes", "Missing", "Sources"]
    text = table_text(head, rows, right=range(1, 6))
    if max(map(len, text.splitlines())) <= line_width():
        return text
    for row, entry in zip(rows, found, strict=True):
        others = len(entry.sources) - 1
        row[-1] = entry.sources[0] + (f" +{others}" if others else "")
    head = ["Name", "Rows", "Features", "Num.", "Class", "Miss.", "Source"]
    return table_text(head, rows, right=range(1, 6))


def _matches(name: str, pattern: str | None) -> bool:
    if pattern is None:
        return True
    folded, wanted = name.casefold(), pattern.casefold()
    if any(mark in wanted for mark in "*?["):
        return fnmatchcase(folded, wanted)
    return wanted in folded


def _about(entry: DatasetInfo) -> str:
    from tanager.cli._terminal import list_text

    facts = [
        ("Name", entry.name),
        ("Sources", ", ".join(entry.sources)),
        ("About", entry.description),
    ]
    if entry.n_train is not None:
        facts.append(("Published split", f"the first {entry.n_train:,} rows train"))
    if entry.columns:
        shown = ", ".join(entry.columns[:40])
        more = f", and {len(entry.columns) - 40} more" if entry.columns[40:] else ""
        facts.append(("Features", shown + more))
    return list_text(facts)
