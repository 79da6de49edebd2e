"""`CodedData`: the protocol between learners and coded samples."""

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
    """A range of rows; codes (n_rows, n_features) in Fortran order.

    The number of states, or of classes, means missing. Weights None means all one.
    """

    codes: CodeArray
    labels: npt.NDArray[np.integer]
    weights: FloatArray | None


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


def columns_of(data: CodedData) -> tuple[CodeArray, FloatArray]:
    """Copy the codes of all variables, each contiguous, and the weights.

    Codes (n_variables, n_rows) with the class last, ``n_states`` meaning missing, and
    weights (n_rows,), or (0,) for ones.
    """
    blocks = list(data.blocks())
    n_rows = sum(len(block.labels) for block in blocks)
    widest = int(data.schema.n_states.max())
    codes = np.empty((len(data.schema), n_rows), np.min_scalar_type(widest))
    start = 0
    for block in blocks:
        stop = start + len(block.labels)
        codes[:-1, start:stop] = block.codes.T
        codes[-1, start:stop] = block.labels
        start = stop
    if all(block.weights is None for block in blocks):
        return codes, np.empty(0)
    return codes, np.concatenate([block_weights(block) for block in blocks])


def block_weights(block: RowBlock) -> FloatArray:
    """Weights of a block, ones where there are none."""
    return np.ones(len(block.labels)) if block.weights is None else block.weights
