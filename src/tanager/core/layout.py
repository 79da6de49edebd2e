"""`FamilyLayout`: where every table lies in one flat vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
import numpy.typing as npt

from tanager.core.errors import InputError, TableSizeError
from tanager.core.schema import Schema
from tanager.core.structure import Structure

MAX_CELLS = 50_000_000
"""Cells allowed in all tables of a network together (400 MB of float64)."""


@dataclass(frozen=True)
class FamilyLayout:
    """Tables over sets of variables, one after the other in a flat vector.

    A table lists its axes in memory order, the last one fastest. The class, where a
    table has it, is always the last axis: the log probabilities of all classes for one
    configuration are neighbours, which is what scoring reads.

    Parameters
    ----------
    n_states : tuple of int
        Number of states of every variable.
    axes : tuple of tuples of int
        The variables of every table, in memory order.
    owners : tuple of int
        The variable each table belongs to. A variable may own several tables, whose
        logarithms add.
    target : int or None
        The class variable.

    Examples
    --------
    >>> layout = FamilyLayout.of_families((3, 2, 2), ((2, 0), (2, 0, 1), (2,)), 2)
    >>> layout.axes, layout.offsets.tolist(), layout.n_cells
    (((0, 2), (0, 1, 2), (2,)), [0, 6, 18], 20)
    """

    n_states: tuple[int, ...]
    axes: tuple[tuple[int, ...], ...]
    owners: tuple[int, ...]
    target: int | None

    @classmethod
    def of_families(
        cls,
        n_states: Sequence[int],
        families: Sequence[Sequence[int]],
        target: int | None,
    ) -> FamilyLayout:
        """Lay out one table per family (parents first, the owner last)."""
        axes = tuple(
            tuple(v for v in family if v != target)
            + ((target,) if target is not None and target in family else ())
            for family in families
        )
        return cls(
            tuple(int(r) for r in n_states),
            axes,
            tuple(family[-1] for family in families),
            target,
        )

    @classmethod
    def of_structure(cls, schema: Schema, structure: Structure) -> FamilyLayout:
        """Lay out the tables of a network; refuse sizes beyond `MAX_CELLS`."""
        if len(schema) != structure.n_variables:
            raise InputError(
                f"The structure has {structure.n_variables} variables and the schema "
                f"{len(schema)}; they must be the same."
            )
        layout = cls.of_families(
            schema.n_states.tolist(), structure.families, structure.target
        )
        layout.check_size(schema)
        return layout

    @property
    def n_tables(self) -> int:
        """Number of tables."""
        return len(self.axes)

    @cached_property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shape of every table, in memory order."""
        return tuple(tuple(self.n_states[v] for v in axes) for axes in self.axes)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of cells of every table (Python integers, so they cannot wrap)."""
        return tuple(prod(shape) for shape in self.shapes)

    @cached_property
    def n_cells(self) -> int:
        """Number of cells of all tables."""
        return sum(self.sizes)

    @cached_property
    def offsets(self) -> npt.NDArray[np.int64]:
        """First cell of every table, shape (n_tables,)."""
        ends = np.cumsum((0, *self.sizes), dtype=np.int64)
        return ends[:-1]

    @cached_property
    def compiled(self) -> CompiledLayout:
        """The same as flat arrays, for kernels."""
        return CompiledLayout.of(self)

    def check_size(self, schema: Schema, max_cells: int = MAX_CELLS) -> None:
        """Raise `TableSizeError` if the tables are too large, before allocating."""
        if self.n_cells <= max_cells:
            return
        largest = max(range(self.n_tables), key=self.sizes.__getitem__)
        names = [schema[v].name for v in self.axes[largest]]
        owner = schema[self.owners[largest]].name
        raise TableSizeError(
            f"The tables would have {self.n_cells:,} cells, more than the "
            f"{max_cells:,} allowed. The largest is the family of {owner!r} over "
            f"{names} with {self.sizes[largest]:,} cells. Use fewer parents, fewer "
            "bins (a coarser encoder), or group rare categories of these columns."
        )

    def table(
        self, values: npt.NDArray[np.float64], index: int
    ) -> npt.NDArray[np.float64]:
        """View of table `index` in the flat vector `values`, in memory order."""
        start = int(self.offsets[index])
        return values[start : start + self.sizes[index]].reshape(self.shapes[index])

    def owner_axis(self, index: int) -> int:
        """Position of the owner among the axes of table `index`."""
        return self.axes[index].index(self.owners[index])


@dataclass(frozen=True)
class CompiledLayout:
    """A layout as flat arrays.

    Table t starts at ``offsets[t]``; its axes other than the class are
    ``axis_variable[start[t]:start[t + 1]]`` with strides ``axis_stride`` in cells;
    ``has_class[t]`` says whether the class is its last axis (stride 1).
    """

    offsets: npt.NDArray[np.int64]
    start: npt.NDArray[np.int64]
    axis_variable: npt.NDArray[np.int64]
    axis_stride: npt.NDArray[np.int64]
    has_class: npt.NDArray[np.bool_]
    n_classes: int

    @classmethod
    def of(cls, layout: FamilyLayout) -> CompiledLayout:
        """Flatten `layout`."""
        start = [0]
        variables: list[int] = []
        strides: list[int] = []
        has_class: list[bool] = []
        for axes, shape in zip(layout.axes, layout.shapes, strict=True):
            for position, variable in enumerate(axes):
                if variable != layout.target:
                    variables.append(variable)
                    strides.append(prod(shape[position + 1 :]))
            has_class.append(layout.target is not None and layout.target in axes)
            start.append(len(variables))
        return cls(
            layout.offsets,
            np.array(start, dtype=np.int64),
            np.array(variables, dtype=np.int64),
            np.array(strides, dtype=np.int64),
            np.array(has_class, dtype=np.bool_),
            1 if layout.target is None else layout.n_states[layout.target],
        )
