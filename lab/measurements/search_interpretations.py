"""Searches and learners of papers in interpretations of what they leave open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from tanager.model import Parameters, Structure
from tanager.parameters import ELR, Frequency, ParameterLearner
from tanager.registry import parameters_from, structure_from
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


class StartOfAllSamples(ELR):
    """CL whose cross tuning starts every fold from the tables of all samples.

    The paper's parameters "are initialized to the values obtained by the ML approach";
    it does not say whether those of a fold of cross tuning are.
    """

    def learn(
        self,
        structure: Structure,
        data: Any,
        *,
        start: Parameters | None = None,
        random_state: np.random.Generator | None = None,
    ) -> Parameters:
        """Maximise the conditional likelihood; see `ParameterLearner.learn`."""
        if start is None:
            start = Frequency(zero=self.zero).learn(structure, data)
        return super().learn(structure, data, start=start, random_state=random_state)


PARAMETER_VARIANTS: Mapping[str, Callable[[], ParameterLearner]] = MappingProxyType(
    {
        "CL of all samples": lambda: StartOfAllSamples(zero=1e-5),
        "CL, zero 1e-3": lambda: ELR(zero=1e-3),
        "CL, 10 folds": lambda: ELR(zero=1e-5, folds=10),
    }
)
"""Learners of CL by name: in cross tuning, in the probability that stands for zero."""


def parameter_learner(name: str) -> ParameterLearner:
    """A learner of `PARAMETER_VARIANTS`, or of the registry."""
    if name in PARAMETER_VARIANTS:
        return PARAMETER_VARIANTS[name]()
    return parameters_from(name)
