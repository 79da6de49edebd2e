"""`ArrayData`: coded samples in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod

import numpy as np
import numpy.typing as npt

from tanager.data.coded_data import RowBlock
from tanager.data.counts import Counts
from tanager.data.pair_counts import (
    GROUP_CELLS,
    PairCounts,
    column_widths,
    count_pairs,
    group_starts,
    pair_cells,
)
from tanager.errors import InputError, TableSizeError
from tanager.model.layout import MAX_CELLS, FamilyLayout
from tanager.model.schema import Schema
from tanager.types import CodeArray, FloatArray, IndexArray, IntArray
from tanager.utils.jit import use_kernels
from tanager.utils.threads import map_threads, n_threads, row_blocks


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

    def count(self, families: Sequence[Sequence[int]]) -> Counts:
        """Weighted counts of every family, over rows where all of it is observed."""
        layout = FamilyLayout.of_families(
            self.schema.n_states.tolist(), families, self.schema.target
        )
        layout.check_size(self.schema)
        counts = Counts(layout, np.zeros(layout.n_cells))
        if use_kernels(self.n_samples * layout.n_tables):
            self._count_by_kernel(counts)
        else:
            self._count_by_bincount(counts)
        return counts

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

    def _count_by_kernel(self, counts: Counts) -> None:
        """Count by kernels: single features in groups, other families one by one.

        One thread counts a table over all rows in order, so the sums do not depend on
        the number of threads.
        """
        layout = counts.layout
        singles = {
            axes[0]: index
            for index, axes in enumerate(layout.axes)
            if len(axes) == 2 and axes[1] == layout.target
        }
        if len(singles) == len(self.schema) - 1:
            self._count_singles(counts, singles)
            rest = sorted(set(range(layout.n_tables)) - set(singles.values()))
        else:
            rest = list(range(layout.n_tables))
        self._count_tables(counts, np.array(rest, dtype=np.int64))

    def _count_singles(self, counts: Counts, table_of: Mapping[int, int]) -> None:
        """Count every feature with the class, several features by one increment."""
        from tanager.data import _kernels

        states = self.schema.n_states[:-1]
        n_classes = self.schema.n_classes
        widths = column_widths(self.codes, states)
        starts = group_starts(widths, GROUP_CELLS // (n_classes + 1))
        cells = int(np.multiply.reduceat(widths, starts[:-1]).max()) * (n_classes + 1)
        first_cells = counts.layout.offsets
        offsets = np.array([first_cells[table_of[j]] for j in range(len(states))])
        weights = np.empty(0) if self.weights is None else self.weights

        def count(groups: IntArray) -> None:
            _kernels.count_singles(
                self.codes.T, self.labels, weights, widths, states, n_classes, starts,
                groups, offsets, np.empty(cells), counts.values,
            )  # fmt: skip

        self._map_parts(count, np.arange(len(starts) - 1, dtype=np.int64))

    def _count_tables(self, counts: Counts, tables: IntArray) -> None:
        """Count the families with the indices `tables`."""
        from tanager.data import _kernels

        compiled = counts.layout.compiled
        weights = np.empty(0) if self.weights is None else self.weights
        sizes = np.array(counts.layout.sizes, dtype=np.int64)

        def count(part: IntArray) -> None:
            _kernels.count_tables(
                self.codes.T, self.labels, weights, self.schema.n_states,
                compiled.offsets, compiled.start, compiled.axis_variable,
                compiled.axis_stride, compiled.has_class, sizes, compiled.n_classes,
                part, counts.values,
            )  # fmt: skip

        self._map_parts(count, tables)

    def _map_parts(self, count: Callable[[IntArray], None], numbers: IntArray) -> None:
        """Split tables or groups into one part per thread."""
        n_parts = max(1, min(len(numbers), n_threads(self.n_jobs)))
        map_threads(count, [numbers[p::n_parts] for p in range(n_parts)], self.n_jobs)

    def _count_by_bincount(self, counts: Counts) -> None:
        """Count in NumPy, one bincount per table, for small inputs."""
        layout = counts.layout
        states = self.schema.n_states
        for index, axes in enumerate(layout.axes):
            columns = [
                self.labels if v == layout.target else self.codes[:, v] for v in axes
            ]
            seen = np.ones(self.n_samples, dtype=np.bool_)
            joint = np.zeros(self.n_samples, dtype=np.int64)
            for v, column in zip(axes, columns, strict=True):
                seen &= column < states[v]
                joint = joint * int(states[v]) + column
            weights = None if self.weights is None else self.weights[seen]
            cells = np.bincount(joint[seen], weights, layout.sizes[index])
            counts.table(index)[...] = cells.reshape(layout.shapes[index])
