"""Labelled samples of a stochastic learner, and a validation set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tanager.data.coded_data import ArrayData, CodedData
from tanager.errors import InputError
from tanager.model.schema import Schema
from tanager.types import CodeArray, FloatArray, IndexArray


@dataclass(frozen=True, eq=False)
class LabelledSamples:
    """Samples with a label and a weight above zero, in memory.

    `codes` have shape (n_samples, n_features), in C order; `labels` and `weights`, None
    if all are one, have shape (n_samples,).
    """

    codes: CodeArray
    labels: IndexArray
    weights: FloatArray | None

    @classmethod
    def of(cls, data: CodedData, learner: object) -> LabelledSamples:
        """Collect the samples of `data`; raise `InputError` if there are none."""
        codes = [np.empty((0, len(data.schema) - 1), dtype=np.uint8)]
        labels, weights = [np.empty(0, dtype=np.intp)], []
        for block in data.blocks():
            keep = block.labels < data.schema.n_classes
            if block.weights is not None:
                keep &= block.weights > 0.0
                weights.append(block.weights[keep])
            codes.append(np.ascontiguousarray(block.codes[keep]))
            labels.append(block.labels[keep].astype(np.intp))
        if not sum(map(len, labels)):
            raise InputError(
                f"{type(learner).__name__} needs labelled samples with a weight above "
                "0; there are none."
            )
        return cls(
            np.concatenate(codes),
            np.concatenate(labels),
            np.concatenate(weights) if weights else None,
        )

    def take(self, schema: Schema, rows: IndexArray) -> ArrayData:
        """Make data of some samples, for learners that count."""
        codes = np.asfortranarray(self.codes[rows])
        return ArrayData(schema, codes, self.labels[rows], self.weights_of(rows))

    def weights_of(self, rows: IndexArray) -> FloatArray | None:
        """Weights of some samples, or None if all are one."""
        return None if self.weights is None else self.weights[rows]

    def total(self, rows: IndexArray) -> float:
        """Total weight of some samples."""
        return float(len(rows) if self.weights is None else self.weights[rows].sum())

    def error(self, log_joint: FloatArray, rows: IndexArray) -> float:
        """Weight of the misclassified samples."""
        wrong = log_joint.argmax(axis=1) != self.labels[rows]
        if self.weights is None:
            return float(wrong.sum())
        return float(self.weights[rows] @ wrong)
