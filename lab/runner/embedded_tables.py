"""Tables of experiments in Markdown pages.

A page marks a table by a comment in the line before it, which names the experiment:

    <!-- lab: parameters/complete -->

A figure, which the site needs in the folder of the page, is marked like this:

    <!-- lab figure: scoreboard/ranks -->
    ![Average ranks](figures/scoreboard-ranks.svg)
"""

from __future__ import annotations

import re
from pathlib import Path

from lab.files import write_bytes
from lab.runner.catalogue import find
from lab.runner.document import known
from lab.runner.output import RESULTS
from tanager import InputError

MARKED = re.compile(r"(?m)^<!-- lab: (\S+) -->\n\n?((?:^\|.*\n)*)")


MARKED_FIGURE = re.compile(r"(?m)^<!-- lab figure: (\S+) -->\n!\[[^\]]*\]\((\S+)\)")


def marked_figures(page: str) -> dict[str, str]:
    r"""Files of marked figures by the names of the experiments.

    Examples
    --------
    >>> marked_figures("<!-- lab figure: a/b -->\n![Title](figures/b.svg)\n")
    {'a/b': 'figures/b.svg'}
    """
    return dict(MARKED_FIGURE.findall(page))


def refresh_figures(page: Path, folder: Path = RESULTS) -> list[Path]:
    """Copy the figures that a page marks; those that were not up to date.

    Raises
    ------
    InputError
        If a figure is not drawn.
    """
    changed = []
    for name, file in marked_figures(page.read_text("utf-8")).items():
        drawn, copy = folder / f"{name}.svg", page.parent / file
        if not drawn.is_file():
            raise InputError(f"No figure of {name} is in '{folder}'.")
        if not copy.is_file() or copy.read_bytes() != drawn.read_bytes():
            write_bytes(copy, drawn.read_bytes())
            changed.append(copy)
    return changed


def marked_tables(page: str) -> dict[str, str]:
    r"""Marked tables of a page by the names of the experiments.

    Examples
    --------
    >>> marked_tables("<!-- lab: a/b -->\n| x |\n| --- |\n\nText.\n")
    {'a/b': '| x |\n| --- |'}
    """
    return {name: table.rstrip("\n") for name, table in MARKED.findall(page)}


def table_of(name: str, folder: Path = RESULTS) -> str:
    """The table of an experiment in Markdown, from saved cells.

    Raises
    ------
    InputError
        If nothing is measured.
    """
    (experiment,) = find([name])
    view = known(folder, experiment).view
    if view is None:
        raise InputError(f"Nothing of {name} is measured in '{folder}'.")
    return view.tables[min(1, len(view.tables) - 1)].markdown


def refresh_tables(page: str, folder: Path = RESULTS) -> str:
    """The page with its marked tables made again from saved cells."""
    return MARKED.sub(
        lambda found: f"<!-- lab: {found[1]} -->\n\n{table_of(found[1], folder)}\n",
        page,
    )
