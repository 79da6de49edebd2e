"""Log-linear networks as text: their factors by importance."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tanager.loglinear.factor_tables import FactorTable
    from tanager.network import LogLinearNetwork

SHOWN_FACTORS = 40
"""Factors that are listed; the others are counted."""


def factor_summary(network: LogLinearNetwork) -> str:
    """Describe a log-linear network: some lines, and a table of its factors."""
    from tanager.cli._terminal import terminal_width
    from tanager.utils.text import one_line, pluralise, shorten, table_text

    schema, width = network.schema, terminal_width() or 100
    target = schema.target_variable
    states = ", ".join(str(state) for state in target.states)
    line = f"Class {target.name!r}: {pluralise(target.n_states, 'state')}: {states}"
    tables = network.by_importance()
    lines = [
        shorten(line, width),
        f"{pluralise(len(schema), 'variable')}, {pluralise(len(tables), 'factor')}, "
        f"{pluralise(network.n_parameters, 'parameter')}",
        "",
    ]
    rows = [
        [
            shorten(one_line(" x ".join(network.names_of(table))), max(width - 50, 24)),
            f"{table.factor.n_cells:,}",
            f"{table.importance:.3f}",
            _range_text(table),
        ]
        for table in tables[:SHOWN_FACTORS]
    ]
    effect = "Log odds" if target.n_states == 2 else "Log weights"
    head = ["Factor", "Cells", "Importance", effect]
    lines.append(table_text(head, rows, right=[1, 2, 3]))
    if len(tables) > SHOWN_FACTORS:
        left = len(tables) - SHOWN_FACTORS
        lines.append(f"and {pluralise(left, 'factor')} of less importance")
    return "\n".join(lines)


def _range_text(table: FactorTable) -> str:
    """Least and greatest effect in cells with training samples."""
    weights = table.weights[table.support > 0]
    if weights.shape[1] == 2:
        weights = weights[:, 1] - weights[:, 0]
    return f"{weights.min():+.2f} to {weights.max():+.2f}"
