"""`CodedData`: what a learner may ask of its data, wherever the rows live."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tanager.data.counts import Counts
from tanager.data.pair_counts import PairCounts
from tanager.model.schema import Schema
from tanager.types import CodeArray, FloatArray, IndexArray


@dataclass(frozen=True, eq=False)
class RowBlock:
    """A range of rows.

    Parameters
    ----------
    codes : ndarray of unsigned int, shape (n_rows, n_features), Fortran order
        State codes; ``n_states`` of a variable means missing.
    labels : ndarray of int, shape (n_rows,)
        Class codes; the number of classes means missing.
    weights : ndarray of float64, shape (n_rows,), or None
        Row weights; None means all one.
    """

    codes: CodeArray
    labels: npt.NDArray[np.integer]
    weights: FloatArray | None


class CodedData(Protocol):
    """Coded rows with labels and weights, asked only for additive statistics.

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

    def count(self, families: Sequence[Sequence[int]]) -> Counts:
        """Weighted counts of every family, over rows where all of it is observed."""
        ...

    def count_pairs(self, first: int = 0, last: int | None = None) -> PairCounts:
        """Counts of pairs (i, j) given the class, first <= i < last, i < j."""
        ...

    def blocks(self) -> Iterator[RowBlock]:
        """The rows in order, a block at a time."""
        ...

    def split(
        self, folds: Sequence[IndexArray]
    ) -> Iterator[tuple[CodedData, CodedData]]:
        """For every fold (its row numbers) the other rows and its own rows."""
        ...
