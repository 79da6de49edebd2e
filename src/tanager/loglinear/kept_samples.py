"""`KeptSamples`: samples that stand for all samples of a stream."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tanager.loglinear.factor_samples import FactorSamples
from tanager.types import CodeArray, FloatArray, IndexArray, LabelArray

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
    def of(cls, samples: FactorSamples) -> KeptSamples:
        """All samples, none of them held out."""
        weights = samples.weights.astype(np.float64)
        return cls(samples.codes, samples.labels, weights, True)

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
        ends = np.cumsum(self.weights)
        step = ends[-1] / most
        # In the middle of every step.
        marks = (np.arange(most) + 0.5) * step
        rows, times = np.unique(
            np.minimum(np.searchsorted(ends, marks), len(ends) - 1), return_counts=True
        )
        return replace(self.take(rows), weights=times * step)

    def take(self, rows: IndexArray | slice) -> KeptSamples:
        """Some of the samples."""
        return KeptSamples(
            np.ascontiguousarray(self.codes[:, rows]),
            self.labels[rows],
            self.weights[rows],
            False,
        )


def most_kept(n_features: int, n_classes: int) -> int:
    """Number of samples that are kept of so many features and classes.

    Examples
    --------
    >>> most_kept(20, 2), most_kept(2000, 2), most_kept(20, 500)
    (16384, 2000, 800)
    """
    limits = KEPT_CODES // max(n_features, 1), KEPT_POSTERIORS // n_classes
    return max(1, min(KEPT_SAMPLES, *limits))
