"""How rows read weights that are sums: written out, or addend by addend."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tanager.data.coded_data import RowBlock
from tanager.inference.merged_tables import MergedTables
from tanager.loglinear.coordinates import Coordinates, group_codes
from tanager.loglinear.likelihood import ConditionalLogLoss
from tanager.model.layout import FamilyLayout
from tanager.types import BoolArray, CodeArray

LARGE = 40_000
"""Cells from which on addends are read faster, by trials with chains of 10 to 40
features of 3 to 50 states. With fewer cells, or where groups save little, tables
written out are faster: they are half as many, and stay in the cache."""
SAVED = 4


class _Column(NamedTuple):
    """What a column of the codes tells: a feature's state, or the group it is in.

    It is missing where one of the features in `others` is: then the table that the
    addend belongs to is not read.
    """

    feature: int
    grouped: bool
    others: tuple[int, ...]


class _Addends(Coordinates):
    """Coordinates of tables none of which is a sum of others."""

    @cached_property
    def _lower(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        return ()


@dataclass(frozen=True, eq=False)
class Reading:
    """How rows read weights that are sums, so that it takes the least time.

    Where states share their weights in groups, the tables written out have a cell for
    every pair of states, though few weights: 2,500 for 36, with 50 states in 6 groups.
    If these tables are large, rows are given columns for the groups, and read the
    addends one by one. It is the same function. A row then has about twice as many
    codes in trees, and more where families of several parents have full tables.

    Parameters
    ----------
    whole : Coordinates
        The weights as sums. Every table has the class as its last axis.

    Examples
    --------
    >>> families = ((2, 0), (2, 0, 1), (2,))
    >>> layout = FamilyLayout.of_families((200, 200, 2), families, 2)
    >>> reading = Reading(Coordinates(layout, (True, True, False), (3, 3, 2)))
    >>> layout.n_cells, reading.coordinates.layout.n_cells
    (80402, 820)
    """

    whole: Coordinates

    @cached_property
    def by_addends(self) -> bool:
        """Whether rows read the addends of weights, not their sums."""
        n_cells = self.whole.layout.n_cells
        return (
            self.whole.is_coarse
            and n_cells >= LARGE
            and n_cells >= SAVED * self.whole.parts.n_cells
        )

    @cached_property
    def coordinates(self) -> Coordinates:
        """The same coordinates, of the tables that are read."""
        if not self.by_addends:
            return self.whole
        whole = self.whole.layout
        places = {column: place for place, column in enumerate(self._columns)}
        target = len(places)
        axes = tuple(
            tuple(target if column is None else places[column] for column in of_table)
            for of_table in self._columns_of
        )
        assert whole.target is not None
        states = [self._n_states(column) for column in places]
        layout = FamilyLayout(
            (*states, whole.n_states[whole.target]),
            axes,
            tuple(of_table[0] for of_table in axes),
            target,
        )
        smooth = tuple(self.whole.smooth[column.feature] for column in places)
        return _Addends(layout, (*smooth, False))

    @cached_property
    def merged(self) -> MergedTables:
        """The tables as kernels read them."""
        return MergedTables.of(self.coordinates.layout)

    def rows(
        self, blocks: Iterable[RowBlock], n_jobs: int | None = None
    ) -> ConditionalLogLoss:
        """The likelihood of some rows.

        Parameters
        ----------
        blocks : iterable of RowBlock
            Rows as they are coded; none is kept if rows read addends.
        n_jobs : int or None, default=None
            Threads over blocks.
        """
        if self.by_addends:
            blocks = (
                RowBlock(self._coded(block.codes), block.labels, block.weights)
                for block in blocks
            )
        layout = self.coordinates.layout
        return ConditionalLogLoss(layout, tuple(blocks), n_jobs, self.merged)

    @cached_property
    def _columns_of(self) -> tuple[tuple[_Column | None, ...], ...]:
        """For every table of coordinates its axes; None is the class."""
        layout, target = self.whole.layout, self.whole.layout.target
        n_states, groups = layout.n_states, self.whole.groups
        found = []
        for index, axes in enumerate(self.whole.parts.axes):
            # Axes of groups are numbered after those of states.
            features = [v % len(n_states) for v in axes if v != target]
            coarse = max(axes) >= len(n_states)
            around = layout.axes[self.whole.wholes[index]]
            others = tuple(v for v in around if v != target and v not in features)
            columns: list[_Column | None] = [
                # A single axis that is missing is enough.
                _Column(
                    v,
                    coarse and groups[v] < n_states[v],
                    others if v == features[-1] else (),
                )
                for v in features
            ]
            found.append((*columns, None))
        return tuple(found)

    @cached_property
    def _columns(self) -> tuple[_Column, ...]:
        every = (column for of_table in self._columns_of for column in of_table)
        return tuple(dict.fromkeys(column for column in every if column is not None))

    def _n_states(self, column: _Column) -> int:
        states = self.whole.groups if column.grouped else self.whole.layout.n_states
        return states[column.feature]

    def _coded(self, codes: CodeArray) -> CodeArray:
        """Codes of all columns, in Fortran order, as rows are read column by column."""
        n_states = self.whole.layout.n_states
        coded = np.empty((len(codes), len(self._columns)), codes.dtype, order="F")
        gaps: dict[int, BoolArray] = {}
        for place, column in enumerate(self._columns):
            own = codes[:, column.feature]
            if column.grouped:
                n_groups = self.whole.groups[column.feature]
                lookup = group_codes(n_states[column.feature], n_groups, codes.dtype)
                own = lookup[own]
            coded[:, place] = own
            for v in column.others:
                if v not in gaps:
                    gaps[v] = codes[:, v] == n_states[v]
                coded[gaps[v], place] = self._n_states(column)
        return coded
