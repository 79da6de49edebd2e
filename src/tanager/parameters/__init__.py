"""Parameter learners: from a structure and data to the CPTs of a network."""

from typing import TYPE_CHECKING

from tanager.utils.lazy_names import lazy_names

__all__ = [
    "APN",
    "DFE",
    "ELR",
    "EM",
    "ConditionalLikelihood",
    "Frequency",
    "KeepTables",
    "LossMinimizer",
    "ParameterLearner",
    "conditional_sample_size",
    "likelihood_sample_size",
]

if TYPE_CHECKING:
    from tanager.parameters.apn import APN
    from tanager.parameters.base import ParameterLearner
    from tanager.parameters.conditional_likelihood import ConditionalLikelihood
    from tanager.parameters.dfe import DFE
    from tanager.parameters.elr import ELR
    from tanager.parameters.em import EM
    from tanager.parameters.frequency import Frequency
    from tanager.parameters.keep_tables import KeepTables
    from tanager.parameters.loss_minimizer import LossMinimizer
    from tanager.parameters.sufficient_sample_size import (
        conditional_sample_size,
        likelihood_sample_size,
    )
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            ".apn": ("APN",),
            ".base": ("ParameterLearner",),
            ".conditional_likelihood": ("ConditionalLikelihood",),
            ".dfe": ("DFE",),
            ".elr": ("ELR",),
            ".em": ("EM",),
            ".frequency": ("Frequency",),
            ".keep_tables": ("KeepTables",),
            ".loss_minimizer": ("LossMinimizer",),
            ".sufficient_sample_size": (
                "conditional_sample_size", "likelihood_sample_size",
            ),
        },
    )  # fmt: skip
