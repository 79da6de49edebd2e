"""Optimisers over a flat vector, and the monitor that iterations report to."""

from tanager.optim.monitor import Monitor

__all__ = ["Monitor"]
