"""`ChowLiu` (TAN-CMI, TAN-EAR): the tree of maximum pairwise information."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.data.information import conditional_information, explaining_away
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
from tanager.structure.trees.spanning_tree import constrained_forest, spanning_tree
from tanager.types import FloatArray
from tanager.utils.validation import check_known

CRITERIA = ("cmi", "ear")


class ChowLiu(StructureLearner):
    """Tree-augmented naive Bayes by conditional mutual information (TAN-CMI).

    Parameters
    ----------
    root : str or int, default=0
        The feature without a feature parent, by name or position, if the constraints
        allow it.
    constraints : Constraints or None, default=None
        Arcs that must, and must not, be in the structure; at most one required parent
        for a feature.
    criterion : {"cmi", "ear"}, default="cmi"
        Weight of a pair: conditional mutual information I(X_i; X_j | C), which gives
        the tree of maximum likelihood, or the explaining away residual
        I(X_i; X_j | C) - I(X_i; X_j), which is large where two features together
        discriminate the classes. Pairs with a residual of zero or less are not joined.

    Notes
    -----
    The maximum spanning tree on I(X_i; X_j | C), directed away from the root [1]_; with
    "ear" the forest of maximum residual (EAR; [2]_). A pair is counted over the samples
    in which both features are observed. With constraints the result is the directed
    forest of maximum weight that satisfies them, with as few roots as possible (Chu,
    Liu and Edmonds).

    References
    ----------
    .. [1] Friedman, Geiger, Goldszmidt (1997), Bayesian network classifiers; as TAN-CMI
       in Pernkopf, Bilmes (2010), section 4.
    .. [2] Pernkopf, Bilmes (2005), Discriminative versus generative parameter and
       structure learning of Bayesian network classifiers; cited for its equal results
       in Pernkopf, Bilmes (2010), section 3.

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> X = [["a", "u", "p"], ["b", "v", "p"], ["a", "u", "q"], ["b", "v", "q"]]
    >>> model = BayesNetClassifier(structure=ChowLiu()).fit(X, [0, 0, 1, 1])
    >>> [edge for edge in model.network_.edges if edge[0] != "class"]
    [('x0', 'x1'), ('x0', 'x2')]

    Features X2 and X3 depend on each other most, but only X1 and X3 together say
    something about the class:

    >>> from tanager.datasets.generators import three_binary
    >>> data = three_binary()
    >>> for criterion in ("cmi", "ear"):
    ...     tree = ChowLiu(criterion=criterion)
    ...     model = BayesNetClassifier(structure=tree).fit(data.X, data.y)
    ...     print([edge for edge in model.network_.edges if edge[0] != "class"])
    [('X1', 'X2'), ('X2', 'X3')]
    [('X3', 'X2'), ('X1', 'X3')]
    """

    needs: ClassVar[Literal["counts", "rows"]] = "counts"
    rounds = RoundCount(2)
    suits_many_bins: ClassVar[bool] = True

    def __init__(
        self,
        *,
        root: str | int = 0,
        constraints: Constraints | None = None,
        criterion: str = "cmi",
    ) -> None:
        self.root = root
        self.constraints = constraints
        self.criterion = criterion

    def learn(
        self,
        data: CodedData,
        *,
        random_state: np.random.Generator | None = None,  # noqa: ARG002
    ) -> StructureResult:
        """Find the maximum spanning tree; see `StructureLearner.learn`."""
        schema = data.schema
        self.check(schema)
        root = schema.feature_index(self.root, "root")
        constraints = self._constraints(schema)
        # Drop the digits that the order of summation decides: ties go to the lowest
        # index.
        weights = np.round(self._weights(data), 12)
        if len(idle := np.flatnonzero(~weights.any(axis=1))):
            constraints = constraints.without_parents(never_observed(data, idle))
        if constraints.is_free:
            parent = spanning_tree(weights, root)
        else:
            parent = constrained_forest(weights, root, constraints)
        if self.criterion == "ear":
            nodes = np.arange(len(parent))
            needed = constraints.required[parent, nodes]
            parent = np.where((weights[parent, nodes] > 0) | needed, parent, -1)
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
        """Refuse an unknown criterion, an invalid root or invalid constraints."""
        check_known("criterion", self.criterion, CRITERIA)
        schema.feature_index(self.root, "root")
        self._constraints(schema)

    def _constraints(self, schema: Schema) -> ArcMasks:
        return check_constraints(self.constraints).compile(schema, max_parents=1)

    def _weights(self, data: CodedData) -> FloatArray:
        """Weights of all pairs in nats, shape (n_features, n_features)."""
        if self.criterion == "ear":
            return np.maximum(explaining_away(data), 0.0)
        return conditional_information(data)

    def statistics(self, schema: Schema) -> tuple[Sequence[Sequence[int]], bool]:
        """Counts of single features and of all pairs, given the class."""
        return super().statistics(schema)[0], True
