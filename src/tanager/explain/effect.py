"""`Effect`: the curve of a feature, or the surface of two, with bands and support."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import polygamma

from tanager.data.counts import Counts
from tanager.errors import InputError
from tanager.explain.feature_costs import feature_position
from tanager.explain.outputs import class_position, class_sign, log_odds_of
from tanager.explain.terms import without_zeros
from tanager.model.layout import along
from tanager.model.schema import State
from tanager.network import AnyNetwork, LogLinearNetwork, Network
from tanager.types import FloatArray
from tanager.utils.data_frame import FrameMixin

MAX_EFFECT_CELLS = 1_000_000
"""Cells of a surface that are computed."""


@dataclass(frozen=True, eq=False)
class Effect(FrameMixin):
    """What the states of one or two features add to the log odds.

    Parameters
    ----------
    features : tuple of str
        One or two names.
    labels : tuple of tuples
        Labels of the bins along every feature.
    classes : tuple
        The classes.
    values : ndarray of float64, shape (bins of each feature..., n_outputs)
        Log odds of the second of two classes, or centred log weights of more.
    errors : ndarray of float64, same shape, or None
        Their standard errors, if known.
    support : ndarray of float64, shape (bins of each feature...), or None
        Total weight of the training samples in every cell, if known.
    cuts : tuple of (ndarray of float64 or None)
        For every feature the values between its bins; None for categories.

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> X = {"sky": ["blue", *["grey"] * 3] * 5, "wind": [3.0, 9.0, 2.0, 8.0] * 5}
    >>> model = BayesNetClassifier(structure="nb", parameters="fe")
    >>> found = model.fit(X, ["dry", "wet"] * 10).effect("sky")
    >>> found.labels, found.values[:, 0].round(3), found.support
    ((('blue', 'grey'),), array([-1.792,  0.606]), array([ 5., 15.]))
    """

    features: tuple[str, ...]
    labels: tuple[tuple[State, ...], ...]
    classes: tuple[State, ...]
    values: FloatArray
    errors: FloatArray | None
    support: FloatArray | None
    cuts: tuple[FloatArray | None, ...]

    def columns(self) -> dict[str, list[Any]]:
        """List the cells by column, with a row for every cell and class.

        The columns are the features, `class` if there are more than two, `log_odds` or
        `log_weight`, `standard_error` and `support`. A name that a feature has, too,
        ends in an underscore.
        """
        several = self.values.shape[-1] > 1
        places = np.unravel_index(np.arange(self.values.size), self.values.shape)
        found: dict[str, list[Any]] = {
            name: [labels[k] for k in place]
            for name, labels, place in zip(
                self.features, self.labels, places, strict=False
            )
        }
        support = None if self.support is None else self.support[..., None]
        parts: dict[str, Any] = {
            "log_weight" if several else "log_odds": self.values,
            "standard_error": np.nan if self.errors is None else self.errors,
            "support": np.nan if support is None else support,
        }
        if several:
            parts = {"class": np.array(self.classes, dtype=object), **parts}
        for name, values in parts.items():
            free = name
            while free in found:
                free += "_"
            found[free] = np.broadcast_to(values, self.values.shape).ravel().tolist()
        return found

    def plot(self, ax: Any = None, *, label: object = None) -> Any:
        """Draw a curve of one feature, or a heat map of two.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw.
        label : class or None, default=None
            The class of a heat map, by default the first, or of a curve instead of all
            classes. Of two classes the log odds of `label` are drawn, by default those
            of the second.

        Raises
        ------
        InputError
            If there is no such class.
        """
        from tanager.plots import draw_curve, draw_heat_map

        several, values = len(self.classes) > 2, self.values
        place = None if label is None else class_position(self.classes, label)
        shown = list(range(values.shape[-1]))
        if not several:
            values = class_sign(self.classes, label) * values
        elif place is not None or len(self.features) == 2:
            shown = [place or 0]
        odds_of = self.classes[-1 if place is None else place]
        kind = "Log weight" if several else f"Log odds of {odds_of}"
        picked = values[..., shown]
        title = f"{kind}, {self.classes[shown[0]]}" if several else kind
        if len(self.features) == 1:
            errors = None if self.errors is None else self.errors[..., shown]
            lines = [self.classes[k] for k in shown] if several else None
            return draw_curve(
                self.labels[0],
                picked,
                errors=errors,
                support=self.support,
                cuts=self.cuts[0],
                line_labels=lines,
                title=self.features[0],
                ylabel=kind,
                ax=ax,
            )
        return draw_heat_map(
            picked[..., 0],
            row_labels=self.labels[0],
            column_labels=self.labels[1],
            support=self.support,
            title=title,
            axis_names=(self.features[0], self.features[1]),
            ax=ax,
        )


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
    return _factor_effect(network, names)


def _factor_effect(network: LogLinearNetwork, names: Sequence[str]) -> Effect:
    found = network.log_table(*names)
    keep = tuple(
        slice(None if np.moveaxis(found.support, axis, 0)[-1].any() else -1)
        for axis in range(len(names))
    )
    errors = found.effect_errors
    return Effect(
        found.names[:-1],
        tuple(
            labels[part] for labels, part in zip(found.states[:-1], keep, strict=True)
        ),
        found.states[-1],
        found.effects[keep],
        None if errors is None else errors[keep],
        found.support[keep],
        found.cuts,
    )


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
