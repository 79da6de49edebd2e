"""Differentiable structure learning (Roth and Pernkopf 2020)."""
