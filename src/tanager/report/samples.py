"""The samples that a page holds: a random part, and the worst predictions."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from tanager.types import CodeArray, FloatArray, IntArray

MAX_CODES = 40_000
"""Codes in a page: samples times features."""

MAX_SAMPLES = 1000
MAX_WORST = 50
"""Misclassified samples that are shown in addition to the random part."""


@dataclass(frozen=True, eq=False)
class ReportData:
    """Samples of a report with their predictions.

    Parameters
    ----------
    codes : ndarray of unsigned int, shape (n_samples, n_features)
        The features.
    probabilities : ndarray of float64, shape (n_samples, n_classes)
        Predicted.
    labels : ndarray of int64, shape (n_samples,), or None
        Codes of the classes, -1 where the class is missing; None without labels.
    name : str, default=""
        Name of the dataset.
    """

    codes: CodeArray
    probabilities: FloatArray
    labels: IntArray | None
    name: str = ""

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the codes and labels: the same data give the same digits."""
        hashed = hashlib.sha256(
            np.ascontiguousarray(self.codes.astype("<u2")).tobytes()
        )
        if self.labels is not None:
            hashed.update(self.labels.astype("<i8").tobytes())
        return hashed.hexdigest()

    def choose(self) -> tuple[IntArray, int]:
        """Positions of the samples for a page, and how many of them are random.

        The random part, in the order of the data, is the same in every run. Then come
        misclassified samples outside it, those with the least probability of the right
        class first.
        """
        n_samples, n_features = self.codes.shape
        most = max(1, min(MAX_SAMPLES, MAX_CODES // max(n_features, 1)))
        if n_samples <= most:
            return np.arange(n_samples), n_samples
        n_worst = 0 if self.labels is None else min(MAX_WORST, most // 4)
        random = np.random.default_rng(0)
        chosen = np.sort(random.choice(n_samples, most - n_worst, replace=False))
        if self.labels is None:
            return chosen, len(chosen)
        known = self.labels >= 0
        of_right = self.probabilities[np.arange(n_samples), np.maximum(self.labels, 0)]
        wrong = known & (self.probabilities.argmax(axis=1) != self.labels)
        wrong[chosen] = False
        places = np.flatnonzero(wrong)
        worst = places[np.argsort(of_right[places], kind="stable")][:n_worst]
        return np.concatenate([chosen, worst]), len(chosen)
