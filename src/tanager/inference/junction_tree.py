"""Junction trees: exact inference with missing values for networks of any structure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tanager.inference.k_tree import flatten, invert
from tanager.inference.log_joint_tables import ScoreTables
from tanager.inference.triangulation import MAX_TREE_CELLS, CliqueTree
from tanager.model.layout import FamilyLayout, Parameters, along
from tanager.model.schema import Schema
from tanager.types import BoolArray, CodeArray, FloatArray, IndexArray, IntArray

MAX_SOURCES = 1_000_000
"""Cell indices that are kept to multiply all tables at once (16 MB)."""


class TreeArrays(NamedTuple):
    """A junction tree as flat arrays.

    The entries of clique i are the variables
    ``entry_variable[entry_start[i]:entry_start[i + 1]]``, the first ``n_separator[i]``
    of them those of its separator. Its followers, from ``follower_start[i]`` on, are
    its potential, its message, the messages of its ``n_children[i]`` children and its
    tables: ``follower_item`` is the index of the child or table, ``follower_base`` the
    first cell, and ``stride``, from ``stride_start[i]`` on a row per follower, the
    stride along each entry.

    The tables of the layout are described as in `CompiledLayout`; ``prior_start`` are
    the first cells of those over the class alone. ``downward`` are all variables,
    children first, and ``below`` their children.
    """

    n_states: IntArray
    entry_start: IntArray
    entry_variable: IntArray
    n_separator: IntArray
    follower_start: IntArray
    follower_item: IntArray
    follower_base: IntArray
    n_children: IntArray
    stride_start: IntArray
    stride: IntArray
    table_start: IntArray
    axis_start: IntArray
    axis_variable: IntArray
    axis_stride: IntArray
    has_class: BoolArray
    owner: IntArray
    prior_start: IntArray
    downward: IntArray
    below_start: IntArray
    below: IntArray
    target: int


class Walk(NamedTuple):
    """Working arrays of the kernels: the position of a walk through a clique."""

    # One entry per variable of a clique.
    free: IntArray
    size: IntArray
    state: IntArray
    # One per follower.
    row: IntArray
    position: IntArray
    inner: IntArray
    has_class: BoolArray
    is_taken: BoolArray
    # One per clique.
    is_open: BoolArray
    is_new: BoolArray
    is_needed: BoolArray
    # One per table, one per variable.
    is_counted: BoolArray
    is_barren: BoolArray
    # One per class; (n_cliques, n_classes); one per clique.
    sum: FloatArray
    highest: FloatArray
    factor: FloatArray
    least: FloatArray
    # One per cell of all messages.
    message: FloatArray
    log_message: FloatArray
    downward: FloatArray


class Potentials(NamedTuple):
    """The product of the tables in every clique, one clique after the other.

    With their logarithms, the smallest finite one of every clique, and the sum of the
    tables over the class alone, shape (n_classes,). No value is above one: a clique
    whose product is, as may be in log-linear families, is divided by its maximum, whose
    logarithm is added to the last part.
    """

    values: FloatArray
    log_values: FloatArray
    least: FloatArray
    log_prior: FloatArray


@dataclass(frozen=True, eq=False)
class JunctionTree:
    """The tables of a layout assigned to the cliques of a tree, the class given.

    The class is no member of a clique: every cell has a value for each class, and all
    classes are processed together. Only the missing variables of a clique are
    marginalised, the observed ones being indices, so a row costs what its own missing
    values require. Rows are visited in an order in which neighbours agree on many
    values, and a clique keeps its message if nothing below it changed.
    """

    layout: FamilyLayout
    tree: CliqueTree

    @classmethod
    def of(
        cls,
        layout: FamilyLayout,
        schema: Schema | None = None,
        *,
        max_cells: int = MAX_TREE_CELLS,
    ) -> JunctionTree:
        """Triangulate the graph of a layout's tables.

        Raises `TableSizeError`, before anything is allocated, if a clique is too large
        or all of them have more than `max_cells`; `schema` names the variables.
        """
        tree = CliqueTree.of(
            layout.n_states,
            (scope for scope in _scopes(layout) if scope),
            width=layout.compiled.n_classes,
            name=(lambda v: v) if schema is None else (lambda v: schema[v].name),
            max_tree=max_cells,
        )
        return cls(layout, tree)

    @cached_property
    def _members(self) -> tuple[tuple[int, ...], ...]:
        """Variables of every clique, those of its separator first."""
        return tuple(
            (*separator, *(v for v in clique if v not in separator))
            for clique, separator in zip(
                self.tree.cliques, self.tree.separators, strict=True
            )
        )

    @cached_property
    def _tables(self) -> tuple[tuple[int, ...], ...]:
        """Tables that every clique holds."""
        held: list[list[int]] = [[] for _ in self.tree.cliques]
        for t, scope in enumerate(_scopes(self.layout)):
            if scope:
                held[self.tree.home_of(scope, self.layout.n_states)].append(t)
        return tuple(map(tuple, held))

    @cached_property
    def _prior(self) -> tuple[int, ...]:
        """Tables over the class alone."""
        return tuple(t for t, scope in enumerate(_scopes(self.layout)) if not scope)

    def _cells(self, variables: Sequence[int]) -> int:
        states = self.layout.n_states
        return self.layout.compiled.n_classes * prod(states[v] for v in variables)

    @cached_property
    def arrays(self) -> TreeArrays:
        """The tree as the kernels read it."""
        layout, tree = self.layout, self.tree
        compiled = layout.compiled
        potentials = self._potential_starts
        messages = _starts([self._cells(shared) for shared in tree.separators])
        items: list[int] = []
        bases: list[int] = []
        strides: list[int] = []
        followers = [0]
        stride_start = [0]
        for i, members in enumerate(self._members):
            rows = [(i, potentials[i], self._strides(members))]
            rows += [
                (j, messages[j], self._strides(tree.separators[j]))
                for j in (i, *tree.children[i])
            ]
            for t in self._tables[i]:
                axes = range(compiled.start[t], compiled.start[t + 1])
                steps = {
                    int(compiled.axis_variable[a]): int(compiled.axis_stride[a])
                    for a in axes
                }
                rows.append((t, int(layout.offsets[t]), steps))
            for item, base, steps in rows:
                items.append(item)
                bases.append(base)
                strides += [steps.get(v, 0) for v in members]
            followers.append(len(items))
            stride_start.append(len(strides))
        structure = layout.structure
        entry_start, entry_variable = flatten(self._members)
        below_start, below = flatten(invert(structure.parents, structure.n_variables))
        return TreeArrays(
            n_states=_ints(layout.n_states),
            entry_start=entry_start,
            entry_variable=entry_variable,
            n_separator=_ints([len(shared) for shared in tree.separators]),
            follower_start=_ints(followers),
            follower_item=_ints(items),
            follower_base=_ints(bases),
            n_children=_ints([len(children) for children in tree.children]),
            stride_start=_ints(stride_start),
            stride=_ints(strides),
            table_start=layout.offsets,
            axis_start=compiled.start,
            axis_variable=compiled.axis_variable,
            axis_stride=compiled.axis_stride,
            has_class=compiled.has_class,
            owner=_ints(layout.owners),
            prior_start=_ints([int(layout.offsets[t]) for t in self._prior]),
            downward=_ints(structure.topological_order[::-1]),
            below_start=below_start,
            below=below,
            target=-1 if layout.target is None else layout.target,
        )

    def _strides(self, variables: Sequence[int]) -> dict[int, int]:
        """Cells between two states of each variable, the last one fastest."""
        return {v: self._cells(variables[k + 1 :]) for k, v in enumerate(variables)}

    def walk(self) -> Walk:
        """New working arrays; every thread needs its own."""
        n_classes = self.layout.compiled.n_classes
        n_cliques = len(self._members)
        widest = max(map(len, self._members), default=0)
        most = int(np.diff(self.arrays.follower_start).max(initial=2))
        cells = sum(self._cells(shared) for shared in self.tree.separators)
        arrays = [
            *np.zeros((3, widest), dtype=np.int64),
            *np.zeros((3, most), dtype=np.int64),
            *np.zeros((2, most), dtype=np.bool_),
            *np.zeros((3, n_cliques), dtype=np.bool_),
            np.ones(self.layout.n_tables, dtype=np.bool_),
            np.zeros(len(self.layout.n_states), dtype=np.bool_),
            *np.zeros((2, n_classes)),
            np.zeros((n_cliques, n_classes)),
            np.zeros(n_cliques),
            *np.zeros((3, cells)),
        ]
        return Walk._make(arrays)

    def potentials(self, log_theta: FloatArray) -> Potentials:
        """Multiply the tables of every clique."""
        layout = self.layout
        starts = self._potential_starts
        log_values = np.zeros(starts[-1])
        if self._layers is not None:
            for cells, source in self._layers:
                log_values[cells] += log_theta[source]
        else:
            for i, tables in enumerate(self._tables):
                part = layout.sum_tables(log_theta, tables, self._axes(i)).ravel()
                log_values[starts[i] : starts[i + 1]] = part
        log_prior = np.zeros(layout.compiled.n_classes)
        for t in self._prior:
            log_prior += layout.table(log_theta, t).ravel()
        if not len(log_values):
            return Potentials(log_values, log_values, np.empty(0), log_prior)
        highest = np.maximum(np.maximum.reduceat(log_values, starts[:-1]), 0.0)
        for raised in np.flatnonzero(highest).tolist():
            log_values[starts[raised] : starts[raised + 1]] -= highest[raised]
        log_prior += highest.sum()
        least = np.array(
            [
                part.min(initial=0.0, where=part > -np.inf)
                for part in np.split(log_values, starts[1:-1])
            ]
        )
        return Potentials(np.exp(log_values), log_values, least, log_prior)

    @cached_property
    def _potential_starts(self) -> list[int]:
        """The start of every clique's potential, and the end of the last one."""
        return _starts([self._cells(members) for members in self._members])

    def _axes(self, clique: int) -> tuple[int, ...]:
        """Axes of a clique's potential."""
        target = self.layout.target
        return (*self._members[clique], *(() if target is None else (target,)))

    @cached_property
    def _layers(self) -> tuple[tuple[IntArray, IntArray], ...] | None:
        """Pairs of arrays: cells of potentials, and the table cells to add to them.

        The first tables of all cliques, then the second ones, and so on. None where the
        indices would take too much memory; tables are then added one by one.
        """
        starts, layout = self._potential_starts, self.layout
        sizes = np.diff(starts)
        if sum(size * len(of) for size, of in zip(sizes, self._tables, strict=True)) > (
            MAX_SOURCES
        ):
            return None
        layers = []
        for level in range(max(map(len, self._tables), default=0)):
            some = [i for i, of in enumerate(self._tables) if len(of) > level]
            cells = [np.arange(starts[i], starts[i + 1]) for i in some]
            sources = []
            for i in some:
                t = self._tables[i][level]
                own = np.arange(layout.sizes[t]).reshape(layout.shapes[t])
                spread = along(own, layout.axes[t], self._axes(i))
                shape = [layout.n_states[v] for v in self._axes(i)]
                source = layout.offsets[t] + np.broadcast_to(spread, shape)
                sources.append(source.ravel())
            layers.append((np.concatenate(cells), np.concatenate(sources)))
        return tuple(layers)

    def log_joint(
        self,
        codes: CodeArray,
        potentials: Potentials,
        log_values: Callable[[], FloatArray],
    ) -> FloatArray:
        """Log joint of every row's evidence with every class, (n_rows, n_classes).

        Rows whose probability underflows need the log potentials, `log_values()`.
        """
        from tanager.inference import _junction_kernels

        out = np.empty((codes.shape[0], self.layout.compiled.n_classes))
        is_low = np.empty(len(out), dtype=np.bool_)
        walk = self.walk()
        _junction_kernels.log_joint(
            codes.T, self.row_order(codes), self.arrays, potentials.values,
            potentials.least, potentials.log_prior, walk, out, is_low,
        )  # fmt: skip
        if is_low.any():
            _junction_kernels.log_joint_in_logs(
                codes.T, np.flatnonzero(is_low), self.arrays, log_values(),
                potentials.log_prior, walk, out,
            )  # fmt: skip
        return out

    def row_order(
        self, codes: CodeArray, labels: npt.NDArray[np.integer] | None = None
    ) -> IndexArray:
        """Rows sorted by labels, then by the variables of the cliques in order."""
        seen = dict.fromkeys(v for own in self._members for v in reversed(own))
        keys: list[npt.NDArray[np.integer]] = [codes[:, v] for v in reversed(seen)]
        if labels is not None:
            keys.append(labels)
        return np.lexsort(keys) if keys else np.arange(len(codes))


