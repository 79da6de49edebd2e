"""Incomplete rows of any network, scored by its junction tree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tanager.inference.clique_tree import MAX_TREE_CELLS
from tanager.inference.complete_data import ScoreTables
from tanager.inference.junction_tree import JunctionTree, Potentials
from tanager.model.layout import Parameters
from tanager.types import CodeArray, FloatArray


@dataclass(frozen=True, eq=False)
class JunctionTables:
    """A network compiled for rows with missing features, whatever its structure."""

    parameters: Parameters
    junction: JunctionTree
    complete: ScoreTables
    potentials: Potentials

    @classmethod
    def of(
        cls,
        parameters: Parameters,
        complete: ScoreTables,
        *,
        max_cells: int = MAX_TREE_CELLS,
    ) -> JunctionTables:
        """Multiply the tables of every clique.

        `complete` scores rows in which nothing is missing. Raises `TableSizeError` if a
        clique is too large, or all together have more than `max_cells`.
        """
        junction = JunctionTree.of(parameters.layout, max_cells=max_cells)
        junction.arrays  # noqa: B018 - made once, before threads ask for it
        potentials = junction.potentials(parameters.log_theta)
        # The logarithms are seldom needed: half the memory, until they are.
        kept = potentials._replace(log_values=np.empty(0))
        return cls(parameters, junction, complete, kept)

    @cached_property
    def _log_values(self) -> FloatArray:
        return self.junction.potentials(self.parameters.log_theta).log_values

    def log_joint(self, codes: CodeArray) -> FloatArray:
        """Log joint of every row's evidence with every class; see `Engine.log_joint`.

        Complete rows get the bits that they get among complete rows alone.
        """
        states = self.junction.arrays.n_states[: codes.shape[1]]
        gaps = codes >= states
        target = self.junction.layout.target
        if target is not None and target < codes.shape[1]:
            gaps[:, target] = False
        incomplete = gaps.any(axis=1)
        n_classes = self.junction.layout.compiled.n_classes
        out = np.empty((len(codes), n_classes))
        if not incomplete.all():
            whole = np.asfortranarray(codes[~incomplete])
            out[~incomplete] = self.complete.log_joint(whole)
        some = np.asfortranarray(codes[incomplete])
        out[incomplete] = self.junction.log_joint(
            some, self.potentials, lambda: self._log_values
        )
        return out
