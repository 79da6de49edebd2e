"""Differentiable structure learning with Gumbel-softmax (Roth, Pernkopf 2020)."""
