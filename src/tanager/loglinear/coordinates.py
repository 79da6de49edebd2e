"""Coordinates of log-linear weights in which the penalty is a sum of squares."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tanager.model.layout import FamilyLayout
from tanager.model.linear_map import LinearMap
from tanager.types import FloatArray, IntArray

Groups = tuple[tuple[int, IntArray, IntArray], ...]
"""Axes whose states share weights: the axis, group of every state, starts of groups."""


class _Table(NamedTuple):
    """Where a table of coordinates is, and how it becomes part of a factor."""

    cells: slice
    shape: tuple[int, ...]
    smooth: tuple[int, ...]  # axes along which weights are running sums
    groups: Groups
    factor: slice
    factor_shape: tuple[int, ...]
    gone: tuple[int, ...]  # axes of the factor that a table of lower order lacks
    within: tuple[int, ...]  # shape that broadcasts along the factor


class Coordinates(LinearMap):
    """The map from penalised coordinates u to the log-linear weights w of factors.

    All `factors` of w have the class as last axis. `smooth` says for every variable
    whether weights along its axis are running sums of coordinates, so that the penalty
    applies to first differences. `groups` are the numbers of groups of neighbouring
    states, of about equal sizes, that share their weights in factors over several
    features; empty, every state is its own group. If `hierarchical`, factors over
    several features are sums of coordinates of lower order, too.

    `layout` has the coordinates of the factors, then those of lower order; with n
    variables, variable n + v stands for the groups of v's states. `wholes` has for
    every table of it the factor that it is added into, and `is_coarse` says whether
    some have one coordinate for each group of states. The penalty is
    ``sum_i penalty_i u_i^2 / 2``, with `penalty` 0 for the class, as for an intercept,
    and 1 for the others; `prior` and `prior_weights` say where the class is in u and w.

    Notes
    -----
    If hierarchical, the factor of a feature with parents is a sum of coordinates of
    three kinds: one table over the whole family, one per parent over (parent, owner,
    class) if there are several, and one over (owner, class). Penalising all of them
    shrinks the weights towards those without the interaction: a tree towards naive
    Bayes. Where a feature owns several factors, those of lower order are there once.

    A table of coordinates is summed along its smooth axes,
    ``w[x] = sum_{t <= x} u[t]``, then repeated for the states of every group, then
    added into its factor.

    Examples
    --------
    >>> factors = FamilyLayout.of_families((3, 2), ((1, 0), (1,)), 1)
    >>> smooth = Coordinates(factors, (True, False))
    >>> smooth.apply(np.array([1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 5.0, 5.0]))
    array([1., 0., 3., 0., 6., 0., 5., 5.])
    """

    def __init__(
        self,
        factors: FamilyLayout,
        smooth: tuple[bool, ...],
        groups: tuple[int, ...] = (),
        *,
        hierarchical: bool = True,
    ) -> None:
        target, n_states = factors.target, factors.n_states
        lower = _lower_order(factors) if hierarchical else []
        axes = factors.axes + tuple(own for _, own in lower)
        self.factors = factors
        self.smooth = smooth
        self.groups = groups
        self.hierarchical = hierarchical
        self.wholes = (*range(factors.n_tables), *(t for t, _ in lower))
        self._axes = axes
        self._groups: list[Groups] = []
        for own in axes:
            grouped: list[tuple[int, IntArray, IntArray]] = []
            features = [(axis, v) for axis, v in enumerate(own) if v != target]
            if len(features) > 1 and any(
                groups and groups[v] < n_states[v] for _, v in features
            ):
                for axis, v in features:
                    group_of = state_groups(n_states[v], groups[v])
                    starts = np.searchsorted(group_of, np.arange(groups[v]))
                    grouped.append((axis, group_of[:-1], starts))
            self._groups.append(tuple(grouped))
        self.is_coarse = any(self._groups)
        layout = self.layout = FamilyLayout(
            n_states + groups,
            tuple(
                tuple(v + len(n_states) if of and v != target else v for v in own)
                for own, of in zip(axes, self._groups, strict=True)
            ),
            tuple(factors.owners[t] for t in self.wholes),
            target,
        )
        self.n_in, self.n_out = layout.n_cells, factors.n_cells
        cells, factor_cells = (
            [
                slice(o, o + n)
                for o, n in zip(of.offsets.tolist(), of.sizes, strict=True)
            ]
            for of in (layout, factors)
        )
        self.penalty = np.ones(self.n_in)
        self.prior = self.prior_weights = np.empty(0, dtype=np.intp)
        if (target,) in factors.axes:
            index = factors.axes.index((target,))
            self.prior = np.arange(self.n_in)[cells[index]]
            self.prior_weights = np.arange(self.n_out)[factor_cells[index]]
            self.penalty[self.prior] = 0.0
        # The tables that are not just copied; without groups factors come first in u.
        self._tables: list[_Table] = []
        for index, (own, whole) in enumerate(zip(axes, self.wholes, strict=True)):
            sums = tuple(a for a, v in enumerate(own) if v != target and smooth[v])
            gone = tuple(a for a, v in enumerate(factors.axes[whole]) if v not in own)
            within = tuple(n_states[v] if v in own else 1 for v in factors.axes[whole])
            if self.is_coarse or sums or gone:
                self._tables.append(
                    _Table(
                        cells[index], layout.shapes[index], sums, self._groups[index],
                        factor_cells[whole], factors.shapes[whole], gone, within,
                    )
                )  # fmt: skip

    def apply(self, x: FloatArray) -> FloatArray:
        """Compute the weights of coordinates; see `LinearMap.apply`."""
        weights = np.empty(self.n_out) if self.is_coarse else x[: self.n_out].copy()
        for part in self._tables:
            table = x[part.cells].reshape(part.shape)
            for axis in part.smooth:
                table = np.cumsum(table, axis=axis)
            for axis, group_of, _ in part.groups:
                table = table.take(group_of, axis=axis)
            if part.gone:
                whole = weights[part.factor].reshape(part.factor_shape)
                whole += table.reshape(part.within)
            else:
                weights[part.factor] = table.ravel()
        return weights

    def adjoint(self, y: FloatArray) -> FloatArray:
        """Compute a gradient by coordinates; see `LinearMap.adjoint`."""
        gradient = np.empty(self.n_in)
        if not self.is_coarse:
            gradient[: self.n_out] = y
        for part in self._tables:
            table = y[part.factor].reshape(part.factor_shape)
            if part.gone:
                table = table.sum(axis=part.gone)
            for axis, _, starts in part.groups:
                table = np.add.reduceat(table, starts, axis=axis)
            gradient[part.cells] = table.ravel()
            for axis in part.smooth:
                backwards = np.flip(gradient[part.cells].reshape(part.shape), axis)
                backwards[...] = np.cumsum(backwards, axis=axis)
        return gradient

    def quadratic_form(self, by_weights: FloatArray) -> FloatArray:
        """Convert a form in the weights of one class to one in its coordinates.

        Of a symmetric matrix M, shape (n_out / K, n_out / K) with K classes, it is
        ``A' M A``, shape (n_in / K, n_in / K), with the map A of one class.
        """
        # The columns take the place of the classes, which are neighbours, too.
        half = self._with_classes(len(by_weights)).adjoint(by_weights.ravel())
        half = half.reshape(-1, len(by_weights)).T
        whole = self._with_classes(half.shape[1]).adjoint(half.ravel())
        return whole.reshape(half.shape[1], -1)

    def _with_classes(self, n_classes: int) -> Coordinates:
        """Make the same coordinates for another number of classes."""
        old = self.factors
        states = tuple(
            n_classes if v == old.target else n for v, n in enumerate(old.n_states)
        )
        return Coordinates(
            replace(old, n_states=states),
            self.smooth,
            self.groups,
            hierarchical=self.hierarchical,
        )

    def from_weights(self, weights: FloatArray) -> FloatArray:
        """Find small coordinates of weights with the same P(c | x) as the given ones.

        What is the same in all classes is left out, and what does not depend on the
        parents goes to the table of lower order. Where groups of states share their
        weights, they get the mean of the group.
        """
        factors, layout = self.factors, self.layout
        rest = weights.copy()
        coordinates = np.zeros(self.n_in)
        for t, axes in enumerate(factors.axes):
            if len(axes) > 1:
                table = factors.table(rest, t)
                table -= table.mean(axis=-1, keepdims=True)
        for index in range(factors.n_tables, layout.n_tables):
            own, whole = self._axes[index], self.wholes[index]
            groups = self._groups[index]
            table = factors.table(rest, whole)
            gone = tuple(a for a, v in enumerate(factors.axes[whole]) if v not in own)
            mean = table.mean(axis=gone)
            # Of p + q with the sum given, the least p^2 + q^2 over all rows of p.
            fraction = 1.0 / (table.size // mean.size + 1)
            if self.is_coarse and not groups:
                # What is left must be the same within groups.
                of_factor = [
                    (own.index(v), group_of, starts)
                    for axis, group_of, starts in self._groups[whole]
                    if (v := factors.axes[whole][axis]) in own
                ]
                part = mean - fraction * _group_means(mean, of_factor, repeat=True)
            else:
                part = _group_means(mean, groups, repeat=True) * (1.0 - fraction)
            table -= np.expand_dims(part, gone)
            layout.table(coordinates, index)[...] = _group_means(part, groups)
        for index in range(factors.n_tables):
            table = factors.table(rest, index)
            layout.table(coordinates, index)[...] = _group_means(
                table, self._groups[index]
            )
        for of in self._tables:
            table = coordinates[of.cells].reshape(of.shape)
            for axis in of.smooth:
                table[...] = np.diff(table, axis=axis, prepend=0.0)
        return coordinates

    def carry(self, other: Coordinates, coordinates: FloatArray) -> FloatArray:
        """Take over the coordinates of another model in the tables that both have.

        Tables are the same if they are over the same variables, whoever owns them; the
        coordinates of the other tables are zero.
        """
        theirs = {frozenset(axes): k for k, axes in enumerate(other.layout.axes)}
        carried = np.zeros(self.n_in)
        for index, axes in enumerate(self.layout.axes):
            former = theirs.get(frozenset(axes))
            if former is not None:
                order = [other.layout.axes[former].index(v) for v in axes]
                table = other.layout.table(coordinates, former)
                self.layout.table(carried, index)[...] = table.transpose(order)
        return carried


def _lower_order(factors: FamilyLayout) -> list[tuple[int, tuple[int, ...]]]:
    """List the tables of lower order: the factor they belong to, and their axes."""
    target = factors.target
    there = {
        (v, frozenset(a)) for v, a in zip(factors.owners, factors.axes, strict=True)
    }
    found: list[tuple[int, tuple[int, ...]]] = []
    for t, (axes, owner) in enumerate(zip(factors.axes, factors.owners, strict=True)):
        parents = [v for v in axes if v not in (owner, target)]
        wanted = [{one, owner, target} for one in parents if len(parents) > 1]
        if parents:
            wanted.append({owner, target})
        for members in wanted:
            own = tuple(v for v in axes if v in members)
            if (owner, frozenset(own)) not in there:
                there.add((owner, frozenset(own)))
                found.append((t, own))
    return found


def state_groups(n_states: int, n_groups: int) -> IntArray:
    """Divide ordered states into groups of about equal sizes.

    Returns the group of every state, and `n_groups` for missing, shape (n_states + 1,).

    Examples
    --------
    >>> state_groups(5, 2)
    array([0, 0, 0, 1, 1, 2])
    """
    return np.arange(n_states + 1, dtype=np.int64) * n_groups // n_states


def _group_means(
    table: FloatArray,
    groups: Iterable[tuple[int, IntArray, IntArray]],
    *,
    repeat: bool = False,
) -> FloatArray:
    """Means over the states of every group, repeated for every state or not."""
    for axis, group_of, starts in groups:
        shape = [-1 if place == axis else 1 for place in range(table.ndim)]
        sums = np.add.reduceat(table, starts, axis=axis)
        table = sums / np.bincount(group_of).reshape(shape)
        if repeat:
            table = table.take(group_of, axis=axis)
    return table
