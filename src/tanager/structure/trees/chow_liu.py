"""`ChowLiu` (TAN-CMI): the tree of maximum conditional mutual information."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.data.information import conditional_information
from tanager.model.schema import Schema
from tanager.structure.trees.tree_learner import TreeLearner
from tanager.types import FloatArray


class ChowLiu(TreeLearner):
    """Tree-augmented naive Bayes by conditional mutual information (TAN-CMI).

    Parameters
    ----------
    root : str or int, default=0
        The feature without a feature parent, by name or position, if the constraints
        allow it.
    constraints : Constraints or None, default=None
        Arcs that must, and must not, be in the structure; at most one required parent
        for a feature.

    Notes
    -----
    The maximum spanning tree on I(X_i; X_j | C), directed away from the root [1]_.
    A pair is counted over the samples in which both features are observed. With
    constraints the result is the directed forest of maximum weight that satisfies them,
    with as few roots as possible (Chu, Liu and Edmonds).

    References
    ----------
    .. [1] Friedman, Geiger, Goldszmidt (1997), Bayesian network classifiers; as TAN-CMI
       in Pernkopf, Bilmes (2010), section 4.

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> X = [["a", "u", "p"], ["b", "v", "p"], ["a", "u", "q"], ["b", "v", "q"]]
    >>> model = BayesNetClassifier(structure=ChowLiu()).fit(X, [0, 0, 1, 1])
    >>> [edge for edge in model.network_.edges if edge[0] != "class"]
    [('x0', 'x1'), ('x0', 'x2')]
    """

    needs: ClassVar[Literal["counts", "rows"]] = "counts"

    def weights(
        self,
        data: CodedData,
        random_state: np.random.Generator | None,  # noqa: ARG002
    ) -> FloatArray:
        """I(X_i; X_j | C) in nats, shape (n_features, n_features)."""
        return conditional_information(data)

    def statistics(self, schema: Schema) -> tuple[Sequence[Sequence[int]], bool]:
        """Counts of single features and of all pairs, given the class."""
        return super().statistics(schema)[0], True
