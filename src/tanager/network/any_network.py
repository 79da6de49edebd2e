"""`AnyNetwork`: the type of a fitted model that classifies."""

from __future__ import annotations

from tanager.network.loglinear_network import LogLinearNetwork
from tanager.network.network import Network

AnyNetwork = Network | LogLinearNetwork
"""A fitted model that classifies.

Code that needs CPTs asks for `has_cpts`, not for the class."""
