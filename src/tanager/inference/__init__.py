"""Exact inference: log joint probabilities of rows with and without missing values."""

from tanager.inference.elimination import log_marginal
from tanager.inference.engine import Engine, engine_for

__all__ = ["Engine", "engine_for", "log_marginal"]