@dataclass(frozen=True, eq=False)
class JunctionTables:
    """A network of any structure for incomplete rows; `complete` scores the others."""

    parameters: Parameters
    junction: JunctionTree
    complete: ScoreTables
    potentials: Potentials

    @classmethod
    def of(
        cls,
        parameters: Parameters,
        complete: ScoreTables,
        *,
        max_cells: int = MAX_TREE_CELLS,
    ) -> JunctionTables:
        """Multiply the tables of every clique; see `JunctionTree.of`."""
        junction = JunctionTree.of(parameters.layout, max_cells=max_cells)
        junction.arrays  # noqa: B018 - made once, before threads ask for it
        potentials = junction.potentials(parameters.log_theta)
        # The logarithms are seldom needed: half the memory, until they are.
        kept = potentials._replace(log_values=np.empty(0))
        return cls(parameters, junction, complete, kept)

    @cached_property
    def _log_values(self) -> FloatArray:
        return self.junction.potentials(self.parameters.log_theta).log_values

    def log_joint(self, codes: CodeArray) -> FloatArray:
        """Log joint of every row and class; see `Engine.log_joint`.

        Complete rows get the bits that they get among complete rows alone.
        """
        layout = self.junction.layout
        missing = codes >= self.junction.arrays.n_states[: codes.shape[1]]
        if layout.target is not None and layout.target < codes.shape[1]:
            missing[:, layout.target] = False
        incomplete = missing.any(axis=1)
        out = np.empty((len(codes), layout.compiled.n_classes))
        if not incomplete.all():
            whole = np.asfortranarray(codes[~incomplete])
            out[~incomplete] = self.complete.log_joint(whole)
        out[incomplete] = self.junction.log_joint(
            np.asfortranarray(codes[incomplete]),
            self.potentials,
            lambda: self._log_values,
        )
        return out


def _scopes(layout: FamilyLayout) -> list[tuple[int, ...]]:
    """Variables of every table without the class."""
    return [tuple(v for v in axes if v != layout.target) for axes in layout.axes]


def _starts(sizes: Sequence[int]) -> list[int]:
    """The start of each of several parts, and the end of the last one."""
    return [0, *accumulate(sizes)]


def _ints(values: Sequence[int]) -> IntArray:
    return np.array(values, dtype=np.int64)
