"""`Counts` and `CountedData`: counts of families, and all counts of a dataset."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tanager.data.pair_counts import PairCounts, move_cells
from tanager.errors import CapabilityError, InputError
from tanager.model.layout import FamilyLayout
from tanager.model.schema import Schema
from tanager.types import FloatArray, IndexArray

if TYPE_CHECKING:
    from tanager.data.coded_data import CodedData, RowBlock


@dataclass(frozen=True, eq=False)
class Counts:
    """Weighted counts of every table of a layout.

    Parameters
    ----------
    layout : FamilyLayout
        The tables.
    values : ndarray of float64, shape (layout.n_cells,)
        The counts, one table after the other.

    Examples
    --------
    >>> layout = FamilyLayout.of_families((2,), ((0,),), None)
    >>> one = Counts(layout, np.array([3.0, 1.0]))
    >>> (one + one).values.tolist()
    [6.0, 2.0]
    """

    layout: FamilyLayout
    values: FloatArray

    def __add__(self, other: Counts) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        if self.layout != other.layout:
            raise InputError(
                "Only counts of the same families over the same states can be added; "
                "bring both to one schema first."
            )
        return Counts(self.layout, self.values + other.values)

    def table(self, index: int) -> FloatArray:
        """Counts of table `index`, axes in memory order."""
        return self.layout.table(self.values, index)

    def recode(
        self, n_states: Sequence[int], positions: Sequence[IndexArray]
    ) -> Counts:
        """Move the counts to a schema with more states.

        For every variable `n_states` is the new number of states and `positions` has
        the new code of each of its old states, -1 for one that is dropped.
        """
        old = self.layout
        layout = FamilyLayout(
            tuple(int(r) for r in n_states), old.axes, old.owners, old.target
        )
        moved = Counts(layout, np.zeros(layout.n_cells))
        for index, axes in enumerate(layout.axes):
            move_cells(
                self.table(index), moved.table(index), [positions[v] for v in axes]
            )
        return moved


@dataclass(frozen=True, eq=False)
class CountedData:
    """The counts of a dataset, for learners that only count; a `CodedData`.

    Two of them add up to the counts of both datasets: incremental learning and merging
    of two fits rely on it.

    Parameters
    ----------
    schema : Schema
        The variables, the class last.
    n_samples : int
        Number of samples counted.
    families : Counts
        Counts of the families that a learner needs, or those of an online learner.
    pairs : PairCounts or None
        Counts of all pairs given the class, if a learner needs them.
    n_jobs : int or None, default=None
        Number of threads for learners. The result does not depend on it.
    """

    schema: Schema
    n_samples: int
    families: Counts
    pairs: PairCounts | None
    n_jobs: int | None = None

    def __add__(self, other: CountedData) -> CountedData:
        if not isinstance(other, CountedData):
            return NotImplemented
        if self.schema != other.schema:
            raise InputError(
                "Only counts over the same variables and states can be added; "
                "bring both to one schema with `recode` first."
            )
        both = self.pairs is not None and other.pairs is not None
        return CountedData(
            self.schema,
            self.n_samples + other.n_samples,
            self.families + other.families,
            self.pairs + other.pairs if both else None,  # type: ignore[operator]
            self.n_jobs,
        )

    def recode(self, schema: Schema) -> CountedData:
        """Move the counts to a schema whose variables have more states."""
        if schema == self.schema:
            return self
        # A state that is dropped stood for "no value yet" and was never counted.
        positions = [
            np.array([new.code_by_state.get(s, -1) for s in old.states], dtype=np.intp)
            for old, new in zip(self.schema, schema, strict=True)
        ]
        states = schema.n_states.tolist()
        return CountedData(
            schema,
            self.n_samples,
            self.families.recode(states, positions),
            None
            if self.pairs is None
            else self.pairs.recode(states[:-1], schema.n_classes, positions),
            self.n_jobs,
        )

    def count(self, families: Sequence[Sequence[int]]) -> Counts:
        """Return counts of families that were kept, or of a pair and the class."""
        layout = FamilyLayout.of_families(
            self.schema.n_states.tolist(), families, self.schema.target
        )
        kept = {axes: i for i, axes in enumerate(self.families.layout.axes)}
        counts = Counts(layout, np.zeros(layout.n_cells))
        for index, axes in enumerate(layout.axes):
            if axes in kept:
                counts.table(index)[...] = self.families.table(kept[axes])
            elif (
                self.pairs is not None
                and len(axes) == 3
                and axes[-1] == self.schema.target
            ):
                counts.table(index)[...] = self.pairs.table(axes[0], axes[1])
            else:
                names = [self.schema[v].name for v in axes]
                raise CapabilityError(
                    f"The counts over {names} were not kept, so the samples are "
                    "needed: call fit with all samples."
                )
        return counts

    def count_pairs(self, first: int = 0, last: int | None = None) -> PairCounts:
        """Return the counts of all pairs given the class, if they were kept."""
        if self.pairs is None or first != 0 or last not in (None, len(self.schema) - 1):
            raise CapabilityError("The counts of pairs were not kept: call fit.")
        return self.pairs

    def blocks(self) -> Iterator[RowBlock]:
        """Raise: the samples were not kept."""
        raise CapabilityError(
            "This learner needs the samples, but only counts were kept. "
            "Call fit with all samples instead of partial_fit."
        )

    def split(
        self, folds: Sequence[IndexArray]
    ) -> Iterator[tuple[CodedData, CodedData]]:
        """Raise: the samples were not kept."""
        raise CapabilityError(
            f"Samples cannot be split into {len(folds)} folds: only counts were kept."
        )
