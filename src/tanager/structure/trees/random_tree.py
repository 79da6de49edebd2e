"""`RandomTree`: a random tree over the features, for comparison."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.data.round_count import RoundCount
from tanager.model.schema import Schema
from tanager.model.structure import Structure
from tanager.structure.base import StructureLearner, StructureResult
from tanager.structure.constraints import (
    ArcMasks,
    Constraints,
    check_constraints,
    never_observed,
)
from tanager.structure.orders.feature_orders import feature_order, known_precedence
from tanager.types import BoolArray


class RandomTree(StructureLearner):
    """Tree-augmented naive Bayes with a random tree (TAN Random).

    Parameters
    ----------
    root : str, int or None, default=None
        The feature that comes first in the order, by name or position; None draws it.
    constraints : Constraints or None, default=None
        As in `ChowLiu`; order and parents are random among those they allow.

    Notes
    -----
    The features are put into a random order, and each takes a random earlier one as its
    parent: the baseline of [1]_, section 4.2. With the same `random_state` the order is
    that of `GumbelTree`, and the parent one of its random candidates.

    References
    ----------
    .. [1] Roth, Pernkopf (2020), Differentiable TAN structure learning for Bayesian
       network classifiers.

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> model = BayesNetClassifier(structure=RandomTree(), random_state=0)
    >>> model.fit([["a", "u"], ["b", "v"]], [0, 1]).network_.edges
    (('class', 'x0'), ('class', 'x1'), ('x0', 'x1'))
    """

    rounds = RoundCount(1)
    suits_many_bins: ClassVar[bool] = True

    def __init__(
        self,
        *,
        root: str | int | None = None,
        constraints: Constraints | None = None,
    ) -> None:
        self.root = root
        self.constraints = constraints

    def learn(
        self, data: CodedData, *, random_state: np.random.Generator | None = None
    ) -> StructureResult:
        """Draw an order, and a parent of every feature."""
        before, masks = self._before(data.schema), self._masks(data.schema)
        features = np.arange(len(data.schema) - 1)
        masks = masks.without_parents(never_observed(data, features))
        random = np.random.default_rng(random_state)
        order = feature_order(data, "ro", random_state=random, before=before)
        place = np.argsort(order)
        parents: list[tuple[int, ...]] = []
        for child in features:
            # As `GumbelTree` draws candidates: one number for every feature.
            key = np.asarray(random.random(len(features)))
            possible = masks.required[:, child].copy()
            if not possible.any():
                possible = masks.allowed[:, child] & (place < place[child])
            key[~possible] = np.inf
            parents.append((int(key.argmin()),) if possible.any() else ())
        return StructureResult(Structure.class_rooted([*parents, ()], len(features)))

    def check(self, schema: Schema) -> None:
        """Refuse an invalid root or invalid constraints."""
        self._before(schema)
        self._masks(schema)

    def _before(self, schema: Schema) -> BoolArray:
        """``[i, j]``: i must come before j in the order."""
        before = known_precedence(schema, self.constraints)
        if self.root is not None:
            root = schema.feature_index(self.root, "root")
            if not before[:, root].any():
                before[root] = True
                before[root, root] = False
        return before

    def _masks(self, schema: Schema) -> ArcMasks:
        return check_constraints(self.constraints).compile(schema, max_parents=1)
