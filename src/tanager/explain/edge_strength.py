"""`EdgeStrengths`: what every edge of a model adds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from tanager.errors import TableSizeError
from tanager.explain.information import shared_information
from tanager.inference.elimination import log_marginal
from tanager.inference.expectations import JunctionExpectations
from tanager.network import AnyNetwork, Network
from tanager.types import FloatArray
from tanager.utils.data_frame import FrameMixin

MAX_FAMILY_CELLS = 2_000_000
"""Cells of the joint distribution of a family, above which it is not written out."""


@dataclass(frozen=True, eq=False)
class EdgeStrengths(FrameMixin):
    """Edges ranked by what they add, the strongest first.

    Parameters
    ----------
    edges : tuple of (str, str)
        Parent and child; of a log-linear network the class or a feature, and a feature.
    values : ndarray of float64, shape (n_edges,)
        Their strengths.
    measure : str
        What the values are.

    Examples
    --------
    >>> from tanager import Network
    >>> network = Network.build(
    ...     {"rain": ["no", "yes"], "wet": ["no", "yes"]},
    ...     {"rain": [0.8, 0.2], "wet": (["rain"], [[0.9, 0.1], [0.2, 0.8]])},
    ... )
    >>> found = measure_edges(network)
    >>> found.edges, found.values.round(4).tolist()
    ((('rain', 'wet'),), [0.1909])
    """

    edges: tuple[tuple[str, str], ...]
    values: FloatArray
    measure: str

    def columns(self) -> dict[str, list[Any]]:
        """List the edges by column: `parent`, `child` and `strength`."""
        return {
            "parent": [parent for parent, _ in self.edges],
            "child": [child for _, child in self.edges],
            "strength": self.values.tolist(),
        }

    def plot(self, ax: Any = None, *, max_edges: int = 20) -> Any:
        """Draw the strongest edges as bars."""
        from tanager.plots import draw_bars

        labels = [f"{parent} - {child}" for parent, child in self.edges[:max_edges]]
        xlabel = self.measure.capitalize()
        return draw_bars(labels, self.values[:max_edges], xlabel=xlabel, ax=ax)


def measure_edges(network: AnyNetwork) -> EdgeStrengths:
    """Measure what every edge of a model adds.

    Parameters
    ----------
    network : Network or LogLinearNetwork
        The model.

    Returns
    -------
    EdgeStrengths

    Raises
    ------
    TableSizeError
        If the joint distribution of a family is too large.

    Notes
    -----
    In a **network** the strength of the arc from p to x is the conditional mutual
    information in nats I(x; p | other parents of x) under the distribution of the
    network itself. It is the expected log likelihood per sample that is lost without
    the arc, when the CPT of x is averaged over p.

    In a **log-linear network** it is the root of the sum of squares of the importances
    of the factors that have both ends of the edge; the importance of a factor is the
    root mean square of its log weights over the training samples.
    """
    if network.has_cpts:
        return _information_of_arcs(network)
    values = np.array(list(network.edge_strengths.values()))
    return _sort(network.edges, values, "root mean square of the log weights")


def _information_of_arcs(network: Network) -> EdgeStrengths:
    names = network.schema.names
    found: dict[tuple[str, str], float] = dict.fromkeys(network.edges, 0.0)
    for family, joint in family_joints(network):
        child = len(family) - 1
        for place, parent in enumerate(family[:-1]):
            value = shared_information(joint, place, child)
            found[names[parent], names[family[-1]]] = value
    values = np.array(list(found.values()))
    return _sort(tuple(found), values, "conditional mutual information (nats)")


def family_joints(
    network: Network,
) -> Iterator[tuple[tuple[int, ...], FloatArray]]:
    """Joint distributions of the families with parents; axes: parents, then the child.

    One pass through the junction tree gives them all. Where that is too large, or a
    family is a sum of tables, variable elimination gives one after the other.
    """
    layout, parameters = network.parameters.layout, network.parameters
    n_states = layout.n_states
    dtype = np.min_scalar_type(max(n_states))
    nothing = np.asfortranarray(np.array([n_states], dtype=dtype))
    counts: FloatArray | None = None
    for variable, family in enumerate(network.structure.families):
        if len(family) < 2:
            continue
        cells = prod(n_states[v] for v in family)
        if cells > MAX_FAMILY_CELLS:
            raise TableSizeError(
                f"The family of {network.schema.names[variable]!r} has {cells:,} "
                f"configurations, more than the {MAX_FAMILY_CELLS:,} allowed."
            )
        (first, *others) = layout.tables_of(variable)
        if counts is None and not others:
            counts = _expected_counts(network, nothing)
        if counts is None or others:
            joint = np.exp(log_marginal(parameters, nothing, family, network.schema))[0]
        else:
            table = layout.table(counts, first)
            joint = table.transpose([layout.axes[first].index(v) for v in family])
        yield family, joint / joint.sum()


def _expected_counts(network: Network, nothing: Any) -> FloatArray | None:
    """Probabilities of the cells of all tables; None if the junction is too large."""
    parameters = network.parameters
    try:
        junction = JunctionExpectations.of(parameters.layout)
    except TableSizeError:
        return None
    log_joint = junction.log_joint(parameters.log_theta, nothing)
    counts = np.zeros(parameters.layout.n_cells)
    junction.add_expected(parameters.log_theta, nothing, np.exp(log_joint), counts)
    return counts


def _sort(
    edges: tuple[tuple[str, str], ...], values: FloatArray, measure: str
) -> EdgeStrengths:
    order = np.argsort(-values, kind="stable")
    return EdgeStrengths(tuple(edges[k] for k in order), values[order], measure)
