"""`FactorSamples`: the samples of a factor fit, and their class counts."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tanager.loglinear.factor import Factor
from tanager.types import CodeArray, FloatArray, IndexArray, LabelArray


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
    """

    codes: CodeArray
    labels: CodeArray
    weights: npt.NDArray[np.float32]
    held_out: IndexArray
    held_out_weights: FloatArray
    n_classes: int
    n_jobs: int | None = None
    _counts: dict[Factor, FloatArray] = field(default_factory=dict, init=False)

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

    @property
    def n_columns(self) -> int:
        """Columns of a table: one, the log odds, for two classes."""
        return 1 if self.n_classes == 2 else self.n_classes

    def class_counts(self, factor: Factor) -> FloatArray:
        """Count the samples by cell of a factor and class, once for every factor.

        The weighted counts have shape (n_cells, n_classes).
        """
        if factor not in self._counts:
            self._counts[factor] = self.count_classes(factor)
        return self._counts[factor]

    def take_class_counts(self, factor: Factor) -> FloatArray:
        """`class_counts` for the last time: they are no longer kept."""
        counts = self.class_counts(factor)
        del self._counts[factor]
        return counts

    def count_classes(self, factor: Factor) -> FloatArray:
        """Count the samples by cell of a factor and class."""
        from tanager.loglinear import _factor_kernels as kernels

        counts = np.zeros((factor.n_cells, self.n_classes))
        kernels.count_classes(
            self.labels, self.weights, self.codes, (0, len(self.labels)),
            (factor.features, factor.lookup), counts,
        )  # fmt: skip
        return counts
