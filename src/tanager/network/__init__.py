"""`Network` and `LogLinearNetwork`: fitted models as values, and their queries."""

from tanager.network.feature_effect import Effect
from tanager.network.loglinear_network import LogLinearNetwork
from tanager.network.named_factor import NamedFactor
from tanager.network.named_table import LogTable, ProbabilityTable
from tanager.network.network import Network
from tanager.network.queries import MostProbable

AnyNetwork = Network | LogLinearNetwork
"""A fitted model that classifies.

Code that needs CPTs asks for `has_cpts`, not for the class."""

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
