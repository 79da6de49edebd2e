"""`EdgeStrengths`: what every edge of a model adds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tanager.errors import TableSizeError
from tanager.network import AnyNetwork, Network
from tanager.plots.bars import bar_picture
from tanager.plots.picture import Picture, PictureMixin
from tanager.types import FloatArray
from tanager.utils.data_frame import FrameMixin


@dataclass(frozen=True, eq=False, repr=False)
class EdgeStrengths(PictureMixin, FrameMixin):
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

    def picture(self, *, max_edges: int = 20) -> Picture:
        """The strongest edges as bars."""
        labels = [f"{parent} - {child}" for parent, child in self.edges[:max_edges]]
        xlabel = self.measure.capitalize()
        return bar_picture(labels, self.values[:max_edges], xlabel=xlabel)


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
        measure = "conditional mutual information (nats)"
        return _sort(network.edges, arc_strengths(network), measure)
    values = np.array(list(network.edge_strengths.values()))
    return _sort(network.edges, values, "root mean square of the log weights")


def arc_strengths(network: Network) -> FloatArray:
    """Strengths of the arcs of a network, in the order of `Structure.arcs`.

    A family that is too large raises `TableSizeError`.
    """
    values = network.information.arcs
    if np.isnan(values).any():
        _, child = network.structure.arcs[int(np.isnan(values).argmax())]
        raise TableSizeError(
            f"The joint distribution of the family of {network.schema.names[child]!r} "
            "is too large to compute the strengths of its arcs; use a structure with "
            "fewer parents, or a coarser encoder."
        )
    return values


def _sort(
    edges: tuple[tuple[str, str], ...], values: FloatArray, measure: str
) -> EdgeStrengths:
    order = np.argsort(-values, kind="stable")
    return EdgeStrengths(tuple(edges[k] for k in order), values[order], measure)
