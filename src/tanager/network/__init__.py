"""`Network`: schema, structure and tables as one value that can be asked."""

from tanager.network.network import Network
from tanager.network.questions import MostProbable
from tanager.network.table import LogTable, ProbabilityTable

__all__ = ["LogTable", "MostProbable", "Network", "ProbabilityTable"]
