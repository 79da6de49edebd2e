"""`ParameterLearner`: what every parameter learner offers."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from typing import ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator

from tanager.core.parameters import Parameters
from tanager.core.structure import Structure
from tanager.counts.coded import CodedData


class ParameterLearner(BaseEstimator, metaclass=ABCMeta):
    """Base of parameter learners.

    Attributes
    ----------
    needs : {"counts", "rows"}
        Whether counts are enough, or the rows themselves are needed. Learners that
        only count can learn in portions (`partial_fit`).
    uses_unlabelled : bool
        Whether rows without a label are learned from.
    """

    needs: ClassVar[Literal["counts", "rows"]] = "rows"
    uses_unlabelled: ClassVar[bool] = False

    @property
    def order_matters(self) -> bool:
        """Whether the result depends on the order of the rows."""
        return False

    @abstractmethod
    def learn(
        self,
        structure: Structure,
        data: CodedData,
        *,
        start: Parameters | None = None,
        random_state: np.random.Generator | None = None,
    ) -> Parameters:
        """Learn the tables of `structure` from `data`.

        Parameters
        ----------
        structure : Structure
            Parents of every variable of the data's schema.
        data : CodedData
            Coded rows.
        start : Parameters or None, default=None
            Where an iterative learner starts; others ignore it.
        random_state : numpy Generator or None, default=None
            Source of randomness, for learners that need one.

        Returns
        -------
        learned : Parameters
            Normalised log tables.
        """
