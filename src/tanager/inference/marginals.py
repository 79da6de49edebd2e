"""`Marginals`: the distributions of all variables, given one row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tanager.errors import TableSizeError
from tanager.inference.elimination import log_marginal
from tanager.inference.expectations import JunctionExpectations
from tanager.model.layout import Parameters
from tanager.model.schema import Schema
from tanager.types import CodeArray, FloatArray

FEW_TABLES = 4096
"""Variables times tables up to which NumPy is used: no waiting for numba."""


@dataclass(frozen=True, eq=False)
class Marginals:
    """P(v | e) for many variables v and one row e; `schema` names them in errors.

    One pass through the junction tree and back gives the posteriors of all families,
    and their marginals are those of the variables. For few variables of small networks,
    and where the junction tree is too large, variable elimination computes one marginal
    after the other.
    """

    parameters: Parameters
    schema: Schema

    @cached_property
    def _junction(self) -> JunctionExpectations | None:
        try:
            return JunctionExpectations.of(self.parameters.layout)
        except TableSizeError:
            return None

    def of_row(
        self, codes: CodeArray, variables: Sequence[int]
    ) -> list[FloatArray] | None:
        """Distributions of `variables`, each of shape (n_states,).

        In `codes`, shape (1, n_variables), the number of states of a variable means
        missing. Returns None if the row has probability zero.
        """
        layout = self.parameters.layout
        hidden = [v for v in variables if codes[0, v] == layout.n_states[v]]
        few = len(hidden) * layout.n_tables <= FEW_TABLES
        if few or self._junction is None:
            by_variable = self._by_elimination(codes, hidden)
        else:
            by_variable = self._by_families(self._junction, codes, hidden)
        if by_variable is None:
            return None
        return [
            by_variable[v] / by_variable[v].sum()
            if v in by_variable
            else np.eye(layout.n_states[v])[codes[0, v]]
            for v in variables
        ]

    def _by_elimination(
        self, codes: CodeArray, hidden: Sequence[int]
    ) -> dict[int, FloatArray] | None:
        found = {}
        parameters, schema = self.parameters, self.schema
        if not hidden and log_marginal(parameters, codes, (), schema) == -np.inf:
            return None
        for v in hidden:
            log_joint = log_marginal(parameters, codes, (v,), schema)[0]
            highest = log_joint.max()
            if highest == -np.inf:
                return None
            found[v] = np.exp(log_joint - highest)
        return found

    def _by_families(
        self, junction: JunctionExpectations, codes: CodeArray, hidden: Sequence[int]
    ) -> dict[int, FloatArray] | None:
        """Marginalise the posterior of every hidden variable's family."""
        layout, log_theta = self.parameters.layout, self.parameters.log_theta
        log_joint = junction.log_joint(log_theta, codes)[0]
        target = layout.target
        if target is not None and codes[0, target] < layout.n_states[target]:
            others = np.arange(len(log_joint)) != codes[0, target]
            log_joint[others] = -np.inf
        highest = log_joint.max()
        if highest == -np.inf:
            return None
        weights = np.exp(log_joint - highest)
        weights /= weights.sum()
        counts = np.zeros(layout.n_cells)
        junction.add_expected(log_theta, codes, weights[None], counts)
        found = {}
        for v in hidden:
            t = next(t for t in layout.tables_of(v) if v in layout.axes[t])
            others = tuple(a for a, u in enumerate(layout.axes[t]) if u != v)
            found[v] = layout.table(counts, t).sum(axis=others)
        return found
