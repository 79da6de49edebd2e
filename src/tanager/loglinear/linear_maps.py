"""Linear maps between the tables of log-linear models, composed with ``@``."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from tanager.inference.log_joint_tables import PaddedLayout, group_small, merge_groups
from tanager.model.layout import FamilyLayout, along
from tanager.types import FloatArray, IntArray

Group = tuple[int, IntArray, IntArray]
"""An axis whose states share weights: the axis, group of every state, first states."""

MERGED_CELLS = 2048
"""Cells of a merged table: one at a time, and its gradient, fit the nearest cache."""

MERGED_STATES = 300
MOST_CELLS = 8192
"""With many classes a merged table may have so many joint states, if not more cells."""


class LinearMap(metaclass=ABCMeta):
    """A linear map A from vectors of length `n_in` to vectors of length `n_out`.

    Notes
    -----
    A function f of ``y = A x`` has the gradient ``A' grad f(y)`` with respect to x, so
    that values go through `apply` and gradients back through `adjoint`.
    """

    n_in: int
    n_out: int

    @abstractmethod
    def apply(self, x: FloatArray) -> FloatArray:
        """Compute ``A x``, shape (n_out,), a new array; `x` stays as it is."""

    @abstractmethod
    def adjoint(self, y: FloatArray) -> FloatArray:
        """Compute ``A' y``, shape (n_in,), a new array; `y` stays as it is."""

    def __matmul__(self, inner: LinearMap) -> Composition:
        """Compose: ``(A @ B).apply(x)`` is ``A.apply(B.apply(x))``."""
        return Composition(self, inner)


class Composition(LinearMap):
    """The product of one or more maps; as in a product of matrices, the last is first.

    Examples
    --------
    >>> layout = FamilyLayout((3, 2), ((0, 1),), (0,), 1)
    >>> sums = RunningSums(layout, (True, False))
    >>> (sums @ sums).apply(np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0]))
    array([1., 0., 2., 0., 3., 0.])
    """

    def __init__(self, *maps: LinearMap) -> None:
        for outer, inner in pairwise(maps):
            if outer.n_in != inner.n_out:
                raise ValueError(
                    f"A map of vectors of length {outer.n_in} cannot be applied to "
                    f"vectors of length {inner.n_out}."
                )
        self.maps = maps
        self.n_in, self.n_out = maps[-1].n_in, maps[0].n_out

    def apply(self, x: FloatArray) -> FloatArray:
        """Apply the maps, the last one first; see `LinearMap.apply`."""
        for one in reversed(self.maps):
            x = one.apply(x)
        return x

    def adjoint(self, y: FloatArray) -> FloatArray:
        """Apply the adjoints, the first one first; see `LinearMap.adjoint`."""
        for one in self.maps:
            y = one.adjoint(y)
        return y


class RunningSums(LinearMap):
    """Running sums ``w[a] = sum_{t <= a} u[t]`` along some axes of tables.

    A penalty on u is one on the first differences of w. `layout` are the tables, and
    `smooth` says for every variable whether to sum along its axis. `apart` says for
    every variable whether its last state, that of a missing value, is left out of the
    sums; empty means none.

    Examples
    --------
    >>> layout = FamilyLayout((3, 2), ((0, 1),), (0,), 1)
    >>> sums = RunningSums(layout, (True, False))
    >>> sums.apply(np.array([1.0, 0.0, 2.0, 0.0, 3.0, 0.0]))
    array([1., 0., 3., 0., 6., 0.])
    """

    def __init__(
        self,
        layout: FamilyLayout,
        smooth: Sequence[bool],
        apart: Sequence[bool] = (),
    ) -> None:
        self.n_in = self.n_out = layout.n_cells
        self._layout = layout
        # The tables and axes to sum along, and the part of the table that is summed.
        self._axes = [
            (
                t,
                axis,
                (*(slice(None),) * axis, slice(-1 if apart and apart[v] else None)),
            )
            for t, axes in enumerate(layout.axes)
            for axis, v in enumerate(axes)
            if smooth[v]
        ]

    def apply(self, x: FloatArray) -> FloatArray:
        """Sum along the axes; see `LinearMap.apply`."""
        sums = x.copy()
        for t, axis, part in self._axes:
            table = self._layout.table(sums, t)[part]
            np.add.accumulate(table, axis=axis, out=table)
        return sums

    def adjoint(self, y: FloatArray) -> FloatArray:
        """Sum along the axes from their ends; see `LinearMap.adjoint`."""
        sums = y.copy()
        for t, axis, part in self._axes:
            backwards = np.flip(self._layout.table(sums, t)[part], axis)
            np.add.accumulate(backwards, axis=axis, out=backwards)
        return sums

    def invert(self, y: FloatArray) -> FloatArray:
        """Find the vector with the running sums `y`: its first differences."""
        differences = y.copy()
        for t, axis, part in self._axes:
            table = self._layout.table(differences, t)[part]
            table[...] = np.diff(table, axis=axis, prepend=0.0)
        return differences


