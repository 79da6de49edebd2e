"""The samples that a page holds: a random part, and the worst predictions."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from tanager.types import CodeArray, FloatArray, IntArray

MAX_CODES = 40_000
"""Codes in a page: samples times features."""

MIN_CODES = 10_000
"""The same where the model leaves no more room for samples."""

PAGE_BYTES, PAGE_FEATURE_BYTES = 235_000, 4_100
"""Size of a page that samples are to keep, in all and for each of the features: below
500 kB at 60 and 1.5 MB at 300."""

OTHER_BYTES = 80_000
"""Letters of scripts, names and drawings in a page."""

CODE_BYTES = 1.3
"""Letters of a code in a page."""

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

    def choose(self, model_bytes: int = 0) -> tuple[IntArray, int]:
        """Positions of the samples for a page, and how many of them are random.

        There are fewer where the model takes many letters, `model_bytes`.

        The random part, in the order of the data, is the same in every run. Then come
        misclassified samples outside it, those with the least probability of the right
        class first.
        """
        n_samples, n_features = self.codes.shape
        room = PAGE_BYTES + PAGE_FEATURE_BYTES * n_features - OTHER_BYTES - model_bytes
        max_codes = min(max(int(room / CODE_BYTES), MIN_CODES), MAX_CODES)
        most = max(1, min(MAX_SAMPLES, max_codes // max(n_features, 1)))
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
