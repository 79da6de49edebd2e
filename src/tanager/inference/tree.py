"""Incomplete rows of a forest: exact sums over the missing features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tanager.core.errors import CapabilityError
from tanager.core.layout import FamilyLayout
from tanager.core.parameters import Parameters
from tanager.core.schema import CodeArray
from tanager.inference.complete import ScoreTables


def is_forest(layout: FamilyLayout) -> bool:
    """Whether the class is a root and every feature has at most one feature parent."""
    return layout.target is not None and all(
        axes == (layout.target,)
        if owner == layout.target
        else len([v for v in axes if v != layout.target]) <= 2
        for owner, axes in zip(layout.owners, layout.axes, strict=True)
    )


@dataclass(frozen=True, eq=False)
class TreeTables:
    """A forest compiled for rows with missing features.

    Notes
    -----
    A row's log joint is the sum of two parts. The first adds, for every feature that is
    observed together with its parent, its table's cell: that is the kernel for complete
    rows on tables with one more state per axis, whose cells are 0. The second part sums
    over missing features that have children (METHODS: message passing from the leaves
    to the roots, barren leaves dropped); features without children need nothing.
    """

    padded: ScoreTables
    theta: npt.NDArray[np.float64]
    log_theta: npt.NDArray[np.float64]
    offsets: npt.NDArray[np.int64]
    n_states: npt.NDArray[np.int64]
    n_classes: int
    parent: npt.NDArray[np.int64]
    inner: npt.NDArray[np.int64]
    child_start: npt.NDArray[np.int64]
    child: npt.NDArray[np.int64]

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
        n_classes = layout.n_states[layout.target]
        parent = np.full(n_variables, -1, dtype=np.int64)
        offsets = np.zeros(n_variables, dtype=np.int64)
        tables: list[npt.NDArray[np.float64]] = []
        cells = 0
        for index, owner in enumerate(layout.owners):
            if owner == layout.target:
                continue
            table, up = _parent_first(parameters, index)
            parent[owner] = -1 if up is None else up
            offsets[owner] = cells
            cells += table.size
            tables.append(table.ravel())
        log_theta = np.concatenate(tables) if tables else np.empty(0)
        order = _children_last(parent)
        children = [np.flatnonzero(parent == j) for j in range(n_variables)]
        inner = [j for j in reversed(order) if len(children[j])]
        return cls(
            _padded_tables(parameters),
            np.exp(log_theta),
            log_theta,
            offsets,
            np.array(layout.n_states, dtype=np.int64),
            n_classes,
            parent,
            np.array(inner, dtype=np.int64),
            np.cumsum([0, *(len(c) for c in children)], dtype=np.int64),
            np.concatenate(children).astype(np.int64),
        )

    def log_joint(self, codes: CodeArray) -> npt.NDArray[np.float64]:
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
        shape = (
            self.offsets, self.n_states, self.n_classes, self.parent, self.inner,
            self.child_start, self.child,
        )  # fmt: skip
        _kernels.add_missing(codes.T, self.theta, *shape, out, unsafe)
        if unsafe.any():
            rows = np.flatnonzero(unsafe)
            again = np.asfortranarray(codes[rows])
            joint = self.padded.log_joint(again)
            _kernels.add_missing_log(again.T, self.log_theta, *shape, joint)
            out[rows] = joint
        return out


def _parent_first(
    parameters: Parameters, index: int
) -> tuple[npt.NDArray[np.float64], int | None]:
    """The log table with axes (parent, owner, class) or (owner, class), the parent."""
    layout = parameters.layout
    owner, axes = layout.owners[index], layout.axes[index]
    table = parameters.log_table(index)
    if layout.target not in axes:
        assert layout.target is not None
        n_classes = layout.n_states[layout.target]
        table = np.repeat(table[..., None], n_classes, axis=-1)
    up = next((v for v in axes if v not in (owner, layout.target)), None)
    if up is not None and axes.index(owner) < axes.index(up):
        table = table.swapaxes(0, 1)
    return table, up


def _padded_tables(parameters: Parameters) -> ScoreTables:
    """The network's tables with one more state per feature, of log probability 0."""
    layout = parameters.layout
    wider = FamilyLayout(
        tuple(
            states if v == layout.target else states + 1
            for v, states in enumerate(layout.n_states)
        ),
        layout.axes,
        layout.owners,
        layout.target,
    )
    values = np.zeros(wider.n_cells)
    for index, shape in enumerate(layout.shapes):
        block = wider.table(values, index)
        block[tuple(slice(size) for size in shape)] = parameters.log_table(index)
    return ScoreTables.of_layout(wider, values)


def _children_last(parent: npt.NDArray[np.int64]) -> list[int]:
    """Variables ordered so that a parent stands before its children."""
    depth = np.zeros(len(parent), dtype=np.int64)
    for j in range(len(parent)):
        node = parent[j]
        while node >= 0:
            depth[j] += 1
            node = parent[node]
    return [int(j) for j in np.argsort(depth, kind="stable")]
