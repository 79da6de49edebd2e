"""Terms that are the same in all classes: they change P(x) but not P(c | x)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tanager.loglinear.coordinates import Coordinates
from tanager.loglinear.linear_maps import LinearMap
from tanager.model.layout import FamilyLayout
from tanager.types import FloatArray


class CellTerms(LinearMap):
    """One term for every cell of some tables, repeated for every class.

    Examples
    --------
    >>> layout = FamilyLayout.of_families((2, 2), ((1, 0), (1,)), 1)
    >>> CellTerms(layout, [0]).apply(np.array([1.0, 2.0]))
    array([1., 1., 2., 2., 0., 0.])
    """

    def __init__(self, layout: FamilyLayout, tables: Sequence[int]) -> None:
        self._n_classes = layout.compiled.n_classes
        self._cells = np.concatenate(
            [np.arange(layout.sizes[t]) + layout.offsets[t] for t in tables]
        )
        self.n_in, self.n_out = len(self._cells) // self._n_classes, layout.n_cells

    def apply(self, x: FloatArray) -> FloatArray:
        """Repeat the terms; see `LinearMap.apply`."""
        out = np.zeros(self.n_out)
        out[self._cells] = np.repeat(x, self._n_classes)
        return out

    def adjoint(self, y: FloatArray) -> FloatArray:
        """Sum over the classes; see `LinearMap.adjoint`."""
        sums: FloatArray = y[self._cells].reshape(-1, self._n_classes).sum(axis=1)
        return sums


def grouped_terms(
    layout: FamilyLayout, groups: Sequence[int], apart: Sequence[bool]
) -> LinearMap:
    """One term for every group of states, and one for every state of a feature.

    `layout` are factors over one or several features and the class; the factor of the
    class alone gets no terms. `groups` and `apart` are as in `Coordinates`: a factor
    over several features has one term for every combination of groups of their states,
    and one for every state of its owner. Without groups every cell has its own.

    Examples
    --------
    >>> layout = FamilyLayout.of_families((4, 4, 2), ((2, 1, 0), (2,)), 2)
    >>> grouped_terms(layout, (2, 2, 2), ()).n_in  # 2 x 2 groups, 4 states
    8
    """
    target = layout.target
    tables = [t for t, axes in enumerate(layout.axes) if axes != (target,)]
    cells = CellTerms(layout, tables)
    one_class = FamilyLayout(
        tuple(1 if v == target else n for v, n in enumerate(layout.n_states)),
        tuple(layout.axes[t] for t in tables),
        tuple(layout.owners[t] for t in tables),
        target,
    )
    single = tuple(1 if v == target else n for v, n in enumerate(groups))
    smooth = (False,) * len(layout.n_states)
    grouped = Coordinates(one_class, smooth, single, tuple(apart))
    return cells @ grouped if grouped.is_coarse else cells
