"""Factors of features that are missing at prediction, but never were in training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from zlib import crc32

import numpy as np
from scipy.special import log_softmax

from tanager.loglinear.factor import Factor
from tanager.types import CodeArray, FloatArray, IntArray

SCALES = (0.0, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
"""Scales of the variance among which `select_scale` chooses."""

HIDDEN_RATE = 0.3
"""Fraction of the values that are hidden from samples for this choice."""

HIDDEN_SAMPLES = 4_000
"""Largest number of such samples."""


def never_missing(factor: Factor, support: FloatArray) -> list[bool]:
    """Whether all training samples have a value along each axis of a factor.

    `support` is their weight in every cell, shape (n_cells,). Without any samples no
    axis counts.
    """
    grid = support.reshape(factor.shape)
    some = bool(support.any())
    return [
        some and not grid[(slice(None),) * a + (-1,)].any() for a in range(grid.ndim)
    ]


def average_weights(
    factor: Factor, weights: FloatArray, counts: FloatArray
) -> FloatArray:
    """Log weights with means in the cells of features that were never missing.

    Parameters
    ----------
    factor : Factor
        The features and their bins.
    weights : ndarray of float64, shape (n_cells, n_classes)
        Log weights; the sum over the classes is zero.
    counts : ndarray of float64, shape (n_cells, n_classes)
        Total weight of the training samples by cell and class.

    Returns
    -------
    ndarray of float64, shape (n_cells, n_classes)
        The same weights, but in cells that are "not observed" along some axes without
        such training samples. There the weight of a class is the mean over its training
        samples in the same bins of the other axes, centred over the classes.

    Notes
    -----
    Let a be the bins along the axes that are not observed, and b those of the others.
    The mean is ``sum_a P(a | c, b) w[a, b, c]``. ``P(a | c, b)`` is the frequency among
    training samples, and one more sample that is distributed as ``P(a | b)``; the
    latter in turn is the frequency with one more sample distributed as ``P(a)``.

    Examples
    --------
    >>> from tanager.loglinear.factor import Axis
    >>> factor = Factor((Axis(0, np.array([0, 1, 2]), 0),))
    >>> weights = np.array([[1.0, -1.0], [-3.0, 3.0], [0.0, 0.0]])
    >>> counts = np.array([[30.0, 10.0], [10.0, 30.0], [0.0, 0.0]])
    >>> average_weights(factor, weights, counts)[2].round(2)
    array([-1.,  1.])
    """
    shape = tuple(factor.shape.tolist())
    averaged = weights.reshape(*shape, -1).copy()
    by_class = counts.reshape(averaged.shape)
    observed, patterns = _missing_patterns(factor, counts.sum(axis=1))
    own, samples = averaged[observed], by_class[observed]
    every = samples.sum(axis=-1)
    for hidden, place in patterns:
        fraction = samples + _conditional(every, hidden)[..., np.newaxis]
        total = samples.sum(axis=hidden, keepdims=True) + 1.0
        means = (fraction * own).sum(axis=hidden, keepdims=True) / total
        averaged[place] = means - means.mean(axis=-1, keepdims=True)
    return averaged.reshape(weights.shape)


def balance_averages(
    factors: Sequence[Factor],
    tables: Sequence[FloatArray],
    supports: Sequence[FloatArray],
) -> list[FloatArray]:
    """Shift averaged weights so that those of all factors together sum to zero.

    Parameters
    ----------
    factors : sequence of Factor
        The factors of a model.
    tables : sequence of ndarray of float64, shape (n_cells, n_classes)
        Their log weights by `average_weights`.
    supports : sequence of ndarray of float64, shape (n_cells,)
        Total weight of the training samples in every cell.

    Returns
    -------
    list of ndarray of float64, shape (n_cells, n_classes)
        The tables. In those over one feature that was never missing, "not observed" is
        shifted by the same amount, so that a sample without any of these features gets
        the prior.
    """
    shifted = list(tables)
    total = np.zeros(tables[0].shape[1] if tables else 0)
    single = []
    for t, (factor, support) in enumerate(zip(factors, supports, strict=True)):
        if all(never_missing(factor, support)):
            total += tables[t][-1]
            if len(factor.axes) == 1:
                single.append(t)
    for t in single:
        shifted[t] = tables[t].copy()
        shifted[t][-1] -= total / len(single)
    return shifted


def missing_variances(
    factor: Factor, columns: FloatArray, support: FloatArray
) -> FloatArray:
    """Variances of the log weights over features that are not observed.

    Parameters
    ----------
    factor : Factor
        The features and their bins.
    columns : ndarray of float64, shape (n_cells, n_columns)
        Log weights of every class, or the log odds of two.
    support : ndarray of float64, shape (n_cells,)
        Total weight of the training samples in every cell.

    Returns
    -------
    ndarray of float64, shape (n_cells, n_columns)
        In the cells that `average_weights` fills the variance of the weights,
        ``sum_a P(a | b) (w[a, b] - mean)^2``; zero in all others.

    Examples
    --------
    >>> from tanager.loglinear.factor import Axis
    >>> factor = Factor((Axis(0, np.array([0, 1, 2]), 0),))
    >>> odds = np.array([[1.0], [-3.0], [0.5]])
    >>> missing_variances(factor, odds, np.array([5.0, 5.0, 0.0])).ravel()
    array([0., 0., 4.])
    """
    shape = tuple(factor.shape.tolist())
    weights = columns.reshape(*shape, -1)
    variances = np.zeros_like(weights)
    observed, patterns = _missing_patterns(factor, support)
    own, samples = weights[observed], support.reshape(shape)[observed]
    for hidden, place in patterns:
        fraction = _conditional(samples, hidden)[..., np.newaxis]
        mean = (fraction * own).sum(axis=hidden, keepdims=True)
        spread = fraction * np.square(own - mean)
        variances[place] = spread.sum(axis=hidden, keepdims=True)
    return variances.reshape(columns.shape)


def average_errors(
    factor: Factor, errors: FloatArray, support: FloatArray
) -> FloatArray:
    """Standard errors of the weights by `average_weights`.

    Parameters
    ----------
    factor : Factor
        The features and their bins.
    errors : ndarray of float64, shape (n_cells, n_columns)
        Standard errors of the weights, taken as independent.
    support : ndarray of float64, shape (n_cells,)
        Total weight of the training samples in every cell.

    Returns
    -------
    ndarray of float64, shape (n_cells, n_columns)
        In the cells that `average_weights` fills ``sqrt(sum_a P(a | b)^2 e[a, b]^2)``;
        the same errors in all others.

    Examples
    --------
    >>> from tanager.loglinear.factor import Axis
    >>> factor = Factor((Axis(0, np.array([0, 1, 2]), 0),))
    >>> errors = np.array([[0.6], [0.8], [9.0]])
    >>> average_errors(factor, errors, np.array([5.0, 5.0, 0.0])).ravel()
    array([0.6, 0.8, 0.5])
    """
    shape = tuple(factor.shape.tolist())
    averaged = errors.reshape(*shape, -1).copy()
    observed, patterns = _missing_patterns(factor, support)
    own, samples = averaged[observed].copy(), support.reshape(shape)[observed]
    for hidden, place in patterns:
        fraction = _conditional(samples, hidden)[..., np.newaxis]
        squares = np.square(fraction * own).sum(axis=hidden, keepdims=True)
        averaged[place] = np.sqrt(squares)
    return averaged.reshape(errors.shape)


def shrink_scores(
    scores: FloatArray, log_prior: FloatArray, variances: FloatArray, scale: float
) -> FloatArray:
    """Shrink the scores of incomplete samples towards the prior.

    Parameters
    ----------
    scores : ndarray of float64, shape (n_samples, n_columns)
        Sums of log weights, the prior included; or log odds of two classes.
    log_prior : ndarray of float64, shape (1, n_columns)
        The scores without any factor.
    variances : ndarray of float64, shape (n_samples, n_columns)
        Sums of `missing_variances`.
    scale : float
        Scale of the variances; 0 shrinks nothing.

    Returns
    -------
    ndarray of float64, shape (n_samples, n_columns)
        ``prior + (score - prior) / sqrt(1 + scale variance)``, of several classes with
        scores and prior centred over the classes.

    Notes
    -----
    The mean of a probability over values that are not known is less certain than the
    probability at their mean. For log odds with a Gaussian distribution, `scale` =
    pi / 8 is MacKay's approximation of this mean. Values that are not known are not
    independent of those that are, so that `select_scale` chooses it for each model.

    References
    ----------
    MacKay (1992), The evidence framework applied to classification networks, Neural
    Computation 4.

    Examples
    --------
    >>> odds, variances = np.array([[3.0]]), np.array([[8.0]])
    >>> shrink_scores(odds, np.array([[1.0]]), variances, scale=1.0).round(2)
    array([[1.67]])
    """
    if scores.shape[1] > 1:
        scores = scores - scores.mean(axis=1, keepdims=True)
        log_prior = log_prior - log_prior.mean(axis=1, keepdims=True)
    factors = np.sqrt(1.0 + scale * variances)
    shrunk: FloatArray = log_prior + (scores - log_prior) / factors
    return shrunk


def hide_values(codes: CodeArray, features: IntArray, missing: IntArray) -> CodeArray:
    """Hide values of some features at random.

    Parameters
    ----------
    codes : ndarray of unsigned int, shape (n_features, n_samples)
        Codes of the features.
    features, missing : ndarray of int64, shape (n_hidden_features,)
        Features, and their codes for "not observed".

    Returns
    -------
    ndarray of unsigned int, shape (n_features, n_samples)
        The codes; `HIDDEN_RATE` of those of the `features` are not observed.

    Notes
    -----
    The random numbers of a feature depend on its values, not on its position: the order
    of the columns changes nothing.
    """
    hidden = codes.copy()
    for j, code in zip(features.tolist(), missing.tolist(), strict=True):
        seed = crc32(codes[j].astype(np.uint16).tobytes())
        draws = np.random.default_rng(seed).random(codes.shape[1])
        hidden[j, draws < HIDDEN_RATE] = code
    return hidden


def select_scale(
    scores: FloatArray,
    log_prior: FloatArray,
    variances: FloatArray,
    labels: CodeArray,
    weights: FloatArray,
) -> float:
    """Select the scale of `shrink_scores` by the log loss of incomplete samples.

    `scores`, `log_prior` and `variances` are those of `shrink_scores`; `labels` and
    `weights` have shape (n_samples,). Of `SCALES` with the same loss it is the least.
    """
    rows = np.arange(len(labels))

    def loss(scale: float) -> float:
        shrunk = shrink_scores(scores, log_prior, variances, scale)
        if shrunk.shape[1] == 1:
            shrunk = np.hstack([np.zeros_like(shrunk), shrunk])
        return -float(weights @ log_softmax(shrunk, axis=1)[rows, labels])

    return min(SCALES, key=loss) if variances.any() else 0.0


def _missing_patterns(
    factor: Factor, support: FloatArray
) -> tuple[tuple[slice, ...], Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]]:
    """The cells with a value along all axes that were never missing, and the others.

    The latter are pairs: the axes that are not observed, and the cells.
    """
    axes = np.flatnonzero(never_missing(factor, support)).tolist()

    def place(hidden: Sequence[int]) -> tuple[slice, ...]:
        along = dict.fromkeys(axes, slice(-1)) | dict.fromkeys(hidden, slice(-1, None))
        return tuple(along.get(a, slice(None)) for a in range(len(factor.axes)))

    patterns = (
        (hidden, place(hidden))
        for size in range(1, len(axes) + 1)
        for hidden in combinations(axes, size)
    )
    return place(()), patterns


def _conditional(samples: FloatArray, hidden: tuple[int, ...]) -> FloatArray:
    """P(bins along the axes `hidden` | bins of the others), smoothed by one sample."""
    known = samples.sum(axis=hidden, keepdims=True)
    others = tuple(a for a in range(samples.ndim) if a not in hidden)
    marginal = samples.sum(axis=others, keepdims=True) if others else samples
    fraction: FloatArray = (samples + marginal / known.sum()) / (known + 1.0)
    return fraction
