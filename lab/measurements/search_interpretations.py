"""Searches of papers in interpretations of what they leave open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from tanager.parameters import ELR
from tanager.registry import structure_from
from tanager.scores import ClassificationRate, DiscriminativeScore
from tanager.structure import OrderBased, StructureLearner
from tanager.types import FloatArray, LabelArray


class TiesByLikelihood(DiscriminativeScore):
    """Classification rate, with ties broken by conditional likelihood.

    The geometric mean of the likelihood, less than a sample of weight one, is added.

    Examples
    --------
    >>> score = TiesByLikelihood()
    >>> log_joint = np.log([[0.6, 0.2], [0.3, 0.3]])
    >>> round(score.value(log_joint, np.array([0, 1]), np.ones(2)), 4)
    1.6124
    """

    def value(
        self, log_joint: FloatArray, labels: LabelArray, weights: FloatArray
    ) -> float:
        """Weight of the correctly classified samples, and the mean likelihood."""
        own = log_joint[np.arange(len(labels)), labels]
        logs = own - np.logaddexp.reduce(log_joint, axis=1)
        right = weights[log_joint.argmax(axis=1) == labels].sum()
        return float(right + np.exp(np.average(logs, weights=weights)))


def crcl_of_one_step() -> OrderBased:
    """TAN-OMI-CRCL whose tables take one step of conjugate gradients per candidate."""
    tables = ELR(solver="cg", max_iter=1, folds=None)
    return OrderBased("omi", score=ClassificationRate(parameters=tables))


def crrcl_with_ties() -> OrderBased:
    """TAN-OMI-CRRCL that also takes an arc which raises the likelihood alone."""
    return OrderBased("omi", score=TiesByLikelihood(parameters="rcl"))


VARIANTS: Mapping[str, Callable[[], StructureLearner]] = MappingProxyType(
    {"TAN-OMI-CRCL1": crcl_of_one_step, "TAN-OMI-CRRCL-ties": crrcl_with_ties}
)
"""Learners by name. Pernkopf and Bilmes (2010) do not say what happens to equal rates,
nor whether tables of conditional likelihood are learned with cross tuning for every
candidate."""


def structure_learner(name: str) -> StructureLearner:
    """A learner of `VARIANTS`, or of the registry."""
    return VARIANTS[name]() if name in VARIANTS else structure_from(name)
