"""Coordinates of log-linear weights in which a penalty is a plain sum of squares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tanager.model.layout import FamilyLayout
from tanager.model.schema import Schema
from tanager.types import CodeArray, FloatArray, IndexArray, IntArray


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Weights as sums: of lower-order tables, and along ordered states.

    Parameters
    ----------
    layout : FamilyLayout
        The tables, with axes (feature parents..., owner, class).
    smooth : tuple of bool
        For every variable, whether the weights along its axis are running sums,
        ``w[x] = sum_{t <= x} u[t]``, so that the penalty falls on differences of
        neighbouring states.
    groups : tuple of int, default=()
        For every variable the number of groups of neighbouring states, about equally
        large, that share their weights in tables over several features. Nothing given:
        every state is its own group.

    Notes
    -----
    A table of a feature with parents is a sum of three kinds of coordinates: one table
    over the whole family, one per parent over (parent, owner, class) if there are
    several, and one over (owner, class). With a penalty on all of them the weights
    shrink towards those without the interaction: a tree towards naive Bayes. Sums
    change nothing in what can be expressed, only in what costs how much. Where a
    feature owns several tables, those of lower order are there once.

    Examples
    --------
    >>> layout = FamilyLayout.of_families((3, 2), ((1, 0), (1,)), 1)
    >>> smooth = Coordinates(layout, (True, False))
    >>> smooth.weights(np.array([1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 5.0, 5.0]))
    array([1., 0., 3., 0., 6., 0., 5., 5.])
    """

    layout: FamilyLayout
    smooth: tuple[bool, ...]
    groups: tuple[int, ...] = ()

    @classmethod
    def of(
        cls, layout: FamilyLayout, schema: Schema, *, smooth: bool, bins: int | None
    ) -> Coordinates:
        """Coordinates in which ordered states are smooth or in groups, if asked for.

        Parameters
        ----------
        layout : FamilyLayout
            The tables.
        schema : Schema
            Says which states are ordered.
        smooth : bool
            Whether weights are running sums along ordered states.
        bins : int or None
            Number of groups of ordered states in tables of several features.
        """
        groups: tuple[int, ...] = ()
        if bins is not None:
            groups = tuple(
                min(bins, v.n_states) if v.ordered else v.n_states for v in schema
            )
        return cls(layout, tuple(smooth and v.ordered for v in schema), groups)

    @cached_property
    def _lower(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """Lower-order tables: what they belong to, and their axes."""
        layout, target = self.layout, self.layout.target
        there = {
            (v, frozenset(a)) for v, a in zip(layout.owners, layout.axes, strict=True)
        }
        found: list[tuple[int, tuple[int, ...]]] = []
        for t, (axes, owner) in enumerate(zip(layout.axes, layout.owners, strict=True)):
            parents = [v for v in axes if v not in (owner, target)]
            wanted = [{one, owner, target} for one in parents if len(parents) > 1]
            if parents:
                wanted.append({owner, target})
            for members in wanted:
                key = owner, frozenset(v for v in axes if v in members)
                if key not in there:
                    there.add(key)
                    found.append((t, tuple(v for v in axes if v in members)))
        return tuple(found)

    @cached_property
    def _axes(self) -> tuple[tuple[int, ...], ...]:
        """Axes of all tables of coordinates: those of the layout, then `_lower`."""
        return self.layout.axes + tuple(axes for _, axes in self._lower)

    @cached_property
    def wholes(self) -> tuple[int, ...]:
        """For every table of coordinates the table of the layout that it adds to."""
        return (*range(self.layout.n_tables), *(t for t, _ in self._lower))

    def _is_coarse(self, axes: tuple[int, ...]) -> bool:
        """Whether a table has one coordinate for each group of states."""
        target = self.layout.target
        features = [v for v in axes if v != target]
        return len(features) > 1 and any(
            self.groups and self.groups[v] < self.layout.n_states[v] for v in features
        )

    @cached_property
    def parts(self) -> FamilyLayout:
        """Where the coordinates lie: the tables themselves, then those of lower order.

        With n variables, variable n + v stands for the groups of v's states.
        """
        layout = self.layout
        n_variables = len(layout.n_states)
        axes = tuple(
            tuple(v if v == layout.target else v + n_variables for v in of)
            if self._is_coarse(of)
            else of
            for of in self._axes
        )
        return FamilyLayout(
            layout.n_states + self.groups,
            axes,
            tuple(layout.owners[t] for t in self.wholes),
            layout.target,
        )

    @property
    def n_coordinates(self) -> int:
        """Number of coordinates."""
        return self.parts.n_cells

    @cached_property
    def penalised(self) -> FloatArray:
        """1 for every coordinate that is penalised, 0 for those of the class table."""
        mask = np.ones(self.n_coordinates)
        for t, axes in enumerate(self.parts.axes):
            if axes == (self.layout.target,):
                self.parts.table(mask, t)[...] = 0.0
        return mask

    @cached_property
    def prior(self) -> IndexArray:
        """Coordinates of the class table, which are its weights."""
        return np.flatnonzero(self.penalised == 0.0)

    @cached_property
    def prior_weights(self) -> IndexArray:
        """Where the class table lies among the weights."""
        mask = np.zeros(self.layout.n_cells)
        for t, axes in enumerate(self.layout.axes):
            if axes == (self.layout.target,):
                self.layout.table(mask, t)[...] = 1.0
        return np.flatnonzero(mask)

    @cached_property
    def is_coarse(self) -> bool:
        """Whether some tables have one coordinate for each group of states."""
        return any(map(self._is_coarse, self.layout.axes))

    @cached_property
    def _same(self) -> int:
        """How many cells, from the first on, are the layout's own."""
        return 0 if self.is_coarse else self.layout.n_cells

    @cached_property
    def _added(self) -> tuple[_Part, ...]:
        """How the other tables enter the tables they belong to."""
        layout, parts = self.layout, self.parts
        found = []
        for index in range(layout.n_tables if self._same else 0, parts.n_tables):
            t, axes = self.wholes[index], self._axes[index]
            whole = layout.axes[t]
            groups = tuple(
                (place, *state_groups(layout.n_states[v], self.groups[v]))
                for place, v in enumerate(axes)
                if self._is_coarse(axes) and v != layout.target
            )
            found.append(
                _Part(
                    _cells(parts, index),
                    parts.shapes[index],
                    _cells(layout, t),
                    layout.shapes[t],
                    tuple(layout.n_states[v] if v in axes else 1 for v in whole),
                    tuple(k for k, v in enumerate(whole) if v not in axes),
                    groups,
                )
            )
        return tuple(found)

    @cached_property
    def _sums(self) -> tuple[tuple[slice, tuple[int, ...], tuple[int, ...]], ...]:
        """Cells and shape of tables with running sums, and the axes they run along."""
        found = []
        for t, axes in enumerate(self._axes):
            places = tuple(
                place
                for place, v in enumerate(axes)
                if v != self.layout.target and self.smooth[v]
            )
            if places:
                found.append((_cells(self.parts, t), self.parts.shapes[t], places))
        return tuple(found)

    def weights(self, coordinates: FloatArray) -> FloatArray:
        """The weights at given coordinates, shape (layout.n_cells,)."""
        summed = coordinates.copy()
        for cells, shape, places in self._sums:
            table = summed[cells].reshape(shape)
            for place in places:
                np.cumsum(table, axis=place, out=table)
        weights = summed[: self._same] if self._same else np.zeros(self.layout.n_cells)
        for part in self._added:
            table = weights[part.whole].reshape(part.whole_shape)
            table += part.spread(summed[part.cells].reshape(part.shape))
        return weights

    def gradient(self, by_weights: FloatArray) -> FloatArray:
        """Gradient by the coordinates from that by the weights."""
        gradient = np.empty(self.n_coordinates)
        gradient[: self._same] = by_weights[: self._same]
        for part in self._added:
            table = by_weights[part.whole].reshape(part.whole_shape)
            gradient[part.cells].reshape(part.shape)[...] = part.collected(table)
        for cells, shape, places in self._sums:
            table = gradient[cells].reshape(shape)
            for place in places:
                backwards = np.flip(table, axis=place)
                backwards[...] = np.cumsum(backwards, axis=place)
        return gradient

    def quadratic_form(self, by_weights: FloatArray) -> FloatArray:
        """A form in the weights of one class, as a form in its coordinates.

        Parameters
        ----------
        by_weights : ndarray of float64, shape (n_cells / K, n_cells / K)
            A symmetric matrix, K the number of classes.

        Returns
        -------
        ndarray of float64, shape (n_coordinates / K, n_coordinates / K)
        """
        # The columns take the place of the classes, which are side by side, too.
        half = self._with_classes(len(by_weights)).gradient(by_weights.ravel())
        half = half.reshape(-1, len(by_weights)).T
        whole = self._with_classes(half.shape[1]).gradient(half.ravel())
        return whole.reshape(half.shape[1], -1)

    def _with_classes(self, n_classes: int) -> Coordinates:
        """The same coordinates of tables with another number of classes."""
        states = tuple(
            n_classes if v == self.layout.target else n
            for v, n in enumerate(self.layout.n_states)
        )
        layout = FamilyLayout(
            states, self.layout.axes, self.layout.owners, self.layout.target
        )
        return replace(self, layout=layout)

    def of_weights(self, weights: FloatArray) -> FloatArray:
        """Coordinates of weights with the same P(c | x) as the given ones, and small.

        What is the same in all classes is left out, and what does not depend on the
        parents goes to the table without them. Of what differs within a group, where
        groups share their weights, the mean is kept.
        """
        layout = self.layout
        rest = weights.copy()
        coordinates = np.zeros(self.n_coordinates)
        for t, axes in enumerate(layout.axes):
            if len(axes) > 1:
                table = layout.table(rest, t)
                table -= table.mean(axis=-1, keepdims=True)
        own = len(self._added) - len(self._lower)
        for part, (t, _) in zip(self._added[own:], self._lower, strict=True):
            table = rest[part.whole].reshape(part.whole_shape)
            mean = table.mean(axis=part.gone, keepdims=True)
            # Of p + q with the sum given, the least p^2 + q^2 over all rows of p.
            share = 1.0 / (table.size // mean.size + 1)
            if own and not part.groups:
                # What is left must be the same within groups.
                lower = mean - share * self._averaged(mean, t)
            else:
                lower = part.spread(part.averaged(mean)) * (1.0 - share)
            table -= lower
            coordinates[part.cells].reshape(part.shape)[...] = part.averaged(lower)
        coordinates[: self._same] = rest[: self._same]
        for part in self._added[:own]:
            table = rest[part.whole].reshape(part.whole_shape)
            coordinates[part.cells].reshape(part.shape)[...] = part.averaged(table)
        for cells, shape, places in self._sums:
            table = coordinates[cells].reshape(shape)
            for place in places:
                table[...] = np.diff(table, axis=place, prepend=0.0)
        return coordinates

    def _averaged(self, table: FloatArray, whole: int) -> FloatArray:
        """A table within that of the layout, its states averaged over their groups."""
        if not self._is_coarse(self.layout.axes[whole]):
            return table
        for place, v in enumerate(self.layout.axes[whole]):
            if table.shape[place] > 1 and v != self.layout.target:
                table = _mean(
                    table, place, *state_groups(table.shape[place], self.groups[v])
                )
        return table

    def carried(self, other: Coordinates, coordinates: FloatArray) -> FloatArray:
        """Coordinates of another layout, for the tables that both have.

        Tables are the same if they are over the same variables, whoever owns them;
        those that only this layout has are zero.
        """
        theirs: Mapping[frozenset[int], int] = {
            frozenset(axes): index for index, axes in enumerate(other.parts.axes)
        }
        carried = np.zeros(self.n_coordinates)
        for index, axes in enumerate(self.parts.axes):
            former = theirs.get(frozenset(axes))
            if former is not None:
                order = [other.parts.axes[former].index(v) for v in axes]
                table = other.parts.table(coordinates, former)
                self.parts.table(carried, index)[...] = table.transpose(order)
        return carried


@dataclass(frozen=True)
class _Part:
    """A table of coordinates: its cells, and how it lies within what it adds to.

    `groups` lists axes with fewer coordinates than states: the axis, the group of every
    state and the first state of every group.
    """

    cells: slice
    shape: tuple[int, ...]
    whole: slice
    whole_shape: tuple[int, ...]
    within: tuple[int, ...]
    gone: tuple[int, ...]
    groups: tuple[tuple[int, IntArray, IntArray], ...]

    def spread(self, table: FloatArray) -> FloatArray:
        """What the table adds, with the axes of the whole."""
        for place, group_of, _ in self.groups:
            table = table.take(group_of, axis=place)
        return table.reshape(self.within)

    def collected(self, whole: FloatArray) -> FloatArray:
        """Sums of the whole over all cells that a coordinate is added to."""
        table: FloatArray = whole.sum(axis=self.gone)
        for place, _, starts in self.groups:
            table = np.add.reduceat(table, starts, axis=place)
        return table

    def averaged(self, whole: FloatArray) -> FloatArray:
        """Means instead of the sums of `collected`."""
        table: FloatArray = whole.mean(axis=self.gone)
        for place, group_of, starts in self.groups:
            table = _mean(table, place, group_of, starts).take(starts, axis=place)
        return table


def state_groups(n_states: int, n_groups: int) -> tuple[IntArray, IntArray]:
    """Group of every state, and first state of every group, of about equal sizes.

    Examples
    --------
    >>> state_groups(5, 2)
    (array([0, 0, 0, 1, 1]), array([0, 3]))
    """
    group_of = np.arange(n_states, dtype=np.int64) * n_groups // n_states
    return group_of, np.searchsorted(group_of, np.arange(n_groups)).astype(np.int64)


def group_codes(
    n_states: int, n_groups: int, dtype: np.dtype[np.unsignedinteger]
) -> CodeArray:
    """Group of every code of a feature, that of a missing state after the others.

    Examples
    --------
    >>> group_codes(5, 2, np.dtype(np.uint8))
    array([0, 0, 0, 1, 1, 2], dtype=uint8)
    """
    return np.append(state_groups(n_states, n_groups)[0], n_groups).astype(dtype)


def _mean(
    table: FloatArray,
    place: int,
    group_of: IntArray,
    starts: IntArray,
) -> FloatArray:
    """The mean of every state's group along one axis, in the place of the states."""
    sums = np.add.reduceat(table, starts, axis=place)
    shape = [-1 if axis == place else 1 for axis in range(table.ndim)]
    means: FloatArray = sums / np.bincount(group_of).reshape(shape)
    return means.take(group_of, axis=place)


def _cells(layout: FamilyLayout, index: int) -> slice:
    """The cells of one table."""
    start = int(layout.offsets[index])
    return slice(start, start + layout.sizes[index])
