"""`RandomTree`: a random tree over the features, for comparison."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.structure.trees.tree_learner import TreeLearner
from tanager.types import FloatArray


class RandomTree(TreeLearner):
    """Tree-augmented naive Bayes with a random tree (TAN Random).

    Parameters
    ----------
    root : str or int, default=0
        The feature without a feature parent, by name or position.
    constraints : Constraints or None, default=None
        As in `ChowLiu`.

    Notes
    -----
    The maximum spanning tree on independent uniform weights. The baseline of
    Roth, Pernkopf (2020), Differentiable TAN structure learning, section 4.

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> model = BayesNetClassifier(structure=RandomTree(), random_state=0)
    >>> model.fit([["a", "u"], ["b", "v"]], [0, 1]).network_.edges
    (('class', 'x0'), ('class', 'x1'), ('x0', 'x1'))
    """

    # From counts it would need those of all pairs, since any tree may come up.
    needs: ClassVar[Literal["counts", "rows"]] = "rows"

    def weights(
        self, data: CodedData, random_state: np.random.Generator | None
    ) -> FloatArray:
        """Uniform random numbers, symmetric, shape (n_features, n_features)."""
        n_features = len(data.schema) - 1
        random = np.random.default_rng(random_state)
        upper = np.triu(random.random((n_features, n_features)), 1)
        return upper + upper.T
