"""`TreeLearner`: the base of tree-augmented naive Bayes learners."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.model.schema import Schema
from tanager.model.structure import Structure
from tanager.structure.base import StructureLearner, StructureResult
from tanager.structure.constraints import (
    ArcMasks,
    Constraints,
    check_constraints,
    never_observed,
)
from tanager.structure.trees.spanning_tree import constrained_forest, spanning_tree
from tanager.types import FloatArray


class TreeLearner(StructureLearner):
    """A maximum spanning tree over the features, with the class as a further parent."""

    suits_many_bins: ClassVar[bool] = True

    def __init__(
        self, *, root: str | int = 0, constraints: Constraints | None = None
    ) -> None:
        self.root = root
        self.constraints = constraints

    @property
    def joins_all(self) -> bool:
        """Whether pairs of weight zero are joined, too, so that there is one tree."""
        return True

    @abstractmethod
    def weights(
        self, data: CodedData, random_state: np.random.Generator | None
    ) -> FloatArray:
        """Weight of every pair of features, symmetric, non-negative."""

    def learn(
        self, data: CodedData, *, random_state: np.random.Generator | None = None
    ) -> StructureResult:
        """Find the maximum spanning tree; see `StructureLearner.learn`."""
        schema = data.schema
        root = schema.feature_index(self.root, "root")
        constraints = self._constraints(schema)
        # Drop the digits that the order of summation decides: ties go to the lowest
        # index.
        weights = np.round(self.weights(data, random_state), 12)
        if len(idle := np.flatnonzero(~weights.any(axis=1))):
            constraints = constraints.without_parents(never_observed(data, idle))
        if constraints.is_free:
            parent = spanning_tree(weights, root)
        else:
            parent = constrained_forest(weights, root, constraints)
        if not self.joins_all:
            nodes = np.arange(len(parent))
            needless = (weights[parent, nodes] <= 0) & ~constraints.required[
                parent, nodes
            ]
            parent = np.where(needless, -1, parent)
        structure = Structure.class_rooted(
            [*(() if p < 0 else (int(p),) for p in parent), ()], len(schema) - 1
        )
        trace = tuple(
            {
                "parent": schema[int(p)].name,
                "child": schema[j].name,
                "weight": float(weights[p, j]),
            }
            for j, p in enumerate(parent)
            if p >= 0
        )
        return StructureResult(structure, trace)

    def check(self, schema: Schema) -> None:
        """Refuse an invalid root or invalid constraints."""
        schema.feature_index(self.root, "root")
        self._constraints(schema)

    def _constraints(self, schema: Schema) -> ArcMasks:
        return check_constraints(self.constraints).compile(schema, max_parents=1)
