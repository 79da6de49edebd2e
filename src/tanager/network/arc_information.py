"""Information that arcs and features carry, by the distribution of a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from tanager.data.information import shared_information
from tanager.errors import TableSizeError
from tanager.inference.elimination import log_marginal
from tanager.inference.expectations import JunctionExpectations
from tanager.model.layout import Parameters
from tanager.model.schema import Schema
from tanager.model.structure import Structure
from tanager.types import FloatArray

MAX_CELLS = 2_000_000
"""Entries of a family up to which its joint distribution is computed (16 MB)."""

MAX_VARIABLES = 250
"""Variables up to which joint distributions are computed by variable elimination."""


@dataclass(frozen=True, eq=False)
class NetworkInformation:
    """How much the arcs and features of a network say, in nats.

    Parameters
    ----------
    schema, structure, parameters
        The parts of a `Network`.

    Notes
    -----
    The strength of an arc from p to v is the conditional mutual information
    ``I(v; p | other parents of v)`` under the network itself; for a tree with a root
    class this is I(X_p; X_v | C). The joint distribution of a family is the product of
    its CPT and the joint distribution of the parents. Where the last parent has the
    others among its own parents, as in trees and k-trees, the latter follows from the
    family of that parent; otherwise it is computed in the junction tree, or by
    variable elimination.

    Examples
    --------
    >>> from tanager import Network
    >>> network = Network.build(
    ...     {"rain": ["no", "yes"], "wet": ["no", "yes"]},
    ...     {"rain": [0.5, 0.5], "wet": (["rain"], [[1.0, 0.0], [0.0, 1.0]])},
    ...     target="rain",
    ... )
    >>> found = NetworkInformation(
    ...     network.schema, network.structure, network.parameters
    ... )
    >>> found.arcs.round(4), found.features.round(4)
    (array([0.6931]), array([0.    , 0.6931]))
    """

    schema: Schema
    structure: Structure
    parameters: Parameters

    @cached_property
    def arcs(self) -> FloatArray:
        """Strength of every arc, shape (n_arcs,), in the order of `Structure.arcs`.

        Not a number for arcs into families that are too large.
        """
        found = []
        for parent, child in self.structure.arcs:
            joint = self.families[child]
            place = self.structure.parents[child].index(parent)
            found.append(
                np.nan if joint is None else shared_information(joint, place, -1)
            )
        return np.array(found, dtype=np.float64)

    @cached_property
    def features(self) -> FloatArray:
        """Information I(C; X) about the class, shape (n_variables,); 0 for the class.

        Zero for all variables if there is no class.
        """
        found = np.zeros(len(self.schema))
        for v in range(len(self.schema)):
            joint = self.class_joint(v)
            if joint is not None:
                found[v] = shared_information(joint, 0, 1)
        return found

    def class_joint(self, variable: int) -> FloatArray | None:
        """P(class, variable), or None if it is not known or `variable` is the class."""
        target = self.schema.target
        if target is None or variable == target:
            return None
        for owner in (variable, target):
            family = self.structure.families[owner]
            joint = self.families[owner]
            if joint is not None and {variable, target} <= set(family):
                return _marginalise(joint, family, (target, variable))
        return self._eliminate((target, variable))

    @cached_property
    def families(self) -> list[FloatArray | None]:
        """Joint distribution of every family, parents first; None if too large."""
        found: list[FloatArray | None] = [None] * len(self.schema)
        states = self.parameters.layout.n_states
        place = {v: k for k, v in enumerate(self.structure.topological_order)}
        for v in self.structure.topological_order:
            family = self.structure.families[v]
            parents = family[:-1]
            if prod(states[u] for u in family) > MAX_CELLS:
                continue
            given: FloatArray | None = np.ones(())
            if parents:
                last = max(parents, key=place.__getitem__)
                own = self.structure.families[last]
                joint = found[last]
                if joint is not None and set(parents) <= set(own):
                    given = _marginalise(joint, own, parents)
                else:
                    given = self._parent_joint(v)
            if given is not None:
                cpt = np.exp(self.parameters.log_family(v, family))
                found[v] = given[..., np.newaxis] * cpt
        return found

    def _parent_joint(self, variable: int) -> FloatArray | None:
        """Joint distribution of the parents of a variable, from the junction tree.

        Where that is too large, or the family is a sum of tables, it is found by
        variable elimination.
        """
        layout, family = self.parameters.layout, self.structure.families[variable]
        first, *others = layout.tables_of(variable)
        if others or self._cells is None:
            return self._eliminate(family[:-1])
        joint = layout.table(self._cells, first)
        return _marginalise(joint, layout.axes[first], family[:-1])

    @cached_property
    def _cells(self) -> FloatArray | None:
        """Probabilities of the cells of all CPTs; None if the junction is too large."""
        layout, log_theta = self.parameters.layout, self.parameters.log_theta
        try:
            junction = JunctionExpectations.of(layout)
        except TableSizeError:
            return None
        dtype = np.min_scalar_type(max(layout.n_states))
        nothing = np.asfortranarray(np.array([layout.n_states], dtype=dtype))
        found = np.zeros(layout.n_cells)
        scale = np.exp(junction.log_joint(log_theta, nothing))
        junction.add_expected(log_theta, nothing, scale, found)
        return found

    def _eliminate(self, variables: Sequence[int]) -> FloatArray | None:
        """Joint distribution by variable elimination; None if that is too much work."""
        if len(self.schema) > MAX_VARIABLES:
            return None
        codes = self.schema.n_states[np.newaxis]
        try:
            log_joint = log_marginal(
                self.parameters, codes.astype(np.uint32), variables, self.schema
            )
        except TableSizeError:
            return None
        joint: FloatArray = np.exp(log_joint[0])
        return joint


def _marginalise(
    joint: FloatArray, axes: Sequence[int], keep: Sequence[int]
) -> FloatArray:
    """Marginal distribution over some of the axes, in the order of `keep`."""
    others = tuple(k for k, axis in enumerate(axes) if axis not in keep)
    kept = [axis for axis in axes if axis in keep]
    summed: FloatArray = joint.sum(axis=others)
    return summed.transpose([kept.index(axis) for axis in keep])
