"""Incomplete rows of a forest: exact sums over the missing features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from tanager.errors import CapabilityError
from tanager.inference.complete_data import ScoreTables, padded_states
from tanager.model.layout import FamilyLayout, Parameters
from tanager.types import CodeArray, FloatArray, IndexArray, IntArray


def is_forest(layout: FamilyLayout) -> bool:
    """Whether the class is a root and every feature has at most one feature parent."""
    one_table_each = len(set(layout.owners)) == len(layout.owners)
    return (
        one_table_each
        and layout.target is not None
        and all(
            axes == (layout.target,)
            if owner == layout.target
            else len([v for v in axes if v != layout.target]) <= 2
            for owner, axes in zip(layout.owners, layout.axes, strict=True)
        )
    )


SUMMED_CELLS = 8192
"""Cells of a table that tells beforehand what a missing feature sums to."""

MAX_SUM = 64
"""How many times that the cells may be before the sum."""

TINY = 1e-200
"""Probabilities below this are left to the kernel in log space."""


@dataclass(frozen=True, eq=False)
class SummedTables:
    """For features with few neighbours, the sum over their states, tabulated.

    The table of feature j has axes (children with one more state for "missing"...,
    parent, class) and starts at ``offset[j]``, or is not there if that is -1.
    """

    values: FloatArray
    log_values: FloatArray
    offset: IntArray
    rows: IntArray

    @classmethod
    def of(
        cls,
        tables: Mapping[int, FloatArray],
        children: Sequence[IndexArray],
        inner: Sequence[int],
    ) -> SummedTables:
        """Tabulate where it is small; `tables` have axes (parent, feature, class)."""
        offset = np.full(len(children), -1, dtype=np.int64)
        rows = np.zeros(len(children), dtype=np.int64)
        made: list[FloatArray] = [np.empty(0)]
        cells = 0
        for j in inner:
            n_parent, _, n_classes = tables[j].shape
            configurations = prod(tables[i].shape[1] + 1 for i in children[j])
            # The states of j count, too: they are an axis until they are summed over.
            if configurations * tables[j].size > SUMMED_CELLS * MAX_SUM:
                continue
            if configurations * n_parent * n_classes > SUMMED_CELLS:
                continue
            # Axes (children so far, parent, j, class): one child after the other, the
            # last one fastest, then the sum over j.
            total = tables[j][None]
            for i in children[j]:
                says = np.moveaxis(tables[i], 1, 0)  # (child, j, class)
                says = np.concatenate([says, np.ones((1, *says.shape[1:]))])
                total = (total[:, None] * says[None, :, None]).reshape(
                    -1, *total.shape[1:]
                )
            total = total.sum(axis=2)
            total[-1] = 1.0  # nothing observed below, whatever the rounding
            if total.min() <= TINY:
                continue
            offset[j], rows[j] = cells, configurations
            cells += total.size
            made.append(total.ravel())
        values = np.concatenate(made)
        return cls(values, np.log(values), offset, rows)


@dataclass(frozen=True, eq=False)
class TreeTables:
    """A forest compiled for rows with missing features.

    Notes
    -----
    A row's log joint is the sum of two parts. The first adds, for every feature that is
    observed together with its parent, its table's cell: that is the kernel for complete
    rows on tables with one more state per axis, whose cells are 0. The second part sums
    over missing features that have children (message passing from the leaves
    to the roots, barren leaves dropped); features without children need nothing.
    """

    padded: ScoreTables
    theta: FloatArray
    by_child: FloatArray
    log_theta: FloatArray
    offsets: IntArray
    n_states: IntArray
    n_classes: int
    parent: IntArray
    inner: IntArray
    child_start: IntArray
    child: IntArray
    summed: SummedTables

    @classmethod
    def of(cls, parameters: Parameters) -> TreeTables:
        """Compile the tables of a network whose features form a forest."""
        layout = parameters.layout
        if layout.target is None or not is_forest(layout):
            raise CapabilityError(
                "The tree engine needs a root class and at most one feature parent "
                "per feature."
            )
        n_variables = len(layout.n_states)
        parent = np.full(n_variables, -1, dtype=np.int64)
        logs: dict[int, FloatArray] = {}
        for index, owner in enumerate(layout.owners):
            if owner != layout.target:
                logs[owner], up = _parent_first(parameters, index)
                parent[owner] = -1 if up is None else up
        tables = {j: np.exp(table) for j, table in logs.items()}
        children = [np.flatnonzero(parent == j) for j in range(n_variables)]
        inner = [j for j in reversed(parents_first(parent)) if len(children[j])]
        sizes = [logs[j].size if j in logs else 0 for j in range(n_variables)]
        in_order = [logs[j] for j in sorted(logs)]
        return cls(
            padded_tables(parameters),
            _flat([np.exp(table) for table in in_order]),
            _flat([np.exp(table).swapaxes(0, 1) for table in in_order]),
            _flat(in_order),
            np.cumsum([0, *sizes[:-1]], dtype=np.int64),
            np.array(layout.n_states, dtype=np.int64),
            layout.n_states[layout.target],
            parent,
            np.array(inner, dtype=np.int64),
            np.cumsum([0, *(len(c) for c in children)], dtype=np.int64),
            np.concatenate(children).astype(np.int64),
            SummedTables.of(tables, children, inner),
        )

    def log_joint(self, codes: CodeArray) -> FloatArray:
        """Log joint of every row and class, missing features summed over.

        Parameters
        ----------
        codes : ndarray of unsigned int, shape (n_rows, n_variables), Fortran order
            The number of states of a variable means missing.

        Returns
        -------
        ndarray of float64, shape (n_rows, n_classes)
        """
        from tanager.inference import _kernels

        out = self.padded.log_joint(codes)
        unsafe = np.zeros(codes.shape[0], dtype=np.bool_)
        forest = (
            self.offsets, self.n_states, self.n_classes, self.parent, self.inner,
            self.child_start, self.child,
        )  # fmt: skip
        _kernels.add_missing(
            codes.T, self.theta, self.by_child, *forest, self.summed.values,
            self.summed.log_values, self.summed.offset, self.summed.rows, out, unsafe,
        )  # fmt: skip
        if unsafe.any():
            rows = np.flatnonzero(unsafe)
            again = np.asfortranarray(codes[rows])
            joint = self.padded.log_joint(again)
            _kernels.add_missing_log(again.T, self.log_theta, *forest, joint)
            out[rows] = joint
        return out


def _flat(tables: Sequence[FloatArray]) -> FloatArray:
    """Tables one after the other."""
    return np.concatenate([np.empty(0), *(table.ravel() for table in tables)])


def _parent_first(parameters: Parameters, index: int) -> tuple[FloatArray, int | None]:
    """The log table with axes (parent, owner, class), and the parent.

    A feature without a parent gets an axis of length one.
    """
    layout = parameters.layout
    owner, axes = layout.owners[index], layout.axes[index]
    table = parameters.log_table(index)
    if layout.target not in axes:
        assert layout.target is not None
        n_classes = layout.n_states[layout.target]
        table = np.repeat(table[..., None], n_classes, axis=-1)
    up = next((v for v in axes if v not in (owner, layout.target)), None)
    if up is None:
        return table[None], None
    if axes.index(owner) < axes.index(up):
        table = table.swapaxes(0, 1)
    return table, up


def padded_tables(parameters: Parameters) -> ScoreTables:
    """The network's tables with one more state per feature, of log probability 0."""
    layout = parameters.layout
    widths = padded_states(layout)
    wider = FamilyLayout(widths, layout.axes, layout.owners, layout.target)
    values = np.zeros(wider.n_cells)
    for index, shape in enumerate(layout.shapes):
        block = wider.table(values, index)
        block[tuple(slice(size) for size in shape)] = parameters.log_table(index)
    return ScoreTables.of_layout(wider, values, widths)


def parents_first(parent: IntArray) -> list[int]:
    """Variables ordered so that a parent stands before its children."""
    depth = np.zeros(len(parent), dtype=np.int64)
    for j in range(len(parent)):
        node = parent[j]
        while node >= 0:
            depth[j] += 1
            node = parent[node]
    return [int(j) for j in np.argsort(depth, kind="stable")]
