"""`Assessment`: how well predicted probabilities fit labels, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from tanager.model.schema import Schema, Variable
from tanager.types import BoolArray, CodeArray, FloatArray, IntArray

NORMAL_QUANTILE = 1.959963984540054
"""Half width of 95 % intervals in standard errors."""

LEAST = float(np.finfo(np.float64).eps)
"""Smaller probabilities count as this one in a log loss, as in scikit-learn."""

N_CALIBRATION_BINS = 10
MAX_GROUPS = 8
"""Groups of states into which the samples are sliced by one feature."""

MAX_CONFUSIONS = 2000
"""Entries of a confusion matrix that are listed, the most frequent."""


@dataclass(frozen=True)
class Estimate:
    """A number with the ends of its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class CalibrationBin:
    """Samples with similar probabilities: their mean, and how often it came true."""

    predicted: float
    observed: Estimate
    n_samples: int


@dataclass(frozen=True)
class Slice:
    """The samples with some states of one feature, and their error rate."""

    feature: int
    states: str
    n_samples: int
    error: Estimate


@dataclass(frozen=True)
class Assessment:
    """Scores of predicted probabilities on labelled samples.

    Parameters
    ----------
    n_samples : int
        Number of labelled samples.
    accuracy, log_loss, brier : Estimate
        Accuracy has the Wilson interval, the two means that of the normal distribution.
    confusion : tuple of (right class, predicted class, number of samples)
        The pairs that occur, the most frequent `MAX_CONFUSIONS`.
    calibration : tuple of CalibrationBin
        With two classes of the probability of the second, otherwise of that of the
        predicted class.
    slices : tuple of Slice
        By feature.

    Examples
    --------
    >>> from tanager.model.schema import Variable
    >>> schema = Schema((Variable("a", (0, 1)), Variable("class", ("no", "yes"))), 1)
    >>> codes = np.array([[0], [0], [1], [1]], dtype=np.uint8)
    >>> proba = np.array([[0.9, 0.1], [0.8, 0.2], [0.4, 0.6], [0.7, 0.3]])
    >>> found = assess(proba, np.array([0, 0, 1, 1]), codes, schema)
    >>> found.accuracy.value, round(found.accuracy.low, 2)
    (0.75, 0.3)
    >>> [(s.states, s.error.value) for s in found.slices]
    [('0', 0.0), ('1', 0.5)]
    """

    n_samples: int
    accuracy: Estimate
    log_loss: Estimate
    brier: Estimate
    confusion: tuple[tuple[int, int, int], ...]
    calibration: tuple[CalibrationBin, ...]
    slices: tuple[Slice, ...]


