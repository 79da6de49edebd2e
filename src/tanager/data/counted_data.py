"""`CountedData`: rows that are gone, but whose counts were kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tanager.data.coded_data import CodedData, RowBlock
from tanager.data.counts import Counts
from tanager.data.pair_counts import PairCounts
from tanager.errors import CapabilityError, InputError
from tanager.model.layout import FamilyLayout
from tanager.model.schema import Schema
from tanager.types import IndexArray


@dataclass(frozen=True, eq=False)
class CountedData:
    """The statistics of a data set, for learners that only count; a `CodedData`.

    Two of them add up to the statistics of both sets of rows, which is what learning in
    portions and merging two fits rest on.

    Parameters
    ----------
    schema : Schema
        The variables, the class last.
    n_samples : int
        Number of rows counted.
    families : Counts
        Counts of the families that were asked for, or what an online learner has
        counted in them.
    pairs : PairCounts or None
        Counts of all pairs given the class, where a learner needs them.
    n_jobs : int or None, default=None
        Threads for learners. The result does not depend on it.
    """

    schema: Schema
    n_samples: int
    families: Counts
    pairs: PairCounts | None
    n_jobs: int | None = None

    @classmethod
    def of(
        cls, data: CodedData, families: Sequence[Sequence[int]], *, pairs: bool
    ) -> CountedData:
        """Count the given families, and all pairs if asked for."""
        return cls(
            data.schema,
            data.n_samples,
            data.count(families),
            data.count_pairs() if pairs else None,
            data.n_jobs,
        )

    def __add__(self, other: CountedData) -> CountedData:
        if not isinstance(other, CountedData):
            return NotImplemented
        if self.schema != other.schema:
            raise InputError(
                "Only statistics over the same variables and states can be added; "
                "bring both to one schema with `recoded` first."
            )
        both = self.pairs is not None and other.pairs is not None
        return CountedData(
            self.schema,
            self.n_samples + other.n_samples,
            self.families + other.families,
            self.pairs + other.pairs if both else None,  # type: ignore[operator]
            self.n_jobs,
        )

    def recoded(self, schema: Schema) -> CountedData:
        """The same statistics over a schema whose variables have more states."""
        if schema == self.schema:
            return self
        # A state that is no more stood for "nothing seen yet" and was never counted.
        positions = [
            np.array([new.code_by_state.get(s, -1) for s in old.states], dtype=np.intp)
            for old, new in zip(self.schema, schema, strict=True)
        ]
        states = schema.n_states.tolist()
        return CountedData(
            schema,
            self.n_samples,
            self.families.recoded(states, positions),
            None
            if self.pairs is None
            else self.pairs.recoded(states[:-1], schema.n_classes, positions),
            self.n_jobs,
        )

    def count(self, families: Sequence[Sequence[int]]) -> Counts:
        """Counts of families that were counted, or of a pair and the class."""
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
                    f"The counts over {names} were not kept, so the rows themselves "
                    "are needed: call fit with all rows."
                )
        return counts

    def count_pairs(self, first: int = 0, last: int | None = None) -> PairCounts:
        """Counts of all pairs given the class, if they were kept."""
        if self.pairs is None or first != 0 or last not in (None, len(self.schema) - 1):
            raise CapabilityError("The counts of pairs were not kept: call fit.")
        return self.pairs

    def blocks(self) -> Iterator[RowBlock]:
        """Not possible: the rows are gone."""
        raise CapabilityError(
            "This learner needs the rows themselves, but only counts were kept. "
            "Call fit with all rows instead of partial_fit."
        )

    def split(
        self, folds: Sequence[IndexArray]
    ) -> Iterator[tuple[CodedData, CodedData]]:
        """Not possible: the rows are gone."""
        raise CapabilityError(
            f"Rows cannot be split into {len(folds)} folds: only counts were kept."
        )