class GroupedStates(LinearMap):
    """Weights of groups of neighbouring states, repeated for every state of a group.

    `layout` are the tables with a cell for every state, and `n_groups` has the number
    of groups, of about equal sizes, of every variable. Tables over a single feature and
    those without smaller groups keep all states, as the class does. `apart` says for
    every variable whether its last state is the last group; empty means none.

    `source` are the tables with a cell for every group: with n variables, variable
    n + v stands for the groups of v's states. `groups` has the axes with groups of
    every table.

    Examples
    --------
    >>> layout = FamilyLayout((4, 2, 2), ((0, 1, 2),), (0,), 2)
    >>> grouped = GroupedStates(layout, (2, 1, 2))
    >>> grouped.source.axes, grouped.source.shapes
    (((3, 4, 2),), ((2, 1, 2),))
    >>> grouped.apply(np.array([1.0, 2.0, 3.0, 4.0])).reshape(4, 4)
    array([[1., 2., 1., 2.],
           [1., 2., 1., 2.],
           [3., 4., 3., 4.],
           [3., 4., 3., 4.]])
    """

    def __init__(
        self,
        layout: FamilyLayout,
        n_groups: Sequence[int],
        apart: Sequence[bool] = (),
    ) -> None:
        n_states, target = layout.n_states, layout.target
        self.groups: list[list[Group]] = []
        source_axes = []
        for axes in layout.axes:
            features = [(axis, v) for axis, v in enumerate(axes) if v != target]
            smaller = any(n_groups[v] < n_states[v] for _, v in features)
            if len(features) < 2 or not smaller:
                features = []
            own: list[Group] = []
            coarse = list(axes)
            for axis, v in features:
                group_of = state_groups(
                    n_states[v], n_groups[v], apart=bool(apart) and apart[v]
                )[:-1]
                first = np.searchsorted(group_of, np.arange(n_groups[v]))
                own.append((axis, group_of, first))
                coarse[axis] = len(n_states) + v
            self.groups.append(own)
            source_axes.append(tuple(coarse))
        self._layout = layout
        self.source = FamilyLayout(
            (*n_states, *n_groups), tuple(source_axes), layout.owners, target
        )
        self.n_in, self.n_out = self.source.n_cells, layout.n_cells

    def apply(self, x: FloatArray) -> FloatArray:
        """Repeat the weights; see `LinearMap.apply`."""
        out = np.empty(self.n_out)
        for t, groups in enumerate(self.groups):
            table = self.source.table(x, t)
            for axis, group_of, _ in groups:
                table = table.take(group_of, axis=axis)
            self._layout.table(out, t)[...] = table
        return out

    def adjoint(self, y: FloatArray) -> FloatArray:
        """Sum over the states of every group; see `LinearMap.adjoint`."""
        out = np.empty(self.n_in)
        for t, groups in enumerate(self.groups):
            table = self._layout.table(y, t)
            for axis, _, first in groups:
                table = np.add.reduceat(table, first, axis=axis)
            self.source.table(out, t)[...] = table
        return out


class TableSums(LinearMap):
    """Tables added into tables over the same variables or more.

    `source` are the tables to add and `sums` those that they are added into: table t
    into table ``into[t]``, which has all of its variables.

    Examples
    --------
    >>> pair = FamilyLayout((2, 2), ((0, 1),), (0,), 1)
    >>> both = FamilyLayout((2, 2), ((0, 1), (1,)), (0, 1), 1)
    >>> TableSums(both, pair, (0, 0)).apply(np.array([1.0, 2.0, 3.0, 4.0, 10.0, 20.0]))
    array([11., 22., 13., 24.])
    """

    def __init__(
        self, source: FamilyLayout, sums: FamilyLayout, into: Sequence[int]
    ) -> None:
        self.n_in, self.n_out = source.n_cells, sums.n_cells
        self._source, self._sums = source, sums
        same = 0
        for t, whole in enumerate(into):
            if whole != t or source.axes[t] != sums.axes[whole]:
                break
            same += 1
        # The first tables are those of the sums, mostly all of them: copied at once.
        self._same = sum(source.sizes[:same])
        self._rest = []
        for t in range(same, source.n_tables):
            own, axes = source.axes[t], sums.axes[into[t]]
            gone = tuple(axis for axis, v in enumerate(axes) if v not in own)
            left = [v for v in axes if v in own]
            order = [own.index(v) for v in left]
            shape = [sums.n_states[v] if v in own else 1 for v in axes]
            back = [left.index(v) for v in own]
            self._rest.append((t, into[t], order, shape, gone, back))

    def apply(self, x: FloatArray) -> FloatArray:
        """Add the tables; see `LinearMap.apply`."""
        out = np.empty(self.n_out)
        out[: self._same] = x[: self._same]
        out[self._same :] = 0.0
        for t, whole, order, shape, _, _ in self._rest:
            table = self._sums.table(out, whole)
            table += self._source.table(x, t).transpose(order).reshape(shape)
        return out

    def adjoint(self, y: FloatArray) -> FloatArray:
        """Sum over the variables that a table lacks; see `LinearMap.adjoint`."""
        out = np.empty(self.n_in)
        out[: self._same] = y[: self._same]
        for t, whole, _, _, gone, back in self._rest:
            table = self._sums.table(y, whole).sum(axis=gone)
            self._source.table(out, t)[...] = table.transpose(back)
        return out


