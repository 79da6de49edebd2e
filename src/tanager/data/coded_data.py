"""`CodedData`: coded samples as learners see them, in memory or as counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from tanager.data.counts import (
    Counts,
    PairCounts,
    count_pairs,
    count_tables,
    pair_cells,
)
from tanager.data.folds import stratified_folds, stratified_subsample
from tanager.data.partition_values import LocalPlaced, Placed, own_entry
from tanager.errors import CapabilityError, InputError, TableSizeError
from tanager.model.layout import MAX_CELLS, FamilyLayout
from tanager.model.schema import Schema, Variable
from tanager.types import CodeArray, FloatArray, IndexArray
from tanager.utils.threads import row_blocks

State = TypeVar("State")
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class RowBlock:
    """A range of rows; codes (n_rows, n_features) in Fortran order.

    The number of states, or of classes, means missing. Weights None means all one.
    """

    codes: CodeArray
    labels: npt.NDArray[np.integer]
    weights: FloatArray | None


def block_bytes(n_features: int, n_classes: int) -> int:
    """Memory per sample of a copy of the codes, and of three floats for every class.

    Examples
    --------
    >>> block_bytes(10, 2)
    90
    """
    return n_features + 24 * n_classes + 32


class CodedData(Protocol):
    """Coded samples with labels and weights, in memory or elsewhere.

    The class is the last variable of the schema; column j of the codes is variable j.
    """

    @property
    def schema(self) -> Schema:
        """The variables; the class comes last."""
        ...

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        ...

    @property
    def n_jobs(self) -> int | None:
        """Number of threads that learners may use, as in scikit-learn."""
        ...

    @property
    def in_parts(self) -> bool:
        """Whether the rows are in parts that do not come together."""
        ...

    def count(self, families: Sequence[Sequence[int]]) -> Counts:
        """Weighted counts of every family, over rows where all of it is observed."""
        ...

    def count_pairs(self, first: int = 0, last: int | None = None) -> PairCounts:
        """Counts of pairs (i, j) given the class, first <= i < last, i < j."""
        ...

    def blocks(self) -> Iterator[RowBlock]:
        """The rows in order, a block at a time."""
        ...

    def all_rows(self) -> RowBlock:
        """All rows as one block, without a copy where they are in memory."""
        ...

    def split(
        self, folds: Sequence[IndexArray]
    ) -> Iterator[tuple[CodedData, CodedData]]:
        """For every fold (its row numbers) the other rows and its own rows."""
        ...

    def stratified_split(self, n_folds: int) -> list[tuple[CodedData, CodedData]]:
        """For every one of `stratified_folds` the other rows and its own rows."""
        ...

    def stratified_sample(self, n_rows: int) -> ArrayData:
        """Rows in memory: all, or a `stratified_subsample` of about `n_rows`."""
        ...

    def place(
        self,
        make: Callable[..., State],
        *arguments: Any,
        each: Sequence[Any] | None = None,
    ) -> Placed[State]:
        """Keep a value with every part of the rows, where the part is.

        The value is ``make(part, *arguments)``, with the part's own entry of `each`
        before the arguments if that is given; a part is an `ArrayData`. Samples in
        memory are one part. Learners that only add up results of the parts work for
        samples that are anywhere.
        """
        ...

    def recall(self, name: str, compute: Callable[[], Result]) -> Result:
        """The result of a computation in this process that may have been kept.

        Returns ``compute()``, or, where a fit is resumed from a checkpoint, its result
        then. `compute` may use anything, but what follows must depend on the result
        alone: `compute` is not called if that is known. `name` says what is computed.
        """
        ...


@dataclass(frozen=True, eq=False)
class ArrayData:
    """Coded samples, labels and weights as arrays; a `CodedData`.

    Parameters
    ----------
    schema : Schema
        The variables, the class last.
    codes : ndarray of unsigned int, shape (n_samples, n_features), Fortran order
        Codes of the features; the number of states of a variable means missing.
    labels : ndarray of unsigned int, shape (n_samples,)
        Codes of the class; the number of classes means missing.
    weights : ndarray of float64, shape (n_samples,), or None, default=None
        Sample weights; None means all one.
    n_jobs : int or None, default=None
        Number of threads for counting. The result does not depend on it.

    Attributes
    ----------
    n_samples : int
        Number of samples.

    Examples
    --------
    >>> from tanager.model import Variable
    >>> schema = Schema((Variable("x", ("a", "b")), Variable("y", (0, 1))), target=1)
    >>> codes = np.asfortranarray([[0], [1], [1], [2]], dtype=np.uint8)  # 2: missing
    >>> data = ArrayData(schema, codes, np.array([0, 1, 1, 1], dtype=np.uint8))
    >>> data.count([(1, 0), (1,)]).table(0)
    array([[1., 0.],
           [0., 2.]])
    """

    schema: Schema
    codes: CodeArray
    labels: npt.NDArray[np.integer]
    weights: FloatArray | None = None
    n_jobs: int | None = None
    n_samples: int = field(init=False, repr=False)
    in_parts: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check that the arrays fit the schema and each other."""
        if self.schema.target != len(self.schema) - 1:
            raise InputError("The class must be the last variable of the schema.")
        n_features = len(self.schema) - 1
        if self.codes.ndim != 2 or self.codes.shape[1] != n_features:
            raise InputError(
                f"Expected codes of {n_features} features, got shape "
                f"{self.codes.shape}."
            )
        for name in ("labels", "weights"):
            array = getattr(self, name)
            if array is not None and array.shape != (self.codes.shape[0],):
                raise InputError(
                    f"Expected {self.codes.shape[0]} {name}, got shape {array.shape}."
                )
        for name, array, states in (
            ("codes", self.codes, self.schema.n_states[:-1]),
            ("labels", self.labels[:, None], self.schema.n_states[-1:]),
        ):
            # Kernels do not check their indices.
            if (array.max(axis=0, initial=0) > states).any():
                raise InputError(f"Some {name} are beyond the states of the schema.")
        object.__setattr__(self, "n_samples", len(self.codes))
        if not self.codes.flags.f_contiguous:
            object.__setattr__(self, "codes", np.asfortranarray(self.codes))

    def __sizeof__(self) -> int:
        arrays = (self.codes, self.labels, self.weights)
        return sum(array.nbytes for array in arrays if array is not None)

    def count(self, families: Sequence[Sequence[int]]) -> Counts:
        """Weighted counts of every family, over rows where all of it is observed."""
        layout = FamilyLayout.of_families(
            self.schema.n_states.tolist(), families, self.schema.target
        )
        layout.check_size(self.schema)
        return count_tables(self.codes, self.labels, self.weights, layout, self.n_jobs)

    def count_pairs(self, first: int = 0, last: int | None = None) -> PairCounts:
        """Counts of pairs (i, j) given the class, first <= i < last, i < j."""
        n_features = self.codes.shape[1]
        if first == 0 and last in (None, n_features):
            return self._all_pairs
        return self._count_pairs(first, n_features if last is None else last)

    def blocks(self) -> Iterator[RowBlock]:
        """The rows in order, a block at a time."""
        for start, stop in row_blocks(self.n_samples):
            yield RowBlock(
                np.asfortranarray(self.codes[start:stop]),
                self.labels[start:stop],
                None if self.weights is None else self.weights[start:stop],
            )

    def all_rows(self) -> RowBlock:
        """All rows as one block; the arrays are shared, not copied."""
        return RowBlock(self.codes, self.labels, self.weights)

    def take(self, rows: IndexArray) -> ArrayData:
        """The given rows, in the given order."""
        return ArrayData(
            self.schema,
            np.asfortranarray(self.codes[rows]),
            self.labels[rows],
            None if self.weights is None else self.weights[rows],
            self.n_jobs,
        )

    def split(
        self, folds: Sequence[IndexArray]
    ) -> Iterator[tuple[ArrayData, ArrayData]]:
        """For every fold (its row numbers) the other rows and its own rows."""
        for fold in folds:
            inside = np.zeros(self.n_samples, dtype=np.bool_)
            inside[fold] = True
            yield self.take(np.flatnonzero(~inside)), self.take(np.asarray(fold))

    def stratified_split(self, n_folds: int) -> list[tuple[CodedData, CodedData]]:
        """For every one of `stratified_folds` the other rows and its own rows."""
        folds = stratified_folds(self.labels, self.schema.n_classes, n_folds)
        return list(self.split(folds))

    def stratified_sample(self, n_rows: int) -> ArrayData:
        """All rows, or a `stratified_subsample` of about `n_rows`."""
        if self.n_samples <= n_rows:
            return self
        return self.take(stratified_subsample(self.labels, n_rows))

    def place(
        self,
        make: Callable[..., State],
        *arguments: Any,
        each: Sequence[Any] | None = None,
    ) -> Placed[State]:
        """Make the value of the only part; see `CodedData.place`."""
        return LocalPlaced([make(self, *own_entry(each, 0), *arguments)])

    def recall(self, name: str, compute: Callable[[], Result]) -> Result:  # noqa: ARG002
        """Compute a result, as none is kept; see `CodedData.recall`."""
        return compute()

    @cached_property
    def _all_pairs(self) -> PairCounts:
        return self._count_pairs(0, self.codes.shape[1])

    def _count_pairs(self, first: int, last: int) -> PairCounts:
        states = self.schema.n_states[:-1].tolist()
        cells = pair_cells(states, self.schema.n_classes, first, last)
        if cells > MAX_CELLS:
            wide = sorted(range(len(states)), key=states.__getitem__)[-2:]
            names = " and ".join(repr(self.schema[j].name) for j in sorted(wide))
            raise TableSizeError(
                f"The counts of all pairs of features given the class would have "
                f"{cells:,} cells, more than the {MAX_CELLS:,} allowed. The largest "
                f"are those of {names} with "
                f"{prod(states[j] for j in wide) * self.schema.n_classes:,} cells. Use "
                "fewer bins (a coarser encoder), group their rare categories, or leave "
                "one of them out."
            )
        return count_pairs(
            self.codes, self.labels, self.weights, states, self.schema.n_classes,
            first, last, self.n_jobs,
        )  # fmt: skip


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
    in_parts: ClassVar[bool] = False

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

    def forget(self, weight: float) -> CountedData:
        """Multiply the weight of all samples so far."""
        if weight == 1.0:
            return self
        return replace(
            self,
            n_samples=round(weight * self.n_samples),
            families=self.families.scale(weight),
            pairs=None if self.pairs is None else self.pairs.scale(weight),
        )

    def recode(self, schema: Schema) -> CountedData:
        """Move the counts to a schema whose variables have more states."""
        if schema == self.schema:
            return self
        positions = [
            new_codes(old, new) for old, new in zip(self.schema, schema, strict=True)
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
            elif (*axes, len(self.schema) - 1) in kept:  # a family without the class
                whole = self.families.table(kept[*axes, len(self.schema) - 1])
                counts.table(index)[...] = whole.sum(axis=-1)
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
        raise _no_samples_error()

    def all_rows(self) -> RowBlock:
        """Raise: the samples were not kept."""
        raise _no_samples_error()

    def split(
        self, folds: Sequence[IndexArray]
    ) -> Iterator[tuple[CodedData, CodedData]]:
        """Raise: the samples were not kept."""
        raise CapabilityError(
            f"Samples cannot be split into {len(folds)} folds: only counts were kept."
        )

    def stratified_split(self, n_folds: int) -> list[tuple[CodedData, CodedData]]:
        """Raise: the samples were not kept."""
        raise CapabilityError(
            f"Samples cannot be split into {n_folds} folds: only counts were kept."
        )

    def stratified_sample(self, n_rows: int) -> ArrayData:  # noqa: ARG002
        """Raise: the samples were not kept."""
        raise _no_samples_error()

    def place(
        self,
        make: Callable[..., State],  # noqa: ARG002
        *arguments: Any,  # noqa: ARG002
        each: Sequence[Any] | None = None,  # noqa: ARG002
    ) -> Placed[State]:
        """Raise: the samples were not kept."""
        raise _no_samples_error()

    def recall(self, name: str, compute: Callable[[], Result]) -> Result:  # noqa: ARG002
        """Compute a result, as none is kept; see `CodedData.recall`."""
        return compute()


def _no_samples_error() -> CapabilityError:
    return CapabilityError(
        "This learner needs the samples, but only counts were kept. "
        "Call fit with all samples instead of partial_fit."
    )


def new_codes(old: Variable, new: Variable) -> IndexArray:
    """New code of every old state, shape (n_states,), -1 for one that is dropped.

    Such a state stood for "no value yet" and was never counted.
    """
    codes = [new.code_by_state.get(state, -1) for state in old.value_states]
    if old.missing_state:  # its label may have changed
        codes.append(new.missing_code)
    return np.array(codes, dtype=np.intp)


def columns_of(data: CodedData) -> tuple[CodeArray, FloatArray]:
    """Copy the codes of all variables, each contiguous, and the weights.

    Codes (n_variables, n_rows) with the class last, ``n_states`` meaning missing, and
    weights (n_rows,), or (0,) for ones.
    """
    rows = data.all_rows()
    widest = int(data.schema.n_states.max())
    codes = np.empty((len(data.schema), len(rows.labels)), np.min_scalar_type(widest))
    codes[:-1] = rows.codes.T
    codes[-1] = rows.labels
    return codes, np.empty(0) if rows.weights is None else rows.weights.copy()


def block_weights(block: RowBlock) -> FloatArray:
    """Weights of a block, ones where there are none."""
    return np.ones(len(block.labels)) if block.weights is None else block.weights
