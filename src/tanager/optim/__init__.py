"""Optimisers over a flat vector, and the monitor that iterations report to."""

from tanager.optim.adam import Adam, decayed
from tanager.optim.monitor import Monitor

__all__ = ["Adam", "Monitor", "decayed"]