def assess(
    probabilities: FloatArray, labels: IntArray, codes: CodeArray, schema: Schema
) -> Assessment:
    """Score the probabilities of labelled samples.

    Parameters
    ----------
    probabilities : ndarray of float64, shape (n_samples, n_classes)
        Predicted.
    labels : ndarray of int, shape (n_samples,)
        Codes of the right classes.
    codes : ndarray of unsigned int, shape (n_samples, n_features)
        The features, for the slices.
    schema : Schema
        The features and, last, the class.
    """
    n_classes = probabilities.shape[1]
    predicted = probabilities.argmax(axis=1)
    of_right = probabilities[np.arange(len(labels)), labels]
    squares = (probabilities**2).sum(axis=1) - 2 * of_right + 1
    wrong = predicted != labels
    n_right = len(labels) - int(wrong.sum())
    pairs, counts = np.unique(labels * n_classes + predicted, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:MAX_CONFUSIONS]
    confusion = tuple(
        (int(pairs[k]) // n_classes, int(pairs[k]) % n_classes, int(counts[k]))
        for k in order
    )
    if n_classes == 2:
        bins = _calibrate(probabilities[:, 1], labels == 1)
    else:
        bins = _calibrate(probabilities.max(axis=1), ~wrong)
    return Assessment(
        len(labels),
        estimate_fraction(n_right, len(labels)),
        estimate_mean(-np.log(np.maximum(of_right, LEAST))),
        estimate_mean(squares),
        confusion,
        bins,
        tuple(
            found
            for j, variable in enumerate(schema.variables[:-1])
            for found in _slice(j, variable, codes[:, j], wrong)
        ),
    )


def estimate_fraction(count: int, total: int) -> Estimate:
    """A fraction with the Wilson score interval.

    Examples
    --------
    >>> found = estimate_fraction(9, 10)
    >>> found.value, round(found.low, 3), round(found.high, 3)
    (0.9, 0.596, 0.982)
    """
    p, z2 = count / total, NORMAL_QUANTILE**2 / total
    centre = (p + z2 / 2) / (1 + z2)
    half = sqrt(p * (1 - p) * z2 + z2 * z2 / 4) / (1 + z2)
    return Estimate(p, max(0.0, centre - half), min(1.0, centre + half))


def estimate_mean(values: FloatArray) -> Estimate:
    """A mean with its normal interval; no width for a single value."""
    mean = float(values.mean())
    error = float(values.std(ddof=1)) / sqrt(len(values)) if len(values) > 1 else 0.0
    half = NORMAL_QUANTILE * error
    return Estimate(mean, mean - half, mean + half)


def _calibrate(
    predicted: FloatArray, came_true: BoolArray
) -> tuple[CalibrationBin, ...]:
    """Bins of about equally many samples; equal probabilities share one."""
    quantiles = np.linspace(0, 1, N_CALIBRATION_BINS + 1)[1:-1]
    edges = np.unique(np.quantile(predicted, quantiles))
    place = np.searchsorted(edges, predicted, side="left")
    counts = np.bincount(place, minlength=len(edges) + 1)
    means = np.bincount(place, predicted, len(edges) + 1)
    hits = np.bincount(place, came_true, len(edges) + 1)
    return tuple(
        CalibrationBin(
            float(means[k] / counts[k]),
            estimate_fraction(int(hits[k]), int(counts[k])),
            int(counts[k]),
        )
        for k in np.flatnonzero(counts)
    )


def _slice(
    feature: int, variable: Variable, codes: CodeArray, wrong: BoolArray
) -> list[Slice]:
    """The error rate of every group of states."""
    totals = np.bincount(codes, minlength=variable.n_states + 1)
    groups, labels = group_states(variable, totals)
    place = groups[codes]
    counts = np.bincount(place, minlength=len(labels))
    errors = np.bincount(place, wrong, len(labels))
    return [
        Slice(
            feature,
            labels[k],
            int(counts[k]),
            estimate_fraction(int(errors[k]), int(counts[k])),
        )
        for k in np.flatnonzero(counts)
    ]


def group_states(variable: Variable, totals: IntArray) -> tuple[IntArray, list[str]]:
    """Merge the states into at most `MAX_GROUPS` groups with similar numbers.

    Ordered states are merged with neighbours; of others the most frequent stay alone.
    A missing or unknown value is a group of its own.

    Parameters
    ----------
    variable : Variable
        The feature.
    totals : ndarray of int, shape (n_states + 1,)
        Number of samples in every state, the last being "not observed".

    Returns
    -------
    groups : ndarray of int64, shape (n_states + 1,)
        The group of every code.
    labels : list of str
        Names of the groups.
    """
    n_values = variable.n_values
    groups = np.arange(variable.n_states + 1)
    if n_values > MAX_GROUPS:
        own = totals[:n_values]
        if variable.ordered:
            before = np.cumsum(own) - own
            found = before * MAX_GROUPS // max(int(own.sum()), 1)
        else:
            rank = np.empty(n_values, dtype=np.int64)
            rank[np.argsort(-own, kind="stable")] = np.arange(n_values)
            found = np.minimum(rank, MAX_GROUPS - 1)
        _, groups[:n_values] = np.unique(found, return_inverse=True)
        groups[n_values:] = (
            groups[:n_values].max() + 1 + np.arange(variable.n_states + 1 - n_values)
        )
    names = [str(state) for state in variable.states] + ["not observed"]
    members: list[list[str]] = [[] for _ in range(int(groups[-1]) + 1)]
    for name, group in zip(names, groups.tolist(), strict=True):
        members[group].append(name)
    return groups, [_join(own, variable.cuts is not None) for own in members]


def _join(names: Sequence[str], is_numeric: bool) -> str:
    """One label for several states."""
    if len(names) == 1:
        return names[0]
    if is_numeric:
        return f"{names[0].split(',')[0]}, {names[-1].split(', ')[-1]}"
    if len(names) <= 3:
        return ", ".join(names)
    return f"{len(names)} others"