class MergedTables(LinearMap):
    """Sums of small tables over all their variables, for fast reading by samples.

    A sample that reads one entry of a table over several features instead of one entry
    per feature is scored, and its gradient written, several times faster. Every feature
    has one more state, "missing", under which its tables add nothing. Tables of
    `layout` without the class, equal for every class, are left out.

    `offsets`, `start`, `axis_variable` and `axis_stride` say where the merged tables
    are, as in `CompiledLayout`.

    Examples
    --------
    >>> layout = FamilyLayout.of_families((2, 3, 2), ((2, 0), (2, 1), (2,)), 2)
    >>> tables = MergedTables(layout)
    >>> len(tables.offsets), tables.n_out  # one table over (3 x 4) states and class
    (1, 24)
    >>> tables.apply(np.arange(12.0)).reshape(3, 4, 2)[1, 2]  # 2 + 8 + 10, 3 + 9 + 11
    array([20., 23.])
    """

    def __init__(self, layout: FamilyLayout) -> None:
        target = layout.target
        assert target is not None
        padded = PaddedLayout.of(layout)
        widths = padded.layout.n_states
        # The cell of `layout` at every padded cell; `n_cells` where one is missing.
        source = np.full(padded.layout.n_cells, layout.n_cells)
        source[padded.cells] = np.arange(layout.n_cells)
        sources = np.split(source, padded.layout.offsets[1:])
        # The class table first: it then merges with a feature's.
        tables = sorted(layout.class_tables, key=lambda t: len(layout.axes[t]) > 1)
        wide = min(MERGED_STATES * layout.n_states[target], MOST_CELLS)
        groups = group_small(layout, tables, widths, max(MERGED_CELLS, wide))
        merged = merge_groups(layout, groups, widths)
        parts: list[list[IntArray]] = [[] for _ in range(max(map(len, groups)))]
        for index, group in enumerate(groups):
            for t, part in zip(group, parts, strict=False):
                cells = sources[t].reshape(padded.layout.shapes[t])
                cells = along(cells, layout.axes[t], merged.axes[index])
                every = np.broadcast_to(cells, merged.shapes[index]).ravel()
                seen = np.flatnonzero(every < layout.n_cells)
                part.append(np.stack([seen + merged.offsets[index], every[seen]]))
        self.n_in, self.n_out = layout.n_cells, merged.n_cells
        compiled = merged.compiled
        self.offsets, self.start = compiled.offsets, compiled.start
        self.axis_variable = compiled.axis_variable
        self.axis_stride = compiled.axis_stride
        # Merged cells, and for each of them a cell of `layout` to add: the first tables
        # of all groups, then the second ones, and so on.
        self._sources = [(joined[0], joined[1]) for joined in map(np.hstack, parts)]

    def apply(self, x: FloatArray) -> FloatArray:
        """Add the tables; see `LinearMap.apply`."""
        merged = np.zeros(self.n_out)
        for cells, source in self._sources:
            merged[cells] += x[source]
        return merged

    def adjoint(self, y: FloatArray) -> FloatArray:
        """Sum over the merged cells that read a cell; see `LinearMap.adjoint`.

        It is zero in tables without the class.
        """
        gradient = np.zeros(self.n_in)
        for cells, source in self._sources:
            gradient += np.bincount(source, y[cells], self.n_in)
        return gradient


def state_groups(n_states: int, n_groups: int, *, apart: bool = False) -> IntArray:
    """Divide ordered states into groups of about equal sizes.

    If `apart`, the last state, that of a missing value, is the last group. Returns the
    group of every state, and `n_groups` for not observed, shape (n_states + 1,).

    Examples
    --------
    >>> state_groups(5, 2)
    array([0, 0, 0, 1, 1, 2])
    >>> state_groups(5, 3, apart=True)
    array([0, 0, 1, 1, 2, 3])
    """
    if apart:
        return np.append(state_groups(n_states - 1, n_groups - 1), n_groups)
    return np.arange(n_states + 1, dtype=np.int64) * n_groups // n_states


def group_means(
    table: FloatArray, groups: Iterable[Group], *, repeat: bool = False
) -> FloatArray:
    """Means over the states of every group, repeated for every state or not."""
    for axis, group_of, first in groups:
        shape = [-1 if place == axis else 1 for place in range(table.ndim)]
        sums = np.add.reduceat(table, first, axis=axis)
        table = sums / np.bincount(group_of).reshape(shape)
        if repeat:
            table = table.take(group_of, axis=axis)
    return table
