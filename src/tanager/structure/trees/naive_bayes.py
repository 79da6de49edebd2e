"""`NaiveBayes` (NB): the class is the only parent of every feature."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.data.round_count import RoundCount
from tanager.model.structure import Structure
from tanager.structure.base import StructureLearner, StructureResult


class NaiveBayes(StructureLearner):
    """Naive Bayes (NB): features independent of each other given the class.

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> model = BayesNetClassifier(structure=NaiveBayes())
    >>> model.fit([["a", "u"], ["b", "v"]], [0, 1]).network_.edges
    (('class', 'x0'), ('class', 'x1'))
    """

    needs: ClassVar[Literal["counts", "rows"]] = "counts"
    rounds = RoundCount()
    suits_many_bins: ClassVar[bool] = True

    def learn(
        self,
        data: CodedData,
        *,
        random_state: np.random.Generator | None = None,  # noqa: ARG002
    ) -> StructureResult:
        """Make the class the parent of every feature."""
        target = len(data.schema) - 1
        return StructureResult(Structure.class_rooted([()] * len(data.schema), target))
