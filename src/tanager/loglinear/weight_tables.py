"""Which tables of log-linear weights a network's families have."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tanager.model.layout import FamilyLayout
from tanager.types import FloatArray


@dataclass(frozen=True, eq=False)
class WeightTables:
    """Tables of weights, and the tables of families that they add up to.

    Parameters
    ----------
    families : FamilyLayout
        One table per family, with axes (feature parents..., owner, class).
    tables : FamilyLayout
        The tables of weights; a feature's table is the sum of those it owns.

    Examples
    --------
    Two parents and no interaction of three features:

    >>> families = FamilyLayout.of_families(
    ...     (2, 3, 2, 2), ((3, 0), (3, 0, 1), (3, 0, 1, 2), (3,)), 3
    ... )
    >>> WeightTables.of(families, 2).tables.axes
    ((0, 3), (0, 1, 3), (0, 2, 3), (1, 2, 3), (3,))
    """

    families: FamilyLayout
    tables: FamilyLayout

    @classmethod
    def of(cls, families: FamilyLayout, interactions: int | None) -> WeightTables:
        """The tables of weights, none of them over more features than given.

        A family of more features has one table for every choice of that many, itself
        among them; other families have one over all of their features. None: every
        family has one.
        """
        axes: list[tuple[int, ...]] = []
        owners: list[int] = []
        for members, owner in zip(families.axes, families.owners, strict=True):
            features = [v for v in members if v != families.target]
            choices = [features]
            if interactions is not None and len(features) > interactions:
                parents = [v for v in features if v != owner]
                choices = [
                    [*chosen, owner]
                    for chosen in combinations(parents, interactions - 1)
                ]
            for chosen in choices:
                axes.append(
                    tuple(v for v in members if v in chosen or v == families.target)
                )
                owners.append(owner)
        if tuple(axes) == families.axes:
            return cls(families, families)
        tables = FamilyLayout(
            families.n_states, tuple(axes), tuple(owners), families.target
        )
        return cls(families, tables)

    def stay_sums(self, full_cells: int) -> bool:
        """Whether some family that is a sum would have more cells than given."""
        if self.tables is self.families:
            return False
        parts = np.bincount(self.tables.owners, minlength=len(self.families.n_states))
        return any(
            parts[owner] > 1 and size > full_cells
            for owner, size in zip(
                self.families.owners, self.families.sizes, strict=True
            )
        )

    def added_up(self, weights: FloatArray) -> FloatArray:
        """Weights of the families from those of the tables."""
        if self.tables is self.families:
            return weights
        table_of = {owner: t for t, owner in enumerate(self.families.owners)}
        added = np.zeros(self.families.n_cells)
        for t, owner in enumerate(self.tables.owners):
            whole = table_of[owner]
            table = self.families.table(added, whole)
            table += self.tables.table(weights, t).reshape(self._within(t, whole))
        return added

    def taken_apart(self, weights: FloatArray) -> FloatArray:
        """Weights of the tables from those of the families.

        The sum is exact where the families' weights are such sums, and else what is
        nearest to them.
        """
        if self.tables is self.families:
            return weights
        table_of = {owner: t for t, owner in enumerate(self.families.owners)}
        rest = weights.copy()
        apart = np.empty(self.tables.n_cells)
        for t, owner in enumerate(self.tables.owners):
            whole = table_of[owner]
            table = self.families.table(rest, whole)
            within = self._within(t, whole)
            gone = tuple(
                k
                for k, v in enumerate(self.families.axes[whole])
                if v not in self.tables.axes[t]
            )
            mean = table.mean(axis=gone)
            self.tables.table(apart, t)[...] = mean
            table -= mean.reshape(within)
        return apart

    def _within(self, table: int, family: int) -> tuple[int, ...]:
        """Shape of a table of weights among the axes of a family."""
        return tuple(
            self.families.n_states[v] if v in self.tables.axes[table] else 1
            for v in self.families.axes[family]
        )
