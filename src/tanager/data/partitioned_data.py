"""`PartitionedData`: coded samples in parts, here or in other processes."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np

from tanager.data.coded_data import ArrayData, CodedData, RowBlock
from tanager.data.counts import Counts, PairCounts
from tanager.data.folds import (
    class_ranks,
    count_codes,
    fold_count,
    rows_of_ranks,
    subsample_ranks,
)
from tanager.data.partition_values import LocalPlaced, Placed
from tanager.errors import CapabilityError
from tanager.model.schema import Schema
from tanager.types import BoolArray, IndexArray, IntArray

State = TypeVar("State")
Result = TypeVar("Result")


class PartitionedData(metaclass=ABCMeta):
    """Coded samples in several parts, each an `ArrayData`; a `CodedData`.

    Only statistics of the parts come together. A subclass says how values are placed
    with the parts.
    """

    schema: Schema
    n_jobs: int | None
    in_parts: ClassVar[bool] = True

    @abstractmethod
    def place(
        self,
        make: Callable[..., State],
        *arguments: Any,
        each: Sequence[Any] | None = None,
    ) -> Placed[State]:
        """Keep ``make(part, *arguments)`` with every part; see `CodedData.place`."""

    def recall(self, name: str, compute: Callable[[], Result]) -> Result:  # noqa: ARG002
        """Compute a result, as none is kept; see `CodedData.recall`."""
        return compute()

    @cached_property
    def _parts(self) -> Placed[ArrayData]:
        return self.place(same_part)

    @cached_property
    def _class_counts(self) -> list[IntArray]:
        return self._parts.collect(count_labels)

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(sum(counts.sum() for counts in self._class_counts))

    def class_starts(self, counts: Sequence[IntArray]) -> list[IntArray]:
        """For every part, how many samples of each class the parts before it have."""
        return list(np.cumsum([np.zeros_like(counts[0]), *counts[:-1]], axis=0))

    def count(self, families: Sequence[Sequence[int]]) -> Counts:
        """Weighted counts of every family, over rows where all of it is observed."""
        return self._parts.sum(ArrayData.count, [tuple(f) for f in families])

    def count_pairs(self, first: int = 0, last: int | None = None) -> PairCounts:
        """Counts of pairs (i, j) given the class, first <= i < last, i < j."""
        return self._parts.sum(ArrayData.count_pairs, first, last)

    def blocks(self) -> Iterator[RowBlock]:
        """Raise: the rows are not in one place."""
        raise _no_rows_error()

    def all_rows(self) -> RowBlock:
        """Raise: the rows are not in one place."""
        raise _no_rows_error()

    def split(
        self, folds: Sequence[IndexArray]
    ) -> Iterator[tuple[CodedData, CodedData]]:
        """Raise: rows in parts have no numbers; see `stratified_split`."""
        raise CapabilityError(
            f"Samples in parts cannot be split into {len(folds)} folds by their "
            "numbers. Split them before they are distributed."
        )

    def stratified_split(self, n_folds: int) -> list[tuple[CodedData, CodedData]]:
        """For every fold the other rows and its own; see `CodedData`."""
        counts = self._class_counts
        total = np.sum(counts, axis=0)
        starts = self.class_starts(counts)
        n_folds = fold_count(total, self.schema.n_classes, n_folds)
        return [
            (
                _SelectedRows(self, _FoldRows(total, n_folds, fold, False), starts),
                _SelectedRows(self, _FoldRows(total, n_folds, fold, True), starts),
            )
            for fold in range(n_folds)
        ]

    def stratified_sample(self, n_rows: int) -> ArrayData:
        """Gather at most about so many rows in this process; see `CodedData`."""
        counts = self._class_counts
        total = np.sum(counts, axis=0)
        ranks = None if total.sum() <= n_rows else subsample_ranks(total, n_rows)
        return self.gather(ranks)

    def gather(self, ranks: Sequence[IndexArray] | None = None) -> ArrayData:
        """Gather rows in this process, in their order.

        `ranks` are the numbers of the rows among those of their class, ascending, for
        every class and for the unlabelled; None is all rows.
        """
        starts = self.class_starts(self._class_counts)
        own = [_ranks_of_part(ranks, s, c) for s, c in zip(
            starts, self._class_counts, strict=True
        )]  # fmt: skip
        parts = self._parts.collect(take_ranks, each=own)
        return join_parts(self.schema, parts, self.n_jobs)


class LocalPartitions(PartitionedData):
    """Parts in the memory of this process.

    Parameters
    ----------
    parts : sequence of ArrayData
        The parts, of one schema; some may be empty.
    n_jobs : int or None, default=None
        Number of threads over the parts. The result does not depend on it.

    Examples
    --------
    >>> from tanager.model import Variable
    >>> schema = Schema((Variable("x", ("a", "b")), Variable("y", (0, 1))), target=1)
    >>> part = ArrayData(
    ...     schema, np.asfortranarray([[0], [1]], dtype=np.uint8), np.array([0, 1])
    ... )
    >>> LocalPartitions([part, part]).count([(1, 0)]).table(0)
    array([[2., 0.],
           [0., 2.]])
    """

    def __init__(self, parts: Sequence[ArrayData], n_jobs: int | None = None) -> None:
        self.parts = list(parts)
        self.schema = self.parts[0].schema
        self.n_jobs = n_jobs

    def place(
        self,
        make: Callable[..., State],
        *arguments: Any,
        each: Sequence[Any] | None = None,
    ) -> Placed[State]:
        """Keep a value with every part; see `CodedData.place`."""
        parts = LocalPlaced(self.parts, self.n_jobs)
        return LocalPlaced(parts.collect(make, *arguments, each=each), self.n_jobs)


class _SelectedRows(PartitionedData):
    """Some rows of every part of other data."""

    def __init__(
        self, source: PartitionedData, rows: _FoldRows, starts: Sequence[IntArray]
    ) -> None:
        self.schema, self.n_jobs = source.schema, source.n_jobs
        self._source, self._rows, self._starts = source, rows, starts

    def place(
        self,
        make: Callable[..., State],
        *arguments: Any,
        each: Sequence[Any] | None = None,
    ) -> Placed[State]:
        """Keep a value with every part; see `CodedData.place`."""
        own = [
            (start, () if each is None else (each[number],))
            for number, start in enumerate(self._starts)
        ]
        return self._source.place(_make_selected, self._rows, make, arguments, each=own)


@dataclass(frozen=True, eq=False)
class _FoldRows:
    """The rows of one fold, or all others; see `stratified_folds`."""

    counts: IntArray
    n_folds: int
    fold: int
    inside: bool

    def select(self, part: ArrayData, starts: IntArray) -> BoolArray:
        labels = part.labels.astype(np.intp)
        ranks = class_ranks(labels, starts)
        large = self.counts >= self.n_folds
        large[part.schema.n_classes] = False
        held: BoolArray = large[labels] & (ranks % self.n_folds == self.fold)
        return held if self.inside else ~held


def _make_selected(
    part: ArrayData,
    own: tuple[IntArray, tuple[Any, ...]],
    rows: _FoldRows,
    make: Callable[..., State],
    arguments: tuple[Any, ...],
) -> State:
    chosen = part.take(np.flatnonzero(rows.select(part, own[0])))
    return make(chosen, *own[1], *arguments)


def same_part(part: ArrayData) -> ArrayData:
    """The part itself, where nothing else is to be kept."""
    return part


def sum_of_weights(part: ArrayData) -> float:
    """Weight of all samples of a part."""
    return float(part.n_samples if part.weights is None else part.weights.sum())


def count_labels(part: ArrayData) -> IntArray:
    """Number of samples of every class, then of unlabelled ones."""
    return count_codes(part.labels, part.schema.n_classes + 1)


def take_ranks(
    part: ArrayData, ranks: Sequence[IndexArray] | None
) -> tuple[Any, Any, Any]:
    """Codes, labels and weights of some rows; `ranks` are relative to the part."""
    if ranks is not None:
        part = part.take(rows_of_ranks(part.labels, ranks))
    return part.codes, part.labels, part.weights


def _ranks_of_part(
    ranks: Sequence[IndexArray] | None, starts: IntArray, counts: IntArray
) -> list[IndexArray] | None:
    """The ranks that are in one part, relative to its first sample of every class."""
    if ranks is None:
        return None
    found = []
    for of_class, start, n in zip(ranks, starts, counts, strict=True):
        first, last = np.searchsorted(of_class, [start, start + n])
        found.append(of_class[first:last] - start)
    return found


def join_parts(
    schema: Schema, parts: Sequence[tuple[Any, Any, Any]], n_jobs: int | None
) -> ArrayData:
    """Join the codes, labels and weights of parts."""
    codes = np.concatenate([codes.T for codes, _, _ in parts], axis=1).T
    labels = np.concatenate([labels for _, labels, _ in parts])
    weights = None
    if any(own is not None for *_, own in parts):
        weights = np.concatenate(
            [np.ones(len(own)) if w is None else w for _, own, w in parts]
        )
    return ArrayData(schema, codes, labels, weights, n_jobs)


def _no_rows_error() -> CapabilityError:
    return CapabilityError(
        "This learner needs all rows in one place, but they are in partitions. Use a "
        "learner that adds up statistics, such as structure='tan' with "
        "parameters='fe', or the default model, or fit to a sample of the data that "
        "fits into memory."
    )
