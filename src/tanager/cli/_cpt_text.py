"""Probability tables on a few lines of the width of a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import numpy as np

from tanager.cli._terminal import line_width
from tanager.network.named_table import LogTable, ProbabilityTable
from tanager.network.network import Network
from tanager.utils.text import one_line, shorten

MAX_LINES = 40  # of a table; what is left out is counted below them
MAX_CELL = 24  # characters of a state's name, where names are cut


def sum_text(network: Network, name: str, *, everything: bool = False) -> str:
    """Describe a family that is a sum of log tables, and lay these out."""
    parts = network.log_tables(name)
    given = ", ".join(network.parents(name))
    head = f"log P({name} | {given}), the sum of {len(parts)} tables"
    texts = [str(part) if everything else probability_text(part) for part in parts]
    return "\n\n".join([one_line(head), *texts])


def probability_text(
    table: ProbabilityTable | LogTable, width: int | None = None
) -> str:
    """Lay out a CPT in `width` columns, by default those of the terminal.

    There is a line for every configuration of the parents or, if that is too wide, for
    every state. The last lines say how much is left out.
    """
    width = line_width() if width is None else width
    parents = table.names[:-1]
    lines = [one_line(table.title)]
    own = table.states[-1]
    n_rows = int(np.prod(table.values.shape[:-1]))
    # What does not fit on one line of any layout need not be made into text.
    if len(own) <= width:
        plain = _align(_by_configuration(table, MAX_LINES, len(own)))
        if len(plain[0]) <= width:
            return "\n".join([*lines, *plain, *_more(n_rows, "row")])
    if n_rows <= width:
        turned = _align(_by_state(table, MAX_LINES))
        if len(turned[0]) <= width:
            return "\n".join([*lines, *turned, *_more(len(own), "state")])
    # Neither all states nor all configurations fit side by side.
    cells = _by_configuration(table, MAX_LINES, min(len(own), width))
    widths = [max(len(row[k]) for row in cells) for k in range(len(cells[0]))]
    kept = len(parents) + 1
    while kept < len(widths) and sum(widths[: kept + 1]) + 2 * kept <= width:
        kept += 1
    cells = [row[:kept] for row in cells]
    states = _more(len(own), "state", kept - len(parents))
    return "\n".join([*lines, *_align(cells), *states, *_more(n_rows, "row")])


def _by_configuration(
    table: ProbabilityTable | LogTable, n_rows: int, n_states: int
) -> list[list[str]]:
    """A row for each of the first configurations, after a row of titles."""
    own = [_name(state) for state in table.states[-1][:n_states]]
    cells = [[*map(_name, table.names[:-1]), *own]]
    for index in islice(np.ndindex(table.values.shape[:-1]), n_rows):
        given = [_name(s[i]) for s, i in zip(table.states, index, strict=False)]
        row = table.values[index][:n_states]
        cells.append([*given, *(f"{p:.4f}" for p in row)])
    return cells


def _by_state(table: ProbabilityTable | LogTable, n_states: int) -> list[list[str]]:
    """A row for each of the first states, after a row for every parent."""
    configurations = list(np.ndindex(table.values.shape[:-1]))
    cells = [
        [_name(name), *(_name(states[index[k]]) for index in configurations)]
        for k, (name, states) in enumerate(
            zip(table.names[:-1], table.states, strict=False)
        )
    ]
    columns = table.values.reshape(-1, table.values.shape[-1])
    for code, state in enumerate(table.states[-1][:n_states]):
        cells.append([_name(state), *(f"{p:.4f}" for p in columns[:, code])])
    return cells


def _name(value: object) -> str:
    return shorten(str(value), MAX_CELL)


def _align(cells: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[k]) for row in cells) for k in range(len(cells[0]))]
    return [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in cells
    ]


def _more(number: int, what: str, shown: int = MAX_LINES) -> list[str]:
    """Say how many are left out after the first."""
    left = number - shown
    if left <= 0:
        return []
    plural = "" if left == 1 else "s"
    return [f"... and {left:,} more {what}{plural}; --all prints everything"]
