"""`FactorSamples`: the samples of a factor fit, their class counts and folds."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tanager.data.coded_data import ArrayData
from tanager.data.folds import (
    count_codes,
    rows_of_ranks,
    stratified_folds,
    subsample_ranks,
)
from tanager.errors import InputError
from tanager.loglinear import numpy_passes
from tanager.loglinear.factor import Factor
from tanager.types import CodeArray, FloatArray, IndexArray, IntArray, LabelArray

FOLDS = ((3_000, 5), (6_000, 3))
"""Folds for up to so many samples; larger datasets have one validation set."""

HELD_OUT = (5, 10_000)
"""The validation set: one of so many parts, and at most so many samples."""

SMALL_FIT = (50_000, 3_000)
"""Codes, and posteriors, up to which NumPy makes the passes over the samples and the
Newton steps: such a fit takes a fraction of a second either way, and compiling the
kernels would take several. The choice depends on the data alone, never on which kernels
are compiled already, because the last bits of results depend on it."""

SEARCH_SAMPLES = 40_000
"""Training samples of the search with one validation set. The factors found are then
fitted to all samples."""

LARGEST_WEIGHT = 1e25
"""Sums over samples are of single precision, whose largest number is 3e38."""


@dataclass(frozen=True, eq=False)
class FactorSamples:
    """Labelled samples of a fit, some of them held out.

    Parameters
    ----------
    codes : ndarray of unsigned int, shape (n_features, n_samples), C order
        Codes of the features; the number of states means not observed.
    labels : ndarray of unsigned int, shape (n_samples,)
        Codes of the class.
    weights : ndarray of float32, shape (n_samples,)
        Weights; 0 for samples that are held out.
    held_out : ndarray of int, shape (n_held_out,)
        Positions of the samples that are held out.
    held_out_weights : ndarray of float64, shape (n_held_out,)
        Their weights in the held-out loss.
    n_classes : int
        Number of classes.
    n_jobs : int or None
        Number of threads. The result does not depend on it.
    by_kernels : bool, default=False
        Whether kernels make the passes, however few samples there are: for a part of
        the samples, since the last bits of results depend on it, and for soft labels.
    """

    codes: CodeArray
    labels: CodeArray
    weights: npt.NDArray[np.float32]
    held_out: IndexArray
    held_out_weights: FloatArray
    n_classes: int
    n_jobs: int | None = None
    by_kernels: bool = False
    _counts: dict[Factor, FloatArray] = field(default_factory=dict, init=False)
    _cells: dict[Factor, IntArray] = field(default_factory=dict, init=False)

    def thin(self, most: int) -> FactorSamples:
        """At most so many of the samples, evenly, which stand for all by their weights.

        None of them is held out.
        """
        every = -(-len(self.labels) // most)
        if every <= 1:
            return self
        return FactorSamples(
            np.ascontiguousarray(self.codes[:, ::every]),
            self.labels[::every],
            self.weights[::every] * np.float32(every),
            np.empty(0, dtype=np.intp),
            np.empty(0),
            self.n_classes,
            self.n_jobs,
        )

    @classmethod
    def of(
        cls,
        codes: CodeArray,
        labels: LabelArray,
        weights: FloatArray | None,
        n_classes: int,
        *,
        held_out: IndexArray | None = None,
        n_jobs: int | None = None,
    ) -> FactorSamples:
        """Hold some samples out of all.

        `labels` are of any integer type, `weights` of shape (n_samples,); None means
        all one.
        """
        held = np.empty(0, dtype=np.intp) if held_out is None else held_out
        own = labels.astype(np.min_scalar_type(n_classes), copy=False)
        if weights is None:
            training = np.ones(len(labels), dtype=np.float32)
            held_weights = np.ones(len(held))
        else:
            training = weights.astype(np.float32)
            held_weights = weights[held]
        training[held] = 0.0
        return cls(codes, own, training, held, held_weights, n_classes, n_jobs)

    @classmethod
    def of_part(cls, part: ArrayData) -> FactorSamples:
        """The labelled samples of positive weight of a part of the data."""
        known = part.labels < part.schema.n_classes
        if part.weights is not None:
            known &= part.weights > 0
        if not known.all():
            part = part.take(np.flatnonzero(known))
        samples = cls.of(part.codes.T, part.labels, part.weights, part.schema.n_classes)
        return replace(samples, by_kernels=True)

    @property
    def n_columns(self) -> int:
        """Columns of a table: one, the log odds, for two classes."""
        return 1 if self.n_classes == 2 else self.n_classes

    @cached_property
    def is_small(self) -> bool:
        """Whether NumPy makes the passes over the samples, not kernels."""
        if self.by_kernels:
            return False
        most_codes, most_posteriors = SMALL_FIT
        n_posteriors = len(self.labels) * self.n_columns
        return self.codes.size <= most_codes and n_posteriors <= most_posteriors

    def cells(self, factor: Factor) -> IntArray:
        """Find the cell of every sample, shape (n_samples,), once for every factor."""
        if factor not in self._cells:
            self._cells[factor] = factor.cells(self.codes)
        return self._cells[factor]

    def class_counts(self, factor: Factor) -> FloatArray:
        """Count the samples by cell of a factor and class, once for every factor.

        The weighted counts have shape (n_cells, n_classes).
        """
        if factor not in self._counts:
            self._counts[factor] = self._count_classes(factor)
        return self._counts[factor]

    def _count_classes(self, factor: Factor) -> FloatArray:
        if self.is_small:
            return numpy_passes.count_classes(
                self.labels, self.weights, self.cells(factor), factor.n_cells,
                self.n_classes,
            )  # fmt: skip
        from tanager.loglinear import _factor_kernels as kernels

        counts = np.zeros((factor.n_cells, self.n_classes))
        kernels.count_classes(
            self.labels, self.weights, self.codes, (0, len(self.labels)),
            (factor.features, factor.lookup), counts,
        )  # fmt: skip
        return counts

    def take_class_counts(self, factor: Factor) -> FloatArray:
        """`class_counts` for the last time: they are no longer kept."""
        counts = self.class_counts(factor)
        del self._counts[factor]
        return counts


def count_folds(n_samples: int) -> int:
    """Number of folds; 1 means one validation set.

    Examples
    --------
    >>> count_folds(500), count_folds(5_000), count_folds(50_000)
    (5, 3, 1)
    """
    return next((k for limit, k in FOLDS if n_samples < limit), 1)


def split_folds(samples: FactorSamples) -> list[FactorSamples]:
    """The samples of every fold, some of them held out.

    A validation set comes first, before at most `SEARCH_SAMPLES` others.
    """
    codes, labels, weights = samples.codes, samples.labels, samples.weights
    n_folds = count_folds(len(labels))
    if n_folds > 1:
        folds = stratified_folds(labels, samples.n_classes, n_folds)
    else:
        counts = count_codes(labels, samples.n_classes)
        chosen = [rows_of_ranks(labels, ranks) for ranks in search_ranks(counts)]
        folds = [np.arange(len(chosen[0]))] if len(chosen[0]) else []
        rows = np.concatenate(chosen)
        codes = np.ascontiguousarray(codes[:, rows])
        labels, weights = labels[rows], weights[rows]
    return [
        FactorSamples.of(
            codes,
            labels,
            weights.astype(np.float64),
            samples.n_classes,
            held_out=held,
            n_jobs=samples.n_jobs,
        )
        for held in folds
    ]


def search_ranks(counts: IntArray) -> tuple[list[IndexArray], list[IndexArray]]:
    """Choose the samples of a search with one validation set by class sizes alone.

    `counts`, shape (n_classes,), are the numbers of samples of the classes. Returns the
    samples that are held out and the others, those of `split_folds`, by their numbers
    among those of their class.
    """
    n_folds = HELD_OUT[0]
    own = np.where(counts >= n_folds, -(-counts // n_folds), 0)
    held = [n_folds * ranks for ranks in _at_most(own, HELD_OUT[1])]
    left = counts - np.array([len(ranks) for ranks in held])
    rest = _at_most(left, SEARCH_SAMPLES)
    for label, (out, ranks) in enumerate(zip(held, rest, strict=True)):
        # From numbers among those that are left to numbers among all.
        before = np.searchsorted(out - np.arange(len(out)), ranks, side="right")
        rest[label] = ranks + before
    return held, rest


def _at_most(counts: IntArray, most: int) -> list[IndexArray]:
    """All numbers of the samples of every class, or a subsample of about `most`."""
    if counts.sum() > most:
        return subsample_ranks(counts, most)
    return [np.arange(n) for n in counts.tolist()]


def check_sample_weights(weights: FloatArray) -> None:
    """Raise for weights whose sums would not be finite."""
    lowest, highest = float(weights.min()), float(weights.max())
    if highest > LARGEST_WEIGHT or lowest < 1.0 / LARGEST_WEIGHT:
        raise InputError(
            f"Sample weights must be between {1.0 / LARGEST_WEIGHT:g} and "
            f"{LARGEST_WEIGHT:g}, got {lowest:g} to {highest:g}; divide them by their "
            "mean."
        )
