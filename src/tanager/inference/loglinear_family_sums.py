"""`FamilySum`: sums over a log-linear family without writing out its CPT."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tanager.model.layout import FamilyLayout, along
from tanager.types import FloatArray

TINY = 1e-200
"""Values below this, or above its inverse, are left to the kernels in log space."""


@dataclass(frozen=True, eq=False)
class FamilySum:
    """The log tables of the log-linear family of `variable`, their owner, as one sum.

    `outer` are the members of the family without the owner and the class, in the order
    of axes of the results.

    The sum over the owner's states x of ``exp(A(a, x) + B(b, x))`` is a product of two
    matrices for every class, which needs no more exponentials than the tables have
    cells. It applies if the tables with the owner form two groups without another
    common member, as pairs do. Otherwise, and where products come near the smallest
    float, kernels visit one configuration after the other.
    """

    layout: FamilyLayout
    variable: int
    outer: tuple[int, ...]

    @classmethod
    def of(cls, layout: FamilyLayout, variable: int) -> FamilySum:
        """The tables of a variable, with members in the order of their first table."""
        tables = layout.tables_of(variable)
        found = dict.fromkeys(v for t in tables for v in layout.axes[t])
        outer = tuple(v for v in found if v not in (variable, layout.target))
        return cls(layout, variable, outer)

    @property
    def n_states(self) -> int:
        """States of the owner."""
        return self.layout.n_states[self.variable]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """States of the other members, then of the class, 1 where no table has it."""
        states = self.layout.n_states
        axes = [self.layout.axes[t] for t in self.layout.tables_of(self.variable)]
        with_class = any(self._class in own for own in axes)
        return (
            *(states[v] for v in self.outer),
            states[self._class] if with_class else 1,
        )

    @cached_property
    def _class(self) -> int:
        """The class where it is a parent, otherwise -1."""
        target = self.layout.target
        return -1 if target is None or target == self.variable else target

    def log_sums(self, values: FloatArray) -> FloatArray:
        """Log of the sum over the owner's states, of shape `shape`.

        `values` (layout.n_cells,) are log tables, normalised or not.
        """
        if self._groups is not None:
            with np.errstate(over="ignore", invalid="ignore"):  # any values
                found = self._sum_products(values)
            if found is not None:
                return found
        from tanager.inference import _loglinear_family_kernels

        out = np.empty((int(np.prod(self.shape[:-1])), self.shape[-1]))
        _loglinear_family_kernels.log_sums(values, *self._compiled, out)
        return out.reshape(self.shape)

    def add_joint(
        self, log_theta: FloatArray, above: FloatArray, out: FloatArray
    ) -> None:
        """Add the marginals of every table's members to its cells in `out`.

        `log_theta` (layout.n_cells,) are log tables of a normalised family, `above`, of
        shape `shape`, the joint probability of the members without the owner.
        """
        if self._groups is not None and self._add_products(log_theta, above, out):
            return
        from tanager.inference import _loglinear_family_kernels

        rows = np.ascontiguousarray(above).reshape(-1, self.shape[-1])
        _loglinear_family_kernels.add_joint(log_theta, rows, *self._compiled, out)

    @cached_property
    def _groups(self) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """Tables with the owner in two groups without another common member.

        None if there are no such groups, or if a member is in neither.
        """
        layout = self.layout
        tables = layout.tables_of(self.variable)
        own = [t for t in tables if self.variable in layout.axes[t]]
        widest = max(own, key=layout.sizes.__getitem__)
        rest = tuple(t for t in own if t != widest)
        others = {v for t in rest for v in layout.axes[t]}
        shared = others.intersection(layout.axes[widest]) - {self.variable, self._class}
        if shared or not others.union(layout.axes[widest]).issuperset(self.outer):
            return None
        return (widest,), rest

    def _sum_products(self, values: FloatArray) -> FloatArray | None:
        """`log_sums` by matrix products; None if a value is too small or NaN."""
        assert self._groups is not None
        first, second = (self._group(values, group) for group in self._groups)
        mass = np.matmul(first.factor, second.factor.swapaxes(1, 2))
        if not (mass > TINY).all():
            return None
        logs = np.log(mass) + first.highest[:, :, None] + second.highest[:, None, :]
        return self._outer_last(logs, first, second) + self._given(values)

    def _group(self, values: FloatArray, tables: tuple[int, ...]) -> _Group:
        """The product of some tables, every row divided by its maximum."""
        layout = self.layout
        scope = tuple(v for v in self.outer if any(v in layout.axes[t] for t in tables))
        axes = (self._class, *scope, self.variable)
        logs = np.zeros([1, *(layout.n_states[v] for v in axes[1:])])
        for t in tables:
            logs = logs + along(layout.table(values, t), layout.axes[t], axes)
        highest = logs.max(axis=-1, keepdims=True)
        highest[~np.isfinite(highest)] = 0.0
        factor = np.exp(logs - highest)
        shape = (len(factor), -1, self.n_states)
        return _Group(tables, scope, factor.reshape(shape), highest.reshape(shape[:2]))

    def _outer_last(
        self, table: FloatArray, first: _Group, second: _Group
    ) -> FloatArray:
        """A table over (class, members of both groups) with the axes of `shape`."""
        states = self.layout.n_states
        scope = (*first.scope, *second.scope)
        spread = table.reshape(len(table), *(states[v] for v in scope))
        return along(spread, (self._class, *scope), (*self.outer, self._class))

    def _given(self, values: FloatArray) -> FloatArray:
        """Sum of the tables without the owner, of shape `shape`."""
        layout = self.layout
        axes = (*self.outer, self._class)
        total = np.zeros(self.shape)
        for t in layout.tables_of(self.variable):
            if self.variable not in layout.axes[t]:
                total += along(layout.table(values, t), layout.axes[t], axes)
        return total

    def _add_products(
        self, log_theta: FloatArray, above: FloatArray, out: FloatArray
    ) -> bool:
        """`add_joint` by matrix products; False, without adding, on overflow."""
        assert self._groups is not None
        layout = self.layout
        first, second = (self._group(log_theta, group) for group in self._groups)
        highest = first.highest[:, :, None] + second.highest[:, None, :]
        logs = self._outer_last(highest, first, second) + self._given(log_theta)
        with np.errstate(over="ignore"):
            scale = np.exp(logs)
        if not (scale < 1 / TINY).all():
            return False
        axes = (self._class, *first.scope, *second.scope)
        weight = along(above * scale, (*self.outer, self._class), axes)
        weight = weight.reshape(len(weight), first.factor.shape[1], -1)
        for one, other, by_one in (
            (first, second, weight),
            (second, first, weight.swapaxes(1, 2)),
        ):
            joint = one.factor * np.matmul(by_one, other.factor)
            names = (self._class, *one.scope, self.variable)
            joint = joint.reshape(len(joint), *(layout.n_states[v] for v in names[1:]))
            for t in one.tables:
                self._add_marginal(joint, names, t, out)
        for t in layout.tables_of(self.variable):
            if self.variable not in layout.axes[t]:
                self._add_marginal(above, (*self.outer, self._class), t, out)
        return True

    def _add_marginal(
        self, joint: FloatArray, names: tuple[int, ...], index: int, out: FloatArray
    ) -> None:
        """Add the marginals of `joint`, over the variables `names`, to one table."""
        own = self.layout.axes[index]
        gone = tuple(place for place, v in enumerate(names) if v not in own)
        left = tuple(v for v in names if v in own)
        # A factor without the class applies to every class.
        table = self.layout.table(out, index)
        table += along(joint.sum(axis=gone), left, own)

    @cached_property
    def _compiled(self) -> tuple[object, ...]:
        layout = self.layout
        tables = layout.tables_of(self.variable)
        members = (*self.outer, self.variable, self._class)
        steps = np.zeros((len(tables), len(members)), dtype=np.int64)
        for row, t in enumerate(tables):
            stride = 1
            for v in reversed(layout.axes[t]):
                steps[row, members.index(v)] = stride
                stride *= layout.n_states[v]
        return (
            layout.offsets[list(tables)],
            np.ascontiguousarray(steps[:, : len(self.outer)]),
            np.ascontiguousarray(steps[:, -2]),
            np.ascontiguousarray(steps[:, -1]),
            np.array(self.shape[:-1], dtype=np.int64),
            self.n_states,
        )


@dataclass(frozen=True, eq=False)
class _Group:
    """Tables as one factor (n_inner, n_configurations, n_states), and row maxima."""

    tables: tuple[int, ...]
    scope: tuple[int, ...]
    factor: FloatArray
    highest: FloatArray
