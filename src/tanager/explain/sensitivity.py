"""`Sensitivity`: how a posterior depends on every entry of the CPTs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax

from tanager.explain.odds_conversion import class_position
from tanager.explain.terms import without_zeros
from tanager.inference.expectations import exact_expectations
from tanager.model.schema import State
from tanager.network import AnyNetwork, Network
from tanager.plots.bars import tornado_picture
from tanager.plots.picture import Picture, PictureMixin
from tanager.types import CodeArray, FloatArray
from tanager.utils.data_frame import FrameMixin
from tanager.utils.validation import check_number, check_whole

EXTREME = 1e-12
"""Entries so close to zero or one do not vary."""


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity(PictureMixin, FrameMixin):
    """The entries of the CPTs on which a posterior depends most.

    Parameters
    ----------
    label : str, int, float or bool
        The class whose posterior it is.
    base : float
        Its probability.
    variables : tuple of str
        The variable of every entry.
    given : tuple of str
        The states of its parents, such as ``class = 1, sky = blue``; may be empty.
    states : tuple
        Its state.
    entries : ndarray of float64, shape (n_entries,)
        The entries P(state | given).
    derivatives : ndarray of float64, shape (n_entries,)
        Derivatives of the posterior by the entry.
    low, high : ndarray of float64, shape (n_entries,)
        Posterior when the odds of the entry are divided and multiplied by `odds`.
    odds : float
        The factor.

    Examples
    --------
    >>> from tanager import BayesNetClassifier, Network
    >>> network = Network.build(
    ...     {"wet": ["no", "yes"], "rain": ["no", "yes"]},
    ...     {"rain": [0.8, 0.2], "wet": (["rain"], [[0.9, 0.1], [0.2, 0.8]])},
    ...     target="rain",
    ... )
    >>> model = BayesNetClassifier.from_network(network)
    >>> found = model.sensitivity({"wet": ["yes"]}, "yes", max_entries=1)
    >>> round(found.base, 4), found.labels
    (0.6667, ('P(rain = no)',))
    >>> found.low.round(4), found.high.round(4)
    (array([0.8]), array([0.5]))
    """

    label: State
    base: float
    variables: tuple[str, ...]
    given: tuple[str, ...]
    states: tuple[State, ...]
    entries: FloatArray
    derivatives: FloatArray
    low: FloatArray
    high: FloatArray
    odds: float

    @property
    def labels(self) -> tuple[str, ...]:
        """The entries as text, such as ``P(wet = yes | rain = no)``."""
        return tuple(
            f"P({variable} = {state}{' | ' if given else ''}{given})"
            for variable, given, state in zip(
                self.variables, self.given, self.states, strict=True
            )
        )

    def columns(self) -> dict[str, list[Any]]:
        """List the entries by column, the widest range of the posterior first."""
        return {
            "variable": list(self.variables),
            "given": list(self.given),
            "state": list(self.states),
            "entry": self.entries.tolist(),
            "derivative": self.derivatives.tolist(),
            "low": self.low.tolist(),
            "high": self.high.tolist(),
        }

    def picture(self, *, max_entries: int = 15) -> Picture:
        """The widest ranges of the posterior as a tornado."""
        return tornado_picture(
            self.labels[:max_entries],
            self.low[:max_entries],
            self.high[:max_entries],
            base=self.base,
            xlabel=f"Probability of {self.label}",
        )


def measure_sensitivity(
    network: AnyNetwork,
    row: CodeArray,
    label: object = None,
    *,
    odds: float = 2.0,
    max_entries: int = 100,
) -> Sensitivity:
    """Measure how the posterior of a class depends on every entry of the CPTs.

    Parameters
    ----------
    network : Network
        The model; the class is its last variable.
    row : ndarray of unsigned int, shape (n_features,)
        The evidence; the number of states of a feature means that it is not observed.
    label : class or None, default=None
        The class; the most probable one by default.
    odds : float, default=2.0
        Factor by which the odds of every entry are divided and multiplied, above 1.
    max_entries : int, default=100
        Entries to return, those with the widest range of the posterior.

    Returns
    -------
    Sensitivity

    Raises
    ------
    NetworkOnlyError
        For a log-linear network, which has no CPTs.
    TableSizeError
        If the junction tree of the network is too large.

    Notes
    -----
    One-way sensitivity analysis [1]_: an entry t = P(x | u) becomes t', and the other
    entries P(y | u) are multiplied by (1 - t') / (1 - t). The joint probability of
    evidence e and class c is then linear in t',

        P'(e, c) = P(e, c) - P(e, c, u) + P(e, c, x, u) t' / t
                   + (P(e, c, u) - P(e, c, x, u)) (1 - t') / (1 - t),

    so the posterior is a ratio of two linear functions of t', computed exactly from the
    posteriors of the families. Entries of zero and one do not vary, and families that
    are sums of tables are left out.

    References
    ----------
    .. [1] Castillo, Gutierrez, Hadi (1997), Sensitivity analysis in discrete Bayesian
       networks, IEEE Transactions on Systems, Man and Cybernetics A 27.
    """
    check_number("odds", odds, above=1)
    check_whole("max_entries", max_entries, 1)
    if not network.has_cpts:
        raise network.refusal("sensitivity")
    layout = network.parameters.layout
    network, schema = without_zeros(network), network.schema
    log_theta = network.parameters.log_theta
    codes = np.array([[*row[: len(schema) - 1], schema.n_classes]])
    codes = np.asfortranarray(codes.astype(np.min_scalar_type(max(layout.n_states))))
    posterior = softmax(network.engine.log_joint_block(codes)[0])
    classes = schema.target_variable.states
    k = int(posterior.argmax()) if label is None else class_position(classes, label)
    expectations = exact_expectations(layout, schema)
    # Joint probabilities with evidence of every cell: of class k, and of all classes.
    cells = np.zeros((2, layout.n_cells))
    weights = np.zeros((1, schema.n_classes))
    weights[0, k] = posterior[k]
    expectations.add_expected(log_theta, codes, weights, cells[0])
    expectations.add_expected(log_theta, codes, posterior[None], cells[1])
    parts = []
    for t, owner in enumerate(layout.owners):
        if len(layout.tables_of(owner)) == 1:
            joint = cells[:, layout.offsets[t] : layout.offsets[t] + layout.sizes[t]]
            theta = np.exp(layout.table(log_theta, t)).ravel()
            axis = 1 + layout.owner_axis(t)
            whole = joint.reshape(-1, *layout.shapes[t])
            given = whole.sum(axis=axis, keepdims=True)
            given = np.broadcast_to(given, whole.shape).reshape(joint.shape)
            part = _vary(float(posterior[k]), joint, given, theta, odds)
            index = np.full(len(theta), t)
            parts.append(np.stack([index, np.arange(len(theta)), theta, *part]))
    found = np.concatenate(parts, axis=1)
    order = np.argsort(-np.abs(found[5] - found[4]), kind="stable")[:max_entries]
    found = found[:, order[np.abs(found[5] - found[4])[order] > 0]]
    names = [
        _describe(network, int(t), int(cell))
        for t, cell in zip(found[0], found[1], strict=True)
    ]
    variables, conditions, states = zip(*names, strict=True) if names else ((), (), ())
    return Sensitivity(
        schema.target_variable.states[k],
        float(posterior[k]),
        variables,
        conditions,
        states,
        found[2],
        found[3],
        found[4],
        found[5],
        float(odds),
    )


def _vary(
    base: float, joint: FloatArray, given: FloatArray, theta: FloatArray, odds: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Derivative of the posterior `base` by every entry, and its two values.

    `joint` and `given`, shape (2, n_entries), are P(e, c, x, u) and P(e, c, u) over
    P(e), for the class c and for all classes together.
    """
    varies = (theta > EXTREME) & (theta < 1 - EXTREME)
    inside = np.where(varies, theta, 0.5)
    slopes = joint / inside - (given - joint) / (1 - inside)
    own, whole = np.where(varies, slopes, 0.0)

    def at(factor: float) -> FloatArray:
        step = inside * factor / (1 - inside + inside * factor) - inside
        found: FloatArray = (base + own * step) / (1 + whole * step)
        return found

    return own - base * whole, at(1 / odds), at(odds)


def _describe(network: Network, table: int, cell: int) -> tuple[str, str, State]:
    """The variable, the states of its parents as text, and the state of an entry."""
    layout, schema = network.parameters.layout, network.schema
    codes = np.unravel_index(cell, layout.shapes[table])
    owner = layout.owners[table]
    states = {
        v: schema[v].states[int(code)]
        for v, code in zip(layout.axes[table], codes, strict=True)
    }
    given = ", ".join(
        f"{schema.names[v]} = {states[v]}" for v in network.structure.parents[owner]
    )
    return schema.names[owner], given, states[owner]
