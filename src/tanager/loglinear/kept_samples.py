"""`KeptSamples`: samples that stand for all samples of a stream."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tanager.data.folds import COUNT_ROWS
from tanager.loglinear.factor_samples import FactorSamples
from tanager.types import CodeArray, FloatArray, IndexArray, LabelArray
from tanager.utils.threads import row_blocks

KEPT_SAMPLES = 16_384
"""Largest number of samples that are kept."""

KEPT_CODES = 4_000_000
"""Largest number of their codes: wide data keep fewer samples."""

KEPT_POSTERIORS = 400_000
"""Largest number of posteriors of these samples: many classes keep fewer samples."""


@dataclass(frozen=True, eq=False)
class KeptSamples:
    """Samples that stand for all samples so far.

    Parameters
    ----------
    codes : ndarray of unsigned int, shape (n_features, n_kept), C order
        Codes of the features.
    labels : ndarray of unsigned int, shape (n_kept,)
        Codes of the class.
    weights : ndarray of float64, shape (n_kept,)
        Weights, whose sum is that of all samples.
    complete : bool
        Whether no sample was left out.

    Examples
    --------
    >>> codes = np.arange(6, dtype=np.uint8).reshape(1, 6)
    >>> weights = np.array([1.0, 1, 1, 1, 8, 4])
    >>> samples = KeptSamples(codes, np.zeros(6, np.uint8), weights, True)
    >>> few = samples.thin(4)
    >>> few.codes, few.weights, few.complete
    (array([[1, 4, 5]], dtype=uint8), array([4., 8., 4.]), False)
    """

    codes: CodeArray
    labels: CodeArray
    weights: FloatArray
    complete: bool

    @classmethod
    def of(cls, samples: FactorSamples, most: int | None = None) -> KeptSamples:
        """All samples, none of them held out, or at most `most` as by `thin`."""
        codes, labels = samples.codes, samples.labels
        if most is None or len(labels) <= most:
            return cls(codes, labels, samples.weights.astype(np.float64), True)
        rows, weights = systematic_sample(samples.weights, most)
        return cls(np.ascontiguousarray(codes[:, rows]), labels[rows], weights, False)

    def as_samples(self, n_classes: int) -> FactorSamples:
        """The samples as a fit has them."""
        return FactorSamples.of(self.codes, self.labels, self.weights, n_classes)

    def __add__(self, other: KeptSamples) -> KeptSamples:
        dtype = np.result_type(self.codes, other.codes)
        return KeptSamples(
            np.ascontiguousarray(np.hstack([self.codes, other.codes]), dtype=dtype),
            np.concatenate([self.labels, other.labels]),
            np.concatenate([self.weights, other.weights]),
            self.complete and other.complete,
        )

    def join(
        self, codes: CodeArray, labels: LabelArray, weights: FloatArray | None
    ) -> tuple[CodeArray, LabelArray, FloatArray]:
        """Codes, (n_samples, n_features), labels and weights, further samples last."""
        more = np.ones(len(labels)) if weights is None else weights
        return (
            np.asfortranarray(np.hstack([self.codes, codes]).T),
            np.concatenate([self.labels, labels]),
            np.concatenate([self.weights, more]),
        )

    def thin(self, most: int) -> KeptSamples:
        """At most `most` samples, by systematic sampling with the weights.

        Every sample is kept in proportion to its weight, in steps of the same weight
        along the samples in their order: no random numbers, and all batches stay.
        """
        if len(self.weights) <= most:
            return self
        rows, weights = systematic_sample(self.weights, most)
        return replace(self.take(rows), weights=weights)

    def take(self, rows: IndexArray | slice) -> KeptSamples:
        """Some of the samples."""
        return KeptSamples(
            np.ascontiguousarray(self.codes[:, rows]),
            self.labels[rows],
            self.weights[rows],
            False,
        )


def systematic_sample(
    weights: npt.NDArray[np.floating], most: int
) -> tuple[IndexArray, FloatArray]:
    """Positions of samples at equal steps of the sum of weights, and their weights.

    A sample that several steps meet is taken once, with the weight of all of them.
    """
    total = 0.0
    for _, ends in _running_sums(weights):
        total = float(ends[-1])
    step = total / most
    marks = (np.arange(most) + 0.5) * step  # in the middle of every step
    found, n_found = [], 0
    for start, ends in _running_sums(weights):
        last = int(np.searchsorted(marks, ends[-1], side="right"))
        found.append(start + np.searchsorted(ends, marks[n_found:last]))
        n_found = max(n_found, last)
    found.append(np.full(most - n_found, len(weights) - 1))
    rows, times = np.unique(np.concatenate(found), return_counts=True)
    kept: FloatArray = step * times.astype(np.float64)
    return rows, kept


def _running_sums(
    weights: npt.NDArray[np.floating],
) -> Iterator[tuple[int, FloatArray]]:
    """Sums of the weights up to every sample, a block of samples at a time."""
    before = 0.0
    for start, stop in row_blocks(len(weights), COUNT_ROWS):
        block = weights[start:stop].astype(np.float64)
        block[0] += before
        ends = np.cumsum(block)
        yield start, ends
        before = float(ends[-1])


def most_kept(n_features: int, n_classes: int) -> int:
    """Number of samples that are kept of so many features and classes.

    Examples
    --------
    >>> most_kept(20, 2), most_kept(2000, 2), most_kept(20, 500)
    (16384, 2000, 800)
    """
    limits = KEPT_CODES // max(n_features, 1), KEPT_POSTERIORS // n_classes
    return max(1, min(KEPT_SAMPLES, *limits))
