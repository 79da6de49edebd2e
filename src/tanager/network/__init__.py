"""`Network`: schema, structure and tables as one value that can be asked."""

from tanager.network.named_table import LogTable, ProbabilityTable
from tanager.network.network import Network
from tanager.network.queries import MostProbable

__all__ = ["LogTable", "MostProbable", "Network", "ProbabilityTable"]
