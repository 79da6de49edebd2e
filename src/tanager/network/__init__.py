"""`Network`: schema, structure and CPTs as one value, and its queries."""

from tanager.network.named_table import LogTable, ProbabilityTable
from tanager.network.network import Network
from tanager.network.queries import MostProbable

__all__ = ["LogTable", "MostProbable", "Network", "ProbabilityTable"]
