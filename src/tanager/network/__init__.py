"""`Network` and `LogLinearNetwork`: fitted models as values, and their queries."""

from tanager.network.loglinear_network import LogLinearNetwork
from tanager.network.named_table import LogTable, ProbabilityTable
from tanager.network.network import Network
from tanager.network.queries import MostProbable

__all__ = [
    "LogLinearNetwork",
    "LogTable",
    "MostProbable",
    "Network",
    "ProbabilityTable",
]
