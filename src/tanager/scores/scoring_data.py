"""`ScoringData`: labelled samples by feature, with folds, for structure scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, log2
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tanager.data.coded_data import CodedData, block_weights
from tanager.data.folds import stratified_folds
from tanager.errors import InputError
from tanager.types import FloatArray, IndexArray, IntArray

ShortArray = npt.NDArray[np.int32]

GRID_BITS = 30
"""Log probabilities are rounded to multiples of 2 to the minus this."""

STEPS = 2.0**GRID_BITS
"""Steps of this grid in a unit."""

LOWEST = -100.0
"""Stands for the logarithm of zero: finite, so that sums stay exact."""

MANTISSA = 52


class WholeSizes(NamedTuple):
    """What samples in parts have in common: `ScoringData.widths` and `n_slices`."""

    widths: IntArray
    n_slices: int


@dataclass(frozen=True, eq=False)
class ScoringData:
    """Labelled samples by feature, each with the fold that holds it out.

    `codes` has the shape (n_features, n_rows), every feature contiguous. Sums of any of
    the `weights` (n_rows,), in any order, are exact; None for ones. `slices` (n_rows,)
    holds the fold of every sample, `n_folds` for those that are never held out. With
    one fold, samples are scored by CPTs learned from them.

    Log probabilities are multiples of 2^-30, so that sums of up to ``2^23 / K`` nats
    for K classes (300,000 for 26) are exact in double precision. The log joint of a
    sample then does not depend on the order in which families were exchanged, and ties
    stay ties. With many thousand features or classes only ties may change.

    Of samples in parts, `whole` has what depends on all parts.
    """

    codes: npt.NDArray[np.unsignedinteger]
    labels: ShortArray
    weights: FloatArray | None
    n_states: IntArray
    n_classes: int
    slices: ShortArray
    n_folds: int
    n_jobs: int | None
    names: tuple[str, ...]
    whole: WholeSizes | None = None

    @classmethod
    def of(cls, data: CodedData, folds: int | None) -> ScoringData:
        """Gather the labelled samples of positive weight.

        If `folds` is None, samples are scored by CPTs learned from them.
        """
        n_classes = data.schema.n_classes
        blocks = list(data.blocks())
        labels = np.concatenate(
            [np.empty(0, dtype=np.int32), *(block.labels for block in blocks)]
        ).astype(np.int32)
        known = labels < n_classes
        weights = None
        if any(block.weights is not None for block in blocks):
            weights = np.concatenate([block_weights(block) for block in blocks])
            weights = exact_weights(np.where(known, weights, 0.0))
            known = weights > 0
        if not known.any():
            raise no_rows_error()
        codes = np.concatenate([block.codes.T for block in blocks], axis=1)
        if not known.all():
            codes, labels = np.ascontiguousarray(codes[:, known]), labels[known]
            weights = None if weights is None else weights[known]
        slices, n_folds = np.zeros(len(labels), dtype=np.int32), 1
        if folds is not None and (parts := stratified_folds(labels, n_classes, folds)):
            slices[:] = n_folds = len(parts)
            for number, part in enumerate(parts):
                slices[part] = number
        return cls(
            codes,
            labels,
            weights,
            data.schema.n_states[:-1].astype(np.int64),
            n_classes,
            slices,
            n_folds,
            data.n_jobs,
            tuple(data.schema.names[:-1]),
        )

    def reorder(self, order: IndexArray) -> ScoringData:
        """Return the samples in another order."""
        return replace(
            self,
            codes=np.ascontiguousarray(self.codes[:, order]),
            labels=self.labels[order],
            weights=None if self.weights is None else self.weights[order],
            slices=self.slices[order],
        )

    @cached_property
    def rows(self) -> npt.NDArray[np.unsignedinteger]:
        """The codes row by row, shape (n_rows, n_features)."""
        return np.ascontiguousarray(self.codes.T)

    @cached_property
    def folds(self) -> ShortArray:
        """The fold whose CPTs score a sample; 0 for those that are never held out."""
        return np.where(self.slices < self.n_folds, self.slices, np.int32(0))

    @cached_property
    def score_weights(self) -> FloatArray:
        """Weights in a score; zero for samples that are never held out."""
        weights = np.ones(len(self.labels)) if self.weights is None else self.weights
        return np.where(self.slices < self.n_folds, weights, 0.0)

    @cached_property
    def count_weights(self) -> FloatArray:
        """Weights in counts; empty if all are one."""
        return np.empty(0) if self.weights is None else self.weights

    @property
    def n_slices(self) -> int:
        """Number of folds, plus one if some samples are never held out."""
        if self.whole is not None:
            return self.whole.n_slices
        return int(self.slices.max(initial=0)) + 1

    @cached_property
    def widths(self) -> IntArray:
        """States of the features, with "missing" where it occurs."""
        if self.whole is not None:
            return self.whole.widths
        missing = self.codes.max(axis=1, initial=0) == self.n_states
        widths: IntArray = self.n_states + missing
        return widths

    @cached_property
    def class_order(self) -> FloatArray:
        """Break ties in favour of the lowest class, by less than a grid step."""
        bits = GRID_BITS + ceil(log2(max(self.n_classes, 2)))
        return -np.arange(self.n_classes, dtype=np.float64) * 2.0**-bits


def no_rows_error() -> InputError:
    """Make the error for data without a labelled sample of positive weight."""
    return InputError(
        "There is no labelled sample with a weight above 0 to score structures by. "
        "Give labelled samples, or a structure that needs none."
    )


def exact_weights(weights: FloatArray, total: float | None = None) -> FloatArray:
    """Round weights so that sums of any of them are exact.

    `total` is the sum of all weights, by default of those given.
    """
    bits = MANTISSA - np.frexp(weights.sum() if total is None else total)[1]
    rounded: FloatArray = np.ldexp(np.rint(np.ldexp(weights, bits)), -bits)
    return rounded
