"""Labelled samples of a stochastic learner, and a validation set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tanager.data.coded_data import ArrayData, CodedData
from tanager.errors import InputError
from tanager.model.schema import Schema
from tanager.types import CodeArray, FloatArray, IndexArray


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Samples with a label and a weight above zero, in memory.

    `codes` have shape (n_rows, n_features), in C order; `labels` and `weights`, None if
    all are one, have shape (n_rows,).
    """

    codes: CodeArray
    labels: IndexArray
    weights: FloatArray | None

    @classmethod
    def of(cls, data: CodedData) -> LabelledRows:
        """Collect the labelled samples of `data` with a weight above zero."""
        n_classes = data.schema.n_classes
        codes, labels, weights = [], [], []
        for block in data.blocks():
            keep = block.labels < n_classes
            if block.weights is not None:
                keep &= block.weights > 0.0
                weights.append(block.weights[keep])
            codes.append(np.ascontiguousarray(block.codes[keep]))
            labels.append(block.labels[keep].astype(np.intp))
        if not codes:
            empty = np.empty((0, len(data.schema) - 1), dtype=np.uint8)
            return cls(empty, np.empty(0, dtype=np.intp), None)
        return cls(
            np.concatenate(codes),
            np.concatenate(labels),
            np.concatenate(weights) if weights else None,
        )

    @classmethod
    def needed_by(cls, learner: object, data: CodedData) -> LabelledRows:
        """Do the same; raise `InputError` if there is no such sample."""
        rows = cls.of(data)
        if rows.n_rows == 0:
            raise InputError(
                f"{type(learner).__name__} needs labelled samples with a weight above "
                "0; there are none."
            )
        return rows

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.labels)

    def take(self, schema: Schema, rows: IndexArray) -> ArrayData:
        """Make data of some samples, for learners that count."""
        codes = np.asfortranarray(self.codes[rows])
        return ArrayData(schema, codes, self.labels[rows], self.weights_of(rows))

    def weights_of(self, rows: IndexArray) -> FloatArray | None:
        """Weights of some rows, or None if all are one."""
        return None if self.weights is None else self.weights[rows]

    def total(self, rows: IndexArray) -> float:
        """Weight of some rows together."""
        return float(len(rows) if self.weights is None else self.weights[rows].sum())

    def error(self, log_joint: FloatArray, rows: IndexArray) -> float:
        """Weight of the misclassified samples."""
        wrong = log_joint.argmax(axis=1) != self.labels[rows]
        if self.weights is None:
            return float(wrong.sum())
        return float(self.weights[rows] @ wrong)


def hold_out(
    labels: IndexArray, fraction: float, random: np.random.Generator
) -> tuple[IndexArray, IndexArray]:
    """Split samples into a training and a validation set, stratified by class.

    `fraction` is that of the validation set. Of every class with at least two samples
    both sets have at least one; a class with a single sample is only trained on.
    Returns row numbers, ascending.

    Examples
    --------
    >>> learned, watched = hold_out(
    ...     np.array([0, 0, 0, 0, 1, 1, 2]), 0.25, np.random.default_rng(0)
    ... )
    >>> len(learned), len(watched), 6 in learned
    (5, 2, True)
    """
    watched = np.zeros(len(labels), dtype=np.bool_)
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        n_watched = min(max(1, round(fraction * len(rows))), len(rows) - 1)
        watched[random.permutation(rows)[:n_watched]] = True
    return np.flatnonzero(~watched), np.flatnonzero(watched)
