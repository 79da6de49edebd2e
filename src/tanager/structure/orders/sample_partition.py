"""`SamplePartition`: samples grouped by the configuration of some features."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tanager.data.coded_data import ArrayData, CodedData
from tanager.data.counts import column_widths
from tanager.model.schema import Schema, Variable
from tanager.types import CodeArray, FloatArray, IntArray
from tanager.utils.threads import map_threads, n_threads


@dataclass(frozen=True, eq=False, repr=False)
class SamplePartition:
    """Samples grouped by the configuration of some features.

    Groups with a single class are left out: their class entropy and error are zero,
    and no further feature changes that.

    `columns` holds the codes of all samples, shape (n_features, n_samples), where
    "missing" is a state counted in `widths`; `total` is the weight of all samples. The
    samples left have the numbers `rows`, group by group; `starts` (n_groups + 1,) says
    where the groups start. `labels` and `weights` are in the order of `rows`;
    `weights` is empty if all are one.
    """

    columns: CodeArray
    widths: IntArray
    n_classes: int
    total: float
    rows: IntArray
    starts: IntArray
    labels: IntArray
    weights: FloatArray

    @classmethod
    def of(cls, data: ArrayData) -> SamplePartition:
        """One group of samples that all have a label and a weight above 0."""
        labels = data.labels.astype(np.int64)
        decided = not (labels[1:] != labels[:-1]).any()
        n_rows = 0 if decided else len(labels)
        weights = np.empty(0) if data.weights is None else data.weights
        return cls(
            data.codes.T,
            data.schema.n_states[:-1],
            data.schema.n_classes,
            float(len(labels) if data.weights is None else weights.sum()),
            np.arange(n_rows, dtype=np.int64),
            np.array([0, n_rows] if n_rows else [0], dtype=np.int64),
            labels[:n_rows],
            weights[:n_rows],
        )

    @property
    def are_pure(self) -> bool:
        """Whether every configuration has a single class."""
        return not len(self.rows)

    def entropies(self, candidates: IntArray, n_jobs: int | None = None) -> FloatArray:
        """H(C | X, the features so far) in nats for every candidate X."""
        return self._impurities(candidates, n_jobs, by_error=False)

    def errors(self, candidates: IntArray, n_jobs: int | None = None) -> FloatArray:
        """Fraction of the weight outside the most frequent class of a configuration.

        For every candidate X, of the configurations of X and the features so far.
        """
        return self._impurities(candidates, n_jobs, by_error=True)

    def split(self, feature: int) -> SamplePartition:
        """Split the groups by one more feature."""
        from tanager.structure.orders import _partition_kernels

        n_rows = len(self.rows)
        rows, labels = np.empty_like(self.rows), np.empty_like(self.labels)
        weights = np.empty_like(self.weights)
        # Every group has samples of two classes.
        starts = np.empty(n_rows // 2 + 1, dtype=np.int64)
        n_rows, n_groups = _partition_kernels.split_groups(
            self.columns[feature], self.widths[feature], self.rows, self.starts,
            self.labels, self.weights, rows, starts, labels, weights,
        )  # fmt: skip
        return replace(
            self,
            rows=rows[:n_rows].copy(),
            starts=starts[: n_groups + 1].copy(),
            labels=labels[:n_rows].copy(),
            weights=weights[:n_rows].copy(),
        )

    def _impurities(
        self, candidates: IntArray, n_jobs: int | None, *, by_error: bool
    ) -> FloatArray:
        from tanager.structure.orders import _partition_kernels

        left = np.zeros(len(candidates))
        if self.are_pure or not len(candidates):
            return left
        largest = 0 if len(self.weights) else int(np.diff(self.starts).max())
        numbers = np.arange(1, largest + 1, dtype=np.float64)
        x_log_x = np.concatenate([[0.0], numbers * np.log(numbers)])

        def score(part: IntArray) -> None:
            out = np.empty(len(part))
            _partition_kernels.impurities(
                self.columns, self.widths, self.n_classes, self.rows, self.starts,
                self.labels, self.weights, x_log_x, by_error, candidates[part], out,
            )  # fmt: skip
            left[part] = out

        # Several parts per thread, so that all threads end at the same time.
        threads = n_threads(n_jobs)
        n_parts = 1 if threads == 1 else min(len(candidates), 4 * threads)
        every = np.arange(len(candidates), dtype=np.int64)
        map_threads(score, [every[part::n_parts] for part in range(n_parts)], n_jobs)
        return left / self.total


def select_labelled(data: CodedData, n_jobs: int | None = None) -> ArrayData:
    """Select the samples that have a label and a weight above zero.

    The result is complete: a feature with missing values has one more state. `n_jobs`
    is its number of threads for counting.
    """
    n_classes = data.schema.n_classes
    codes, labels, weights = [], [], []
    for block in data.blocks():
        kept = block.labels < n_classes
        if block.weights is not None:
            kept &= block.weights > 0
            weights.append(block.weights[kept])
        codes.append(block.codes if kept.all() else block.codes[kept])
        labels.append(block.labels[kept])
    if not codes:
        n_features = len(data.schema) - 1
        codes, labels = [np.empty((0, n_features), np.uint8)], [np.empty(0, np.uint8)]
    joined = np.asfortranarray(np.concatenate(codes))
    widths = column_widths(joined, data.schema.n_states[:-1])
    features = [
        Variable(variable.name, tuple(range(int(width))))
        for variable, width in zip(data.schema.variables[:-1], widths, strict=True)
    ]
    return ArrayData(
        Schema((*features, data.schema[len(features)]), target=len(features)),
        joined,
        np.concatenate(labels),
        np.concatenate(weights) if weights else None,
        n_jobs,
    )
