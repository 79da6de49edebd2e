"""`ScoreTables`: the log joint of rows as a sum of table cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from tanager.model.layout import FamilyLayout, Parameters
from tanager.types import CodeArray, FloatArray, IntArray
from tanager.utils import jit

MERGED_CELLS = 256
"""Cells of a merged table: some dozens of them stay in the first-level cache."""


@dataclass(frozen=True, eq=False)
class ScoreTables:
    """Tables whose cells add up to the log joint of a row.

    Tables with the class axis come first, then those without. Every table has at least
    one axis: a table over the class alone gets one with stride 0.

    Small tables are merged beforehand into tables over all their variables, so that a
    row reads one entry instead of several: two features of five states at a time, or
    six binary ones, in a naive Bayes. In log-linear families, a table whose variables
    all belong to another table is added to that one.
    """

    values: FloatArray
    offsets: IntArray
    start: IntArray
    axis_variable: IntArray
    axis_stride: IntArray
    n_class_tables: int
    n_classes: int

    @cached_property
    def _classes(self) -> IntArray:
        return np.arange(self.n_classes)

    @classmethod
    def of_layout(
        cls, layout: FamilyLayout, values: FloatArray, widths: Sequence[int]
    ) -> ScoreTables:
        """Merge small tables of a layout and order them for scoring.

        `widths` are the states of every variable, "missing" included.
        """
        target = layout.target
        # The class table first: it then merges with a feature's.
        with_class = sorted(layout.class_tables, key=lambda t: len(layout.axes[t]) > 1)
        without = [t for t, axes in enumerate(layout.axes) if target not in axes]
        within = group_subsets(layout, with_class)
        merged = group_small(layout, list(within), widths, MERGED_CELLS)
        groups = [[t for lead in group for t in within[lead]] for group in merged]
        groups += [[t] for t in without]
        joint = merge_groups(layout, groups, layout.n_states)
        tables = [
            layout.sum_tables(values, group, axes).ravel()
            for group, axes in zip(groups, joint.axes, strict=True)
        ]
        compiled = joint.compiled
        # The class alone: any feature column will do under stride 0.
        bare = np.flatnonzero(np.diff(compiled.start) == 0)
        at = compiled.start[bare]
        some_feature = next((v for axes in layout.axes for v in axes if v != target), 0)
        return cls(
            np.concatenate(tables),
            compiled.offsets,
            compiled.start + np.searchsorted(bare, np.arange(len(groups) + 1)),
            np.insert(compiled.axis_variable, at, some_feature),
            np.insert(compiled.axis_stride, at, 0),
            len(groups) - len(without),
            compiled.n_classes,
        )

    @classmethod
    def of(cls, parameters: Parameters) -> ScoreTables:
        """The tables of a network, for complete rows."""
        layout = parameters.layout
        return cls.of_layout(layout, parameters.log_theta, padded_states(layout))

    @classmethod
    def of_incomplete(cls, parameters: Parameters) -> ScoreTables:
        """The same for incomplete rows: families with a missing member add 0."""
        padded = PaddedLayout.of(parameters.layout)
        values = padded.pad(parameters.log_theta)
        return cls.of_layout(padded.layout, values, padded.layout.n_states)

    def log_joint(self, codes: CodeArray) -> FloatArray:
        """Log joint of every row of `codes`, Fortran order: (n_rows, n_classes)."""
        n_rows = codes.shape[0]
        if n_rows * len(self.offsets) * self.n_classes > jit.SMALL_WORK:
            from tanager.inference import _kernels

            out = np.empty((n_rows, self.n_classes))
            _kernels.add_tables(
                codes.T, self.values, self.offsets, self.start, self.axis_variable,
                self.axis_stride, self.n_class_tables, self.n_classes, out,
            )  # fmt: skip
            return out
        # NumPy adds in the order of the kernel, so the bits are equal.
        steps = codes[:, self.axis_variable].astype(np.int64) * self.axis_stride
        cells = np.add.reduceat(steps, self.start[:-1], axis=1) + self.offsets
        if len(codes) == 1 and self.n_class_tables == len(self.offsets):
            # One row: all tables at once. accumulate, unlike sum, adds in order.
            touched = self.values[cells[0, :, None] + self._classes]
            return np.add.accumulate(touched, axis=0)[-1:]
        out = np.zeros((n_rows, self.n_classes))
        for cell in cells[:, : self.n_class_tables].T:
            out += self.values[cell[:, None] + self._classes]
        if self.n_class_tables < len(self.offsets):
            shared = np.zeros(n_rows)
            for cell in cells[:, self.n_class_tables :].T:
                shared += self.values[cell]
            out += shared[:, None]
        return out


def merge_groups(
    layout: FamilyLayout, groups: Sequence[Sequence[int]], n_states: Sequence[int]
) -> FamilyLayout:
    """One table for each group of tables, over all of their variables, class last."""
    target = layout.target
    scopes = [{v for t in group for v in layout.axes[t]} for group in groups]
    axes = tuple(tuple(sorted(s, key=lambda v: (v == target, v))) for s in scopes)
    owners = tuple(layout.owners[group[0]] for group in groups)
    return FamilyLayout(tuple(n_states), axes, owners, target)


def padded_states(layout: FamilyLayout) -> tuple[int, ...]:
    """States of every variable, and one more for "missing" of every feature."""
    return tuple(
        states if v == layout.target else states + 1
        for v, states in enumerate(layout.n_states)
    )


@dataclass(frozen=True, eq=False)
class PaddedLayout:
    """A layout with one more state, "missing", for every feature.

    ``cells`` are the cells of `layout`, the padded one, that are cells of the original,
    in the order of these.
    """

    layout: FamilyLayout
    cells: IntArray

    @classmethod
    def of(cls, layout: FamilyLayout) -> PaddedLayout:
        """Pad every table of a layout."""
        states = padded_states(layout)
        padded = FamilyLayout(states, layout.axes, layout.owners, layout.target)
        every = np.split(np.arange(padded.n_cells), padded.offsets[1:])
        cells = [
            own.reshape(padded.shapes[t])[tuple(map(slice, layout.shapes[t]))].ravel()
            for t, own in enumerate(every)
        ]
        return cls(padded, np.concatenate(cells))

    def pad(self, values: FloatArray) -> FloatArray:
        """Values of all padded cells, shape (layout.n_cells,): 0 for "missing"."""
        padded = np.zeros(self.layout.n_cells)
        padded[self.cells] = values
        return padded


def group_subsets(layout: FamilyLayout, tables: Sequence[int]) -> dict[int, list[int]]:
    """Group tables by the one that has all of their variables, itself first.

    Without log-linear families every table stays by itself: only the first few families
    of a k-tree lie within others.
    """
    if len(set(layout.owners)) == layout.n_tables:
        return {t: [t] for t in tables}
    scopes = {t: set(layout.axes[t]) - {layout.target} for t in tables}
    holding: dict[int, list[int]] = {}
    lead: dict[int, int] = {}
    for t in sorted(tables, key=lambda t: -len(scopes[t])):
        candidates = holding.get(min(scopes[t], default=-1), [])
        lead[t] = next((u for u in candidates if scopes[t] <= scopes[u]), t)
        if lead[t] == t:
            for v in scopes[t]:
                holding.setdefault(v, []).append(t)
    groups: dict[int, list[int]] = {t: [t] for t in tables if lead[t] == t}
    for t in tables:
        if lead[t] != t:
            groups[lead[t]].append(t)
    return groups


def group_small(
    layout: FamilyLayout, tables: list[int], widths: Sequence[int], max_cells: int
) -> list[list[int]]:
    """Group consecutive tables whose joint table stays within `max_cells`.

    The cells are counted by `widths`, which include "missing": complete and incomplete
    rows are scored by the same groups, so no row's bits depend on the others.
    """
    groups: list[list[int]] = []
    scope: set[int] = set()
    for t in tables:
        scope = scope.union(layout.axes[t])
        if groups and prod(widths[v] for v in scope) <= max_cells:
            groups[-1].append(t)
        else:
            groups.append([t])
            scope = set(layout.axes[t])
    return groups
