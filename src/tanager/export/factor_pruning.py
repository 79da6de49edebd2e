"""`prune_factors`: the most important factors of a model that fit into a size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tanager.loglinear.fitted_factors import FactorTable, FactorTables
from tanager.network import LogLinearNetwork
from tanager.types import FloatArray

AXIS_BYTES = 12
"""About what the file says of every feature of a factor: position, stride, bins."""


def prune_factors(
    network: LogLinearNetwork, n_bytes: int, bits: int
) -> LogLinearNetwork:
    """Keep the factors with the most importance for every byte.

    Parameters
    ----------
    network : LogLinearNetwork
        The model.
    n_bytes : int
        About the size of all tables that are kept.
    bits : int
        Bits of a number.

    Returns
    -------
    LogLinearNetwork
        With the factors that fit. The mean weights of the others, over the training
        samples, are added to the log prior.

    Notes
    -----
    The squared importance of a factor is the mean square of its weights over training
    samples, and the sum of squares that is left out is made small: factors are taken
    in the order of squared importance divided by size, as long as they fit. Weights
    are not fitted again.
    """
    factors = network.factors
    tables = factors.tables
    sizes = [_n_bytes(table, bits, factors.variance_scale > 0.0) for table in tables]
    gains = [table.importance**2 / n for table, n in zip(tables, sizes, strict=True)]
    kept, left = set(), n_bytes
    for t in np.argsort(-np.array(gains), kind="stable").tolist():
        if sizes[t] <= left:
            kept.add(t)
            left -= sizes[t]
    log_prior = factors.log_prior + sum(
        (_mean_weights(table) for t, table in enumerate(tables) if t not in kept),
        np.zeros_like(factors.log_prior),
    )
    found = tuple(table for t, table in enumerate(tables) if t in kept)
    pruned = FactorTables(log_prior, found, factors.variance_scale)
    return replace(network, factors=pruned)


def _n_bytes(table: FactorTable, bits: int, has_variances: bool) -> int:
    """About the size of a factor in a file of C."""
    n_cells, n_classes = table.weights.shape
    numbers = n_cells * (1 if n_classes == 2 else n_classes) * (1 + has_variances)
    axes = sum(AXIS_BYTES + len(axis.bins) for axis in table.factor.axes)
    return int(numbers * bits // 8 + axes + 4 * (1 + has_variances))


def _mean_weights(table: FactorTable) -> FloatArray:
    total = table.support.sum()
    if total <= 0.0:
        return np.zeros(table.weights.shape[1])
    mean: FloatArray = table.support @ table.weights / total
    return mean
