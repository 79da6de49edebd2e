"""Tables merged for learning: fewer reads per row while values change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tanager.inference.score_tables import PaddedLayout, group_small, merge_groups
from tanager.model.layout import FamilyLayout, along
from tanager.model.linear_map import LinearMap
from tanager.types import FloatArray, IntArray

MERGED_CELLS = 2048
"""Cells of a merged table: one at a time, and its gradient, fit the nearest cache."""

MERGED_STATES = 300
MOST_CELLS = 8192
"""With many classes a merged table may have so many joint states, if not more cells."""


@dataclass(frozen=True, eq=False)
class MergedTables(LinearMap):
    """Sums of small tables as a linear map, with `adjoint` for gradients.

    A row that reads one entry of a table over several features instead of one entry per
    feature is scored, and its gradient written, several times faster. Every feature has
    one more state, "missing", under which its tables add nothing. Tables without the
    class, equal for every class, are left out.

    `sources` are pairs of arrays: merged cells, and for each of them a cell of `layout`
    to add; the first tables of all groups, then the second ones, and so on. The merged
    tables lie as in `CompiledLayout`.

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
        table = merged.compiled
        return cls(
            layout,
            tuple((joined[0], joined[1]) for joined in map(np.hstack, parts)),
            layout.n_cells,
            merged.n_cells,
            table.offsets,
            table.start,
            table.axis_variable,
            table.axis_stride,
        )

    def apply(self, x: FloatArray) -> FloatArray:
        """Values of the merged tables, shape (n_cells,), from those of the layout."""
        merged = np.zeros(self.n_out)
        for cells, source in self.sources:
            merged[cells] += x[source]
        return merged

    def adjoint(self, y: FloatArray) -> FloatArray:
        """Gradient by the layout's cells, zero in tables without the class."""
        gradient = np.zeros(self.n_in)
        for cells, source in self.sources:
            gradient += np.bincount(source, y[cells], self.n_in)
        return gradient
