"""Coordinates of log-linear weights in which a penalty is a plain sum of squares."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tanager.core.layout import FamilyLayout

FloatArray = npt.NDArray[np.float64]


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

    Notes
    -----
    A table of a feature with parents is a sum of three kinds of coordinates: one table
    over the whole family, one per parent over (parent, owner, class) if there are
    several, and one over (owner, class). With a penalty on all of them the weights
    shrink towards those without the interaction: a tree towards naive Bayes. Sums
    change nothing in what can be expressed, only in what costs how much.

    Examples
    --------
    >>> layout = FamilyLayout.of_families((3, 2), ((1, 0), (1,)), 1)
    >>> smooth = Coordinates(layout, (True, False))
    >>> smooth.weights(np.array([1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 5.0, 5.0]))
    array([1., 0., 3., 0., 6., 0., 5., 5.])
    """

    layout: FamilyLayout
    smooth: tuple[bool, ...]

    @cached_property
    def _lower(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """Lower-order tables: what they belong to, and their axes."""
        target = self.layout.target
        found: list[tuple[int, tuple[int, ...]]] = []
        for t, (axes, owner) in enumerate(
            zip(self.layout.axes, self.layout.owners, strict=True)
        ):
            parents = [v for v in axes if v not in (owner, target)]
            if len(parents) > 1:
                for one in parents:
                    found.append(
                        (t, tuple(v for v in axes if v in (one, owner, target)))
                    )
            if parents:
                found.append((t, tuple(v for v in axes if v in (owner, target))))
        return tuple(found)

    @cached_property
    def parts(self) -> FamilyLayout:
        """Where the coordinates lie: the tables themselves, then those of `_lower`."""
        layout = self.layout
        return FamilyLayout(
            layout.n_states,
            layout.axes + tuple(axes for _, axes in self._lower),
            layout.owners + tuple(layout.owners[t] for t, _ in self._lower),
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
    def prior(self) -> npt.NDArray[np.intp]:
        """Coordinates of the class table, which are its weights."""
        return np.flatnonzero(self.penalised == 0.0)

    @cached_property
    def _parts_of(self) -> tuple[_Part, ...]:
        """How the lower-order tables enter the tables they belong to."""
        found = []
        for index, (t, axes) in enumerate(self._lower, self.layout.n_tables):
            whole = self.layout.axes[t]
            found.append(
                _Part(
                    _cells(self.parts, index),
                    self.parts.shapes[index],
                    _cells(self.layout, t),
                    self.layout.shapes[t],
                    tuple(self.layout.n_states[v] if v in axes else 1 for v in whole),
                    tuple(k for k, v in enumerate(whole) if v not in axes),
                )
            )
        return tuple(found)

    @cached_property
    def _sums(self) -> tuple[tuple[slice, tuple[int, ...], tuple[int, ...]], ...]:
        """Cells and shape of tables with running sums, and the axes they run along."""
        found = []
        for t, axes in enumerate(self.parts.axes):
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
        weights = summed[: self.layout.n_cells]
        for part in self._parts_of:
            table = weights[part.whole].reshape(part.whole_shape)
            table += summed[part.cells].reshape(part.within)
        return weights

    def gradient(self, by_weights: FloatArray) -> FloatArray:
        """Gradient by the coordinates from that by the weights."""
        gradient = np.empty(self.n_coordinates)
        gradient[: self.layout.n_cells] = by_weights
        for part in self._parts_of:
            table = by_weights[part.whole].reshape(part.whole_shape)
            gradient[part.cells].reshape(part.shape)[...] = table.sum(axis=part.gone)
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
        return Coordinates(layout, self.smooth)

    def of_weights(self, weights: FloatArray) -> FloatArray:
        """Coordinates of weights with the same P(c | x) as the given ones, and small.

        What is the same in all classes is left out, and what does not depend on the
        parents goes to the table without them.
        """
        coordinates = np.zeros(self.n_coordinates)
        coordinates[: self.layout.n_cells] = weights
        for t, axes in enumerate(self.layout.axes):
            if len(axes) > 1:
                table = self.layout.table(coordinates, t)
                table -= table.mean(axis=-1, keepdims=True)
        for part in self._parts_of:
            table = coordinates[part.whole].reshape(part.whole_shape)
            lower = coordinates[part.cells].reshape(part.shape)
            # Of p + q with the sum given, the least p^2 + q^2 over all rows of p.
            lower[...] = table.sum(axis=part.gone) / (table.size // lower.size + 1)
            table -= lower.reshape(part.within)
        for cells, shape, places in self._sums:
            table = coordinates[cells].reshape(shape)
            for place in places:
                table[...] = np.diff(table, axis=place, prepend=0.0)
        return coordinates


@dataclass(frozen=True)
class _Part:
    """A lower-order table: its cells, and how it lies within the table it adds to."""

    cells: slice
    shape: tuple[int, ...]
    whole: slice
    whole_shape: tuple[int, ...]
    within: tuple[int, ...]
    gone: tuple[int, ...]


def _cells(layout: FamilyLayout, index: int) -> slice:
    """The cells of one table."""
    start = int(layout.offsets[index])
    return slice(start, start + layout.sizes[index])
