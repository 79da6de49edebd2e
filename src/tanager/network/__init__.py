"""`Network` and `LogLinearNetwork`: fitted models as values, and their queries."""

from typing import TYPE_CHECKING

from tanager.utils.lazy_names import lazy_names

__all__ = [
    "AnyNetwork",
    "Effect",
    "LogLinearNetwork",
    "LogTable",
    "MostProbable",
    "NamedFactor",
    "Network",
    "ProbabilityTable",
]

if TYPE_CHECKING:
    from tanager.network.any_network import AnyNetwork
    from tanager.network.feature_effect import Effect
    from tanager.network.loglinear_network import LogLinearNetwork
    from tanager.network.named_factor import NamedFactor
    from tanager.network.named_table import LogTable, ProbabilityTable
    from tanager.network.network import Network
    from tanager.network.queries import MostProbable
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            ".any_network": ("AnyNetwork",),
            ".feature_effect": ("Effect",),
            ".loglinear_network": ("LogLinearNetwork",),
            ".named_factor": ("NamedFactor",),
            ".named_table": ("LogTable", "ProbabilityTable"),
            ".network": ("Network",),
            ".queries": ("MostProbable",),
        },
    )  # fmt: skip
