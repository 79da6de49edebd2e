"""Coordinates of log-linear weights in which the penalty is a sum of squares."""

from __future__ import annotations

import numpy as np

from tanager.model.layout import FamilyLayout
from tanager.model.linear_map import Composition, LinearMap
from tanager.types import CodeArray, FloatArray, IntArray

Groups = tuple[tuple[int, IntArray, IntArray], ...]
"""Axes whose states share weights: the axis, group of every state, starts of groups."""


class FactorSums(LinearMap):
    """Factors added into factors over the same variables or more.

    Parameters
    ----------
    source, target : FamilyLayout
        The factors to add, and those that they are added into.
    into : sequence of int
        For every factor of `source` the factor of `target` that it is added into.

    Examples
    --------
    >>> pair = FamilyLayout((2, 2), ((0, 1),), (0,), 1)
    >>> both = FamilyLayout((2, 2), ((0, 1), (1,)), (0, 1), 1)
    >>> FactorSums(both, pair, (0, 0)).apply(np.array([1.0, 2.0, 3.0, 4.0, 10.0, 20.0]))
    array([11., 22., 13., 24.])
    """

    def __init__(
        self, source: FamilyLayout, target: FamilyLayout, into: tuple[int, ...]
    ) -> None:
        self.n_in, self.n_out = source.n_cells, target.n_cells
        same = 0
        for own, theirs, place in zip(source.axes, target.axes, into, strict=False):
            if own != theirs or place != same:
                break
            same += 1
        # The first factors are those of the target: one copy does for all of them.
        self._same = sum(source.sizes[:same])
        self._rest = []
        for index in range(same, source.n_tables):
            own, whole = source.axes[index], target.axes[into[index]]
            kept = [v for v in whole if v in own]
            self._rest.append(
                (
                    _cells(source, index),
                    source.shapes[index],
                    _cells(target, into[index]),
                    target.shapes[into[index]],
                    [own.index(v) for v in kept],
                    [target.n_states[v] if v in own else 1 for v in whole],
                    tuple(axis for axis, v in enumerate(whole) if v not in own),
                    [kept.index(v) for v in own],
                )
            )

    def apply(self, x: FloatArray) -> FloatArray:
        """Add the factors up; see `LinearMap.apply`."""
        sums = np.zeros(self.n_out)
        sums[: self._same] = x[: self._same]
        for cells, shape, whole, whole_shape, order, within, _, _ in self._rest:
            table = sums[whole].reshape(whole_shape)
            table += x[cells].reshape(shape).transpose(order).reshape(within)
        return sums

    def adjoint(self, y: FloatArray) -> FloatArray:
        """Sum over the variables that a factor lacks; see `LinearMap.adjoint`."""
        out = np.empty(self.n_in)
        out[: self._same] = y[: self._same]
        for cells, shape, whole, whole_shape, _, _, gone, back in self._rest:
            table = y[whole].reshape(whole_shape).sum(axis=gone)
            out[cells].reshape(shape)[...] = table.transpose(back)
        return out


class RunningSums(LinearMap):
    """Running sums ``w[x] = sum_{t <= x} u[t]`` along some axes of factors.

    Parameters
    ----------
    layout : FamilyLayout
        The factors.
    axes : sequence of tuples of int
        For every factor the axes to sum along.
    """

    def __init__(self, layout: FamilyLayout, axes: list[tuple[int, ...]]) -> None:
        self.n_in = self.n_out = layout.n_cells
        self._tables = [
            (_cells(layout, index), layout.shapes[index], places)
            for index, places in enumerate(axes)
            if places
        ]

    def apply(self, x: FloatArray) -> FloatArray:
        """Sum along the axes; see `LinearMap.apply`."""
        sums = x.copy()
        for cells, shape, places in self._tables:
            table = sums[cells].reshape(shape)
            for axis in places:
                np.cumsum(table, axis=axis, out=table)
        return sums

    def adjoint(self, y: FloatArray) -> FloatArray:
        """Sum along the axes from their ends; see `LinearMap.adjoint`."""
        sums = y.copy()
        for cells, shape, places in self._tables:
            table = sums[cells].reshape(shape)
            for axis in places:
                backwards = np.flip(table, axis=axis)
                backwards[...] = np.cumsum(backwards, axis=axis)
        return sums

    def invert(self, w: FloatArray) -> FloatArray:
        """Find the vector with given running sums: the first differences."""
        differences = w.copy()
        for cells, shape, places in self._tables:
            table = differences[cells].reshape(shape)
            for axis in places:
                table[...] = np.diff(table, axis=axis, prepend=0.0)
        return differences


