"""Random samples from a network."""

from __future__ import annotations

import numpy as np

from tanager.model.layout import Parameters
from tanager.model.structure import Structure
from tanager.types import IntArray
from tanager.utils.threads import row_blocks

MAX_BLOCK_CELLS = 4_000_000
"""Rows times states per block of samples from a log-linear family (32 MB)."""


def sample_codes(
    structure: Structure,
    parameters: Parameters,
    n_rows: int,
    random: np.random.Generator,
) -> IntArray:
    """Draw codes, parents before children: int64, (n_rows, n_variables), F order."""
    codes = np.zeros((n_rows, structure.n_variables), dtype=np.int64, order="F")
    for variable in structure.topological_order:
        tables = parameters.layout.tables_of(variable)
        if len(tables) == 1:
            drawn = _draw_from_table(parameters, tables[0], codes, random)
        else:
            drawn = _draw_from_sum(parameters, variable, codes, random)
        codes[:, variable] = drawn
    return codes


def _draw_from_table(
    parameters: Parameters,
    index: int,
    codes: IntArray,
    random: np.random.Generator,
) -> IntArray:
    """Draw a state of the owner of table `index` for every row."""
    layout = parameters.layout
    n_rows = len(codes)
    axes = layout.axes[index]
    own = layout.owner_axis(index)
    table = np.moveaxis(np.exp(parameters.log_table(index)), own, -1)
    cumulative = np.cumsum(table, axis=-1)
    given = tuple(codes[:, v] for v in axes if v != layout.owners[index])
    # All cumulative rows in one increasing line: row h lies between h and h + 1.
    flat = cumulative.reshape(-1, cumulative.shape[-1])
    line = (flat / flat[:, -1:] + np.arange(len(flat))[:, None]).ravel()
    row = (
        np.ravel_multi_index(given, cumulative.shape[:-1])
        if given
        else np.zeros(n_rows, dtype=np.int64)
    )
    found = np.searchsorted(line, row + random.random(n_rows), side="right")
    # A rounding error may lead to the end of the row.
    own_states = cumulative.shape[-1]
    drawn: IntArray = np.minimum(found - row * own_states, own_states - 1)
    return drawn


def _draw_from_sum(
    parameters: Parameters,
    variable: int,
    codes: IntArray,
    random: np.random.Generator,
) -> IntArray:
    """The same for a log-linear family, without writing its CPT out."""
    layout = parameters.layout
    n_states = layout.n_states[variable]
    uniform = random.random(len(codes))
    drawn = np.empty(len(codes), dtype=np.int64)
    for start, stop in row_blocks(len(codes), max(1, MAX_BLOCK_CELLS // n_states)):
        log_values = np.zeros((stop - start, n_states))
        for t in layout.tables_of(variable):
            axes = layout.axes[t]
            if variable not in axes:
                continue  # the same for all states
            table = np.moveaxis(parameters.log_table(t), axes.index(variable), -1)
            given = tuple(codes[start:stop, v] for v in axes if v != variable)
            log_values += table[given]
        log_values -= log_values.max(axis=1, keepdims=True)
        cumulative = np.cumsum(np.exp(log_values), axis=1)
        reached = uniform[start:stop, None] * cumulative[:, -1:] >= cumulative
        drawn[start:stop] = np.minimum(reached.sum(axis=1), n_states - 1)
    return drawn
