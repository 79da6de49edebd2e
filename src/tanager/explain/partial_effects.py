"""Effects of features: curves of one and surfaces of two, with bands and support."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import polygamma

from tanager.data.counts import Counts
from tanager.errors import InputError
from tanager.explain.feature_arguments import feature_position
from tanager.explain.odds_conversion import log_odds_of
from tanager.explain.terms import without_zeros
from tanager.model.layout import along
from tanager.network import AnyNetwork, Effect, Network
from tanager.types import FloatArray

MAX_EFFECT_CELLS = 1_000_000
"""Cells of a surface that are computed."""


def measure_effect(
    network: AnyNetwork, names: Sequence[str], counts: Counts | None = None
) -> Effect:
    """Compute the curve of one feature, or the surface of two.

    Parameters
    ----------
    network : Network or LogLinearNetwork
        The model; the class is its last variable.
    names : sequence of str
        One or two features.
    counts : Counts or None, default=None
        Counts of the families of a network, for support and standard errors.

    Returns
    -------
    Effect

    Notes
    -----
    Of a **log-linear network** it is the factor over exactly these features, with its
    standard errors. The bin "not observed" is left out if no training sample is in it.

    Of a **network** it is the difference of the log odds with and without knowing these
    features alone, log P(x | c) up to a constant, all other features marginalised. With
    counts N the variance of log P(x | c) is that under a Dirichlet posterior,
    ``trigamma(N[x, c] + 1) - trigamma(N[c] + r)`` for r states, independent between
    classes.
    """
    if not 1 <= len(names) <= 2 or len(set(names)) < len(names):
        raise InputError(
            f"Give the names of one or two different features, got {list(names)}."
        )
    positions = [feature_position(network.schema, name) for name in names]
    if network.has_cpts:
        return _network_effect(network, positions, counts)
    return network.effect(*names)


def _network_effect(
    network: Network, positions: Sequence[int], counts: Counts | None
) -> Effect:
    schema = network.schema
    shape = tuple(schema[j].n_states for j in positions)
    if np.prod(shape) > MAX_EFFECT_CELLS:
        raise InputError(
            f"The surface would have {int(np.prod(shape)):,} cells, more than the "
            f"{MAX_EFFECT_CELLS:,} allowed; use a coarser encoder."
        )
    states = schema.n_states[:-1]
    dtype = np.min_scalar_type(int(states.max()))
    rows = np.empty((int(np.prod(shape)), len(states)), dtype=dtype, order="F")
    rows[...] = states
    places = np.unravel_index(np.arange(len(rows)), shape)
    for j, codes in zip(positions, places, strict=True):
        rows[:, j] = codes
    engine = without_zeros(network).engine
    values = log_odds_of(engine.log_joint(rows)) - log_odds_of(engine.log_prior)
    support, errors = None, None
    if counts is not None:
        by_class = _counts_of(network, positions, counts)
        if by_class is not None:
            support = by_class.sum(axis=-1)
            if len(positions) == 1:
                errors = _band(by_class)
    cuts = (schema[j].cuts for j in positions)
    return Effect(
        tuple(schema.names[j] for j in positions),
        tuple(schema[j].states for j in positions),
        schema.target_variable.states,
        values.reshape(*shape, -1),
        errors,
        support,
        tuple(None if cut is None else np.array(cut) for cut in cuts),
    )


def _counts_of(
    network: Network, positions: Sequence[int], counts: Counts
) -> FloatArray | None:
    """Counts of features and class from a table that has all of them, or None."""
    target = len(network.schema) - 1
    wanted = {*positions, target}
    for t, axes in enumerate(counts.layout.axes):
        if wanted <= set(axes):
            others = tuple(a for a, v in enumerate(axes) if v not in wanted)
            left = [v for v in axes if v in wanted]
            table = counts.table(t).sum(axis=others)
            return along(table, left, [*positions, target])
    return None


def _band(by_class: FloatArray) -> FloatArray:
    """Standard errors of the outputs of a curve from counts, (n_states, n_classes)."""
    n_states, n_classes = by_class.shape
    variances = polygamma(1, by_class + 1.0) - polygamma(
        1, by_class.sum(axis=0) + n_states
    )
    if n_classes == 2:
        errors: FloatArray = np.sqrt(variances.sum(axis=1, keepdims=True))
        return errors
    # An output is (1 - 1 / K) times the own logarithm less 1 / K times the others.
    own = (1 - 2 / n_classes) * variances
    rest: FloatArray = np.sqrt(
        own + variances.sum(axis=1, keepdims=True) / n_classes**2
    )
    return rest
