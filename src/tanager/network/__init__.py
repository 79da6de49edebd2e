"""`Network`: schema, structure and tables as one value that can be asked."""

from tanager.network.network import Network
from tanager.network.table import ProbabilityTable

__all__ = ["Network", "ProbabilityTable"]
