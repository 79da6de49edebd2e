"""Typical log margin between the classes: a scale for margin losses."""

from __future__ import annotations

from typing import Literal

import numpy as np

from tanager.data.coded_data import ArrayData
from tanager.inference import engine_for
from tanager.model.structure import Structure
from tanager.parameters.frequency import Frequency
from tanager.types import FloatArray

SCORED_SAMPLES = 65536
"""Samples that are scored at once."""

SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")
"""Of half of the weight: the median is the mean of the samples on both."""


def typical_margin(data: ArrayData) -> float:
    """Median absolute log margin under naive Bayes with smoothed frequencies.

    The log margin of a sample, which must be labelled, is the log ratio of the
    probability of its true class to the largest of the other classes. It grows with the
    number of features, and with their information on the class. It is 1 if there is a
    single class, or if no feature is informative. With weights it is the weighted
    median.

    Examples
    --------
    >>> from tanager.model import Schema, Variable
    >>> schema = Schema((Variable("x", (0, 1)), Variable("class", (0, 1))), target=1)
    >>> codes = np.asfortranarray([[0], [0], [0], [1], [1], [1]], dtype=np.uint8)
    >>> data = ArrayData(schema, codes, codes[:, 0])
    >>> round(typical_margin(data), 4)  # P(x | class) is 4/5 and 1/5
    1.3863
    """
    n_features = data.codes.shape[1]
    naive = Structure.class_rooted([()] * (n_features + 1), n_features)
    cpts = Frequency(alpha=1.0).learn(naive, data)
    if data.schema.n_classes < 2 or not len(data.labels):
        return 1.0
    engine = engine_for(cpts)
    margins = np.empty(len(data.labels))
    for begin in range(0, len(margins), SCORED_SAMPLES):
        part = slice(begin, begin + SCORED_SAMPLES)
        log_joint = engine.log_joint(np.asfortranarray(data.codes[part]))
        rows, labels = np.arange(len(log_joint)), data.labels[part]
        own = log_joint[rows, labels]
        log_joint[rows, labels] = -np.inf
        margins[part] = np.abs(own - log_joint.max(axis=1))
    typical = _weighted_median(margins, data.weights)
    return typical if typical > 0.0 else 1.0


def _weighted_median(values: FloatArray, weights: FloatArray | None) -> float:
    """Return the median of samples, each as often as its weight says."""
    if weights is None:
        return float(np.median(values))
    order = np.argsort(values)
    running = np.cumsum(weights[order])
    middle = [np.searchsorted(running, running[-1] / 2, side) for side in SIDES]
    return float(values[order[middle]].mean())