class StateGroups(LinearMap):
    """Weights of groups of states, repeated for every state of the group.

    Parameters
    ----------
    coarse, fine : FamilyLayout
        The same factors, with one cell for each group and for each state.
    groups : sequence of tuples
        For every factor its axes with groups.
    """

    def __init__(
        self, coarse: FamilyLayout, fine: FamilyLayout, groups: list[Groups]
    ) -> None:
        self.n_in, self.n_out = coarse.n_cells, fine.n_cells
        self._tables = [
            (
                _cells(coarse, index),
                coarse.shapes[index],
                _cells(fine, index),
                fine.shapes[index],
                axes,
            )
            for index, axes in enumerate(groups)
        ]

    def apply(self, x: FloatArray) -> FloatArray:
        """Repeat the weights; see `LinearMap.apply`."""
        out = np.empty(self.n_out)
        for cells, shape, whole, _, groups in self._tables:
            table = x[cells].reshape(shape)
            for axis, group_of, _ in groups:
                table = table.take(group_of, axis=axis)
            out[whole] = table.ravel()
        return out

    def adjoint(self, y: FloatArray) -> FloatArray:
        """Sum over the states of every group; see `LinearMap.adjoint`."""
        out = np.empty(self.n_in)
        for cells, _, whole, whole_shape, groups in self._tables:
            table = y[whole].reshape(whole_shape)
            for axis, _, starts in groups:
                table = np.add.reduceat(table, starts, axis=axis)
            out[cells] = table.ravel()
        return out


