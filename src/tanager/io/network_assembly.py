"""Checks the declarations of a BIF or XMLBIF file and builds a network of them."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from math import prod
from typing import Protocol

import numpy as np

from tanager.errors import listed, unknown_name
from tanager.io.bif_properties import (
    DeclaredVariable,
    Source,
    WordRules,
    read_declared_schema,
)
from tanager.io.probability_digits import logarithms
from tanager.io.stored_cpts import FREE_CELLS, MAX_FAMILY, place_rows
from tanager.model.layout import MAX_CELLS, FamilyLayout, Parameters
from tanager.model.schema import Schema
from tanager.model.structure import Structure, find_cycle
from tanager.network.network import Network
from tanager.types import FloatArray

ROUNDED = 1e-2  # how far a row may be from one, as files round; it is then normalised
EXACT = (
    1e-9  # how far from one a row is taken as it is, so that not a bit of it changes
)
Placed = tuple[str, int]  # a name and where it stands


class DeclaredTable(Protocol):
    """The CPT of a variable as a file declares it."""

    place: int

    @property
    def order(self) -> str:
        """A sentence about the order of the numbers, for errors; may be empty."""

    def family(self, known: Container[str]) -> tuple[Placed, list[Placed]]:
        """The variable and its parents; `known` are the declared names."""

    def rows(self, states: Mapping[str, Sequence[str]], source: Source) -> FloatArray:
        """Probabilities, shape (n_configurations, n_states), last parent fastest.

        `states` has the states of the parents in their order, then of the variable.
        """

    def row_place(self, row: int) -> int:
        """Where the numbers of a configuration are."""


def assemble_network(
    variables: Sequence[DeclaredVariable],
    tables: Sequence[DeclaredTable],
    words: WordRules,
    source: Source,
    max_cells: int,
) -> Network:
    """Make a checked network of declared variables, in the order of the file.

    `tables` has one table for every variable, in any order. `words` makes the words
    that the format has for texts. `source` raises errors, also for CPTs of more than
    `max_cells` cells; see `cell_limit`.
    """
    if not variables:
        raise source.error("there is no variable; is it a network at all?", 0)
    position: dict[str, int] = {}
    for number, variable in enumerate(variables):
        if variable.name in position:
            raise source.error(
                f"the variable {variable.name!r} is declared twice.", variable.place
            )
        if len(set(variable.states)) < len(variable.states):
            raise source.error(
                f"the variable {variable.name!r} lists a state twice: "
                f"{listed(variable.states)}.",
                variable.place,
            )
        position[variable.name] = number
    schema = read_declared_schema(variables, words, source)
    by_child, parents = _structure(variables, tables, position, source)
    structure = Structure(parents, schema.target)
    layout = _layout(schema, structure, by_child, source, max_cells)
    theta = np.empty(layout.n_cells)
    for child, family in enumerate(structure.families):
        table = by_child[child]
        states = {variables[v].name: variables[v].states for v in family}
        rows = table.rows(states, source)
        rows = _normalise(rows, variables[child].name, table, source)
        place_rows(layout, child, family, rows, theta)
    return Network(schema, structure, Parameters(layout, logarithms(theta)))


def cell_limit(n_bytes: int) -> int:
    """Cells that the CPTs in a text of so many bytes may have.

    Written out, a probability takes two bytes and more; ``default`` of BIF stands for
    any number of rows.
    """
    return min(MAX_CELLS, max(FREE_CELLS, n_bytes))


def _structure(
    variables: Sequence[DeclaredVariable],
    tables: Sequence[DeclaredTable],
    position: dict[str, int],
    source: Source,
) -> tuple[dict[int, DeclaredTable], tuple[tuple[int, ...], ...]]:
    """The CPT of every variable and its parents."""
    names = [variable.name for variable in variables]

    def index(placed: Placed) -> int:
        name, place = placed
        if name not in position:
            raise source.error(unknown_text("variable", name, names), place)
        return position[name]

    by_child: dict[int, DeclaredTable] = {}
    parents: list[tuple[int, ...]] = [()] * len(variables)
    for table in tables:
        child, given = table.family(position)
        v = index(child)
        if v in by_child:
            raise source.error(
                f"the probabilities of {child[0]!r} are given twice.", child[1]
            )
        by_child[v] = table
        own: dict[int, None] = {}  # a set that keeps their order
        for placed in given:
            parent = index(placed)
            if parent == v or parent in own:
                what = "itself as parent" if parent == v else "the same parent twice"
                raise source.error(
                    f"{child[0]!r} has {what}: {placed[0]!r}.", placed[1]
                )
            own[parent] = None
        parents[v] = tuple(own)
    for v, variable in enumerate(variables):
        if v not in by_child:
            raise source.error(
                f"the variable {variable.name!r} has no probabilities.", variable.place
            )
    cycle = find_cycle(parents)
    if cycle:
        shown = " -> ".join(repr(names[v]) for v in cycle)
        raise source.error(
            f"the arcs form a cycle: {shown}. Remove one of them.",
            by_child[cycle[-1]].place,
        )
    return by_child, tuple(parents)


def _layout(
    schema: Schema,
    structure: Structure,
    tables: dict[int, DeclaredTable],
    source: Source,
    max_cells: int,
) -> FamilyLayout:
    """The layout of the CPTs; too large ones are an error before they use memory."""
    states = schema.n_states.tolist()
    total = 0
    for child, family in enumerate(structure.families):
        cells = prod(states[v] for v in family)
        total += cells
        if total > max_cells:
            where = " for a file of this size" if max_cells < MAX_CELLS else ""
            raise source.error(
                f"with the CPT of {schema[child].name!r}, which has {cells:,} "
                f"entries, the CPTs have more than the {max_cells:,} allowed{where}.",
                tables[child].place,
            )
        if len(family) > MAX_FAMILY:
            raise source.error(
                f"{schema[child].name!r} has {len(family) - 1:,} parents; at most "
                f"{MAX_FAMILY - 1} are allowed.",
                tables[child].place,
            )
    return FamilyLayout.of_structure(schema, structure)


def _normalise(
    rows: FloatArray, name: str, table: DeclaredTable, source: Source
) -> FloatArray:
    """Rows that sum to one; those that already do keep their bits."""
    wrong = ~((rows >= 0) & (rows < np.inf))
    if wrong.any():
        row, column = (int(k) for k in np.argwhere(wrong)[0])
        raise source.error(
            f"the probabilities of {name!r} hold {rows[row, column]:g}; expected "
            "numbers from 0 to 1.",
            table.row_place(row),
        )
    with np.errstate(over="ignore"):
        total = rows.sum(axis=1)
    off = np.abs(total - 1.0)
    row = int(off.argmax())
    if not off[row] <= ROUNDED + EXACT:
        raise source.error(
            f"these probabilities of {name!r} sum to {total[row]:.6g}; expected 1, or "
            f"at most {ROUNDED:g} away from it where they are rounded.{table.order}",
            table.row_place(row),
        )
    inexact = off > EXACT
    rows[inexact] /= total[inexact, None]
    return rows


def parse_numbers(
    texts: Sequence[Sequence[str]], places: Sequence[int], source: Source
) -> FloatArray:
    """Parse texts as an array of their shape; the places are those of its rows."""
    try:
        return np.array(texts, dtype=np.float64)
    except ValueError:
        for row, place in zip(texts, places, strict=True):
            for text in row:
                try:
                    float(text)
                except ValueError:
                    message = f"expected a number, got {text[:40]!r}."
                    raise source.error(message, place) from None
        raise source.error("expected numbers.", places[0]) from None


def unknown_text(what: str, name: str, known: Sequence[str]) -> str:
    """Error text for an unknown name, to continue a line."""
    message = str(unknown_name(what, name, known))
    return message[:1].lower() + message[1:]
