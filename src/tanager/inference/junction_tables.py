"""Incomplete rows of any network, scored by its junction tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tanager.core.parameters import Parameters
from tanager.core.schema import CodeArray
from tanager.inference.complete import ScoreTables
from tanager.inference.junction_tree import JunctionTree, Potentials

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class JunctionTables:
    """A network compiled for rows with missing features, whatever its structure."""

    junction: JunctionTree
    complete: ScoreTables
    potentials: Potentials

    @classmethod
    def of(cls, parameters: Parameters, complete: ScoreTables) -> JunctionTables:
        """Multiply the tables of every clique.

        `complete` scores rows in which nothing is missing. Raises `TableSizeError` if a
        clique is too large.
        """
        junction = JunctionTree.of(parameters.layout)
        junction.arrays  # noqa: B018 - made once, before threads ask for it
        return cls(junction, complete, junction.potentials(parameters.log_theta))

    def log_joint(self, codes: CodeArray) -> FloatArray:
        """Log joint of every row's evidence with every class; see `Engine.log_joint`.

        Complete rows get the bits that they get among complete rows alone.
        """
        from tanager.inference import _junction_kernels

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
        found = np.empty((len(some), n_classes))
        _junction_kernels.log_joint(
            some.T, self.junction.row_order(some), self.junction.arrays,
            *self.potentials, self.junction.walk(), found,
        )  # fmt: skip
        out[incomplete] = found
        return out