class Coordinates(Composition):
    """The map from penalised coordinates u to the log-linear weights w of factors.

    Parameters
    ----------
    factors : FamilyLayout
        The factors of w, all with the class as last axis.
    smooth : tuple of bool
        For every variable, whether weights along its axis are running sums of
        coordinates, so that the penalty applies to first differences.
    groups : tuple of int, default=()
        For every variable the number of groups of neighbouring states, of about equal
        sizes, that share their weights in factors over several features. Empty: every
        state is its own group.
    hierarchical : bool, default=True
        Whether factors over several features are sums of coordinates of lower order,
        too; see the notes.

    Attributes
    ----------
    layout : FamilyLayout
        Where the coordinates are: those of the factors, then those of lower order.
        With n variables, variable n + v stands for the groups of v's states.
    wholes : tuple of int
        For every table of `layout` the factor that it is added into.
    is_coarse : bool
        Whether some tables have one coordinate for each group of states.
    penalty : ndarray of float64, shape (n_in,)
        Weight of every coordinate in the penalty ``sum_i penalty_i u_i^2 / 2``: 0 for
        those of the class, as of an intercept, and 1 for the others.
    prior, prior_weights : ndarray of int
        Where the class is in u and in w.

    Notes
    -----
    If hierarchical, the factor of a feature with parents is a sum of coordinates of
    three kinds: one table over the whole family, one per parent over (parent, owner,
    class) if there are several, and one over (owner, class). Penalising all of them
    shrinks the weights towards those without the interaction: a tree towards naive
    Bayes. Where a feature owns several factors, those of lower order are there once.

    The map is ``FactorSums @ StateGroups @ RunningSums``.

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
            features = [v for v in own if v != target]
            coarse = len(features) > 1 and any(
                groups and groups[v] < n_states[v] for v in features
            )
            self._groups.append(
                tuple(
                    (axis, *state_groups(n_states[v], groups[v]))
                    for axis, v in enumerate(own)
                    if coarse and v != target
                )
            )
        self.is_coarse = any(self._groups)
        owners = tuple(factors.owners[t] for t in self.wholes)
        self.layout = FamilyLayout(
            n_states + groups,
            tuple(
                tuple(v + len(n_states) if of and v != target else v for v in own)
                for own, of in zip(axes, self._groups, strict=True)
            ),
            owners,
            target,
        )
        self.penalty = np.ones(self.layout.n_cells)
        self.prior = self.prior_weights = np.empty(0, dtype=np.intp)
        if (target,) in factors.axes:
            index = factors.axes.index((target,))
            self.prior = np.arange(self.layout.n_cells)[_cells(self.layout, index)]
            self.prior_weights = np.arange(factors.n_cells)[_cells(factors, index)]
            self.penalty[self.prior] = 0.0
        fine = FamilyLayout(n_states, axes, owners, target)
        self._sums = RunningSums(
            self.layout,
            [
                tuple(a for a, v in enumerate(own) if v != target and smooth[v])
                for own in axes
            ],
        )
        grouped = [StateGroups(self.layout, fine, self._groups)]
        super().__init__(
            self._sums,
            *(grouped if self.is_coarse else ()),
            FactorSums(fine, factors, self.wholes),
        )

    def quadratic_form(self, by_weights: FloatArray) -> FloatArray:
        """Convert a form in the weights of one class to one in its coordinates.

        Parameters
        ----------
        by_weights : ndarray of float64, shape (n_out / K, n_out / K)
            A symmetric matrix M, K the number of classes.

        Returns
        -------
        ndarray of float64, shape (n_in / K, n_in / K)
            ``A' M A`` with the map A of one class.
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
        factors = FamilyLayout(states, old.axes, old.owners, old.target)
        return Coordinates(
            factors, self.smooth, self.groups, hierarchical=self.hierarchical
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
            own, groups = self._axes[index], self._groups[index]
            whole = factors.axes[self.wholes[index]]
            table = factors.table(rest, self.wholes[index])
            gone = tuple(axis for axis, v in enumerate(whole) if v not in own)
            mean = table.mean(axis=gone, keepdims=True)
            # Of p + q with the sum given, the least p^2 + q^2 over all rows of p.
            fraction = 1.0 / (table.size // mean.size + 1)
            if self.is_coarse and not groups:
                # What is left must be the same within groups.
                means = mean
                for axis, group_of, starts in self._groups[self.wholes[index]]:
                    if mean.shape[axis] > 1:
                        means = _group_means(means, axis, group_of, starts)
                lower = mean - fraction * means
            else:
                repeated = _average(mean, gone, groups)
                for axis, group_of, _ in groups:
                    repeated = repeated.take(group_of, axis=axis)
                lower = repeated.reshape(mean.shape) * (1.0 - fraction)
            table -= lower
            layout.table(coordinates, index)[...] = _average(lower, gone, groups)
        for index in range(factors.n_tables):
            table = factors.table(rest, index)
            layout.table(coordinates, index)[...] = _average(
                table, (), self._groups[index]
            )
        return self._sums.invert(coordinates)

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


def state_groups(n_states: int, n_groups: int) -> tuple[IntArray, IntArray]:
    """Divide ordered states into groups of about equal sizes.

    Returns
    -------
    group_of : ndarray of int64, shape (n_states,)
        Group of every state.
    starts : ndarray of int64, shape (n_groups,)
        First state of every group.

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
    """Map the codes of a feature to its groups; missing comes after the last group.

    Examples
    --------
    >>> group_codes(5, 2, np.dtype(np.uint8))
    array([0, 0, 0, 1, 1, 2], dtype=uint8)
    """
    return np.append(state_groups(n_states, n_groups)[0], n_groups).astype(dtype)


def _average(table: FloatArray, gone: tuple[int, ...], groups: Groups) -> FloatArray:
    """Means over the axes `gone` and over the states of every group."""
    means: FloatArray = table.mean(axis=gone)
    for axis, group_of, starts in groups:
        means = _group_means(means, axis, group_of, starts).take(starts, axis=axis)
    return means


def _group_means(
    table: FloatArray, axis: int, group_of: IntArray, starts: IntArray
) -> FloatArray:
    """Replace every state along an axis by the mean of its group."""
    sums = np.add.reduceat(table, starts, axis=axis)
    shape = [-1 if place == axis else 1 for place in range(table.ndim)]
    means: FloatArray = sums / np.bincount(group_of).reshape(shape)
    return means.take(group_of, axis=axis)


def _cells(layout: FamilyLayout, index: int) -> slice:
    """The cells of one table."""
    start = int(layout.offsets[index])
    return slice(start, start + layout.sizes[index])
