"""Tables as CSV and Markdown."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Entry = str | int | float | None

NUMBER = re.compile(r"[(*+<-]* ?\d")
"""How the text of a number begins: ``12``, ``**0.02**``, ``(1.5)``, ``< 0.001``."""

LONGEST_NUMBER = 40
"""Letters of the longest text with numbers that is not a sentence."""


@dataclass(frozen=True)
class Table:
    """A table with a title.

    Parameters
    ----------
    title : str
        What it shows; empty for the only one.
    head : tuple of str
        Names of the columns.
    rows : tuple of tuples
        Texts and numbers; None where there is none.
    digits : int, default=2
        Of numbers in Markdown, after the point.

    Examples
    --------
    >>> print(
    ...     Table("", ("dataset", "ours"), (("iris", 94.333), ("glass", None))).markdown
    ... )
    | dataset | ours |
    | --- | ---: |
    | iris | 94.33 |
    | glass |  |
    """

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]
    digits: int = 2

    @property
    def markdown(self) -> str:
        """Lines in Markdown, columns of numbers to the right."""
        shown = [[self._shown(entry) for entry in row] for row in self.rows]
        right = [
            k > 0 and _are_numbers(c) for k, c in enumerate(zip(*shown, strict=True))
        ]
        rule = ["---:" if r else "---" for r in right or [False] * len(self.head)]
        lines = [self.head, rule, *shown]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    @property
    def csv(self) -> str:
        """All digits, as CSV."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.head)
        writer.writerows(["" if x is None else x for x in row] for row in self.rows)
        return text.getvalue()

    def _shown(self, entry: Entry) -> str:
        if entry is None:
            return ""
        if isinstance(entry, float):
            return f"{entry:.{self.digits}f}"
        return str(entry).replace("|", "\\|")


def _are_numbers(texts: Sequence[str]) -> bool:
    """Whether most texts of a column are numbers; also if all are empty."""
    there = [text for text in texts if text]
    n_numbers = sum(NUMBER.match(text) is not None for text in there)
    return 2 * n_numbers >= len(there) and max(map(len, there), default=0) <= (
        LONGEST_NUMBER
    )


@dataclass(frozen=True)
class View:
    """What is shown of an experiment.

    Parameters
    ----------
    tables : tuple of Table
        The first one has published values, ours and differences, and goes to the CSV
        file, too.
    verdict : str
        Whether the claim of the paper holds here, in words and numbers.
    holds : bool or None
        The same in short; None if too little is measured to tell.
    draw : callable or None, default=None
        Draws it on a figure of matplotlib.
    distance : str or None, default=None
        How far our numbers are from the published ones; None means by the column
        ``difference`` of the first table.
    """

    tables: tuple[Table, ...]
    verdict: str
    holds: bool | None
    draw: Callable[[Any], None] | None = None
    distance: str | None = None


NOT_PUBLISHED = "no published numbers"


def distance_of(table: Table) -> str:
    """Mean and largest distance to published numbers, by the column ``difference``.

    Examples
    --------
    >>> rows = (("iris", 1, 94.0, 94.3, 0.3), ("glass", 1, 70.0, 69.0, -1.0))
    >>> distance_of(Table("", ("dataset", "n", "paper", "ours", "difference"), rows))
    '2 numbers: mean distance 0.65, largest -1.00 (glass)'
    >>> distance_of(Table("", ("dataset", "ours"), ()))
    'no published numbers'
    """
    if "difference" not in table.head:
        return NOT_PUBLISHED
    place = table.head.index("difference")
    found = [(row[place], row) for row in table.rows]
    known = [(float(by), row) for by, row in found if isinstance(by, float | int)]
    if not known:
        return NOT_PUBLISHED
    mean = sum(abs(by) for by, _ in known) / len(known)
    largest, row = max(known, key=lambda one: abs(one[0]))
    where = ", ".join(entry for entry in row[:place] if isinstance(entry, str))
    return (
        f"{len(known)} numbers: mean distance {mean:.2f}, largest {largest:+.2f} "
        f"({where})"
    )


def pivot(
    title: str,
    corner: str,
    rows: Sequence[str],
    columns: Sequence[str],
    entry: Callable[[str, str], Entry],
    digits: int = 2,
) -> Table:
    """A table with a line for every row and an entry for every column."""
    return Table(
        title,
        (corner, *columns),
        tuple((row, *(entry(row, column) for column in columns)) for row in rows),
        digits,
    )
