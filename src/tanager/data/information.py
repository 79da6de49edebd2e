"""Entropy and (conditional) mutual information from counts, in nats."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.data.counts import pair_cells
from tanager.model.schema import Schema
from tanager.types import FloatArray
from tanager.utils import jit

PAIR_BUDGET = 25_000_000
"""Cells of pair counts held at once; beyond, pairs are counted in blocks."""

PAIR_OVERHEAD = 500
"""Cells that could be worked on in the time NumPy calls for one pair take."""


def entropy(counts: FloatArray) -> float:
    """Entropy in nats of the distribution proportional to `counts`.

    Examples
    --------
    >>> round(entropy(np.array([1.0, 1.0])), 6)
    0.693147
    """
    total = counts.sum()
    if total <= 0:
        return 0.0
    return float(np.log(total) - x_log_x(counts).sum() / total)


def class_information(data: CodedData) -> FloatArray:
    """Mutual information I(C; X_j) of the class with every feature.

    Parameters
    ----------
    data : CodedData
        Coded samples; a feature is counted over the samples in which it is observed.

    Returns
    -------
    ndarray of float64, shape (n_features,)
        In nats.
    """
    target = len(data.schema) - 1
    counts = data.count([(target, j) for j in range(target)])
    values = []
    for j in range(target):
        table = counts.table(j)
        shared = entropy(table.sum(axis=0)) + entropy(table.sum(axis=1))
        values.append(max(shared - entropy(table), 0.0))
    return np.array(values)


def conditional_information(data: CodedData) -> FloatArray:
    """Conditional mutual information I(X_i; X_j | C) of all pairs of features.

    Parameters
    ----------
    data : CodedData
        Coded samples; a pair is counted over the samples in which both are observed.

    Returns
    -------
    ndarray of float64, shape (n_features, n_features)
        In nats, symmetric, zero on the diagonal.

    Notes
    -----
    From relative frequencies, without smoothing, as TAN-CMI of [1]_ section 4 uses it.
    Counts of all pairs that are too large to be held at once are made in blocks.

    References
    ----------
    .. [1] Pernkopf, Bilmes (2010), Efficient heuristics for discriminative structure
       learning of Bayesian network classifiers.
    """
    n_features = len(data.schema) - 1
    information = np.zeros((n_features, n_features))
    _fill_pairs(data, information, "pair_information", _shared_given_class)
    return information


def explaining_away(data: CodedData) -> FloatArray:
    """Explaining away residual I(X_i; X_j | C) - I(X_i; X_j) of all pairs.

    Parameters
    ----------
    data : CodedData
        Coded samples; a pair is counted over the samples in which both are observed and
        the class is known.

    Returns
    -------
    ndarray of float64, shape (n_features, n_features)
        In nats, symmetric, zero on the diagonal; negative where the dependence of a
        pair is due to the class.

    Notes
    -----
    It equals ``I(C; X_i, X_j) - I(C; X_i) - I(C; X_j)``: what two features say about
    the class together beyond what they say one by one, or synergy (EAR; Bilmes, 2000,
    as cited in [1]_, section 1).

    References
    ----------
    .. [1] Pernkopf, Bilmes (2010), Efficient heuristics for discriminative structure
       learning of Bayesian network classifiers.
    """
    n_features = len(data.schema) - 1
    residual = np.zeros((n_features, n_features))
    _fill_pairs(data, residual, None, _explained_away)
    return residual


def pair_class_information(data: CodedData) -> FloatArray:
    """Information I(C; X_i, X_j) that two features together have about the class.

    Parameters
    ----------
    data : CodedData
        Coded samples; a pair is counted over the samples in which both are observed.

    Returns
    -------
    ndarray of float64, shape (n_features, n_features)
        In nats, symmetric. The diagonal is I(C; X_i), as of `class_information`.
    """
    information = np.diag(class_information(data))
    _fill_pairs(data, information, "pair_class_information", _shared_with_class)
    return information


def fits_budget(schema: Schema) -> bool:
    """Whether the counts of all pairs may be held at once."""
    states = schema.n_states[:-1].tolist()
    return pair_cells(states, schema.n_classes) <= PAIR_BUDGET


def _feature_blocks(schema: Schema) -> list[tuple[int, int]]:
    """Ranges of first features whose pair tables stay within the budget."""
    states = schema.n_states[:-1].tolist()
    if fits_budget(schema):
        return [(0, len(states))]
    blocks: list[tuple[int, int]] = []
    first = 0
    while first < len(states):
        last = first + 1
        while last < len(states) and (
            pair_cells(states, schema.n_classes, first, last + 1) <= PAIR_BUDGET
        ):
            last += 1
        blocks.append((first, last))
        first = last
    return blocks


def _fill_pairs(
    data: CodedData,
    out: FloatArray,
    kernel: str | None,
    plain: Callable[[FloatArray], float],
) -> None:
    """Write a measure of all pairs into both triangles of `out`.

    By the kernel of that name or, for few cells and without one, by `plain` of every
    pair's table with the axes (x_i, x_j, class).
    """
    for block in _feature_blocks(data.schema):
        pairs = data.count_pairs(*block)
        work = pairs.values.size + PAIR_OVERHEAD * pairs.n_pairs
        if kernel is not None and work > jit.SMALL_WORK:
            from tanager.data import _information_kernels

            n_states = np.array(pairs.n_states, dtype=np.int64)
            getattr(_information_kernels, kernel)(
                pairs.values, pairs.offsets, n_states, pairs.n_classes, pairs.first, out
            )
            continue
        for i in range(pairs.first, pairs.last):
            for j in range(i + 1, pairs.n_features):
                value = plain(pairs.table(i, j).astype(np.float64))
                out[i, j] = out[j, i] = value


def _shared_given_class(table: FloatArray) -> float:
    """I(X_i; X_j | C) from a table of counts."""
    total = table.sum()
    if total <= 0:
        return 0.0
    shared = (
        x_log_x(table).sum()
        - x_log_x(table.sum(axis=1)).sum()
        - x_log_x(table.sum(axis=0)).sum()
        + x_log_x(table.sum(axis=(0, 1))).sum()
    )
    return max(float(shared / total), 0.0)


def _shared_with_class(table: FloatArray) -> float:
    """I(C; X_i, X_j) from a table of counts."""
    alone = entropy(table.sum(axis=(0, 1))) + entropy(table.sum(axis=2))
    return max(alone - entropy(table), 0.0)


def _explained_away(table: FloatArray) -> float:
    """I(X_i; X_j | C) - I(X_i; X_j) from a table of counts."""
    shared = _shared_given_class(table.sum(axis=2)[:, :, np.newaxis])
    return _shared_given_class(table) - shared


def x_log_x(values: FloatArray) -> FloatArray:
    """Elementwise x log x with 0 log 0 = 0."""
    return values * np.log(values, where=values > 0, out=np.zeros(values.shape))


def shared_information(joint: FloatArray, one: int, two: int) -> float:
    """Mutual information in nats of two axes of a table, given the other axes.

    Parameters
    ----------
    joint : ndarray of float64
        Probabilities, or weights proportional to them.
    one, two : int
        The two axes.

    Examples
    --------
    >>> round(shared_information(np.array([[0.5, 0.0], [0.0, 0.5]]), 0, 1), 4)
    0.6931
    """
    both = np.atleast_1d(joint.sum(axis=(one, two)))
    parts = entropy(joint.sum(axis=two)) + entropy(joint.sum(axis=one))
    return max(parts - entropy(joint) - entropy(both), 0.0)
