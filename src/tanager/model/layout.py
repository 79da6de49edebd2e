"""`FamilyLayout` and `Parameters`: the factors of a network in one flat vector."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from tanager.errors import InputError, TableSizeError
from tanager.model.schema import Schema
from tanager.model.structure import Structure
from tanager.types import BoolArray, FloatArray, IntArray
from tanager.utils.stored_fields import StoredFields

Number = TypeVar("Number", bound=np.number)

MAX_CELLS = 50_000_000
"""Cells allowed in all factors of a network together (400 MB of float64)."""

MAX_SUMMED_CELLS = 2_000_000_000
"""Configurations allowed in families kept as sums: normalisation visits each once."""


@dataclass(frozen=True)
class FamilyLayout(StoredFields):
    """Factors over sets of variables, one after the other in a flat vector.

    A factor, here called table, lists its axes in memory order, the last one fastest.
    The class, where a table has it, is always the last axis, so that the log
    probabilities of all classes for one configuration are neighbours in memory.

    Parameters
    ----------
    n_states : tuple of int
        Number of states of every variable.
    axes : tuple of tuples of int
        The variables of every table, in memory order.
    owners : tuple of int
        The variable each table belongs to. A variable may own several tables, whose
        logarithms add (a log-linear family).
    target : int or None
        The class variable.

    Attributes
    ----------
    n_tables : int
        Number of tables.
    shapes : tuple of tuples of int
        Shape of every table, in memory order.
    sizes : tuple of int
        Number of cells of every table (Python integers, so they cannot overflow).
    n_cells : int
        Number of cells of all tables.

    See Also
    --------
    of_families : One table for every variable, over its whole family.
    of_sums : Several, each over some members of the family.

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
    n_tables: int = field(init=False, repr=False, compare=False)
    shapes: tuple[tuple[int, ...], ...] = field(init=False, repr=False, compare=False)
    sizes: tuple[int, ...] = field(init=False, repr=False, compare=False)
    n_cells: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Compute the sizes of the tables."""
        shapes = tuple(tuple(self.n_states[v] for v in axes) for axes in self.axes)
        sizes = tuple(prod(shape) for shape in shapes)
        object.__setattr__(self, "n_tables", len(shapes))
        object.__setattr__(self, "shapes", shapes)
        object.__setattr__(self, "sizes", sizes)
        object.__setattr__(self, "n_cells", sum(sizes))

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
        """Lay out the CPTs of a network; raise if they exceed `MAX_CELLS`."""
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

    @classmethod
    def of_sums(
        cls,
        n_states: Sequence[int],
        structure: Structure,
        scopes: Sequence[Iterable[Iterable[int]]],
    ) -> FamilyLayout:
        """Lay out a network whose log CPTs are sums of log factors.

        Parameters
        ----------
        n_states : sequence of int
            Number of states of every variable.
        structure : Structure
            Parents of every variable.
        scopes : sequence of iterables
            For every variable its tables, each given by the variables it is over, in
            any order: members of the family. One of them has the variable itself.

        Returns
        -------
        FamilyLayout
            Tables by owner, in the order given; axes in the order of the family, the
            class last. With one table over the whole of every family it is that of
            `of_families`.

        Examples
        --------
        P(x2 | x0, x1) without an interaction of all three, no class:

        >>> structure = Structure(((), (0,), (0, 1)))
        >>> scopes = [[(0,)], [(0, 1)], [(2, 0), (2, 1), (0, 1)]]
        >>> layout = FamilyLayout.of_sums((3, 3, 3), structure, scopes)
        >>> layout.axes
        ((0,), (0, 1), (0, 2), (1, 2), (0, 1))
        >>> layout.tables_of(2), layout.is_full(structure)
        ((2, 3, 4), False)
        """
        axes: list[tuple[int, ...]] = []
        owners: list[int] = []
        for family, given in zip(structure.families, scopes, strict=True):
            owner = family[-1]
            own = [tuple(scope) for scope in given]
            if not any(owner in scope for scope in own) or any(
                not scope
                or len(set(scope)) < len(scope)
                or not set(scope) <= set(family)
                for scope in own
            ):
                raise InputError(
                    "The factors do not have the axes that the structure asks for: "
                    f"those of variable {owner} are over {own}; expected members of "
                    f"{family}, each once, and {owner} in one of them."
                )
            order = [v for v in family if v != structure.target]
            order += [v for v in family if v == structure.target]
            axes += [tuple(v for v in order if v in scope) for scope in own]
            owners += [owner] * len(own)
        states = tuple(int(r) for r in n_states)
        return cls(states, tuple(axes), tuple(owners), structure.target)

    @cached_property
    def structure(self) -> Structure:
        """The structure that the tables imply; parents in increasing order."""
        parents = []
        for v in range(len(self.n_states)):
            found = {u for t in self.tables_of(v) for u in self.axes[t]}
            parents.append(tuple(sorted(found - {v})))
        return Structure(tuple(parents), self.target)

    def is_full(self, structure: Structure) -> bool:
        """Whether every variable has one table, over its whole family."""
        return self == FamilyLayout.of_families(
            self.n_states, structure.families, structure.target
        )

    @cached_property
    def _by_owner(self) -> dict[int, tuple[int, ...]]:
        tables: dict[int, tuple[int, ...]] = {}
        for index, owner in enumerate(self.owners):
            tables[owner] = (*tables.get(owner, ()), index)
        return tables

    def tables_of(self, variable: int) -> tuple[int, ...]:
        """Indices of the tables that a variable owns: their logarithms add."""
        return self._by_owner.get(variable, ())

    def n_free(self, variable: int) -> int:
        """Number of free parameters of a variable's family.

        States less one, per configuration of the parents; in a sum of tables, terms
        that several tables share are counted once.
        """
        tables = [set(self.axes[t]) for t in self.tables_of(variable)]
        given = [scope - {variable} for scope in tables if variable in scope]
        return (self.n_states[variable] - 1) * self._n_terms(given)

    def _n_terms(self, scopes: list[set[int]]) -> int:
        """Dimension of the sums of functions of the variables in each scope."""
        if not scopes:
            return 0
        *others, last = scopes
        # Functions of both one scope and the last are those of what they share.
        shared = {frozenset(scope & last) for scope in others}
        widest = [set(s) for s in shared if not any(s < other for other in shared)]
        cells = self._cells_over(last)
        return cells + self._n_terms(others) - self._n_terms(widest)

    @cached_property
    def class_tables(self) -> tuple[int, ...]:
        """Indices of the tables that have the class.

        Given all features, the others are the same for every class.
        """
        return tuple(t for t, axes in enumerate(self.axes) if self.target in axes)

    @cached_property
    def _summed(self) -> dict[int, tuple[int, ...]]:
        """Owners of several tables, with all variables of these."""
        return {
            owner: tuple(sorted({v for t in tables for v in self.axes[t]}))
            for owner, tables in self._by_owner.items()
            if len(tables) > 1
        }

    @cached_property
    def n_summed(self) -> int:
        """Number of configurations of the families that are sums of tables."""
        return sum(map(self._cells_over, self._summed.values()))

    @cached_property
    def n_given(self) -> int:
        """Largest number of parent configurations in a family of several tables."""
        return max(
            (self._cells_over(set(scope) - {v}) for v, scope in self._summed.items()),
            default=0,
        )

    def _cells_over(self, scope: Iterable[int]) -> int:
        return prod(self.n_states[v] for v in scope)

    @cached_property
    def offsets(self) -> IntArray:
        """First cell of every table, shape (n_tables,)."""
        ends = np.cumsum((0, *self.sizes), dtype=np.int64)
        return ends[:-1]

    @cached_property
    def compiled(self) -> CompiledLayout:
        """The same as flat arrays, for kernels."""
        start = [0]
        variables: list[int] = []
        strides: list[int] = []
        for axes, shape in zip(self.axes, self.shapes, strict=True):
            for position, variable in enumerate(axes):
                if variable != self.target:
                    variables.append(variable)
                    strides.append(prod(shape[position + 1 :]))
            start.append(len(variables))
        has_class = np.zeros(self.n_tables, dtype=np.bool_)
        has_class[list(self.class_tables)] = True
        return CompiledLayout(
            self.offsets,
            np.array(start, dtype=np.int64),
            np.array(variables, dtype=np.int64),
            np.array(strides, dtype=np.int64),
            has_class,
            1 if self.target is None else self.n_states[self.target],
        )

    def check_size(self, schema: Schema | None, max_cells: int = MAX_CELLS) -> None:
        """Raise `TableSizeError` if the tables are too large, before allocating.

        `max_cells` limits the cells of all tables, and the normalising constants of a
        sum of tables; `MAX_SUMMED_CELLS` limits the configurations of all sums. The
        message names the variables by the schema, if there is one.
        """
        if self.n_cells > max_cells:
            largest = max(range(self.n_tables), key=self.sizes.__getitem__)
            raise TableSizeError(
                f"The CPTs would have {self.n_cells:,} cells, more than the "
                f"{max_cells:,} allowed. The largest is the family of "
                f"{_names(schema, self.owners[largest : largest + 1])[0]!r} over "
                f"{_names(schema, self.axes[largest])} with "
                f"{self.sizes[largest]:,} cells. Use fewer parents, fewer "
                "bins (a coarser encoder), or group rare categories of these columns."
            )
        if len(set(self.owners)) == len(self.owners):
            return
        if self.n_summed > MAX_SUMMED_CELLS:
            members = self._summed
            cells = {v: self._cells_over(scope) for v, scope in members.items()}
            owner = max(cells, key=cells.__getitem__)
            raise TableSizeError(
                f"Families that are sums of factors have {self.n_summed:,} "
                f"configurations, more than the {MAX_SUMMED_CELLS:,} allowed. The "
                f"largest is that of {_names(schema, [owner])[0]!r} over "
                f"{_names(schema, members[owner])} with {cells[owner]:,}. Use fewer "
                "parents, or fewer bins (a coarser encoder)."
            )
        if self.n_given > max_cells:
            raise TableSizeError(
                "The parents in a family that is a sum of factors have "
                f"{self.n_given:,} configurations, more than the {max_cells:,} "
                "allowed: each needs a normalising constant. Use fewer parents, or "
                "fewer bins (a coarser encoder)."
            )

    def table(self, values: FloatArray, index: int) -> FloatArray:
        """View of table `index` in the flat vector `values`, in memory order."""
        return values[self._cells[index]].reshape(self.shapes[index])

    @cached_property
    def _cells(self) -> list[slice]:
        """Where every table is in a flat vector."""
        starts = self.offsets.tolist()
        pairs = zip(starts, self.sizes, strict=True)
        return [slice(start, start + size) for start, size in pairs]

    def sum_tables(
        self,
        values: FloatArray,
        tables: Iterable[int],
        axes: Sequence[int],
    ) -> FloatArray:
        """Sum of several tables, broadcast over the variables `axes`."""
        total = np.zeros([self.n_states[v] for v in axes])
        for index in tables:
            total += along(self.table(values, index), self.axes[index], axes)
        return total

    def owner_axis(self, index: int) -> int:
        """Position of the owner among the axes of table `index`."""
        return self.axes[index].index(self.owners[index])


def along(
    table: npt.NDArray[Number], own: Sequence[int], axes: Sequence[int]
) -> npt.NDArray[Number]:
    """Reshape a table over the variables `own` so that it broadcasts along `axes`."""
    turned = table.transpose([own.index(v) for v in axes if v in own])
    sizes = iter(turned.shape)
    return turned.reshape([next(sizes) if v in own else 1 for v in axes])


def _names(schema: Schema | None, variables: Iterable[int]) -> list[str | int]:
    """Names of variables, or their indices where there is no schema."""
    return [v if schema is None else schema[v].name for v in variables]


@dataclass(frozen=True)
class CompiledLayout:
    """A layout as flat arrays.

    Table t starts at ``offsets[t]``; its axes other than the class are
    ``axis_variable[start[t]:start[t + 1]]`` with strides ``axis_stride`` in cells;
    ``has_class[t]`` says whether the class is its last axis (stride 1).
    """

    offsets: IntArray
    start: IntArray
    axis_variable: IntArray
    axis_stride: IntArray
    has_class: BoolArray
    n_classes: int


@dataclass(frozen=True, eq=False)
class Parameters:
    """Log probabilities of all CPTs of a network, or the factors they are sums of.

    Parameters
    ----------
    layout : FamilyLayout
        Position of every table in the vector.
    log_theta : ndarray of float64, shape (layout.n_cells,)
        Natural logarithms; over its owner's states every row of a table sums to one
        after ``exp``. Kept as a read-only view.

    Notes
    -----
    A variable may own several tables (`FamilyLayout.tables_of`). Then the sum of their
    cells is a log probability: over the owner's states the ``exp`` of these sums adds
    up to one for every configuration of its parents, while a single table is not
    normalised. The log joint probability of a sample is still the sum of one cell of
    every table.
    """

    layout: FamilyLayout
    log_theta: FloatArray

    def __post_init__(self) -> None:
        """Check the length and freeze the vector."""
        if self.log_theta.shape != (self.layout.n_cells,):
            raise InputError(
                f"Expected {self.layout.n_cells} log probabilities, got an array of "
                f"shape {self.log_theta.shape}."
            )
        # A view: the caller's own array, an optimiser's vector say, stays writable.
        frozen = self.log_theta.view()
        frozen.flags.writeable = False
        object.__setattr__(self, "log_theta", frozen)

    def log_table(self, index: int) -> FloatArray:
        """Log probabilities of table `index`, axes in memory order."""
        return self.layout.table(self.log_theta, index)

    def log_family(self, variable: int, family: Sequence[int]) -> FloatArray:
        """Log probabilities of a variable along the axes `family`."""
        layout = self.layout
        tables = layout.tables_of(variable)
        if len(tables) == 1 and len(layout.axes[tables[0]]) == len(family):
            order = [layout.axes[tables[0]].index(v) for v in family]
            return self.log_table(tables[0]).transpose(order)
        return layout.sum_tables(self.log_theta, tables, family)

    def check_start(self, layout: FamilyLayout) -> None:
        """Raise `InputError` unless a learner of the CPTs of `layout` can start here.

        Probabilities of zero are allowed; learners lift them.
        """
        if len(set(self.layout.owners)) < self.layout.n_tables:
            raise InputError(
                "The CPTs to start from are log-linear families, sums of several "
                "factors each, from which no learner starts; expected one CPT for "
                "every family. Give such CPTs, or none."
            )
        if self.layout != layout:
            raise InputError(
                "The CPTs to start from are of other families or states than those to "
                f"learn: expected {layout.n_tables} CPTs with {layout.n_cells} entries "
                f"in all, got {self.layout.n_tables} with {self.layout.n_cells}. "
                "Give CPTs learned for this structure, or none."
            )
        if not (self.log_theta < np.inf).all():
            raise InputError(
                "The CPTs to start from have entries that are no logarithms of "
                "probabilities: infinite or NaN. Expected finite numbers, or minus "
                "infinity for zero."
            )
