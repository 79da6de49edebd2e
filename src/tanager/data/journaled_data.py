"""`JournaledData`: samples whose statistics are kept in a file, to resume a fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from tanager.data.coded_data import ArrayData, CodedData, RowBlock
from tanager.data.partition_values import Placed
from tanager.data.partitioned_data import (
    LocalPartitions,
    PartitionedData,
    same_part,
    take_ranks,
)
from tanager.data.round_journal import RoundJournal
from tanager.types import IndexArray
from tanager.utils.fingerprint import checksum

State = TypeVar("State")
Result = TypeVar("Result")

SAMPLES = (take_ranks,)
"""Functions whose results are samples: these are read again, not kept."""


class JournaledData(PartitionedData):
    """Samples whose statistics come from a journal as far as it goes; a `CodedData`.

    Parameters
    ----------
    source : ArrayData or PartitionedData
        The samples.
    journal : RoundJournal
        Where statistics are kept.

    Notes
    -----
    Values that are kept with the samples are made, and their updates carried out, when
    the first statistic is needed that is not in the journal. `n_jobs` is one, so that
    rounds come in a fixed order; the work on the samples has the threads of `source`.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from tanager.model import Schema, Variable
    >>> schema = Schema((Variable("x", ("a", "b")), Variable("y", (0, 1))), target=1)
    >>> codes = np.asfortranarray([[0], [1]], dtype=np.uint8)
    >>> data = ArrayData(schema, codes, np.array([0, 1]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for _ in range(2):
    ...         with RoundJournal(f"{folder}/fit.rounds", {}) as journal:
    ...             table = JournaledData(data, journal).count([(1, 0)]).table(0)
    ...             print(table.tolist(), journal.n_recalled, journal.n_written)
    [[1.0, 0.0], [0.0, 1.0]] 0 1
    [[1.0, 0.0], [0.0, 1.0]] 1 0
    """

    def __init__(
        self, source: ArrayData | PartitionedData, journal: RoundJournal
    ) -> None:
        self.schema = source.schema
        self.n_jobs = 1
        self._journal = journal
        self._rows = source if isinstance(source, ArrayData) else None
        if isinstance(source, ArrayData):
            source = LocalPartitions([source], source.n_jobs)
        self._source = source

    def place(
        self,
        make: Callable[..., State],
        *arguments: Any,
        each: Sequence[Any] | None = None,
    ) -> Placed[State]:
        """Keep a value with every part; see `CodedData.place`."""
        return _JournaledPlaced(
            self._journal, lambda: self._source.place(make, *arguments, each=each)
        )

    def recall(self, name: str, compute: Callable[[], Result]) -> Result:
        """The result of a computation, from the journal as far as it goes."""
        return self._journal.recall(name, compute)

    def gather(self, ranks: Sequence[IndexArray] | None = None) -> ArrayData:
        """Gather rows in this process; see `PartitionedData.gather`."""
        return self._source.gather(ranks)

    def blocks(self) -> Iterator[RowBlock]:
        """The rows in order, if they are in one place."""
        return super().blocks() if self._rows is None else self._rows.blocks()

    def all_rows(self) -> RowBlock:
        """All rows as one block, if they are in one place."""
        return super().all_rows() if self._rows is None else self._rows.all_rows()

    def split(
        self, folds: Sequence[IndexArray]
    ) -> Iterator[tuple[CodedData, CodedData]]:
        """Split rows that are in one place; their statistics are not kept."""
        if self._rows is None:
            return super().split(folds)
        return self._rows.split(folds)


class _JournaledPlaced(Placed[State]):
    """Values with the parts of other data, and the statistics of them in a journal."""

    def __init__(
        self, journal: RoundJournal, make: Callable[[], Placed[State]]
    ) -> None:
        self._journal = journal
        self._make = make
        self._placed: Placed[State] | None = None
        self._updates: list[tuple[Callable[..., State], tuple[Any, ...]]] = []

    def update(self, function: Callable[..., State], *arguments: Any) -> None:
        """Replace every value before the next call; see `Placed.update`."""
        if self._placed is None:
            self._updates.append((function, arguments))
        else:
            self._placed.update(function, *arguments)

    def collect(
        self,
        function: Callable[..., Result],
        *arguments: Any,
        each: Sequence[Any] | None = None,
    ) -> list[Result]:
        """Call a function for every part; see `Placed.collect`."""
        if function in SAMPLES:
            return self._values().collect(function, *arguments, each=each)
        return self._journal.recall(
            f"collect {_name(function)}",
            lambda: self._values().collect(function, *arguments, each=each),
        )

    def sum(
        self,
        function: Callable[..., Result],
        *arguments: Any,
        each: Sequence[Any] | None = None,
    ) -> Result:
        """Add the results of all parts; see `Placed.sum`."""
        return self._journal.recall(
            f"sum {_name(function)}",
            lambda: self._values().sum(function, *arguments, each=each),
        )

    def fold(
        self, function: Callable[..., Result], start: Result, *arguments: Any
    ) -> Result:
        """Hand a result from part to part; see `Placed.fold`."""
        return self._journal.recall(
            f"fold {_name(function)}",
            lambda: self._values().fold(function, start, *arguments),
        )

    def _values(self) -> Placed[State]:
        """The values, up to date."""
        if self._placed is None:
            self._placed = self._make()
            for function, arguments in self._updates:
                self._placed.update(function, *arguments)
            self._updates.clear()
        return self._placed


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__qualname__", type(function).__qualname__)


def samples_checksum(data: ArrayData | PartitionedData) -> str | list[str]:
    """A hash of codes, labels and weights; one for every part of data in parts."""
    if isinstance(data, ArrayData):
        return _part_checksum(data)
    return data.place(same_part).collect(_part_checksum)


def _part_checksum(part: ArrayData) -> str:
    return checksum(part.codes, part.labels, part.weights)
