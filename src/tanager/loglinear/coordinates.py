"""Coordinates of log-linear weights in which the penalty is a sum of squares."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tanager.errors import InputError
from tanager.loglinear.linear_maps import (
    Composition,
    GroupedStates,
    LinearMap,
    RunningSums,
    TableSums,
    group_means,
)
from tanager.model.layout import FamilyLayout
from tanager.types import FloatArray


class Coordinates(Composition):
    """The map from penalised coordinates u to the log-linear weights w of factors.

    It is ``TableSums @ GroupedStates @ RunningSums``: a table of coordinates is summed
    along its smooth axes, then repeated for the states of every group, then added into
    its factor.

    Parameters
    ----------
    factors : FamilyLayout
        The factors of w, all with the class as last axis.
    smooth : tuple of bool
        For every variable, whether weights along its axis are running sums of
        coordinates, so that the penalty applies to first differences; the class's own
        has no effect.
    groups : tuple of int, default=()
        For every variable the number of groups of neighbouring states that share their
        weights in factors over several features. Empty: every state is its own group.
    apart : tuple of bool, default=()
        For every variable whether its last state, that of a missing value, is kept
        apart: not part of running sums, and a group of its own. Empty: none is.
    hierarchical : bool, default=True
        Whether factors over several features are sums of coordinates of lower order,
        too; see the notes.
    penalty : ndarray of float64, shape (n_in,), or None, default=None
        Positive weights p of the coordinates in the penalty ``sum_i p_i u_i^2 / 2``;
        None is 1. That of the class is always 0, as for an intercept.

    Attributes
    ----------
    layout : FamilyLayout
        Where the coordinates are: those of the factors, then those of lower order.
        With n variables, variable n + v stands for the groups of v's states.
    into : tuple of int
        For every table of `layout` the factor that it is added into.
    is_coarse : bool
        Whether some tables have one coordinate for each group of states.
    penalty : ndarray of float64, shape (n_in,)
        The weights p.
    prior, prior_weights : ndarray of int
        Where the class is in u and in w.

    Notes
    -----
    If hierarchical, the factor of a feature with parents is a sum of coordinates of
    three kinds: one table over the whole family, one per parent over (parent, owner,
    class) if there are several, and one over (owner, class). Penalising all of them
    shrinks the weights towards those without the interaction: a tree towards naive
    Bayes. Where a feature owns several factors, those of lower order are there once.

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
        apart: tuple[bool, ...] = (),
        *,
        hierarchical: bool = True,
        penalty: FloatArray | None = None,
    ) -> None:
        target = factors.target
        self.factors = factors
        self.smooth = smooth
        self.groups = groups
        self.apart = apart
        self.hierarchical = hierarchical
        # The tables to add, with a cell for every state.
        self._fine, self.into = factors, tuple(range(factors.n_tables))
        if hierarchical:
            self._fine, self.into = _add_lower_orders(factors)
        grouped = GroupedStates(self._fine, groups or factors.n_states, apart)
        self.is_coarse = any(grouped.groups)
        self.layout = grouped.source
        flags = [along and v != target for v, along in enumerate(smooth)]
        self._groups = grouped.groups
        self._sums = RunningSums(self.layout, flags * 2, apart * 2)
        maps: list[LinearMap] = [TableSums(self._fine, factors, self.into)]
        maps += [grouped] if self.is_coarse else []
        maps += [self._sums] if any(flags) else []
        super().__init__(*maps)
        self.prior = self.prior_weights = np.empty(0, dtype=np.intp)
        if (target,) in factors.axes:
            index = factors.axes.index((target,))
            classes = np.arange(factors.sizes[index])
            self.prior = self.layout.offsets[index] + classes
            self.prior_weights = factors.offsets[index] + classes
        self.penalty = np.ones(self.n_in)
        if penalty is not None:
            if penalty.shape != (self.n_in,) or not (
                np.isfinite(penalty).all()
                and (np.delete(penalty, self.prior) > 0.0).all()
            ):
                raise InputError(
                    f"The penalty must be {self.n_in} finite numbers above 0, one for "
                    f"every coordinate; got {penalty!r}."
                )
            self.penalty[...] = penalty
        self.penalty[self.prior] = 0.0

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
            self.apart,
            hierarchical=self.hierarchical,
        )

    def from_weights(self, weights: FloatArray) -> FloatArray:
        """Find small coordinates of weights with the same P(c | x) as the given ones.

        What is the same in all classes is left out, and what does not depend on the
        parents goes to the table of lower order. Where groups of states share their
        weights, they get the mean of the group.
        """
        factors, fine = self.factors, self._fine
        coordinates = np.zeros(self.n_in)
        rest = weights.copy()
        for t, axes in enumerate(factors.axes):
            if len(axes) > 1:
                table = factors.table(rest, t)
                table -= table.mean(axis=-1, keepdims=True)
        for t in range(factors.n_tables, fine.n_tables):
            own, axes = fine.axes[t], factors.axes[self.into[t]]
            groups = self._groups[t]
            table = factors.table(rest, self.into[t])
            gone = tuple(a for a, v in enumerate(axes) if v not in own)
            mean = table.mean(axis=gone)
            # Of p + q with the sum given, the least p^2 + q^2 over all rows of p.
            fraction = 1.0 / (table.size // mean.size + 1)
            if self.is_coarse and not groups:
                # What is left must be the same within groups.
                of_factor = [
                    (own.index(axes[axis]), group_of, first)
                    for axis, group_of, first in self._groups[self.into[t]]
                    if axes[axis] in own
                ]
                part = mean - fraction * group_means(mean, of_factor, repeat=True)
            else:
                part = group_means(mean, groups, repeat=True) * (1.0 - fraction)
            table -= np.expand_dims(part, gone)
            self.layout.table(coordinates, t)[...] = group_means(part, groups)
        for t in range(factors.n_tables):
            table = group_means(factors.table(rest, t), self._groups[t])
            self.layout.table(coordinates, t)[...] = table
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


def _add_lower_orders(factors: FamilyLayout) -> tuple[FamilyLayout, tuple[int, ...]]:
    """Lay out the factors and their tables of lower order; the factor of each table."""
    target = factors.target
    axes, into = list(factors.axes), list(range(factors.n_tables))
    there = {
        (v, frozenset(a)) for v, a in zip(factors.owners, factors.axes, strict=True)
    }
    for t, (whole, owner) in enumerate(zip(factors.axes, factors.owners, strict=True)):
        parents = [v for v in whole if v not in (owner, target)]
        wanted = [{one, owner, target} for one in parents if len(parents) > 1]
        if parents:
            wanted.append({owner, target})
        for members in wanted:
            own = tuple(v for v in whole if v in members)
            if (owner, frozenset(own)) not in there:
                there.add((owner, frozenset(own)))
                axes.append(own)
                into.append(t)
    owners = tuple(factors.owners[t] for t in into)
    return FamilyLayout(factors.n_states, tuple(axes), owners, target), tuple(into)
