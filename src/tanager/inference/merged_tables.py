"""Tables merged for learning: fewer reads per row while values change."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from tanager.inference.complete_data import padded_states, table_groups
from tanager.model.layout import FamilyLayout
from tanager.model.linear_map import LinearMap
from tanager.types import FloatArray, IntArray

MERGED_CELLS = 2048
"""Cells of a merged table: one at a time, and its gradient, fit the nearest cache."""

MERGED_STATES = 300
MOST_CELLS = 8192
"""With many classes a merged table may have so many joint states, if not more cells."""


@dataclass(frozen=True, eq=False)
class MergedTables(LinearMap):
    """Sums of small tables, and the way back for gradients.

    A row that reads one entry of a table over several features instead of one entry per
    feature is scored, and its gradient written, several times faster. Merging is a
    fixed linear map: `apply` maps values, `adjoint` maps
    gradients. Every feature has one more state, "missing", under which the tables it
    belongs to add nothing. Tables without the class, which say the same of every class,
    are left out.

    Parameters
    ----------
    layout : FamilyLayout
        The tables.
    sources : tuple of pairs of int arrays
        What is added up: merged cells, and for each of them a cell of `layout`. The
        first tables of all groups, then the second ones, and so on.
    n_in, n_out : int
        Number of cells of `layout` and of all merged tables.
    offsets, start, axis_variable, axis_stride : int arrays
        The merged tables, as in `CompiledLayout`.

    Examples
    --------
    >>> layout = FamilyLayout.of_families((2, 3, 2), ((2, 0), (2, 1), (2,)), 2)
    >>> merged = MergedTables.of(layout)
    >>> len(merged.offsets), merged.n_out  # one table over (3 x 4) states and class
    (1, 24)
    >>> merged.apply(np.arange(12.0)).reshape(3, 4, 2)[1, 2]  # 2 + 8 + 10, 3 + 9 + 11
    array([20., 23.])
    """

    layout: FamilyLayout
    sources: tuple[tuple[IntArray, IntArray], ...]
    n_in: int
    n_out: int
    offsets: IntArray
    start: IntArray
    axis_variable: IntArray
    axis_stride: IntArray

    @classmethod
    def of(cls, layout: FamilyLayout) -> MergedTables:
        """Merge those tables of a layout that have the class."""
        target = layout.target
        assert target is not None
        widths = padded_states(layout)
        # The class table first: it then merges with a feature's.
        tables = sorted(layout.class_tables, key=lambda t: len(layout.axes[t]) > 1)
        wide = min(MERGED_STATES * layout.n_states[target], MOST_CELLS)
        groups = table_groups(layout, tables, widths, max(MERGED_CELLS, wide))
        parts: list[list[IntArray]] = [[] for _ in range(max(map(len, groups)))]
        some_feature = next((v for axes in layout.axes for v in axes if v != target), 0)
        variables: list[int] = []
        strides: list[int] = []
        start: list[int] = [0]
        sizes: list[int] = []
        for group in groups:
            scope = sorted({v for t in group for v in layout.axes[t]} - {target})
            shape = [widths[v] for v in (*scope, target)]
            for t, part in zip(group, parts, strict=False):
                cells = _cells(layout, t, (*scope, target), widths)
                every = np.broadcast_to(cells, shape).ravel()
                seen = np.flatnonzero(every < layout.n_cells)
                part.append(np.stack([seen + sum(sizes), every[seen]]))
            variables += scope or [some_feature]
            strides += [prod(shape[place + 1 :]) for place in range(len(scope))] or [0]
            start.append(len(variables))
            sizes.append(prod(shape))
        return cls(
            layout,
            tuple((joined[0], joined[1]) for joined in map(np.hstack, parts)),
            layout.n_cells,
            sum(sizes),
            np.cumsum([0, *sizes[:-1]], dtype=np.int64),
            np.array(start, dtype=np.int64),
            np.array(variables, dtype=np.int64),
            np.array(strides, dtype=np.int64),
        )

    def apply(self, x: FloatArray) -> FloatArray:
        """Values of the merged tables, shape (n_cells,), from those of the layout."""
        merged = np.zeros(self.n_out)
        for cells, source in self.sources:
            merged[cells] += x[source]
        return merged

    def adjoint(self, y: FloatArray) -> FloatArray:
        """Gradient by the layout's cells from that by the merged cells.

        It is zero in tables without the class.
        """
        collected = np.zeros(self.n_in)
        for cells, source in self.sources:
            collected += np.bincount(source, y[cells], len(collected))
        return collected


def _cells(
    layout: FamilyLayout, index: int, axes: tuple[int, ...], widths: tuple[int, ...]
) -> IntArray:
    """Cells of a table along `axes`, padded; `n_cells` where a member is missing."""
    own = layout.axes[index]
    cells = np.full([widths[v] for v in own], layout.n_cells, dtype=np.int64)
    inner = tuple(slice(layout.n_states[v]) for v in own)
    first = int(layout.offsets[index])
    cells[inner] = np.arange(first, first + layout.sizes[index]).reshape(
        layout.shapes[index]
    )
    ordered = cells.transpose([own.index(v) for v in axes if v in own])
    return ordered.reshape([widths[v] if v in own else 1 for v in axes])
